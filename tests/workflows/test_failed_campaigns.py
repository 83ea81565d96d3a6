"""A campaign whose workflow fails: what was sent is settled, what was not is skipped, and then it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from sandbox.deployment import ROOT
from sandbox.engine import TaskFailed
from sandbox.integrations import SandboxIntegrations
from tests.builders.campaigns import OPERATOR, Office, an_office, is_balanced
from tests.builders.core import phone_number


@pytest.fixture
def intolerant(tmp_path: Path) -> Path:
    """The template with a definition that tolerates no failed stream, so that one ends the Map of all."""
    definition = json.loads((ROOT / "statemachines" / "campaign.asl.json").read_text())
    definition["States"]["Send Streams"]["ToleratedFailurePercentage"] = 0
    (tmp_path / "statemachines").mkdir()
    (tmp_path / "statemachines" / "campaign.asl.json").write_text(json.dumps(definition))
    (tmp_path / "functions").symlink_to(ROOT / "functions")
    (tmp_path / "template.yaml").write_text((ROOT / "template.yaml").read_text())
    return tmp_path / "template.yaml"


def take(office: Office, name: str) -> Callable[[], object]:
    """Let an object of the campaign be gone; return what puts it back."""
    s3, place = boto3.client("s3"), {"Bucket": office.sandbox.outputs["BucketName"]}
    place["Key"] = f"{office.planned_at}/{name}"
    body = s3.get_object(**place)["Body"].read()
    s3.delete_object(**place)
    return lambda: s3.put_object(**place, Body=body)


def start_in_a_minute(office: Office, leads: int | bytes, **fields: Any) -> None:
    """Start a campaign that is planned at once, and sends a minute later."""
    office.start(leads, start_at=(office.now + timedelta(minutes=1)).isoformat(), **fields)
    office.passes(seconds=30)


def two_carriers(leads: int) -> bytes:
    """A file of people who are Verizon's, every second one."""
    rows = "".join(f"{phone_number(n)},Ana,{'Verizon' if n % 2 else ''}\n" for n in range(1, leads + 1))
    return f"phone,first_name,carrier\n{rows}".encode()


def assert_is_told(office: Office, report: dict[str, Any], failure: str) -> None:
    """The failure has its name, in the report and in the execution, and nothing is left open."""
    execution = office.execution()
    assert (execution.status, execution.error) == ("FAILED", failure)
    assert (report["status"], report["reason"].partition(":")[0]) == ("failed", failure)
    assert office.shown()["status"] == "failed"
    assert is_balanced(office, report)
    assert report["outcomes"]["delivered"] == office.sent
    assert office.most_texts_to_one_person() <= 1


def test_a_campaign_that_fails_in_mid_sending_settles_what_it_sent_and_skips_the_rest(intolerant: Path) -> None:
    with an_office(template=intolerant, route={"parts_per_minute": 10}) as office:
        verizon = {"name": "verizon", "carriers": ["Verizon"], "parts_per_minute": 10}
        office.post("/v1/admin/routes", verizon, OPERATOR)
        start_in_a_minute(office, two_carriers(40), receipt_deadline_hours=72)
        take(office, "streams/verizon-01.json")
        began = office.now

        report = office.report()

        assert_is_told(office, report, "States.ExceedToleratedFailureThreshold")
        assert 0 < office.sent < 20
        assert report["outcomes"]["skipped"] == 40 - office.sent
        of_routes = {one["route"]: one for one in office.shown()["by_route"]}
        assert of_routes["verizon"]["messages"] == {"skipped": 20}
        assert of_routes["shared"]["parts_sent"] == office.sent
        assert (office.now - began).total_seconds() < 3600  # it does not wait for the receipt deadline


def test_a_campaign_whose_streams_cannot_be_read_sends_nothing_and_reserves_nothing() -> None:
    with an_office() as office:
        start_in_a_minute(office, 5)
        take(office, "streams.json")

        report = office.report()

        assert_is_told(office, report, "States.ItemReaderFailed")
        assert report["outcomes"]["skipped"] == 5


@pytest.mark.parametrize("manifest", ["streams.json", "streams/shared-01.json"])
def test_a_manifest_that_cannot_be_read_for_some_seconds_is_read_again(manifest: str) -> None:
    with an_office() as office:
        start_in_a_minute(office, 5)
        put_back = take(office, manifest)
        office.passes(seconds=35)
        put_back()

        report = office.report()

        assert (report["status"], report["outcomes"]["delivered"]) == ("finished", 5)


def unreadable(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Let Step Functions, and nobody else, fail to read the objects with this in their key."""
    get_object = SandboxIntegrations.get_object

    def fail(self: SandboxIntegrations, bucket: str, key: str, **rest: Any) -> bytes:
        if part in key:
            raise TaskFailed("S3.SdkClientException", "no answer")
        return get_object(self, bucket, key, **rest)

    monkeypatch.setattr(SandboxIntegrations, "get_object", fail)


def test_a_look_that_fails_is_made_up_for_by_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable(monkeypatch, "/open/000.json")
    with an_office() as office:
        office.start(5)

        report = office.report()

        assert (report["status"], report["outcomes"]["delivered"]) == ("finished", 5)
        assert is_balanced(office, report)


def test_a_campaign_whose_looks_all_fail_ends_with_their_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable(monkeypatch, "/open/")
    with an_office() as office:
        execution = office.start(5)

        report = office.report()

        assert (execution.status, execution.error) == ("FAILED", "States.ItemReaderFailed")
        assert (report["status"], report["balanced"]) == ("failed", False)


def test_a_campaign_that_could_not_be_planned_reports_at_once() -> None:
    with an_office() as office:
        office.start(b"name\nAna\n")
        began = office.now

        report = office.report()

        assert_is_told(office, report, "LeadFileInvalid")
        assert (office.now - began).total_seconds() < 60
