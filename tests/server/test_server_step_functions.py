"""Step Functions over HTTP, with boto3."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import ClientError
from server_machines import ROLE, fails, fans_out, passes, waits_for_token, waits_long
from server_process import Server, until


@pytest.fixture
def sfn(client: Any) -> Any:
    return client("stepfunctions")


def create(sfn: Any, name: str, definition: dict[str, Any], role: str = ROLE) -> str:
    arn = sfn.create_state_machine(name=name, definition=json.dumps(definition), roleArn=role)["stateMachineArn"]
    return str(arn)


def start(sfn: Any, machine: str, input: object = None, **more: str) -> str:
    return str(sfn.start_execution(stateMachineArn=machine, input=json.dumps(input or {}), **more)["executionArn"])


def end_of(sfn: Any, execution: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        described: dict[str, Any] = sfn.describe_execution(executionArn=execution)
        return described if described["status"] != "RUNNING" else None

    found: dict[str, Any] = until(look)
    return found


def test_machine_is_created_described_listed_updated_and_deleted(sfn: Any, server: Server) -> None:
    arn = create(sfn, "life", passes())

    described = sfn.describe_state_machine(stateMachineArn=arn)
    listed = [machine["stateMachineArn"] for machine in sfn.list_state_machines()["stateMachines"]]
    sfn.update_state_machine(stateMachineArn=arn, definition=json.dumps(fails()))
    updated = sfn.describe_state_machine(stateMachineArn=arn)
    sfn.tag_resource(resourceArn=arn, tags=[{"key": "team", "value": "growth"}])
    tags = sfn.list_tags_for_resource(resourceArn=arn)["tags"]
    sfn.delete_state_machine(stateMachineArn=arn)

    assert json.loads(described["definition"]) == passes()
    assert {arn, server.machine_arn} <= set(listed)
    assert json.loads(updated["definition"]) == fails()
    assert tags == [{"key": "team", "value": "growth"}]
    with pytest.raises(sfn.exceptions.StateMachineDoesNotExist):
        sfn.describe_state_machine(stateMachineArn=arn)


def test_definition_is_validated_with_the_places_of_its_problems(sfn: Any) -> None:
    broken = passes() | {"StartAt": "Nowhere"}

    good = sfn.validate_state_machine_definition(definition=json.dumps(passes()))
    bad = sfn.validate_state_machine_definition(definition=json.dumps(broken))

    assert good["result"] == "OK"
    assert bad["result"] == "FAIL"
    assert bad["diagnostics"][0]["severity"] == "ERROR"
    with pytest.raises(sfn.exceptions.InvalidDefinition):
        create(sfn, "broken", broken)


def test_history_comes_in_pages_forwards_backwards_and_without_data(sfn: Any) -> None:
    execution = start(sfn, create(sfn, "pages", passes()), {"a": 1})

    described = end_of(sfn, execution)
    pages = sfn.get_paginator("get_execution_history").paginate(
        executionArn=execution, PaginationConfig={"PageSize": 3}
    )
    types = [[event["type"] for event in page["events"]] for page in pages]
    last = sfn.get_execution_history(executionArn=execution, reverseOrder=True, maxResults=1)["events"]
    bare = sfn.get_execution_history(executionArn=execution, includeExecutionData=False)["events"]

    assert json.loads(described["output"]) == {"a": 1}
    assert types == [["ExecutionStarted", "PassStateEntered", "PassStateExited"], ["ExecutionSucceeded"]]
    assert last[0]["type"] == "ExecutionSucceeded"
    assert last[0]["executionSucceededEventDetails"]["output"] == '{"a": 1}'
    assert "output" not in bare[-1]["executionSucceededEventDetails"]


def test_executions_are_listed_newest_first_by_status_and_in_pages(sfn: Any) -> None:
    machine = create(sfn, "listed", passes())
    for number in range(5):
        end_of(sfn, start(sfn, machine, name=f"n{number}"))

    pages = sfn.get_paginator("list_executions").paginate(stateMachineArn=machine, PaginationConfig={"PageSize": 2})
    names = [execution["name"] for page in pages for execution in page["executions"]]
    running = sfn.list_executions(stateMachineArn=machine, statusFilter="RUNNING")["executions"]

    assert names == ["n4", "n3", "n2", "n1", "n0"]
    assert running == []


def test_map_run_is_described_updated_and_its_children_are_listed(sfn: Any) -> None:
    execution = start(sfn, create(sfn, "fans-out", fans_out(300)), [1, 2, 3, 4, 5])

    run = until(lambda: sfn.list_map_runs(executionArn=execution)["mapRuns"])[0]["mapRunArn"]
    sfn.update_map_run(mapRunArn=run, maxConcurrency=5, toleratedFailurePercentage=10.0)
    described = sfn.describe_map_run(mapRunArn=run)
    children = until(lambda: sfn.list_executions(mapRunArn=run, statusFilter="RUNNING")["executions"])
    of_child = sfn.describe_state_machine_for_execution(executionArn=children[0]["executionArn"])
    ended = end_of(sfn, execution)

    assert (described["maxConcurrency"], described["toleratedFailurePercentage"]) == (5, 10.0)
    assert described["itemCounts"]["total"] == 5
    assert (of_child["label"], of_child["mapRunArn"]) == ("FanOut", run)
    assert json.loads(of_child["definition"])["StartAt"] == "Wait"
    assert ended["status"] == "SUCCEEDED"
    assert sfn.describe_map_run(mapRunArn=run)["executionCounts"]["succeeded"] == 5


def test_stopped_execution_says_why_and_can_be_redriven(sfn: Any) -> None:
    execution = start(sfn, create(sfn, "waits-long", waits_long()))

    sfn.stop_execution(executionArn=execution, error="Enough", cause="seen what I wanted")
    stopped = sfn.describe_execution(executionArn=execution)
    sfn.redrive_execution(executionArn=execution)
    redriven = sfn.describe_execution(executionArn=execution)
    sfn.stop_execution(executionArn=execution)

    assert (stopped["status"], stopped["error"]) == ("ABORTED", "Enough")
    assert stopped["redriveStatus"] == "REDRIVABLE"
    assert (redriven["status"], redriven["redriveCount"]) == ("RUNNING", 1)


def test_execution_that_succeeded_is_not_redriven(sfn: Any) -> None:
    execution = start(sfn, create(sfn, "done", passes()))
    end_of(sfn, execution)

    with pytest.raises(sfn.exceptions.ExecutionNotRedrivable):
        sfn.redrive_execution(executionArn=execution)


@pytest.mark.parametrize(("how", "status"), [("success", "SUCCEEDED"), ("failure", "FAILED")])
def test_task_ends_with_what_is_sent_for_its_token(
    sfn: Any, client: Any, server: Server, how: str, status: str
) -> None:
    function = server.facts["functions"]["AuthorizeFunction"]
    role = role_that_may_invoke(client("iam"), function)
    execution = start(sfn, create(sfn, f"asks-{how}", waits_for_token(function), role))

    token = until(lambda: token_in(sfn.get_execution_history(executionArn=execution)["events"]))
    sfn.send_task_heartbeat(taskToken=token)
    if how == "success":
        sfn.send_task_success(taskToken=token, output='{"answer": 42}')
    else:
        sfn.send_task_failure(taskToken=token, error="Refused", cause="no")
    ended = end_of(sfn, execution)

    assert ended["status"] == status
    with pytest.raises(sfn.exceptions.TaskTimedOut):
        sfn.send_task_success(taskToken=token, output="{}")


def role_that_may_invoke(iam: Any, function: str) -> str:
    """Return a role of the test's own: what it allows counts at once."""
    version = {"Version": "2012-10-17"}
    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    policy = {
        "Effect": "Allow",
        "Action": "lambda:InvokeFunction",
        "Resource": f"arn:aws:lambda:us-east-1:123456789012:function:{function}",
    }
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_role(RoleName="asks", AssumeRolePolicyDocument=json.dumps({**version, "Statement": [trust]}))
    iam.put_role_policy(
        RoleName="asks", PolicyName="invoke", PolicyDocument=json.dumps({**version, "Statement": [policy]})
    )
    return str(iam.get_role(RoleName="asks")["Role"]["Arn"])


