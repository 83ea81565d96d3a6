"""Lambda, DynamoDB, S3 and what moto serves, over HTTP with boto3."""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests
from botocore.exceptions import ClientError
from server_process import Server


@pytest.fixture
def table(server: Server) -> str:
    return str(server.facts["outputs"]["TableName"])


@pytest.fixture
def bucket(server: Server) -> str:
    return str(server.facts["outputs"]["BucketName"])


# -- Lambda -----------------------------------------------------------------------------------------------------------


def test_function_is_invoked_by_name_logical_name_and_arn(client: Any, server: Server) -> None:
    functions = client("lambda")
    name = server.facts["functions"]["AuthorizeFunction"]
    arn = functions.get_function(FunctionName=name)["Configuration"]["FunctionArn"]
    payload = json.dumps({"headers": {"x-api-key": server.facts["customer_key"]}, "type": "REQUEST"})

    answers = [functions.invoke(FunctionName=n, Payload=payload) for n in (name, "AuthorizeFunction", arn)]

    assert [json.load(answer["Payload"])["isAuthorized"] for answer in answers] == [True] * 3
    assert all("FunctionError" not in answer for answer in answers)


def test_function_that_raises_answers_with_its_error(client: Any) -> None:
    answer = client("lambda").invoke(FunctionName="PlanFunction", Payload="{}")

    error = json.load(answer["Payload"])
    assert (answer["StatusCode"], answer["FunctionError"]) == (200, "Unhandled")
    assert (error["errorType"], error["errorMessage"]) == ("RequestMalformed", "campaign_id: Field required")


def test_event_invocation_is_only_accepted(client: Any) -> None:
    answer = client("lambda").invoke(FunctionName="PlanFunction", InvocationType="Event", Payload="{}")

    assert (answer["StatusCode"], answer["Payload"].read()) == (202, b"")


def test_function_that_does_not_exist_is_said_to(client: Any) -> None:
    functions = client("lambda")

    with pytest.raises(functions.exceptions.ResourceNotFoundException, match="Nobody"):
        functions.invoke(FunctionName="Nobody")


# -- DynamoDB ---------------------------------------------------------------------------------------------------------


def test_item_is_put_read_and_found(client: Any, table: str) -> None:
    dynamodb = client("dynamodb")
    item = {"pk": {"S": "test#1"}, "sk": {"S": "a"}, "n": {"N": "7"}, "raw": {"B": b"\x00\xff"}}

    dynamodb.put_item(TableName=table, Item=item)
    read = dynamodb.get_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})["Item"]
    found = dynamodb.query(
        TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": item["pk"]}
    )["Items"]

    assert read == item
    assert found == [item]


def test_cancelled_transaction_gives_its_reasons_by_position(client: Any, table: str) -> None:
    dynamodb = client("dynamodb")
    old = {"pk": {"S": "test#2"}, "sk": {"S": "a"}}
    dynamodb.put_item(TableName=table, Item=old)

    with pytest.raises(dynamodb.exceptions.TransactionCanceledException) as cancelled:
        dynamodb.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": table, "Item": {"pk": {"S": "test#2"}, "sk": {"S": "b"}}}},
                {
                    "Put": {
                        "TableName": table,
                        "Item": old,
                        "ConditionExpression": "attribute_not_exists(pk)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ]
        )

    reasons = cancelled.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    assert reasons[1]["Item"] == old


def test_failed_condition_of_a_put_has_its_own_error(client: Any, table: str) -> None:
    dynamodb = client("dynamodb")
    item = {"pk": {"S": "test#3"}, "sk": {"S": "a"}}
    dynamodb.put_item(TableName=table, Item=item)

    with pytest.raises(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.put_item(TableName=table, Item=item, ConditionExpression="attribute_not_exists(pk)")


def test_tables_are_described_and_made_by_moto(client: Any, table: str) -> None:
    dynamodb = client("dynamodb")
    dynamodb.create_table(
        TableName="mine",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )

    dynamodb.put_item(TableName="mine", Item={"id": {"S": "1"}})

    assert dynamodb.scan(TableName="mine")["Count"] == 1
    assert dynamodb.describe_table(TableName=table)["Table"]["TableStatus"] == "ACTIVE"


# -- S3 ---------------------------------------------------------------------------------------------------------------

KEY = "uploads/a b+c&ü.csv"


def test_object_is_put_read_listed_and_found_missing(client: Any, bucket: str) -> None:
    s3 = client("s3")

    s3.put_object(Bucket=bucket, Key=KEY, Body=b"phone\n", ContentType="text/csv", Metadata={"by": "test"})
    read = s3.get_object(Bucket=bucket, Key=KEY)
    listed = s3.list_objects_v2(Bucket=bucket, Prefix="uploads/a b")["Contents"]
    head = s3.head_object(Bucket=bucket, Key=KEY)

    assert (read["Body"].read(), read["ContentType"], read["Metadata"]) == (b"phone\n", "text/csv", {"by": "test"})
    assert [entry["Key"] for entry in listed] == [KEY]
    assert head["ContentLength"] == 6
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=bucket, Key="nothing")


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_presigned_addresses_work_without_credentials(client: Any, bucket: str, version: str) -> None:
    s3 = client("s3", signature_version=version)
    post = s3.generate_presigned_post(bucket, f"uploads/{version}.csv")
    address = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": f"uploads/{version}.csv"})

    uploaded = requests.post(post["url"], data=post["fields"], files={"file": b"phone\n1\n"}, timeout=10)
    read = requests.get(address, timeout=10)

    assert uploaded.status_code == 204
    assert (read.status_code, read.content) == (200, b"phone\n1\n")


def test_bucket_in_the_host_name_is_understood(client: Any, server: Server, bucket: str) -> None:
    client("s3").put_object(Bucket=bucket, Key="uploads/host.csv", Body=b"x")
    address = client("s3").generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "uploads/host.csv"})
    port = server.address.rpartition(":")[2]

    path = address.removeprefix(f"{server.address}/{bucket}")
    read = requests.get(f"{server.address}{path}", headers={"Host": f"{bucket}.localhost:{port}"}, timeout=10)

    assert read.content == b"x"


