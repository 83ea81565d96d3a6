"""`paceline forget`: no row, no version of an object and no log has the person; sums, credits and opt-outs stay."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from click.testing import CliRunner, Result

from console.cli import main
from paceline import keys
from paceline.forgetting.spellings import Person
from paceline.opt_outs import TableOptOuts
from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from tests.builders.campaigns import Office, Refusal, an_office, id_of, is_balanced
from tests.builders.core import phone_number

ZEBULON, QUITTER = phone_number(47), phone_number(48)
NAMES = ("Zebulon", "Quirinus")
# Rows 2 to 4 are others; then the two, one of them again in another spelling, and named in somebody else's text.
ROWS = [
    *(f"{phone_number(n)},Ana," for n in (1, 2, 3)),
    f"{ZEBULON},Zebulon,",
    f"{QUITTER},Quirinus,",
    "(202) 555-0147,Zebulon,",
    f"{phone_number(4)},Bea,or her brother at 202.555.0147",
]
FILE = ("phone,first_name,note\n" + "".join(f"{row}\n" for row in ROWS)).encode()
MESSAGE = {"message": "Hi {{first_name}}, your renewal is due {{note|today}}."}
# Takes everything, and of what became of it only late receipts tell.
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0)


def forget(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["forget", "--stack", "paceline", *arguments], env={"COLUMNS": "200"})


def told(*arguments: str, exit_code: int = 0) -> dict[str, Any]:
    done = forget(*arguments, "--json")
    assert done.exit_code == exit_code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def upload(office: Office, campaign_id: str, body: bytes, name: str = "leads.csv") -> None:
    key = f"uploads/acme/{id_of(campaign_id)}/{name}"
    boto3.client("s3").put_object(Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=body)


def hears(office: Office, sender: str, text: str) -> int:
    """Let somebody write to the account's number."""
    url = f"{office.sandbox.outputs['ApiUrl']}/v1/callbacks/twilio?account_id=acme"
    fields = {"From": sender, "To": "+12025550100", "Body": text, "MessageSid": "SM0"}
    return int(office.sandbox.do(office.sandbox.carrier.call_back, url, fields).status)


def everything(office: Office) -> Iterator[tuple[str, str]]:
    """Yield (where, text) of every row, of every version of every object, unpacked too, and of every line logged."""
    items = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=office.sandbox.outputs["TableName"])
    for item in items.search("Items"):
        yield f"row {item['pk']['S']} {item['sk']['S']}", json.dumps(item, ensure_ascii=False)
    client, bucket = boto3.client("s3"), office.sandbox.outputs["BucketName"]
    for version in client.get_paginator("list_object_versions").paginate(Bucket=bucket).search("Versions"):
        body = client.get_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])["Body"].read()
        body = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        yield f"object {version['Key']} {version['VersionId']}", version["Key"] + body.decode()
    for number, line in enumerate(office.sandbox.logs.lines):
        yield f"log {number}", line


def where_is(office: Office, number: str, *words: str) -> set[str]:
    person = Person(number)
    return {where for where, text in everything(office) if person.is_in(text) or any(word in text for word in words)}


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    """Two campaigns of a year, one not started; late receipts, a letter and a STOP; files written over."""
    with an_office(profile=SILENT) as made:
        carriers = [{"phone_number": ZEBULON, "carrier": "Verizon"}, {"phone_number": QUITTER, "carrier": "Verizon"}]
        made.post("/v1/carriers", {"carriers": carriers})
        made.post("/v1/campaigns", {"campaign_id": "later", "name": "Later", **MESSAGE})
        upload(made, "later", gzip.compress(FILE))
        made.post("/v1/campaigns/later/plan")
        made.start(FILE, **MESSAGE)
        made.wait_until(lambda: made.sent > 0)
        upload(made, "renewals", b"phone\n" + phone_number(1).encode())  # written over: the older version stays
        made.report()
        made.receive(4, "delivered")
        made.receive(5, "delivered")
        assert hears(made, ZEBULON, "Thank you, Zebulon here") == 204
        assert hears(made, QUITTER, "STOP") == 204
        made.passes(minutes=20)
        made.report(version=2)
        made.passes(hours=2)
        yield made


@dataclass(frozen=True)
class Before:
    """What there was of Zebulon before he was forgotten, and what the command said, before it erased and then."""

    reports: list[dict[str, Any]]
    places: set[str]
    after_dry_run: set[str]
    listed: dict[str, Any]
    done: dict[str, Any]
    sid: str


@pytest.fixture(scope="module")
def forgotten(office: Office) -> Before:
    [sent] = [entry for entry in office.sandbox.carrier.book if entry.to == ZEBULON]
    words = (ZEBULON, "Zebulon", sent.sid)
    reports, places = [office.report(version=version) for version in (1, 2)], where_is(office, *words)
    listed, after_dry_run = told("(202) 555-0147", "--dry-run"), where_is(office, *words)
    return Before(reports, places, after_dry_run, listed, told("202 555 0147"), sent.sid)


