"""A function that is killed, as the rest of the world sees it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from sandbox.carrier import Profile
from sandbox.faults import Boundary, Fault
from sandbox.testing.campaigns import PERFECT, CampaignSandbox

LOST_ANSWERS = Profile(shares=PERFECT.shares, refused=(), doubled=0.0, callback_tries=1)


def first(function: str, call: str, fault: Fault) -> Any:
    """Choose one fault for the first such call of a function."""
    left = [fault]
    return lambda at: left.pop() if left and (at.function, at.call) == (function, call) else None


def task_errors(sandbox: CampaignSandbox) -> list[str]:
    """Return the errors of tasks in all histories, in order."""
    events = [e for execution in sandbox.world.engine.executions() for e in execution.history()]
    return [e["taskFailedEventDetails"]["error"] for e in events if "taskFailedEventDetails" in e]


def test_a_killed_function_is_an_exit_error_to_the_workflow_which_asks_again(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=3)
    sandbox.world.faults.arm(first("send", "invoke", Fault.BEFORE))
    campaign.start()

    sandbox.run_to_end()

    assert task_errors(sandbox) == ["Runtime.ExitError"]
    campaign.assert_outcomes(delivered=3)


def test_not_even_a_finally_runs_in_a_killed_function(sandbox: CampaignSandbox) -> None:
    functions, ran = sandbox.world.functions, []

    def handler(event: Any, context: Any) -> None:
        try:
            sandbox.table.get(("A", "B"))
        finally:
            ran.append("finally")

    name = next(name for name in functions.usage if "SendFunction" in name)
    functions._handlers[name] = handler
    sandbox.world.faults.arm(first("send", "dynamodb:GetItem", Fault.BEFORE))

    with pytest.raises(Exception, match=r"Runtime\.ExitError"):
        sandbox.world.do(functions.invoke, name, "{}")
    assert ran == []


def test_the_next_invocation_after_a_kill_starts_cold(sandbox: CampaignSandbox) -> None:
    seen: list[Boundary] = []
    kill = first("callbacks", "dynamodb:UpdateItem", Fault.AFTER)

    def choose(boundary: Boundary) -> Fault | None:
        seen.append(boundary)
        return kill(boundary)

    campaign = sandbox.campaign(leads=2)
    sandbox.world.faults.arm(choose)
    campaign.start()

    sandbox.run_to_end()

    secrets = [at for at in seen if (at.function, at.call) == ("callbacks", "secretsmanager:GetSecretValue")]
    assert len(secrets) == 2  # read once by each execution environment


@pytest.mark.sandbox(profile=LOST_ANSWERS)
def test_a_killed_callback_is_a_500_that_a_provider_may_not_repeat(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=1)
    sandbox.world.faults.arm(first("callbacks", "invoke", Fault.AFTER))
    campaign.start()

    sandbox.run_to_end()

    assert sandbox.carrier.callbacks_failed == 1
    campaign.assert_outcomes(delivered=1)


def test_a_killed_authorizer_is_a_500(sandbox: CampaignSandbox) -> None:
    sandbox.account()
    sandbox.world.faults.arm(first("authorize", "invoke", Fault.BEFORE))

    answer = sandbox.world.call_api("GET", "/v1/routes", key="pk_any")

    assert (answer.status, json.loads(answer.body)) == (500, {"message": "Internal Server Error"})


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.FAILED, Fault.LOST])
def test_an_invocation_that_lambda_refused_or_lost_is_made_again(sandbox: CampaignSandbox, fault: Fault) -> None:
    campaign = sandbox.campaign(leads=2)
    sandbox.world.faults.arm(first("send", "invoke", fault))
    campaign.start()

    sandbox.run_to_end()

    campaign.assert_outcomes(delivered=2)
    assert len(sandbox.carrier.book) == 2


def test_an_orphaned_function_goes_on_beside_the_one_that_was_asked_again(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=1)
    sandbox.world.faults.arm(first("close", "dynamodb:TransactWriteItems", Fault.ORPHANED))
    campaign.start()

    sandbox.run_to_end()

    closes = next(use.invocations for name, use in sandbox.world.functions.usage.items() if "CloseFunction" in name)
    assert task_errors(sandbox) == ["Lambda.SdkClientException"]
    assert closes == 2
    campaign.assert_outcomes(delivered=1)


def test_a_hold_whose_first_try_goes_on_late_is_released_all_the_same(sandbox: CampaignSandbox) -> None:
    sandbox.account(credits=2)
    campaign = sandbox.campaign(leads=5)
    sandbox.world.faults.arm(first("hold", "dynamodb:PutItem", Fault.ORPHANED))
    campaign.start()
    sandbox.advance(timedelta(minutes=5))
    campaign.assert_held_by("credits")

    sandbox.credits(10)
    sandbox.run_to_end()

    campaign.assert_outcomes(delivered=5)


def test_an_object_that_is_written_twice_by_a_clients_own_retry_is_whole(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=3)
    sandbox.world.faults.arm(lambda at: Fault.REPEATED if at.call == "s3:PutObject" else None)
    campaign.start()

    sandbox.run_to_end()

    campaign.assert_outcomes(delivered=3)
