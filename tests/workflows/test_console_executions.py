"""The console's pages of executions and Map Runs, of a campaign in the sandbox: by AWS's protocol alone."""

from __future__ import annotations

import json
import re
from typing import Any

import boto3

from tests.builders.campaigns import Office, an_office
from tests.builders.console import Browser, a_console, a_system


def at_console() -> Browser:
    return a_console(system=a_system(client=boto3.client))


def link(page: str, kind: str, name: str) -> str:
    """Return the address of the first link to an execution or a Map Run whose ARN has that name."""
    found = re.search(rf'href="(/{kind}/[^"?]*{name}[^"?]*)"', page)
    assert found, page
    return found[1]


def run(office: Office, *states: tuple[str, dict[str, Any]]) -> str:
    """Run a machine of these states, one after the other; return the execution's ARN."""
    names = [name for name, _ in states]
    after = [{"Next": name} for name in names[1:]] + [{"End": True}]
    made = {name: state | then for (name, state), then in zip(states, after, strict=True)}
    client, role = boto3.client("stepfunctions"), "arn:aws:iam::123456789012:role/any"
    definition = json.dumps({"StartAt": names[0], "States": made})
    machine = client.create_state_machine(name="small", definition=definition, roleArn=role)["stateMachineArn"]
    arn = str(client.start_execution(stateMachineArn=machine, input="{}")["executionArn"])
    office.passes(seconds=60)
    return arn


def test_from_a_campaign_to_the_child_that_sends_and_nobody_s_number_on_the_way() -> None:
    with an_office() as office:
        execution = office.start(30)
        office.sandbox.run_until(execution.done)
        browser = at_console()
        pages = [browser.get(f"/executions/{execution.arn}").text]
        for kind, name in (("map-runs", "SendStreams"), ("executions", "SendStreams"), ("map-runs", "SendBatches")):
            pages.append(browser.get(link(pages[-1], kind, name)).text)
        child = link(pages[-1], "executions", "SendBatches")
        pages += [browser.get(child).text, browser.get(f"{child}?state=Send+Message&order=oldest").text]

    campaign, sent = pages[0], pages[-1].partition('id="history-title"')[2]
    assert "Is It A Revision?" in campaign
    assert "data-live" not in campaign  # it is over
    assert "Send Message" in sent
    assert "Admit Batch" not in sent
    assert not [page for page in pages if "5550" in page or "renewal is due" in page]


def test_an_execution_is_live_while_it_runs() -> None:
    with an_office(route={"parts_per_minute": 10}) as office:
        execution = office.start(30)
        office.passes(seconds=20)
        page = at_console().get(f"/executions/{execution.arn}").text

    assert f'data-live="/live/executions/{execution.arn}"' in page
    assert re.search(r"Send Streams.*Map Run", page, re.DOTALL)


def test_what_failed_is_found_and_leads_to_its_cause() -> None:
    with an_office() as office:
        asked = {"FunctionName": office.sandbox.names["AdmitFunction"], "Payload": {}}
        task = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": asked}
        arn = run(office, ("Look", {"Type": "Pass"}), ("Admit", task))
        page = at_console().get(f"/executions/{arn}?failed=1").text

    assert "TaskFailed" in page
    assert "It was asked in event" in page
    assert "TaskScheduled" not in page
    assert "PassState" not in page


def test_a_long_text_is_cut_until_all_of_it_is_asked_for() -> None:
    with an_office() as office:
        arn = run(office, ("Say", {"Type": "Pass", "Result": "x" * 5000}))
        cut = at_console().get(f"/executions/{arn}").text
        whole = at_console().get(f"/executions/{arn}?all=output").text

    assert "Show all: 3,0" in cut
    assert "x" * 3000 not in cut
    assert "x" * 5000 in whole


def test_an_execution_that_is_not_there_is_told() -> None:
    with an_office() as office:
        arn = office.start(1).arn
        gone = [at_console().get(f"/executions/{one}") for one in (f"{arn}x", "no-arn")]
        gone.append(at_console().get(f"/map-runs/{arn.replace(':execution:', ':mapRun:')}"))

    assert [one.status_code for one in gone] == [404, 404, 404]
    assert all("90 days" in one.text for one in gone)