def token_in(events: list[dict[str, Any]]) -> str | None:
    submitted = [event for event in events if event["type"] == "TaskSubmitted"]
    if not submitted:
        return None
    scheduled = next(event for event in events if event["type"] == "TaskScheduled")
    return str(json.loads(scheduled["taskScheduledEventDetails"]["parameters"])["Payload"]["token"])


@pytest.mark.parametrize(
    ("operation", "parameters", "code"),
    [
        ("describe_execution", {"executionArn": "arn:x"}, "ExecutionDoesNotExist"),
        ("start_execution", {"stateMachineArn": "arn:x"}, "StateMachineDoesNotExist"),
        ("describe_map_run", {"mapRunArn": "arn:x"}, "ResourceNotFound"),
        ("send_task_success", {"taskToken": "?", "output": "{}"}, "InvalidToken"),
        ("list_executions", {}, "ValidationException"),
        ("list_activities", {}, "NotSupportedBySandbox"),  # refused by name, not ignored
        ("list_state_machines", {"nextToken": "made up"}, "InvalidToken"),
    ],
)
def test_refusal_has_the_error_code_of_aws(sfn: Any, operation: str, parameters: dict[str, Any], code: str) -> None:
    with pytest.raises(ClientError) as refused:
        getattr(sfn, operation)(**parameters)

    assert refused.value.response["Error"]["Code"] == code
