"""The story's night: 22,178 records in (`make story`; a tenth of them here), and for each what became of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from events.make_leads import lead_file
from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Fate, Profile
from sandbox.customer import Customer, set_up
from sandbox.world import START, Sandbox


@dataclass(frozen=True)
class Breakdown:
    """How many records, and what becomes of them. filtered, unreached: of the failed, by the carrier and finally."""

    records: int
    delivered: int
    unconfirmed: int
    failed: int
    filtered: int
    unreached: int
    skipped: int

    @property
    def carrier(self) -> Profile:
        exact = (
            (DELIVERED, self.delivered),
            (FILTERED, self.filtered),
            (Fate("undelivered", "30003"), self.failed - self.filtered - self.unreached),
            (Fate("failed", "30008"), self.unreached),
            (NO_FINAL_RECEIPT, self.unconfirmed),
        )
        return Profile(exact=exact, doubled=0.0, intermediate=False)


STORY = Breakdown(22_178, 11_497, 2_360, 7_075, 6_028, 400, 1_246)
TENTH = Breakdown(2_218, 1_150, 236, 708, 603, 40, 124)
MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply STOP to opt out."


@pytest.mark.parametrize(
    "story", [pytest.param(TENTH, id="a tenth"), pytest.param(STORY, id="whole", marks=pytest.mark.whole)]
)
def test_the_report_says_of_22178_records_what_the_story_says(story: Breakdown) -> None:
    leads = lead_file(seed=3, count=story.records, name="leads.csv", carriers=False)
    numbers = [line.split(",")[0] for line in leads.decode().splitlines()[1:]]
    with Sandbox(seed=1, profile=story.carrier) as sandbox:
        # Given a campaign that is planned, and starts in half an hour
        customer = set_up(sandbox, credits=60_000, parts_per_minute=240, parts_per_day=100_000)
        start_at = (START + timedelta(minutes=30)).isoformat()
        campaign_id = customer.create(leads, message=MESSAGE, start_at=start_at)
        customer.post(f"/v1/campaigns/{campaign_id}/start")
        sandbox.scheduler.run(deadline=sandbox.scheduler.microseconds + 60_000_000)

        # When people say STOP before their message goes, and the campaign runs to its end
        _say_stop(sandbox, numbers[:: story.records // story.skipped][: story.skipped])
        execution = sandbox.execution(campaign_id)
        sandbox.run_until(execution.done)

        # Then the report's outcomes are the story's, and its sums close
        assert execution.status == "SUCCEEDED"
        report = customer.get(f"/v1/campaigns/{campaign_id}/report")
        outcomes = report["outcomes"]
        n = story.records
        all_accepted = {"in": n, "rejected": 0, "duplicates": 0, "opted_out": 0, "accepted": n}
        assert report["leads"] == all_accepted
        assert outcomes["delivered"] == story.delivered
        assert outcomes["unconfirmed"] == story.unconfirmed
        assert outcomes["failed"] + outcomes["undelivered"] == story.failed
        assert report["causes"]["undelivered"]["carrier_filtered"] == story.filtered
        assert outcomes["skipped"] == story.skipped
        assert report["causes"]["skipped"] == {"opted_out": story.skipped}
        assert sum(outcomes.values()) == story.records
        assert report["balanced"]
        assert all(words in report["headline"] for words in _said(story))
        assert report["max_sent_in_60_seconds"]["shared"] <= 240

        # And the file with one row a lead says the same
        assert _outcomes_by_lead(customer, report) == {name: count for name, count in outcomes.items() if count}


def _said(story: Breakdown) -> Iterator[str]:
    numbers = (story.records, story.delivered, story.unconfirmed, story.failed, story.filtered, story.skipped)
    return (f"{number:,}" for number in numbers)


def _say_stop(sandbox: Sandbox, numbers: list[str]) -> None:
    """Let people answer STOP, by the provider's inbound callback."""
    url = f"{sandbox.outputs['ApiUrl']}/v1/callbacks/twilio?account_id=acme"

    def say(number: str) -> None:
        answer = sandbox.carrier.call_back(
            url, {"MessageSid": "SM1", "From": number, "To": "+12025550100", "Body": "Stop."}
        )
        assert answer.status == 204

    for number in numbers:
        sandbox.do(say, number)


def _outcomes_by_lead(customer: Customer, report: dict[str, dict[str, str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(customer.download(report["files"]["outcomes.csv"]).decode())):
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
    return counts
