"""Batch objects that are gone, cut short or overwritten: their leads are skipped for that, and all others are sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import boto3
import pytest

from tests.builders.campaigns import Office, an_office, is_balanced

Damage = Callable[[bytes], bytes | None]
LEADS = 60


def damage(office: Office, how: Damage, name: str = "leads/shared-01-0001.jsonl") -> None:
    """Change an object of the campaign; None: it is gone."""
    s3, place = boto3.client("s3"), {"Bucket": office.sandbox.outputs["BucketName"]}
    place["Key"] = f"{office.planned_at}/{name}"
    body = how(s3.get_object(**place)["Body"].read())
    if body is None:
        s3.delete_object(**place)
    else:
        s3.put_object(**place, Body=body)


def start_in_a_minute(office: Office) -> None:
    office.start(LEADS, start_at=(office.now + timedelta(minutes=1)).isoformat())
    office.passes(seconds=30)


def line_without(field: str, line_no: int) -> Damage:
    """Let a line lack a field; it stays as long as it was."""

    def changed(body: bytes) -> bytes:
        lines = body.split(b"\n")
        fields: dict[str, Any] = json.loads(lines[line_no - 1])
        fields.pop(field)
        lines[line_no - 1] = json.dumps(fields).encode().ljust(len(lines[line_no - 1]))[: len(lines[line_no - 1])]
        return b"\n".join(lines)

    return changed


@pytest.mark.parametrize(
    ("how", "lost"),
    [
        pytest.param(line_without("phone_number", 3), 1, id="a line without its number"),
        pytest.param(lambda body: b"\0" * 40 + body[40:], 1, id="the first bytes overwritten"),
        pytest.param(lambda body: body[: len(body) // 2], LEADS // 2, id="cut in half"),
        pytest.param(lambda body: b"[]", LEADS, id="another object"),
        pytest.param(lambda body: None, LEADS, id="gone"),
    ],
)
def test_leads_that_cannot_be_read_are_skipped_for_it_and_the_others_are_sent(how: Damage, lost: int) -> None:
    with an_office() as office:
        start_in_a_minute(office)
        damage(office, how)

        report = office.report()

        assert office.execution().status == "SUCCEEDED"
        assert abs(report["outcomes"]["skipped"] - lost) <= (1 if 1 < lost < LEADS else 0)
        assert report["causes"].get("skipped") == {"lead_unreadable": report["outcomes"]["skipped"]}
        assert report["outcomes"]["delivered"] == office.sent == LEADS - report["outcomes"]["skipped"]
        assert is_balanced(office, report)
        outcomes = office.rows("outcomes.csv")
        assert [row["lead_no"] for row in outcomes] == [str(number) for number in range(1, LEADS + 1)]


def test_leads_that_can_no_longer_be_read_in_mid_sending_are_no_fate_of_what_was_sent() -> None:
    with an_office(route={"parts_per_minute": 20}) as office:
        start_in_a_minute(office)
        office.wait_until(lambda: office.sent >= 10)
        damage(office, lambda body: None)

        report = office.report()

        assert 10 <= office.sent < LEADS
        assert report["outcomes"]["delivered"] == office.sent
        assert report["causes"]["skipped"].keys() == {"lead_unreadable"}
        assert office.most_texts_to_one_person() == 1
        assert is_balanced(office, report)


def test_leads_whose_numbers_are_gone_too_are_missing_in_the_sums_and_hold_no_credit() -> None:
    with an_office() as office:
        start_in_a_minute(office)
        for name in ("leads/shared-01-0001.jsonl", "leads/shared-01-0001.numbers.json"):
            damage(office, lambda body: None, name)

        report = office.report()

        assert office.execution().error == "SumsDoNotClose"
        assert not report["balanced"]
        assert office.account().reserved == office.sent == 0
