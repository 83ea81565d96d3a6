"""Receipts after the report: they make its next version, with what they change in outcomes and in credits."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from tests.builders.campaigns import OPERATOR, Office, an_office, id_of, is_balanced

# Takes everything and never says what became of it.
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0)
BY_DELIVERED = {"charging": {"charged": "delivered"}}


def an_unconfirmed_campaign(office: Office, leads: int = 5) -> dict[str, Any]:
    """Run a campaign whose messages are all unconfirmed; only what is delivered is charged."""
    office.call("PATCH", "/v1/admin/accounts/acme", BY_DELIVERED, OPERATOR)
    office.start(leads)
    report = office.report()
    assert report["outcomes"]["unconfirmed"] == leads
    assert report["credits"] == {"reserved": leads, "consumed": 0, "released": leads}
    return report


def versions(office: Office) -> list[int]:
    """Return the versions of the report that there are."""
    bucket = office.sandbox.outputs["BucketName"]
    found = boto3.client("s3").list_objects_v2(Bucket=bucket, Prefix=f"campaigns/{id_of('renewals')}/report/")[
        "Contents"
    ]
    return sorted(int(entry["Key"].split("/")[3][1:]) for entry in found if entry["Key"].endswith("/report.json"))


def test_late_receipts_together_make_one_version_with_the_difference() -> None:
    with an_office(profile=SILENT) as office:
        an_unconfirmed_campaign(office)
        office.passes(hours=5)

        office.receive(1, "delivered")
        office.receive(2, "delivered")
        office.receive(3, "undelivered", "30007")
        office.passes(minutes=20)

        report = office.report(version=2)
        assert report["outcomes"] | {"total": 5} == {
            "delivered": 2, "undelivered": 1, "failed": 0, "skipped": 0, "unconfirmed": 2, "total": 5,
        }  # fmt: skip
        assert report["difference"] == {
            "since_version": 1,
            "leads": 3,
            "outcomes": {"delivered": 2, "undelivered": 1, "unconfirmed": -3},
            "credits": {"consumed": 2, "released": -2},
            "waived": 0,
        }
        assert is_balanced(office, report)
        assert versions(office) == [1, 2]
        assert [tuple(row.values()) for row in office.rows("changes.csv", version=2)] == [
            ("1", "unconfirmed", "no_final_receipt", "delivered", ""),
            ("2", "unconfirmed", "no_final_receipt", "delivered", ""),
            ("3", "unconfirmed", "no_final_receipt", "undelivered", "carrier_filtered"),
        ]
        assert office.report(version=1)["outcomes"]["unconfirmed"] == 5, "a version stays as it was"
        assert office.shown()["report_version"] == 2
        assert office.shown()["status"] == "finished"
        assert report["finished_at"] == office.report(version=1)["finished_at"]


def test_each_crowd_of_late_receipts_makes_its_version() -> None:
    with an_office(profile=SILENT) as office:
        an_unconfirmed_campaign(office)

        for lead_no in (1, 2):
            office.receive(lead_no, "delivered")
            office.passes(minutes=20)
        office.receive(1, "undelivered", "30003")  # delivered is proof: this changes nothing
        office.receive(2, "delivered")  # again: neither does this
        office.passes(minutes=20)

        assert versions(office) == [1, 2, 3]
        assert [row["lead_no"] for row in office.rows("changes.csv", version=3)] == ["2"]
        assert is_balanced(office, office.report(version=3))


def test_a_receipt_while_the_next_report_waits_is_part_of_it() -> None:
    with an_office(profile=SILENT) as office:
        an_unconfirmed_campaign(office)

        for lead_no in (1, 2, 3):
            office.receive(lead_no, "delivered")
            office.passes(minutes=4)
        office.passes(minutes=20)

        assert versions(office) == [1, 2]
        assert office.report(version=2)["outcomes"]["delivered"] == 3


@pytest.mark.parametrize("seconds_before", [0.0, 0.05, 0.2])
def test_a_receipt_while_the_next_report_is_built_is_in_one_version(seconds_before: float) -> None:
    with an_office(profile=SILENT) as office:
        an_unconfirmed_campaign(office)
        office.receive(1, "delivered")

        office.passes(seconds=900 - seconds_before)
        office.receive(2, "delivered")
        office.passes(hours=1)

        last = max(versions(office))
        listed = [row["lead_no"] for n in range(2, last + 1) for row in office.rows("changes.csv", version=n)]
        assert sorted(listed) == ["1", "2"]
        assert is_balanced(office, office.report(version=last))
        assert office.report(version=last)["outcomes"]["delivered"] == 2


def test_no_more_is_charged_late_than_the_account_has() -> None:
    with an_office(profile=SILENT, credits=5) as office:
        an_unconfirmed_campaign(office)
        spend(office, 4)

        for lead_no in (1, 2, 3):
            office.receive(lead_no, "delivered")
        office.passes(minutes=20)

        report = office.report(version=2)
        assert report["difference"]["credits"] == {"consumed": 1, "released": -1}
        assert report["difference"]["waived"] == 2
        assert report["balanced"]
        assert office.account().available == 0


def spend(office: Office, credits: int) -> None:
    """Let another campaign hold so many credits."""
    office.set_route(is_enabled=False)
    table = boto3.client("dynamodb")
    table.update_item(
        TableName=office.sandbox.outputs["TableName"],
        Key={"pk": {"S": "ACCOUNT#acme"}, "sk": {"S": "ACCOUNT"}},
        UpdateExpression="ADD available :minus, reserved :n",
        ExpressionAttributeValues={":minus": {"N": str(-credits)}, ":n": {"N": str(credits)}},
    )


def test_while_receipts_are_waited_for_the_campaign_says_so_first() -> None:
    with an_office(profile=SILENT) as office:
        office.start(3)
        assert office.shown()["headline"] == ""
        office.wait_until(lambda: office.sent == 3)
        office.receive(1, "delivered")
        office.passes(minutes=5)

        shown = office.shown()

        assert shown["messages"] == {"delivered": 1, "sent": 2}
        assert shown["headline"].startswith(
            "The queue is empty; 1 reached a handset; 2 are still open. The report comes"
        )
        office.report()
        assert office.shown()["headline"] == ""


def test_a_better_word_before_the_report_is_charged_in_it() -> None:
    with an_office(profile=SILENT) as office:
        office.call("PATCH", "/v1/admin/accounts/acme", BY_DELIVERED, OPERATOR)
        office.start(2)
        office.wait_until(lambda: office.sent == 2)
        office.receive(1, "undelivered", "30003")
        office.passes(minutes=10)  # looked at, and counted as it was

        office.receive(1, "delivered")

        report = office.report()
        assert (report["outcomes"]["delivered"], report["outcomes"]["unconfirmed"]) == (1, 1)
        assert report["credits"]["consumed"] == 1
        assert is_balanced(office, report)
        office.passes(hours=1)
        assert versions(office) == [1]


def test_what_only_the_providers_book_knew_is_listed() -> None:
    with an_office(profile=SILENT) as office:
        office.start(3)
        office.passes(minutes=10)
        office.sandbox.carrier.book[1].status = "delivered"  # and its receipt is lost

        report = office.report()

        assert (report["outcomes"]["delivered"], report["provider_differences"]) == (1, 1)
        [row] = office.rows("differences.csv")
        assert (row["lead_no"], row["ours"], row["provider"]) == ("2", "sent", "delivered")
        assert "differences.csv" in office.call("GET", "/v1/campaigns/renewals/report")["files"]


def test_the_api_gives_any_version_and_the_last_without_being_asked() -> None:
    with an_office(profile=SILENT) as office:
        an_unconfirmed_campaign(office)
        office.receive(1, "delivered")
        office.passes(minutes=20)

        path = "/v1/campaigns/renewals/report"
        assert office.call("GET", path)["version"] == 2
        assert "changes.csv" in office.call("GET", path)["files"]
        assert office.call("GET", f"{path}?version=1")["version"] == 1
