"""A run in which everything happens that an operator is told of: holds, conflicts, faults, strangers' callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Profile, Script
from sandbox.faults import Boundary, Fault, nothing
from sandbox.world import RECEIVER_HOST
from tests.builders.campaigns import KIND, OPERATOR, Office, an_office
from tests.builders.core import phone_number
from tests.builders.everything import CARRIERS, administrate, invoke, people_write, plan_before_the_start

TEXT, NAME, TOKEN = "your renewal is due", "Ana", "token-of-the-customers"
PEOPLE = range(1, 80)
# Steps whose ordinary errors an alarm takes off Lambda's.
MEANT = ("admit", "send", "close", "count_open", "reconcile", "notify")


def file_of(leads: range, carrier: str = "") -> bytes:
    rows = "".join(f"{phone_number(n)},{NAME},{carrier}\n" for n in leads)
    return f"phone,first_name,carrier\n{rows}".encode()


def of_each_once(functions: tuple[str, ...], fault: Fault, call: str) -> Any:
    """Choose a fault for the first such call of each function."""
    left = set(functions)

    def choose(at: Boundary) -> Fault | None:
        if at.function not in left or not at.call.startswith(call):
            return None
        left.remove(at.function)
        return fault

    return choose


def holds(office: Office) -> None:
    """A campaign waits for each cap and for whatever else can hold it; some of them until a person does something."""
    office.set_route(parts_per_day=office.sent + 2)
    office.start(file_of(range(31, 36)), "capped")
    office.passes(minutes=3)
    office.set_route(parts_per_day=None)
    office.call("PATCH", "/v1/admin/accounts/acme", {"parts_per_day": 1}, OPERATOR)
    office.start(file_of(range(36, 39)), "allowed-little")
    office.passes(minutes=3)
    office.call("PATCH", "/v1/admin/accounts/acme", {"parts_per_day": None}, OPERATOR)
    office.passes(minutes=5)
    account, office.sandbox.carrier.account_sid = office.sandbox.carrier.account_sid, "AC1"
    office.start(file_of(range(39, 42)), "misconfigured")
    office.passes(minutes=3)
    office.sandbox.carrier.account_sid = account
    office.set_route(sender="+12025550101")
    office.passes(minutes=3)


def strangers_call(office: Office) -> None:
    """Callbacks that are not signed, that say nothing, and that meet a fault of ours; an event that is none."""
    call = partial(office.sandbox.do, office.sandbox.carrier.call_back)
    url = f"{office.sandbox.outputs['ApiUrl']}/v1/callbacks/twilio"
    fields = {"MessageSid": "SM1", "From": phone_number(70), "To": phone_number(71), "Body": TEXT}
    office.sandbox.do(office.sandbox.network.request, "POST", f"{url}?account_id=acme", {}, b"From=%2B12025550170")
    call(f"{url}?message_id=2025550170", fields)
    office.sandbox.faults.arm(of_each_once(("callbacks",), Fault.FAILED, "dynamodb"))
    call(f"{url}?account_id=acme", fields | {"Body": "STOP"})
    office.sandbox.faults.arm(nothing)
    topic = next(iter(office.sandbox.messaging._topics.values()))
    event = {"originationNumber": phone_number(72), "destinationNumber": "+12025550198", "messageBody": TEXT}
    office.sandbox.do(office.sandbox.messaging.publish, topic, event | {"inboundMessageId": "in-9"})
    with pytest.raises(Exception, match="RequestMalformed"):
        invoke(office, "ProviderEventsFunction", {"Records": [{"Sns": {"Message": f"{phone_number(73)} {TEXT}"}}]})


def many_at_once(office: Office) -> None:
    """Several campaigns lease of one account at one moment, and steps meet AWS's faults."""
    office.sandbox.faults.arm(of_each_once(MEANT, Fault.THROTTLED, "dynamodb"))
    start_at = (office.now + timedelta(minutes=1)).isoformat()
    for number in range(12):
        office.start(file_of(range(42, 45), CARRIERS[number % 3]), f"at-once-{number}", start_at=start_at)
    office.passes(minutes=20)
    office.sandbox.faults.arm(nothing)


@contextmanager
def an_eventful_run() -> Iterator[Office]:
    """A run in which every function does something, and everything happens that an alarm is for."""
    scripts = {
        phone_number(1): Script(NO_FINAL_RECEIPT),
        phone_number(2): Script(FILTERED, throttles=1),
        phone_number(3): Script(DELIVERED, silent=True, receipts=0),
        phone_number(4): Script(refused="21614"),
    }
    profile = Profile(shares=KIND.shares, refused=(), doubled=0.0, scripts=scripts)
    with an_office(credits=25, profile=profile) as office:
        administrate(office)
        office.call("PATCH", "/v1/account", {"webhook_url": f"https://{RECEIVER_HOST}/{TOKEN}"})
        office.sandbox.receiver.behave(then=500)
        plan_before_the_start(office)
        office.start(file_of(range(1, 31)), receipt_deadline_hours=72)
        office.passes(minutes=3)
        office.buy(300)
        people_write(office)
        office.passes(hours=2)
        strangers_call(office)
        holds(office)
        many_at_once(office)
        office.passes(hours=80)
        office.report()
        yield office
