"""The SAM template as AWS would take it: translated to CloudFormation, with the local files it names put in place."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

# What the translator asks AWS for: the managed policies that it may refer to by name.
MANAGED_POLICIES = {
    "AWSLambdaBasicExecutionRole": "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
}


# What moto has no CloudFormation for, and the sandbox serves itself or has no use for. It repeats no event that failed,
# and how often AWS would is all that an EventInvokeConfig says. Nobody looks at a dashboard here, no alarm rings and
# nothing is encrypted: tests read the template for what it says of them. A key would take moto a third of its time.
_NOT_MOTOS = (
    "AWS::ApiGatewayV2::",
    "AWS::SMSVOICE::",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::S3::BucketPolicy",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::CloudWatch::",
    "AWS::Logs::MetricFilter",
    "AWS::KMS::Key",
    "AWS::StepFunctions::StateMachineVersion",
    "AWS::StepFunctions::StateMachineAlias",
)

Subscribers = dict[str, list[str]]


class _ManagedPolicies:
    """The translator's loader of managed policies, without asking IAM."""

    def load(self) -> dict[str, str]:
        return MANAGED_POLICIES


def _packaged(template: dict[str, Any], root: Path, code: dict[str, str]) -> dict[str, Any]:
    """Do what `sam package` does: name the code's place in S3, and put the definitions' text into the template."""
    template.setdefault("Globals", {}).setdefault("Function", {})["CodeUri"] = code
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::StateMachine":
            properties = resource["Properties"]
            properties["Definition"] = json.loads((root / properties.pop("DefinitionUri")).read_text())
    return template


def _substituted(template: dict[str, Any]) -> dict[str, Any]:
    """Let CloudFormation put the substitutions into the definitions: Step Functions does it on AWS, moto does not."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::StepFunctions::StateMachine":
            properties = resource["Properties"]
            text = "\n".join(properties["DefinitionString"]["Fn::Join"][1])
            values = properties.pop("DefinitionSubstitutions", {})
            # Joined, not Fn::Sub: moto's takes the `$$` of a context path for an escape.
            pieces = re.split(r"\$\{(\w+)\}", text)
            joined = [values[piece] if odd else piece for odd, piece in zip(cycle((0, 1)), pieces, strict=False)]
            properties["DefinitionString"] = {"Fn::Join": ["", joined]}
    return template


@cache
def _translated(path: Path, region: str) -> str:
    template = _packaged(yaml_parse(path.read_text()), path.parent, {"Bucket": "code", "Key": "functions.zip"})
    before = os.environ.get("AWS_DEFAULT_REGION")
    os.environ["AWS_DEFAULT_REGION"] = region  # the translator asks boto3 for the region, and for nothing else
    try:
        return json.dumps(_substituted(transform(template, {}, _ManagedPolicies())))
    finally:
        if before is None:
            del os.environ["AWS_DEFAULT_REGION"]
        else:
            os.environ["AWS_DEFAULT_REGION"] = before


def translate(path: Path, region: str) -> dict[str, Any]:
    """Return the CloudFormation template of a SAM template. Raises: the translator's own errors, which name places."""
    template: dict[str, Any] = json.loads(_translated(path.resolve(), region))
    return template


def to_text(template: dict[str, Any]) -> str:
    """Return a template for moto: JSON that it can tell from YAML at the first line, by a tab.

    It tries YAML before JSON, and PyYAML takes a second for this template where json takes milliseconds.
    """
    return json.dumps(template, indent="\t")


def without_gateway(template: dict[str, Any], api_urls: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take the HTTP APIs out of a CloudFormation template, for the sandbox's own gateway to serve.

    moto has no CloudFormation for them, nor for what stands between a provider and a function (see `events_of`).
    References to one become its id and its address, and those to a key its name.
    Return (the template without them, the APIs by logical id). api_urls: a format with `{id}`.
    """
    resources = template["Resources"]
    apis = {name: r for name, r in resources.items() if r["Type"] == "AWS::ApiGatewayV2::Api"}
    kept = {name: r for name, r in resources.items() if not r["Type"].startswith(_NOT_MOTOS)}
    named = {*apis, *(name for name, r in resources.items() if r["Type"] == "AWS::KMS::Key")}
    return _resolve(template | {"Resources": kept}, named, api_urls), apis


def aliases_of(template: dict[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the alias of each state machine that has one, by the machine's ARN. names: physical ones."""
    resources = template["Resources"]
    found: dict[str, str] = {}
    for resource in resources.values():
        if resource["Type"] == "AWS::StepFunctions::StateMachineAlias":
            properties = resource["Properties"]
            version = properties["DeploymentPreference"]["StateMachineVersionArn"]["Ref"]
            machine = resources[version]["Properties"]["StateMachineArn"]["Ref"]
            found[names[machine]] = properties["Name"]
    return found


def events_of(template: dict[str, Any], stack: str, names: Mapping[str, str]) -> tuple[dict[str, str], Subscribers]:
    """Return the topic of each configuration set, and the functions that are subscribed to each topic.

    names: physical by logical ones.
    """
    topics: dict[str, str] = {}
    subscribers: Subscribers = {}
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        match resource["Type"]:
            case "AWS::SMSVOICE::ConfigurationSet":
                name = properties["ConfigurationSetName"]["Fn::Sub"].replace("${AWS::StackName}", stack)
                [destination] = [one for one in properties["EventDestinations"] if one["Enabled"]]
                topics[name] = names[destination["SnsDestination"]["TopicArn"]["Ref"]]
            case "AWS::SNS::Subscription" if properties["Protocol"] == "lambda":
                function = names[properties["Endpoint"]["Fn::GetAtt"][0]]
                subscribers.setdefault(names[properties["TopicArn"]["Ref"]], []).append(function)
    return topics, subscribers


def _resolve(value: Any, apis: set[str], api_urls: str) -> Any:
    if isinstance(value, list):
        return [_resolve(item, apis, api_urls) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("Ref") in apis:
        return value["Ref"].lower()
    match value.get("Fn::GetAtt"):
        case [name, "ApiEndpoint"] if name in apis:
            return api_urls.format(id=name.lower())
    if "Fn::Sub" in value and isinstance(value["Fn::Sub"], str):
        text = value["Fn::Sub"]
        for name in apis:
            address = api_urls.format(id=name.lower())
            text = text.replace(f"${{{name}.ApiEndpoint}}", address).replace(f"${{{name}}}", name.lower())
        return {"Fn::Sub": text} if "${" in text else text
    return {name: _resolve(item, apis, api_urls) for name, item in value.items()}
