"""The core rules' world: the real table adapter on an in-process DynamoDB, everything else fake, and a clock to set.

Outside a task of the scheduler a call to the table takes no time; `World.together` runs functions as tasks, so that
their calls overlap as those of two workers do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import boto3
from moto import mock_aws

from paceline import keys
from paceline.accounts import buy_credits as bought_by
from paceline.accounts import create_account, get_account
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.admission import Admission, Admitter
from paceline.audit import Signature
from paceline.campaigns import create_campaign, set_status
from paceline.closing import Closed, close_round
from paceline.holds import account_scope, register_hold
from paceline.leads.lines import lead_to_line
from paceline.leads.numbers import numbers_key, to_numbers
from paceline.models import Account, Batch, Campaign, Hold, Lead, Message, Route, SendingWindow
from paceline.moments import to_us
from paceline.reconciliation import Reconciler
from paceline.routes import put_route as put_by
from paceline.rows import to_message
from paceline.sending import Sender, Sent
from paceline.status import CampaignStatus, Cause, MessageStatus
from paceline.table import Row, Table
from sandbox.dynamodb import Call, DynamoDB, DynamoDBError, Latency
from sandbox.scheduler import Scheduler
from tests.fakes.services import FakeClock, FakeProvider, FakeWorkflow
from tests.fakes.stores import MemoryStore

# A Wednesday, noon in New York: every sending window of the contiguous US is open.
NOON = datetime(2026, 9, 2, 16, tzinfo=UTC)
AWS_ACCOUNT, REGION = "123456789012", "us-east-1"
ALWAYS = SendingWindow.model_validate({"opens": "00:00", "closes": "00:00"})


# An operator's, for changes whose author is not the test's question.
SIGNED = Signature("0perator", NOON, "request")


def put_route(table: Table, route: Route) -> None:
    """Let an operator set a route."""
    put_by(table, route, SIGNED)


def buy_credits(table: Table, account_id: str, credit_count: int) -> None:
    """Let an operator add credits."""
    bought_by(table, account_id, credit_count, SIGNED)


def a_campaign(**changes: Any) -> Campaign:
    """A running campaign of account "acme" whose window never closes."""
    defaults = {
        "campaign_id": "renewals",
        "account_id": "acme",
        "name": "Renewals",
        "message": "Hello",
        "leads_key": "uploads/acme/renewals/leads.csv",
        "created_at": NOON - timedelta(hours=1),
        "status": CampaignStatus.RUNNING,
        "sending_window": ALWAYS,
    }
    return Campaign.model_validate(defaults | changes)


def an_account(**changes: Any) -> Account:
    return Account.model_validate({"account_id": "acme", "available": 1000} | changes)


def a_lead(lead_no: int = 1, parts: int = 1) -> Lead:
    return Lead(lead_no, phone_number(lead_no), "Your renewal is due.", parts)


def phone_number(lead_no: int) -> str:
    """A fictional number: 555-0100 to 555-0199 of one area code after the other."""
    return f"+1{202 + lead_no // 100}5550{100 + lead_no % 100}"


def leads_of(parts: int | Sequence[int]) -> list[Lead]:
    """So many leads of one part, or a lead for each number of parts."""
    counts = [1] * parts if isinstance(parts, int) else parts
    return [a_lead(lead_no, count) for lead_no, count in enumerate(counts, start=1)]


def a_message(lead_no: int = 1, **changes: Any) -> Message:
    defaults: dict[str, Any] = {
        "lead_no": lead_no,
        "batch_id": "00001",
        "route": "shared",
        "round": 1,
        "parts": 1,
        "status": MessageStatus.CLAIMED,
        "slot": NOON,
        "claimed_at": NOON,
    }
    return Message(**(defaults | changes))


@dataclass(repr=False)
class World:
    """One table and what the rules need beside it. calls: every call to DynamoDB, refused ones too."""

    table: DynamoDBTable
    scheduler: Scheduler
    calls: list[Call]
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOON))
    provider: FakeProvider = field(default_factory=FakeProvider)
    other_provider: FakeProvider = field(default_factory=FakeProvider)
    workflow: FakeWorkflow = field(default_factory=FakeWorkflow)

    @property
    def providers(self) -> dict[str, FakeProvider]:
        return {"twilio": self.provider, "end_user_messaging": self.other_provider}

    # -- given ------------------------------------------------------------------------------------------------------

    def has(self, *things: Account | Campaign | Route) -> None:
        """Let accounts, campaigns and routes exist."""
        for thing in things:
            if isinstance(thing, Account):
                create_account(self.table, thing, SIGNED)
            elif isinstance(thing, Campaign):
                create_campaign(self.table, thing)
            else:
                put_route(self.table, thing)
        self.calls.clear()  # what tests count is what comes after

    def has_batch(self, leads: list[Lead], batch_id: str = "00001", **changes: Any) -> Batch:
        """Write a batch's object; return its descriptor."""
        body = b"".join(map(lead_to_line, leads))
        key = f"campaigns/{changes.get('campaign_id', 'renewals')}/leads/{batch_id}.jsonl"
        self.store.put(key, body)
        numbers = [(lead.lead_no, lead.parts, lead.row_number) for lead in leads]
        self.store.put(numbers_key(key), to_numbers({batch_id: numbers}))
        defaults = {
            "campaign_id": "renewals",
            "batch_id": batch_id,
            "route": "shared",
            "zones": ("America/New_York",),
            "leads": len(leads),
            "parts": sum(lead.parts for lead in leads),
            "leads_key": key,
            "first_byte": 0,
            "last_byte": len(body) - 1,
        }
        return Batch.model_validate(defaults | changes)

    def has_waiting(self, batch_id: str, cause: Cause) -> None:
        """Let another batch wait for a signal that ends the cause, which is one of the account's."""
        hold = Hold(cause=cause, since=self.clock.now(), limit=self.account().available)
        register_hold(
            self.table,
            self.workflow,
            self.clock.now(),
            token=f"token-{batch_id}",
            scope=account_scope("acme"),
            campaign_id="renewals",
            batch_id=batch_id,
            hold=hold,
        )

    def becomes(self, status: CampaignStatus, campaign_id: str = "renewals") -> None:
        """Let the campaign's status change."""
        set_status(self.table, campaign_id, status, CampaignStatus)

    # -- when -------------------------------------------------------------------------------------------------------

    def admit(
        self, batch: Batch, round_no: int = 1, *, turn: str | None = None, table: Table | None = None
    ) -> Admission:
        """Ask for admission once. turn: of an earlier answer."""
        moment = datetime.fromisoformat(turn) if turn else None
        return Admitter(table or self.table, self.store, self.clock.now()).admit(batch, round_no, turn=moment)

    def admit_in_time(self, batch: Batch, round_no: int = 1) -> Admission:
        """Ask, and come back as often as it is told to, until it is no longer told to wait."""
        admission = self.admit(batch, round_no)
        while admission.wait_until is not None:
            self.clock.moment = datetime.fromisoformat(admission.wait_until)
            admission = self.admit(batch, round_no, turn=admission.turn)
        return admission

    def sender(self, table: Table | None = None) -> Sender:
        return Sender(table or self.table, self.store, self.clock, self.providers)

    def send(
        self,
        batch: Batch,
        lead_no: int = 1,
        round_no: int = 1,
        slot: datetime | None = None,
        given_at: datetime | None = None,
    ) -> Sent:
        slot = slot or self.clock.now()
        return self.sender().send(batch, round_no, lead_no, slot, given_at or slot)

    def send_all(self, batch: Batch, admission: Admission) -> None:
        """Send every message of an admission, each at its slot."""
        for item in admission.items:
            slot = datetime.fromisoformat(item.slot)
            self.clock.moment = max(self.clock.moment, slot)
            self.send(batch, item.lead_no, admission.round, slot)

    def close(self, batch: Batch, round_no: int = 1) -> Closed:
        return close_round(self.table, self.workflow, batch, round_no, self.clock.now())

    def reconciler(self) -> Reconciler:
        return Reconciler(self.table, self.store, self.workflow, self.providers, self.clock.now())

    def together(self, *functions: Callable[[], Any], apart_seconds: float = 0.0) -> list[Any]:
        """Run functions as tasks at once (or so far apart); return each one's value, or the error it raised."""
        tasks = [self._start(function, apart_seconds * index) for index, function in enumerate(functions)]
        self.scheduler.run()
        return [task.error if task.error is not None else task.value for task in tasks]

    def _start(self, function: Callable[[], Any], after: float) -> Any:
        def run() -> Any:
            self.scheduler.sleep(after)
            return function()

        return self.scheduler.spawn(run)

    # -- then -------------------------------------------------------------------------------------------------------

    def account(self, account_id: str = "acme") -> Account:
        return get_account(self.table, account_id)

    def used(self, key: keys.Key) -> int:
        """Return a day row's use."""
        return int((self.table.get(key) or {}).get("used", 0))

    def pace(self, route: str = "shared") -> Row:
        return self.table.get(keys.route_pace(route)) or {}

    def message(self, lead_no: int = 1, batch_id: str = "00001") -> Message | None:
        row = self.table.get(keys.message("renewals", batch_id, lead_no))
        return to_message(row) if row else None

    def credits_are_conserved(self) -> bool:
        account = self.account()
        return account.available + account.reserved + account.consumed == account.bought


