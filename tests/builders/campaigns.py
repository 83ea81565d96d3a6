"""Campaigns in the sandbox, as an operator and a customer run them: by the API, with small files and a carrier."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import boto3

from console.run import most_in_window
from paceline.accounts import get_account
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.api_keys import store_key
from paceline.campaign_ids import own_id
from paceline.campaigns import get_plan
from paceline.models import Account
from paceline.reporting import report_prefix
from sandbox.carrier import DELIVERED, Profile
from sandbox.engine import Execution
from sandbox.world import Sandbox
from tests.builders.core import phone_number

OPERATOR, CUSTOMER = "pk_operator_key-of-the-tests-operator", "pk_customer_key-of-the-tests-customer"
MINUTE_US = 60_000_000
# A carrier that takes and delivers everything, so that what a test sees is ours.
KIND = Profile(shares=((DELIVERED, 1.0),), refused=(), doubled=0.0)


def id_of(chosen: str) -> str:
    """Return the id of acme's campaign of that chosen id; an id that is one already stays."""
    ending = own_id("acme", "")
    return chosen if chosen.startswith("c-") or chosen.endswith(ending) else chosen + ending


def a_file(leads: int) -> bytes:
    """A lead file of fictional people in one time zone."""
    rows = "".join(f"{phone_number(number)},Ana\n" for number in range(1, leads + 1))
    return f"phone,first_name\n{rows}".encode()


@dataclass(frozen=True)
class Refusal(Exception):
    """The API refused a request."""

    status: int
    problem: dict[str, Any]


