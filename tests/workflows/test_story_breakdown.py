"""The story's night, whole: 22,178 records in, and for each the one word of what became of it."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

from events.make_leads import lead_file
from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Fate, Profile
from sandbox.customer import Customer, set_up
from sandbox.world import START, Sandbox

IN, DELIVERED_COUNT, UNCONFIRMED, FAILED, FILTERED_COUNT, SKIPPED = 22_178, 11_497, 2_360, 7_075, 6_028, 1_246

CARRIER = Profile(
    exact=(
        (DELIVERED, DELIVERED_COUNT),
        (FILTERED, FILTERED_COUNT),
        (Fate("undelivered", "30003"), FAILED - FILTERED_COUNT - 400),
        (Fate("failed", "30008"), 400),
        (NO_FINAL_RECEIPT, UNCONFIRMED),
    ),
    doubled=0.0,
    intermediate=False,
)
MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply STOP to opt out."


def test_the_report_says_of_22178_records_what_the_story_says() -> None:
    leads = lead_file(seed=3, count=IN, name="leads.csv", carriers=False)
    numbers = [line.split(",")[0] for line in leads.decode().splitlines()[1:]]
    with Sandbox(seed=1, profile=CARRIER) as sandbox:
        # Given a campaign that is planned, and starts in half an hour
        customer = set_up(sandbox, credits=60_000, parts_per_minute=240, parts_per_day=100_000)
        start_at = (START + timedelta(minutes=30)).isoformat()
        campaign_id = customer.create(leads, message=MESSAGE, start_at=start_at)
        customer.post(f"/v1/campaigns/{campaign_id}/start")
        sandbox.scheduler.run(deadline=sandbox.scheduler.microseconds + 60_000_000)

        # When 1,246 people say STOP before their message goes, and the campaign runs to its end
        _say_stop(sandbox, numbers[:: IN // SKIPPED][:SKIPPED])
        execution = sandbox.execution(campaign_id)
        sandbox.run_until(execution.done)

        # Then the report's outcomes are the story's, and its sums close
        assert execution.status == "SUCCEEDED"
        report = customer.get(f"/v1/campaigns/{campaign_id}/report")
        outcomes = report["outcomes"]
        assert report["leads"] == {"in": IN, "rejected": 0, "duplicates": 0, "opted_out": 0, "accepted": IN}
        assert outcomes["delivered"] == DELIVERED_COUNT
        assert outcomes["unconfirmed"] == UNCONFIRMED
        assert outcomes["failed"] + outcomes["undelivered"] == FAILED
        assert report["causes"]["undelivered"]["carrier_filtered"] == FILTERED_COUNT
        assert outcomes["skipped"] == SKIPPED
        assert report["causes"]["skipped"] == {"opted_out": SKIPPED}
        assert sum(outcomes.values()) == IN
        assert report["balanced"]
        assert all(words in report["headline"] for words in ("22,178", "11,497", "2,360", "7,075", "6,028", "1,246"))
        assert report["max_sent_in_60_seconds"]["shared"] <= 240

        # And the file with one row a lead says the same
        assert _outcomes_by_lead(customer, report) == {name: count for name, count in outcomes.items() if count}


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
