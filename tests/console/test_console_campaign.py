"""The page of a campaign: what is told in each of its states, and what its forms and links ask the API for."""

from __future__ import annotations

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from console.web.ending import failed_state
from tests.builders.campaign_answers import PLAN, a_campaign, a_hold, a_report, an_api, at
from tests.builders.console import Browser, FakeApi, a_console, a_system, refusal

BY_ROUTE = {
    "route": "shared",
    "leads": 970,
    "parts": 970,
    "messages": {"sent": 150, "delivered": 240},
    "held_batches": 3,
    "per_minute": 240,
    "parts_sent": 400,
}
PACE = [{"minute": at(n), "route": "shared", "parts": 200 + n} for n in range(3)]
ADDRESS = "/campaigns/renewals"
MACHINE = "arn:aws:states:here:1:stateMachine:campaign"


def a_page(report: dict[str, Any] | None = None, **more: Any) -> str:
    """Return the page of a campaign."""
    return with_report(report, **more).get(ADDRESS).text


def with_report(report: dict[str, Any] | None = None, **more: Any) -> Browser:
    api = an_api(a_campaign(**more))
    if report:
        api.answers["GET /v1/campaigns/renewals/report"] = report
    return a_console(api)


def test_a_campaign_that_runs_shows_how_far_each_route_is_and_its_pace_against_the_cap() -> None:
    page = a_page(by_route=[BY_ROUTE], pace=PACE, binding=a_hold("pace", limit=240), finish_at=at(90))

    assert "<dd>400</dd>" in page
    assert "400 of 970" in page
    assert "the busiest minute had 202, the cap is 240 a minute" in page
    assert re.search(r'<line class="cap" x1="0" x2="1000" y1="[\d.]+"', page)
    assert "Bound by" in page
    assert "Held:" not in page
    assert 'datetime="2026-09-02T17:30:00+00:00"' in page  # its end
    assert page.count("<h1>") == 1


def test_a_route_that_stands_still_is_drawn_up_to_now() -> None:
    moving = a_page(by_route=[BY_ROUTE], pace=PACE, as_of=at(3))
    still = a_page(by_route=[BY_ROUTE], pace=PACE, as_of=at(30))

    assert "16:30" not in moving
    assert "<span>16:31</span>" in still


def test_a_campaign_that_is_held_says_by_what_since_when_and_what_ends_it() -> None:
    hold = a_hold("credits", used=7, limit=0)
    page = a_page(binding=hold, held_by=[hold | {"batches": 6}], finish_reason={"cause": "credits", "detail": "Buy."})

    assert '<span class="word warn">held</span>' in page
    assert "Not enough credits (7 needed, 0 available)" in page
    assert "until credits are added" in page
    assert "Buy." in page
    assert '<td class="number" data-name="Batches">6</td>' in page


@pytest.mark.parametrize(
    ("status", "actions"),
    [
        ("created", []),
        ("running", ["pause", "cancel"]),
        ("paused", ["resume", "cancel"]),
        ("cancelled", []),
        ("finished", []),
        ("failed", []),
    ],
)
def test_only_what_the_status_allows_is_offered_each_behind_a_question(status: str, actions: list[str]) -> None:
    page = a_page(a_report(), status=status, report_version=int(status in ("finished", "failed", "cancelled")))

    assert re.findall(r'data-opens="(\w+)-dialog"', page) == actions
    assert re.findall(r'<dialog id="(\w+)-dialog"', page) == actions
    assert re.findall(r'action="/campaigns/renewals/(\w+)"', page) == actions


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"status": "created"}, "Not started."),
        ({"plan": None, "messages": {}}, "Being planned"),
        ({"status": "cancelled"}, "cancelled, report to come"),
        ({"headline": "The queue is empty; 9 are open."}, "waiting for receipts"),
        ({"headline": "The queue is empty; 9 are open."}, "The queue is empty; 9 are open."),
        ({"binding": a_hold("start_at", until=at(60))}, "scheduled"),
        ({"lost_to": {"route_day_cap": 3900.0}}, "1 h 05 min"),
        ({"plan": PLAN | {"warnings": ["All by one route."]}}, "All by one route."),
        ({"plan": PLAN}, "Too few digits: 20"),
        ({"by_route": None, "pace": None, "as_of": None}, "400"),  # an API from before these
    ],
)
def test_each_state_is_told_in_words(more: dict[str, Any], sentence: str) -> None:
    assert sentence in a_page(**more)