@dataclass
class Office:
    """A sandbox with account "acme", its keys and the route "shared"."""

    sandbox: Sandbox

    # -- the API ------------------------------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: object = None, key: str = CUSTOMER) -> dict[str, Any]:
        """Return the API's answer. Raises: Refusal."""
        answer = self.sandbox.call_api(method, path, body, key)
        content: dict[str, Any] = json.loads(answer.body or b"{}")
        if answer.status >= 400:
            raise Refusal(answer.status, content)
        return content

    def post(self, path: str, body: object = None, key: str = CUSTOMER) -> dict[str, Any]:
        return self.call("POST", path, body, key)

    def set_route(self, **caps: Any) -> dict[str, Any]:
        return self.post("/v1/admin/routes", {"name": "shared", **caps}, OPERATOR)

    def buy(self, credits: int) -> dict[str, Any]:
        return self.post("/v1/admin/accounts/acme/credits", {"credits": credits}, OPERATOR)

    def change(self, what: str, campaign_id: str = "renewals") -> dict[str, Any]:
        """Pause, resume or cancel a campaign."""
        return self.post(f"/v1/campaigns/{campaign_id}/{what}")

    def shown(self, campaign_id: str = "renewals") -> dict[str, Any]:
        return self.call("GET", f"/v1/campaigns/{campaign_id}")

    def start(self, leads: int | bytes, campaign_id: str = "renewals", **fields: Any) -> Execution:
        """Create a campaign, put its file into the bucket, start it; return its execution."""
        defaults = {
            "campaign_id": campaign_id,
            "name": "Renewals",
            "message": "Hi {{first_name}}, your renewal is due.",
        }
        self.post("/v1/campaigns", defaults | {"receipt_deadline_hours": 1} | fields)
        body = a_file(leads) if isinstance(leads, int) else leads
        key = f"uploads/acme/{id_of(campaign_id)}/leads.csv"
        boto3.client("s3").put_object(Bucket=self.sandbox.outputs["BucketName"], Key=key, Body=body)
        self.post(f"/v1/campaigns/{campaign_id}/start")
        return self.execution(campaign_id)

    def report(self, campaign_id: str = "renewals", version: int = 1) -> dict[str, Any]:
        """Return a version of the report; the first, once the campaign has come to its end."""
        self.sandbox.run_until(self.execution(campaign_id).done)
        return json.loads(self.file("report.json", campaign_id, version))  # type: ignore[no-any-return]

    def file(self, name: str, campaign_id: str = "renewals", version: int = 1) -> bytes:
        """Return one of the report's files."""
        key = f"{report_prefix(id_of(campaign_id), version)}{name}"
        body: bytes = boto3.client("s3").get_object(Bucket=self.sandbox.outputs["BucketName"], Key=key)["Body"].read()
        return body

    def rows(self, name: str, campaign_id: str = "renewals", version: int = 1) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.file(name, campaign_id, version).decode("utf-8-sig"))))

    def receive(self, lead_no: int, status: str, error_code: str = "", campaign_id: str = "renewals") -> int:
        """Let the carrier send a receipt for a lead's message now; return the API's status."""
        carrier = self.sandbox.carrier
        wanted = (id_of(campaign_id), str(lead_no))
        entry = next(e for e in carrier.book if tuple(e.message_id.split(".")[::2]) == wanted)
        fields = {"MessageSid": entry.sid, "MessageStatus": status, "To": entry.to, "From": entry.sender}
        fields |= {"ErrorCode": error_code} if error_code else {}
        call = self.sandbox.scheduler.spawn(carrier.call_back, entry.callback, fields, name="receipt")
        self.sandbox.run_until(call)
        return int(call.value.status)

    def execution(self, campaign_id: str = "renewals") -> Execution:
        return self.sandbox.execution(id_of(campaign_id))

    # -- time ---------------------------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        return self.sandbox.scheduler.now()

    def passes(self, **duration: float) -> None:
        """Let time pass (timedelta's arguments)."""
        microseconds = timedelta(**duration) // timedelta(microseconds=1)
        self.sandbox.scheduler.run(deadline=self.sandbox.scheduler.microseconds + microseconds)

    def wait_until(self, is_so: Callable[[], bool], *, step_seconds: float = 0.2, most_hours: float = 30) -> datetime:
        """Let time pass until something is so; return when it was seen."""
        end = self.now + timedelta(hours=most_hours)
        while not is_so():
            assert self.now < end, "it never came"
            self.passes(seconds=step_seconds)
        return self.now

    # -- what happened ------------------------------------------------------------------------------------------------

    @property
    def table(self) -> DynamoDBTable:
        return DynamoDBTable(boto3.client("dynamodb"), self.sandbox.outputs["TableName"])

    def account(self) -> Account:
        return get_account(self.table, "acme")

    @property
    def planned_at(self) -> str:
        """Where in the bucket the objects of the campaign's plan are."""
        plan = get_plan(self.table, id_of("renewals"))
        assert plan is not None
        return plan.streams_manifest_key.rpartition("/")[0]

    @property
    def sent(self) -> int:
        """How many messages the carrier has accepted."""
        return len(self.sandbox.carrier.book)

    def sent_times(self) -> list[datetime]:
        """Return when the carrier accepted each message."""
        epoch = self.now - timedelta(microseconds=self.sandbox.scheduler.microseconds)
        return [epoch + timedelta(microseconds=entry.at) for entry in self.sandbox.carrier.book]

    def most_texts_to_one_person(self) -> int:
        return max(Counter(entry.to for entry in self.sandbox.carrier.book).values(), default=0)

    def most_parts_in_a_minute(self) -> int:
        """Return the most parts in any rolling 60 s, by the carrier's book."""
        return most_in_window([(at, parts) for at, parts, _ in self.sandbox.carrier.parts_accepted()], MINUTE_US)

    def histories(self) -> Iterator[tuple[Execution, list[dict[str, Any]]]]:
        """Yield every execution, children too, with its history."""
        for execution in self.sandbox.engine.executions():
            yield execution, execution.history()


@contextmanager
def an_office(
    *,
    credits: int = 1000,
    parts_per_day: int | None = None,
    route: dict[str, Any] | None = None,
    profile: Profile = KIND,
    **sandbox: Any,
) -> Iterator[Office]:
    """A sandbox with an account, keys and a route. parts_per_day: of the account; route: changes to "shared"."""
    with Sandbox(profile=profile, **sandbox) as made:
        office = Office(made)
        store_key(office.table, made.key_pepper, OPERATOR, "operators", "operator")
        store_key(office.table, made.key_pepper, CUSTOMER, "acme", "customer")
        account = {"account_id": "acme", "credits": credits, "parts_per_day": parts_per_day}
        office.post("/v1/admin/accounts", account, OPERATOR)
        office.set_route(**route or {})
        yield office


def is_balanced(office: Office, report: dict[str, Any]) -> bool:
    """Tell whether the report's sums close and the account agrees with it."""
    account, credits = office.account(), report["credits"]
    return (
        bool(report["balanced"])
        and credits["reserved"] == credits["consumed"] + credits["released"]
        and account.reserved == 0
        and account.consumed == credits["consumed"]
        and account.available + account.consumed == account.bought
    )