def seconds_after(moment: datetime, admission: Admission) -> list[float]:
    """Return the slots of an admission as seconds after a moment."""
    return [(to_us(datetime.fromisoformat(item.slot)) - to_us(moment)) / 1e6 for item in admission.items]


@cache
def _client() -> tuple[Any, list[DynamoDB]]:
    """One client for all worlds, whose items the newest world holds: a client takes 50 ms to make.

    As in the sandbox, what botocore does around a call is left out: it takes ten times as long as the call.
    """
    client: Any = boto3.Session("test", "test", region_name=REGION).client("dynamodb")
    worlds: list[DynamoDB] = []
    call_moto = client._make_api_call

    def answer(operation: str, parameters: dict[str, Any]) -> Any:
        if operation not in DynamoDB.OPERATIONS:
            return call_moto(operation, parameters)
        try:
            return worlds[-1].call(operation, parameters)
        except DynamoDBError as error:
            response = {"Error": {"Code": error.code, "Message": error.message}, **error.details}
            raise client.exceptions.from_code(error.code)(response, operation) from None

    client._make_api_call = answer
    return client, worlds


@contextmanager
def a_world(latency: Latency | None = None) -> Iterator[World]:
    """A world with an empty table. latency: of calls made inside tasks (`World.together`)."""
    client, worlds = _client()
    scheduler = Scheduler(NOON)
    calls: list[Call] = []
    dynamodb = DynamoDB(
        scheduler, latency or Latency(), random.Random(1), account=AWS_ACCOUNT, region=REGION, on_call=calls.append
    )
    with mock_aws():
        worlds.append(dynamodb)
        try:
            client.create_table(**_TABLE)
            yield World(DynamoDBTable(client, "paceline"), scheduler, calls)
        finally:
            worlds.pop()


_TABLE: dict[str, Any] = {
    "TableName": "paceline",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