def test_a_campaign_that_is_over_shows_its_outcomes_with_causes_and_its_reports() -> None:
    page = a_page(a_report(version=2), status="finished", report_version=2)

    assert "All 970 messages have an outcome." in page
    assert "Filtered by the carrier 28" in page
    assert "967" in page  # credits
    assert "the busiest minute had 237" in page
    for version in (1, 2):
        assert f'href="/campaigns/renewals/report/report.html?version={version}"' in page


def test_sums_that_do_not_close_are_told() -> None:
    assert "do not close" in a_page(a_report(balanced=False), status="failed", report_version=1)


def test_a_report_that_is_no_longer_kept_is_said_and_the_rest_is_shown() -> None:
    page = a_page(status="finished", report_version=1)

    assert "It is no longer kept." in page
    assert "400" in page


def test_what_the_webhook_was_told_is_shown() -> None:
    tried = {
        "version": 1, "webhook_id": "w", "status": "gave_up", "attempts": 9, "last_attempt_at": at(9),
        "http_status": 500, "reason": "It answered 500.",
    }  # fmt: skip

    assert "It answered 500." in a_page(notifications=[tried])


def test_the_report_is_asked_for_once_for_all_looks() -> None:
    browser = with_report(a_report(), status="finished", report_version=1)

    for _ in range(3):
        browser.get(ADDRESS)

    paths = [one.url.path for one in browser.api.asked]
    assert paths.count("/v1/campaigns/renewals/report") == 1
    assert paths.count("/v1/campaigns/renewals") == 3


def test_names_and_messages_are_no_markup() -> None:
    script = "<script>alert(1)</script>"
    page = a_page(
        a_report(headline=script, reason=script), name=script, message=script, status="failed", report_version=1
    )

    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 4


def test_a_campaign_that_is_not_there_is_told_as_the_api_does() -> None:
    api = FakeApi({"GET /v1/campaigns/nothing": refusal(404, "There is no campaign 'nothing'.")})

    answer = a_console(api).get("/campaigns/nothing")

    assert answer.status_code == 404
    assert "There is no campaign &#39;nothing&#39;." in answer.text


# -- forms and links -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_an_action_asks_the_api_and_tells_what_became_of_it(action: str) -> None:
    browser = with_report()
    changed = a_campaign(status="paused") | ({"pause_bound_seconds": 5} if action == "pause" else {})
    browser.api.answers[f"POST /v1/campaigns/renewals/{action}"] = changed

    answer = browser.post(f"{ADDRESS}/{action}")
    after = browser.get(answer.headers["location"]).text

    assert (answer.status_code, answer.headers["location"]) == (303, ADDRESS)
    assert [path for path, _, _ in browser.api.writes()] == [f"POST /v1/campaigns/renewals/{action}"]
    assert "renewals is paused." in after
    assert ("later than 5 s after the pause" in after) == (action == "pause")


def test_an_action_that_the_api_refuses_is_told() -> None:
    browser = with_report()
    browser.api.answers["POST /v1/campaigns/renewals/pause"] = refusal(422, "It is finished.")

    browser.post(f"{ADDRESS}/pause")

    assert "It is finished." in browser.get(ADDRESS).text


@pytest.mark.parametrize(
    "wrong", [{"carrying": ""}, {"carrying": "another"}, {"headers": {"origin": "https://elsewhere.example"}}]
)
def test_nothing_is_done_without_the_pages_token_or_from_elsewhere(wrong: dict[str, Any]) -> None:
    browser = with_report()

    browser.post(f"{ADDRESS}/cancel", **wrong)

    assert browser.api.writes() == []


