"""The pytest plugin: lazy, strict about names, fast over long sleeps, and loud when what is waited for cannot come."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paceline import keys
from sandbox.carrier import Profile
from sandbox.customer import ApiRefused
from sandbox.testing.campaigns import CampaignSandbox
from sandbox.testing.history import states_entered
from sandbox.testing.leads import AREA_CODES, make_leads, to_csv
from sandbox.testing.machines import TestedStateMachine
from sandbox.testing.plugin import _options
from sandbox.testing.timeline import NotReached

Make = Callable[..., TestedStateMachine]
LAMBDA = "arn:aws:states:::lambda:invoke"
PASS = {"StartAt": "Only", "States": {"Only": {"Type": "Pass", "End": True}}}


def calling(**fields: Any) -> dict[str, Any]:
    """A machine of one task, which gives what its function gives."""
    task = {"Type": "Task", "Resource": LAMBDA, "Parameters": {"FunctionName": "ask"}, "OutputPath": "$.Payload"}
    return {"StartAt": "Ask", "States": {"Ask": {**task, "End": True, **fields}}}


def waiting_for_token(**fields: Any) -> dict[str, Any]:
    """A machine whose one task waits for its token."""
    task = {
        "Type": "Task",
        "Resource": f"{LAMBDA}.waitForTaskToken",
        "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}},
        "End": True,
    }
    return {"StartAt": "Ask Somebody", "States": {"Ask Somebody": {**task, **fields}}}


# -- the plugin ---------------------------------------------------------------------------------------------------


def test_installing_the_package_gives_the_plugin() -> None:
    found = {entry.value for package in distributions(name="paceline") for entry in package.entry_points}

    assert "sandbox.testing.plugin" in found


def test_a_test_that_asks_for_no_sandbox_does_not_pay_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\n"
        "def test_nothing_heavy_is_there():\n"
        "    assert 'sandbox.testing.plugin' in sys.modules\n"
        "    assert not {'moto', 'boto3', 'paceline', 'samtranslator'} & set(sys.modules)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("mark", [pytest.mark.sandbox(speed=2), pytest.mark.sandbox("2026-09-02")])
def test_a_marker_with_another_option_is_refused(mark: pytest.MarkDecorator) -> None:
    request: Any = SimpleNamespace(node=SimpleNamespace(get_closest_marker=lambda name: mark.mark))

    with pytest.raises(pytest.UsageError, match="takes these options by name"):
        _options(request)


# -- time -----------------------------------------------------------------------------------------------------------


@pytest.mark.sandbox(start="2026-09-02T18:00Z")
def test_a_campaign_that_sleeps_over_two_midnights_costs_no_more_than_its_messages(sandbox: CampaignSandbox) -> None:
    sandbox.route("shared", parts_per_day=9)
    before = sandbox.world.scheduler.events

    campaign = sandbox.campaign(leads=25).start()
    sandbox.run_to_end()

    events = sandbox.world.scheduler.events - before
    campaign.assert_outcomes(delivered=25)
    days = {datetime.fromtimestamp(entry.at / 1e6, UTC).date().day for entry in sandbox.carrier.book}
    assert days == {2, 3, 4}
    assert events < 25 * 100  # counted, not timed; a look each minute of the two nights would be thousands more


@pytest.mark.sandbox(start=datetime(2027, 1, 1, 9, tzinfo=UTC))
def test_the_clock_begins_where_the_marker_says_and_moves_when_nothing_happens(sandbox: CampaignSandbox) -> None:
    assert sandbox.now == datetime(2027, 1, 1, 9, tzinfo=UTC)

    sandbox.advance(timedelta(days=40))
    sandbox.run_until_time("2027-02-10T10:00Z")

    assert sandbox.now == datetime(2027, 2, 10, 10, tzinfo=UTC)


def test_a_moment_that_is_past_is_refused(sandbox: CampaignSandbox) -> None:
    with pytest.raises(ValueError, match="is past: it is 2026-09-02"):
        sandbox.run_until_time("2026-09-01T00:00Z")


@pytest.mark.sandbox(seed=7, profile=Profile(throttled=0.3, doubled=0.5))
def test_the_same_seed_gives_the_same_timeline(sandbox: CampaignSandbox) -> None:
    sandbox.campaign(leads=12).start()
    sandbox.run_to_end()
    first = [(entry.at, entry.sid) for entry in sandbox.carrier.book]

    sandbox.__exit__()
    with CampaignSandbox(seed=7, profile=Profile(throttled=0.3, doubled=0.5)) as again:
        again.campaign(leads=12).start()
        again.run_to_end()
        second = [(entry.at, entry.sid) for entry in again.carrier.book]
    sandbox.__enter__()  # the fixture closes what it opened

    assert first == second


# -- until a state --------------------------------------------------------------------------------------------------


def test_the_world_stops_where_a_child_enters_the_state(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=5).start()

    child = sandbox.run_until(state="Send Message")

    assert child is not campaign.execution
    assert states_entered(child)[-1] == "Send Message"
    assert sandbox.carrier.book == []


def test_another_campaigns_states_do_not_count(sandbox: CampaignSandbox) -> None:
    first = sandbox.campaign(leads=2).start()
    sandbox.campaign(make_leads(2, zone="America/Chicago")).start()

    sandbox.run_until(state="Build Report", campaign=first)

    assert first.states[-1] == "Build Report"


def test_a_state_that_the_definition_does_not_have_is_an_error_at_once(sandbox: CampaignSandbox) -> None:
    sandbox.campaign(leads=5).start()

    with pytest.raises(ValueError, match="did you mean 'Send Message'"):
        sandbox.run_until(state="Send Mesage")


def test_a_state_that_is_never_entered_is_told_with_the_states_that_were(sandbox: CampaignSandbox) -> None:
    sandbox.campaign(leads=1).start()

    with pytest.raises(NotReached, match=r"did not enter 'Campaign Failed'\. It is SUCCEEDED: .* → Campaign Finished"):
        sandbox.run_until(state="Campaign Failed")


# -- builders and what a test looks at ------------------------------------------------------------------------------


def test_credits_that_arrive_set_free_what_waits_for_them(sandbox: CampaignSandbox) -> None:
    sandbox.account(credits=4)
    campaign = sandbox.campaign(leads=10).start()
    sandbox.advance(timedelta(hours=1))
    campaign.assert_held_by("credits")

    sandbox.credits(100)
    sandbox.run_to_end()

    campaign.assert_outcomes(delivered=10)
    account = sandbox.account_of()
    assert (account.available, account.consumed, account.bought) == (94, 10, 104)


def test_the_rows_of_the_table_can_be_read(sandbox: CampaignSandbox) -> None:
    sandbox.route("shared", parts_per_day=3)
    sandbox.campaign(leads=5).start()

    sandbox.advance(timedelta(hours=1))

    (day,) = sandbox.rows(keys.route("shared")[0], "DAY#")
    assert day["used"] == 3


def test_two_campaigns_of_two_accounts_run_side_by_side(sandbox: CampaignSandbox) -> None:
    sandbox.account("other", credits=50)
    leads = make_leads(4, zone="America/Denver")
    campaigns = [sandbox.campaign(leads=3).start(), sandbox.campaign(leads, account="other").start()]

    sandbox.run_to_end()

    campaigns[0].assert_outcomes(delivered=3)
    campaigns[1].assert_outcomes(delivered=4)
    assert sandbox.account_of("other").consumed == 4


def test_what_the_api_refuses_is_an_error_with_its_own_sentence(sandbox: CampaignSandbox) -> None:
    with pytest.raises(ApiRefused, match="There is no route 'nowhere'"):
        sandbox.campaign(leads=1, route="nowhere")


@pytest.mark.parametrize("zone", AREA_CODES)
def test_leads_have_fictional_numbers_of_their_own(zone: str) -> None:
    leads = make_leads(250, zone=zone)

    numbers = {lead["phone"] for lead in leads}
    assert len(numbers) == 250
    assert all(number[5:10] == "55501" for number in numbers)


def test_more_leads_than_there_are_fictional_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 500 fictional numbers in America/Phoenix"):
        make_leads(501, zone="America/Phoenix")


def test_a_file_has_a_column_for_everything_that_any_lead_has() -> None:
    leads = make_leads(1) + make_leads(1, state="CO")

    assert to_csv(leads).decode().splitlines()[0] == "phone,first_name,carrier,state"


# -- assertions that fail say what was there --------------------------------------------------------------------------


def test_failed_assertions_say_what_was_there_instead(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=2).start()

    with pytest.raises(AssertionError, match=r"expected a hold by credits; the holds are \[\]"):
        campaign.assert_held_by("credits")
    with pytest.raises(AssertionError, match=r"expected {'delivered': 3}, got {'delivered': 2}"):
        campaign.assert_outcomes(delivered=3)
    with pytest.raises(AssertionError, match="'Plan Campaign' was not entered in this order"):
        campaign.assert_states("Build Report", "Plan Campaign")


# -- a state machine of one's own --------------------------------------------------------------------------------------


def test_a_machine_is_run_and_its_functions_calls_are_kept(state_machine: Make) -> None:
    machine = state_machine(calling(), functions={"ask": lambda event: {"answer": 42}})

    assert machine.run() == {"answer": 42}
    assert [name for name, _ in machine.aws.calls] == ["ask"]


def test_a_waiting_task_ends_by_its_token(state_machine: Make) -> None:
    tokens: list[str] = []
    machine = state_machine(waiting_for_token(), functions={"ask": lambda event: tokens.append(event["token"])})
    execution = machine.start()

    machine.advance(timedelta(days=3))
    machine.engine.send_task_success(tokens[0], '"yes"')
    machine.run_to_end(execution)

    assert execution.output == '"yes"'


def test_a_wait_for_what_cannot_come_fails_at_once(state_machine: Make) -> None:
    machine = state_machine(waiting_for_token(), functions={"ask": lambda event: None})

    with pytest.raises(NotReached, match="waits for what cannot come: Ask Somebody"):
        machine.run_to_end(machine.start(name="forever"))


def test_a_distributed_map_reads_its_items_from_the_objects_given(state_machine: Make) -> None:
    reader = {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "items.json"}}
    processor = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **PASS}
    each = {"Type": "Map", "ItemReader": reader, "ItemProcessor": processor, "End": True}
    machine = state_machine({"StartAt": "Each", "States": {"Each": each}}, objects={("b", "items.json"): [1, 2, 3]})
    execution = machine.start()

    machine.run_to_end(execution)

    assert execution.output == "[1,2,3]"
    assert machine.states(execution, with_children=True) == ["Each", "Only", "Only", "Only"]


def test_a_function_can_take_time(state_machine: Make) -> None:
    machine = state_machine(calling(TimeoutSeconds=5), functions={"ask": lambda event: machine.sleep(6)})

    with pytest.raises(AssertionError, match=r"FAILED: States\.Timeout"):
        machine.run()
