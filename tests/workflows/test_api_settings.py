"""What operators set of an account, and what customers import, has its effect; and who set it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from sandbox.gateway import Answer
from tests.builders.campaigns import OPERATOR, Office, Refusal, an_office
from tests.builders.core import phone_number


@pytest.fixture
def office() -> Iterator[Office]:
    """Two routes; it is noon in New York."""
    with an_office() as office:
        office.post("/v1/admin/routes", {"name": "verizon", "carriers": ["Verizon"]}, OPERATOR)
        yield office


def plan(office: Office, file: str, **fields: Any) -> dict[str, Any]:
    made = office.post("/v1/campaigns", {"name": "N", "message": "Hi", **fields})["campaign_id"]
    key = f"uploads/acme/{made}/leads.csv"
    boto3.client("s3").put_object(Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=file.encode())
    return office.post(f"/v1/campaigns/{made}/plan")


def set_account(office: Office, **fields: Any) -> dict[str, Any]:
    return office.call("PATCH", "/v1/admin/accounts/acme", fields, OPERATOR)


def leads_by_route(planned: dict[str, Any]) -> dict[str, int]:
    return {stream["route"]: stream["leads"] for stream in planned["streams"]}


def newest_change(office: Office) -> dict[str, Any]:
    found: dict[str, Any] = office.call("GET", "/v1/admin/accounts/acme/changes", key=OPERATOR)["changes"][0]
    return found


def writes(office: Office, person: str, text: str) -> Answer:
    """Let a person write to the account's number; return what the provider is answered."""
    fields = {"From": person, "To": "+12025550100", "Body": text, "MessageSid": "SM1"}
    url = f"{office.sandbox.outputs['ApiUrl']}/v1/callbacks/twilio?account_id=acme"
    return office.sandbox.do(office.sandbox.carrier.call_back, url, fields)


def test_an_imported_carrier_routes_a_lead_whose_file_says_none(office: Office) -> None:
    file = f"phone\n{phone_number(1)}\n{phone_number(2)}\n"
    before = leads_by_route(plan(office, file))

    entries = [{"phone_number": phone_number(1), "carrier": "Verizon"}, {"phone_number": "911", "carrier": "X"}]
    imported = office.post("/v1/carriers", {"carriers": entries})
    after = leads_by_route(plan(office, file))
    audited = newest_change(office)["changes"]
    office.post("/v1/carriers", {"carriers": [{"phone_number": phone_number(1), "carrier": ""}]})

    assert (before, after) == ({"shared": 2}, {"verizon": 1, "shared": 1})
    assert (imported["kept"], [one["row_number"] for one in imported["refused"]]) == (1, [2])
    assert leads_by_route(plan(office, file)) == before
    assert audited == {"carriers": {"before": None, "after": {"added": 1}}}


def test_an_accounts_rules_of_routing_decide_and_name_routes_that_exist(office: Office) -> None:
    file = f"phone,carrier\n{phone_number(1)},Sprint\n{phone_number(2)},\n"

    set_account(office, routing={"carriers": {"Sprint": "verizon"}})
    by_carrier = leads_by_route(plan(office, file))
    set_account(office, routing={"otherwise": "verizon"})
    otherwise = leads_by_route(plan(office, file))

    assert by_carrier == {"verizon": 1, "shared": 1}
    assert otherwise == {"verizon": 2}
    for rules in ({"carriers": {"Sprint": "nowhere"}}, {"otherwise": "nowhere"}):
        with pytest.raises(Refusal) as refused:
            set_account(office, routing=rules)
        assert (refused.value.status, refused.value.problem["field"]) == (422, "routing")


def test_an_accounts_window_keeps_its_campaigns_until_it_opens(office: Office) -> None:
    set_account(office, sending_window={"opens": "14:00", "closes": "20:00"})

    office.start(2)
    office.report()

    assert min(office.sent_times()) >= datetime(2026, 9, 2, 18, tzinfo=UTC)
    assert newest_change(office)["changes"]["sending_window"]["after"] == {"opens": "14:00:00", "closes": "20:00:00"}


def test_help_is_answered_with_the_accounts_own_text(office: Office) -> None:
    text = "Acme Insurance: call 202-555-0100."
    set_account(office, help_text=text)

    answer = writes(office, phone_number(1), "Help?")

    assert answer.status == 200
    assert text.encode() in answer.body
    assert newest_change(office)["changes"] == {"help_text": {"before": "", "after": text}}


