"""The outcome report: what it counts, what it says first, and the sums that prove it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from report_builders import NOON, a_campaign, a_message, a_plan, a_report, a_skipped_message, the_story

from paceline.models import LeadCounts, Message
from paceline.report import Credits, Report
from paceline.status import MessageStatus

DELIVERED, UNDELIVERED, FAILED = MessageStatus.DELIVERED, MessageStatus.UNDELIVERED, MessageStatus.FAILED


def broken(report: Report) -> list[str]:
    return [one.left.name for one in report.sums if not one.closes]


def test_the_storys_messages_are_each_in_one_outcome_and_the_headline_says_so() -> None:
    plan = a_plan(
        22_178, leads=LeadCounts(total=23_986, rejected=1_000, duplicates=500, opted_out=308, accepted=22_178)
    )

    report = a_report(the_story(), plan=plan)

    assert report.balanced
    assert report.outcomes.model_dump() == {
        "delivered": 11_497,
        "undelivered": 6_875,
        "failed": 200,
        "skipped": 1_246,
        "unconfirmed": 2_360,
    }
    assert report.causes["undelivered"]["carrier_filtered"] == 6_028
    assert report.headline == (
        "All 22,178 messages have an outcome: 11,497 reached handsets, 2,360 have no final receipt by the deadline, "
        "7,075 failed (6,028 of them filtered by the carrier), 1,246 were skipped on purpose."
    )


def test_report_json_spells_the_leads_that_came_in_as_in() -> None:
    report = a_report([a_message()])

    assert report.model_dump(mode="json", by_alias=True)["leads"]["in"] == 1


def test_messages_in_any_order_make_the_same_report() -> None:
    messages = [*(a_message(n, route="verizon" if n % 3 else "shared") for n in range(1, 50)), a_skipped_message(50)]

    assert a_report(messages) == a_report(reversed(messages))


@pytest.mark.parametrize(
    ("messages", "accepted", "off"),
    [
        pytest.param([a_message(1)], 2, "1 accepted lead without a message", id="a lead is missing"),
        pytest.param([a_message(1), a_message(1)], 1, "1 lead with more than one message", id="a lead is doubled"),
        pytest.param(
            [a_message(1), a_message(2, status=MessageStatus.SENT)],
            2,
            "1 message without a final outcome",
            id="a message is not final",
        ),
        # the totals agree, and yet the sums must not close
        pytest.param(
            [a_message(1), a_message(1)],
            2,
            "1 accepted lead without a message, 1 lead with more than one message",
            id="a doubled lead hides a missing one",
        ),
        pytest.param(
            [a_message(1), a_message(9)], 1, "1 lead with a message that was not accepted", id="a stray message"
        ),
        pytest.param(
            [a_message(1), a_message(9, status=MessageStatus.UNKNOWN)],
            1,
            "1 message without a final outcome, 1 lead with a message that was not accepted",
            id="a stray message that is not final",
        ),
        pytest.param([a_message(1), a_message(0)], 1, "1 message with an impossible lead number", id="lead 0"),
        pytest.param([a_message(10**9)], 0, "1 message with an impossible lead number", id="an absurd lead number"),
    ],
)
def test_a_lead_that_is_not_in_exactly_one_outcome_breaks_the_sums(
    messages: list[Message], accepted: int, off: str
) -> None:
    report = a_report(messages, plan=a_plan(accepted))

    assert not report.balanced
    assert broken(report)
    assert all(one.off.endswith(off) for one in report.sums if not one.closes)
    assert report.headline.startswith("The sums do not close: the ")


@pytest.mark.parametrize("released", [2, 4], ids=["one credit is lost", "one credit is made up"])
def test_credits_that_are_off_by_one_break_their_sum_alone(released: int) -> None:
    report = a_report([a_message()], credits=Credits(reserved=4, consumed=1, released=released))

    assert not report.balanced
    assert broken(report) == ["reserved"]
    assert report.sums[-1].off == "off by 1 credit"


def test_the_headline_of_a_report_whose_sums_do_not_close_says_what_is_off_once() -> None:
    report = a_report([a_message(1)], plan=a_plan(3), credits=Credits(reserved=3, consumed=1, released=1))

    assert report.headline == (
        "The sums do not close: the accepted leads are off by 2 leads: 2 accepted leads without a message; "
        "the reserved credits are off by 1 credit. Counted so far: 1 reached a handset."
    )


def test_leads_that_planning_lost_break_the_first_sum() -> None:
    plan = a_plan(1, leads=LeadCounts(total=5, rejected=1, duplicates=1, opted_out=1, accepted=1))

    report = a_report([a_message()], plan=plan)

    assert broken(report) == ["in"]
    assert not report.balanced


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"messages": [a_message()]}, "The only message has an outcome: 1 reached a handset.", id="one"),
        pytest.param(
            {"messages": [a_message(1), a_message(2)]}, "Both messages have an outcome: 2 reached handsets.", id="two"
        ),
        pytest.param(
            {"messages": [a_message(n, status=FAILED, cause="carrier_filtered") for n in (1, 2, 3)]},
            "All 3 messages have an outcome: 3 failed (all of them filtered by the carrier).",
            id="one cause for all",
        ),
        pytest.param(
            {"messages": [a_message(1, status=UNDELIVERED), a_skipped_message(2), a_skipped_message(3)]},
            "All 3 messages have an outcome: 1 failed, 2 were skipped on purpose.",
            id="a failure without a cause",
        ),
        pytest.param({"messages": []}, "There were no leads, so nothing was sent.", id="an empty file"),
        pytest.param(
            {"messages": [], "plan": a_plan(0, leads=LeadCounts(total=12, rejected=12))},
            "Nothing was sent: none of the 12 leads in the file could be accepted.",
            id="no lead accepted",
        ),
        pytest.param(
            {"messages": [a_skipped_message(1, "cancelled")], "status": "cancelled"},
            "The campaign was cancelled. The only message has an outcome: 1 was skipped on purpose.",
            id="cancelled",
        ),
        pytest.param(
            {"messages": [], "status": "cancelled", "reason": "cancelled on request"},
            "The campaign was cancelled on request. There were no leads, so nothing was sent.",
            id="cancelled, with the reason",
        ),
        pytest.param(
            {"messages": [], "status": "failed", "reason": "the file has no phone column."},
            "The campaign failed: the file has no phone column. Nothing was sent.",
            id="failed before it planned",
        ),
    ],
)
def test_the_headline_has_the_right_words_and_plurals(changes: dict[str, Any], expected: str) -> None:
    assert a_report(**changes).headline == expected


def test_each_route_has_its_own_outcomes_parts_and_times() -> None:
    messages = [
        a_message(1, route="shared", parts=2),
        a_message(2, route="shared", status=UNDELIVERED, cause="carrier_filtered"),
        a_message(3, route="verizon"),
        a_skipped_message(4, route="verizon", parts=9),  # never sent: its parts are not the route's
    ]

    report = a_report(messages, caps={"shared": 240})

    shared, verizon = report.by_route["shared"], report.by_route["verizon"]
    assert (shared.parts, shared.outcomes.delivered, shared.outcomes.undelivered) == (3, 1, 1)
    assert (shared.first_sent_at, shared.last_sent_at) == (messages[0].sent_at, messages[1].sent_at)
    assert (shared.parts_per_minute_cap, verizon.parts_per_minute_cap) == (240, None)
    assert (verizon.parts, verizon.outcomes.skipped) == (1, 1)


def test_a_cause_is_counted_where_one_is_owed_and_not_where_there_is_none() -> None:
    messages = [a_message(1), a_message(2, status=MessageStatus.UNCONFIRMED), a_message(3, status=FAILED)]

    assert a_report(messages).causes == {"failed": {"not_stated": 1}}


def test_the_campaign_lasts_from_its_first_claim_to_its_last_outcome() -> None:
    report = a_report([a_message(2), a_message(1), a_skipped_message(3, final_at=NOON + timedelta(hours=2))])

    assert report.started_at == NOON + timedelta(seconds=0.25)
    assert report.finished_at == NOON + timedelta(hours=2)


def test_a_campaign_without_messages_lasts_from_its_start_time_until_now() -> None:
    start = NOON + timedelta(hours=1)

    report = a_report([], campaign=a_campaign(start_at=start), status="failed")

    assert (report.started_at, report.finished_at) == (start, report.generated_at)


def test_time_lost_is_given_by_cause_the_largest_first() -> None:
    report = a_report([a_message()], lost_to={"pace": 3.5, "route_day_cap": 7200.0})

    assert list(report.lost_to.items()) == [("route_day_cap", 7200.0), ("pace", 3.5)]