def test_a_file_of_the_report_is_asked_for_when_it_is_opened() -> None:
    browser = with_report(a_report(), status="finished", report_version=2)

    answer = browser.get(f"{ADDRESS}/report/report.html?version=1")

    assert (answer.status_code, answer.headers["location"]) == (303, "https://files.example/report.html?signed")
    assert browser.api.asked[-1].url.params["version"] == "1"


def test_a_file_of_the_report_is_for_who_is_signed_in() -> None:
    answer = a_console(key="").get(f"{ADDRESS}/report/report.html")

    assert (answer.status_code, answer.headers["location"][:9]) == (303, "/sign-in?")


def test_a_file_that_the_report_has_not_is_told() -> None:
    answer = with_report(a_report(), status="finished", report_version=1).get(f"{ADDRESS}/report/other.csv")

    assert answer.status_code == 404
    assert "has no file" in answer.text


# -- its execution ---------------------------------------------------------------------------------------------------


class States:
    """Step Functions, of one execution: how it ended, its newest events, and how often it was asked."""

    def __init__(self, status: str, *newest: dict[str, Any], error: str = "") -> None:
        self.status, self.newest, self.error, self.asked = status, list(newest), error, 0

    def describe_execution(self, **_: Any) -> dict[str, Any]:
        self.asked += 1
        if not self.status:
            raise ClientError({"Error": {"Code": "ExecutionDoesNotExist", "Message": "none"}}, "DescribeExecution")
        return {"status": self.status, "error": self.error, "cause": "It broke."}

    def get_execution_history(self, **_: Any) -> dict[str, Any]:
        return {"events": self.newest}

    def describe_state_machine_for_execution(self, **_: Any) -> dict[str, Any]:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DescribeStateMachineForExecution")


def event(number: int, kind: str, before: int, state: str = "") -> dict[str, Any]:
    entered = {"stateEnteredEventDetails": {"name": state}} if state else {}
    return {"id": number, "type": kind, "previousEventId": before} | entered


FAILED = (
    event(5, "ExecutionFailed", 4),
    event(4, "TaskFailed", 3),
    event(3, "TaskStarted", 2),
    event(2, "TaskStateEntered", 1, "Build Report"),
    event(1, "ExecutionStarted", 0),
)


def at_execution(states: States, **more: Any) -> Browser:
    system = a_system(state_machine_arn=MACHINE, client=lambda *_, **__: states)
    return a_console(an_api(a_campaign(**more)), system=system)


def test_an_execution_that_ended_before_the_report_is_shown_with_its_state_and_how_it_goes_on() -> None:
    page = at_execution(States("FAILED", *FAILED, error="ReportBroken")).get(ADDRESS).text

    assert '<span class="word bad">stopped</span>' in page
    assert "in the state Build Report" in page
    assert "ReportBroken" in page
    assert "paceline redrive renewals" in page


def test_a_campaign_that_failed_with_a_report_has_nothing_to_redrive() -> None:
    page = at_execution(States("FAILED", *FAILED), status="failed", report_version=1).get(ADDRESS).text

    assert "The campaign failed in the state Build Report." in page
    assert "paceline redrive" not in page


def test_an_execution_that_is_there_is_led_to() -> None:
    link = 'href="/executions/arn:aws:states:here:1:execution:campaign:renewals"'

    assert link in at_execution(States("RUNNING")).get(ADDRESS).text
    assert link not in at_execution(States("")).get(ADDRESS).text
    assert link not in at_execution(States("RUNNING"), status="created").get(ADDRESS).text


def test_looks_one_after_another_describe_the_execution_once() -> None:
    states = States("RUNNING")
    browser = at_execution(states)

    for _ in range(3):
        browser.get(ADDRESS)

    assert states.asked == 1


@pytest.mark.parametrize(
    ("newest", "state"),
    [
        (FAILED, "Build Report"),
        (FAILED[:3], ""),  # its entry is on a page that was not read
        ((event(2, "ExecutionFailed", 1),), ""),
        ((event(9, "MapRunFailed", 8), event(8, "MapStateEntered", 7, "Send Streams"), *FAILED), "Send Streams"),
    ],
)
def test_the_state_that_failed_last_is_found(newest: tuple[dict[str, Any], ...], state: str) -> None:
    assert failed_state(list(newest)) == state