# -- what moto serves -------------------------------------------------------------------------------------------------


def test_stack_its_bus_its_secret_and_its_caller_are_there(client: Any, server: Server) -> None:
    outputs = server.facts["outputs"]

    stack = client("cloudformation").describe_stacks(StackName="paceline")["Stacks"][0]
    buses = [bus["Name"] for bus in client("events").list_event_buses()["EventBuses"]]
    put = client("events").put_events(
        Entries=[{"Source": "test", "DetailType": "Test", "Detail": "{}", "EventBusName": outputs["BusName"]}]
    )
    secret = client("secretsmanager").get_secret_value(SecretId="paceline/providers/twilio")["SecretString"]
    account = client("sts").get_caller_identity()["Account"]
    groups = client("logs").describe_log_groups()["logGroups"]

    assert {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]} == outputs
    assert outputs["BusName"] in buses
    assert put["FailedEntryCount"] == 0
    assert "auth_token" in json.loads(secret)
    assert account == "123456789012"
    assert len(groups) == 2


def test_role_that_the_sandbox_cannot_judge_is_refused_and_changes_nothing(client: Any, server: Server) -> None:
    iam = client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    only_there = {
        "Effect": "Allow",
        "Action": "*",
        "Resource": "*",
        "Condition": {"Bool": {"aws:ViaAWSService": "true"}},
    }
    document = {"Version": "2012-10-17", "Statement": [only_there]}
    iam.create_role(
        RoleName="odd", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    )

    with pytest.raises(ClientError, match="Condition"):
        iam.put_role_policy(RoleName="odd", PolicyName="odd", PolicyDocument=json.dumps(document))

    iam.delete_role_policy(RoleName="odd", PolicyName="odd")
    key = {"x-api-key": server.facts["customer_key"]}
    assert requests.get(f"{server.address}/v1/account", headers=key, timeout=10).status_code == 200


def test_service_that_nobody_has_is_refused_by_name(client: Any) -> None:
    with pytest.raises(ClientError, match="NotSupportedBySandbox") as refused:
        client("braket").search_jobs(filters=[])

    assert "braket" in str(refused.value)


# -- pages ------------------------------------------------------------------------------------------------------------


def test_index_health_and_nothing(server: Server) -> None:
    index = requests.get(f"{server.address}/", timeout=10)
    health = requests.get(f"{server.address}/health", timeout=10)
    nothing = requests.get(f"{server.address}/nothing/there", timeout=10)

    assert server.machine_arn in index.text
    assert health.json()["status"] == "ok"
    assert nothing.status_code == 404
    assert "says what is served" in nothing.json()["message"]


def test_a_web_page_elsewhere_invokes_nothing_and_reads_nothing(server: Server) -> None:
    path = f"{server.address}/2015-03-31/functions/ApiFunction/invocations"

    posted = requests.post(path, "{}", headers={"origin": "https://evil.example"}, timeout=10)
    rebound = requests.get(f"{server.address}/health", headers={"host": "evil.example"}, timeout=10)

    assert (posted.status_code, rebound.status_code) == (403, 403)
    assert "no requests from web pages elsewhere" in posted.text
    assert "no name of it" in rebound.json()["message"]