def test_a_person_is_forgotten_everywhere(office: Office, forgotten: Before) -> None:
    assert len(forgotten.places) > 10, "there is something to forget"
    assert any("uploads/" in place for place in forgotten.places), "written over and packed"
    assert where_is(office, ZEBULON, "Zebulon", forgotten.sid) == set()
    for execution, history in office.histories():
        assert not Person(ZEBULON).is_in(json.dumps(history, default=str)), execution.arn


def test_a_dry_run_lists_what_is_erased_then_and_erases_nothing(forgotten: Before) -> None:
    assert forgotten.after_dry_run == forgotten.places
    assert forgotten.listed["accounts"] == forgotten.done["accounts"]
    assert (forgotten.listed["erased"], forgotten.done["erased"]) == (False, True)
    campaigns = {one["campaign_id"]: one["leads"] for one in forgotten.done["accounts"][0]["campaigns"]}
    assert campaigns == {id_of("later"): [], id_of("renewals"): [4]}


def test_what_is_counted_stays(office: Office, forgotten: Before) -> None:
    assert [office.report(version=version) for version in (1, 2)] == forgotten.reports
    assert is_balanced(office, forgotten.reports[1])
    outcomes = {row["lead_no"]: row for row in office.rows("outcomes.csv", version=2)}
    assert (outcomes["4"]["phone_number"], outcomes["4"]["outcome"]) == ("", "delivered")
    assert (outcomes["6"]["phone_number"], outcomes["6"]["outcome"]) == ("", "duplicates")
    assert outcomes["3"]["phone_number"].endswith(phone_number(3))
    assert CliRunner().invoke(main, ["audit", "--stack", "paceline"]).exit_code == 0


def test_a_dry_run_that_named_the_person_is_no_longer_kept(office: Office, forgotten: Before) -> None:
    with pytest.raises(Refusal, match="ask for another"):
        office.call("GET", "/v1/campaigns/later/plan")


def test_a_forgotten_lead_is_told_so(forgotten: Before) -> None:
    explain = ["explain", "--stack", "paceline", id_of("renewals")]
    lead = CliRunner().invoke(main, [*explain, "4", "--json"])
    row = CliRunner().invoke(main, [*explain, "row:7", "--json"])
    by_number = CliRunner().invoke(main, [*explain, ZEBULON])

    found = json.loads(lead.stdout)
    assert (found["forgotten"], found["phone_number_ends_in"], found["status"]) == (True, None, "delivered")
    assert "forgotten at the person's request" in found["about"]
    assert any("paceline forget" in one for one in found["not_told"])
    assert not any("holds the same number" in step["text"] for step in found["steps"])
    assert json.loads(row.stdout)["excluded"]
    assert by_number.exit_code == 2
    assert "no such lead" in by_number.output


def test_the_trail_says_what_was_forgotten_without_the_number(office: Office, forgotten: Before) -> None:
    [row] = office.table.query(keys.audit_partition("FORGETTING"))

    assert row["is_done"]
    [what] = [told for name, told in row["changes"].items() if id_of("renewals") in name]
    assert what["before"]["leads"] == [4]


def test_a_report_after_it_does_not_bring_the_person_back(office: Office, forgotten: Before) -> None:
    office.receive(1, "delivered")
    refused = told(ZEBULON)
    office.passes(minutes=20)

    assert refused["erased"]
    assert office.report(version=3)["difference"]["leads"] == 1
    assert where_is(office, ZEBULON, "Zebulon") == set()


def test_an_opt_out_is_all_that_stays_of_who_said_stop_and_it_is_found(office: Office, forgotten: Before) -> None:
    told(QUITTER)

    person, listed = keys.recipient("acme", QUITTER), keys.opt_out("acme", QUITTER)
    assert where_is(office, QUITTER, "Quirinus") == {f"row {pk} {sk}" for pk, sk in (person, listed)}
    assert (office.table.get(person) or {}).keys() == {"pk", "sk", "opted_out_at"}
    assert TableOptOuts(office.table).opted_out("acme", [QUITTER]) == {QUITTER}
    upload(office, "later", FILE)
    plan = office.post("/v1/campaigns/later/plan")
    assert plan["leads"]["opted_out"] == 1
    assert office.post("/v1/opt-outs", {"phone_numbers": [QUITTER]})["known"] == 1


def test_what_is_no_number_or_no_account_is_exit_status_2(office: Office) -> None:
    for arguments, words in (
        (("12",), "Write it as +12025550101"),
        ((ZEBULON, "--account", "nobody"), "no account 'nobody'"),
    ):
        done = forget(*arguments)

        assert done.exit_code == 2
        assert words in done.output
