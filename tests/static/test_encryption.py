"""Everything that is kept is encrypted, and everything that travels is: of the template as it is deployed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.deployment import REGION, ROOT
from sandbox.template import translate

RESOURCES: dict[str, dict[str, Any]] = translate(ROOT / "template.yaml", REGION)["Resources"]
Check = Callable[[dict[str, Any]], bool]


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    return {name: one["Properties"] for name, one in RESOURCES.items() if one["Type"] == kind}


def is_bucket_encrypted(properties: dict[str, Any]) -> bool:
    rules = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    return all(rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] in ("AES256", "aws:kms") for rule in rules)


# What holds data, and how it is told to encrypt it.
STORES: dict[str, Check] = {
    "AWS::DynamoDB::Table": lambda properties: properties["SSESpecification"]["SSEEnabled"] is True,
    "AWS::S3::Bucket": is_bucket_encrypted,
    "AWS::SQS::Queue": lambda properties: properties["SqsManagedSseEnabled"] is True,
    "AWS::SNS::Topic": lambda properties: "KmsMasterKeyId" in properties,
}
# What AWS encrypts always, with its own keys, and what holds no data of ours.
ALWAYS = {
    "AWS::Logs::LogGroup",
    "AWS::Events::EventBus",
    "AWS::StepFunctions::StateMachine",
    "AWS::StepFunctions::StateMachineVersion",
    "AWS::Lambda::Function",
}
NO_STORES = {
    "AWS::ApiGatewayV2::Api",
    "AWS::ApiGatewayV2::Stage",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Permission",
    "AWS::Logs::MetricFilter",
    "AWS::S3::BucketPolicy",
    "AWS::SMSVOICE::ConfigurationSet",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::StepFunctions::StateMachineAlias",
}


def test_every_kind_of_resource_was_thought_about() -> None:
    assert {one["Type"] for one in RESOURCES.values()} == STORES.keys() | ALWAYS | NO_STORES


@pytest.mark.parametrize("kind", STORES)
def test_every_store_is_encrypted(kind: str) -> None:
    stores = of_type(kind)

    assert stores
    assert [name for name, properties in stores.items() if not STORES[kind](properties)] == []


@pytest.mark.parametrize(
    ("policy", "of", "target"),
    [
        ("AWS::S3::BucketPolicy", "Bucket", "AWS::S3::Bucket"),
        ("AWS::SQS::QueuePolicy", "Queues", "AWS::SQS::Queue"),
        ("AWS::SNS::TopicPolicy", "Topics", "AWS::SNS::Topic"),
    ],
)
def test_what_comes_unencrypted_is_denied(policy: str, of: str, target: str) -> None:
    denying = [properties for properties in of_type(policy).values() if any(map(denies_plain, statements(properties)))]
    guarded = [reference["Ref"] for one in denying for reference in as_list(one[of])]

    assert sorted(guarded) == sorted(of_type(target))


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(properties: dict[str, Any]) -> list[dict[str, Any]]:
    return list(properties["PolicyDocument"]["Statement"])


def denies_plain(statement: dict[str, Any]) -> bool:
    is_plain = statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
    return is_plain and (statement["Effect"], statement["Principal"]) == ("Deny", "*")


@pytest.mark.parametrize(
    ("topic", "publisher"),
    [("ProviderEvents", "sms-voice.amazonaws.com"), ("AlarmTopic", "cloudwatch.amazonaws.com")],
)
def test_a_topics_key_serves_its_publisher_of_this_account_only(topic: str, publisher: str) -> None:
    key = of_type("AWS::KMS::Key")[f"{topic}Key"]
    served = [one for one in key["KeyPolicy"]["Statement"] if "Service" in one["Principal"]]

    assert [one["Principal"]["Service"] for one in served] == [publisher]
    assert all(one["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}} for one in served)
    assert key["EnableKeyRotation"] is True
    assert of_type("AWS::SNS::Topic")[topic]["KmsMasterKeyId"] == {"Ref": f"{topic}Key"}


def test_the_bucket_is_nobody_elses() -> None:
    [bucket] = of_type("AWS::S3::Bucket").values()

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}


def test_no_function_calls_anything_by_plain_http() -> None:
    paths = sorted((ROOT / "functions").rglob("*.py"))

    assert len(paths) > 100
    assert [path for path in paths if "http://" in path.read_text()] == []