def test_a_stop_ends_what_is_queued_already_and_a_start_lets_the_next_campaign_send(office: Office) -> None:
    office.set_route(parts_per_minute=60)
    office.start(40)
    office.wait_until(lambda: office.sent >= 5)

    for text, person in (("S T O P", 39), ("ｓｔｏｐ", 40), ("please do not stop", 38)):
        writes(office, phone_number(person), text)
    report = office.report()
    sent_to = {entry.to for entry in office.sandbox.carrier.book}
    writes(office, phone_number(39), "Start.")
    again = plan(office, f"phone\n{phone_number(39)}\n{phone_number(40)}\n")

    assert report["outcomes"]["skipped"] == 2
    assert {phone_number(39), phone_number(40)}.isdisjoint(sent_to)
    assert phone_number(38) in sent_to
    assert (again["leads"]["accepted"], again["leads"]["opted_out"]) == (1, 1)
    assert {row["cause"] for row in office.rows("outcomes.csv") if row["outcome"] == "skipped"} == {"opted_out"}


def test_a_recipient_gets_no_more_than_the_campaigns_cap_in_a_day(office: Office) -> None:
    office.start(2, "first")
    office.report("first")

    office.start(3, "second", max_messages_per_recipient_24h=1)
    report = office.report("second")

    assert (report["outcomes"]["delivered"], report["outcomes"]["skipped"]) == (1, 2)
    assert office.most_texts_to_one_person() == 1


def test_an_exported_list_can_be_imported_by_another_account(office: Office) -> None:
    numbers = [phone_number(n) for n in range(1, 151)]
    office.post("/v1/opt-outs", {"phone_numbers": numbers})
    office.post("/v1/admin/accounts", {"account_id": "other"}, OPERATOR)
    key = str(office.post("/v1/admin/keys", {"account_id": "other"}, OPERATOR)["api_key"])

    first = office.call("GET", "/v1/opt-outs?limit=99")
    second = office.call("GET", f"/v1/opt-outs?limit=99&after={first['next']}")
    exported = [one["phone_number"] for page in (first, second) for one in page["opt_outs"]]
    imported = office.post("/v1/opt-outs", {"phone_numbers": exported}, key)

    assert exported == sorted(numbers)
    assert (imported["added"], imported["refused"]) == (150, [])
    assert newest_change(office)["changes"] == {"opt-outs": {"before": None, "after": {"added": 150}}}


def test_operators_list_every_account_page_by_page_and_customers_do_not(office: Office) -> None:
    for name in ("zeta", "beta"):
        office.post("/v1/admin/accounts", {"account_id": name}, OPERATOR)

    first = office.call("GET", "/v1/admin/accounts?limit=2", key=OPERATOR)
    second = office.call("GET", f"/v1/admin/accounts?limit=2&after={first['next']}", key=OPERATOR)

    assert [one["account_id"] for one in first["accounts"]] == ["acme", "beta"]
    assert [one["account_id"] for one in second["accounts"]] == ["zeta"]
    assert second["next"] is None
    with pytest.raises(Refusal) as refused:
        office.call("GET", "/v1/admin/accounts")
    assert refused.value.status == 403


def test_the_same_account_again_changes_nothing_and_another_of_its_id_is_refused(office: Office) -> None:
    same = {"account_id": "acme", "credits": 1000}

    again = office.post("/v1/admin/accounts", same, OPERATOR)
    with pytest.raises(Refusal) as refused:
        office.post("/v1/admin/accounts", same | {"credits": 5000}, OPERATOR)

    assert again["available"] == office.account().available == 1000
    assert (refused.value.status, refused.value.problem["now"]["bought"]) == (409, 1000)


def test_a_list_of_an_account_that_does_not_exist_is_refused_rather_than_empty(office: Office) -> None:
    for path in ("/v1/campaigns", "/v1/opt-outs", "/v1/admin/keys"):
        with pytest.raises(Refusal) as refused:
            office.call("GET", f"{path}?account_id=amce", key=OPERATOR)
        assert (refused.value.status, refused.value.problem["field"]) == (422, "account_id")
