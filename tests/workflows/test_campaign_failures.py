"""A carrier that throttles, fails and falls silent, senders that die anywhere: sums close, nobody is texted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from paceline.report.model import Outcomes
from sandbox.carrier import DELIVERED, Profile, Script
from sandbox.engine import TaskFailed
from sandbox.world import CARRIER_HOST, Sandbox
from tests.builders.campaigns import KIND, Office, an_office, is_balanced
from tests.builders.core import phone_number

ALL_DELIVERED = ((DELIVERED, 1.0),)


def outcomes(report: dict[str, Any]) -> Counter[str]:
    return +Counter({name: report["outcomes"][name] for name in Outcomes.model_fields})


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(Profile(shares=ALL_DELIVERED, refused=(), throttled=0.2, retry_after=20), id="429s"),
        pytest.param(Profile(shares=ALL_DELIVERED, refused=(), failing=0.2), id="503s"),
        pytest.param(Profile(shares=ALL_DELIVERED, refused=(), silent=0.2), id="accepted without an answer"),
        pytest.param(
            Profile(throttled=0.1, failing=0.1, silent=0.1, refused=(("21614", 0.1),), doubled=0.5, intermediate=False),
            id="everything at once, receipts doubled",
        ),
    ],
)
def test_whatever_the_carrier_does_the_sums_close_and_nobody_is_texted_twice(profile: Profile) -> None:
    with an_office(profile=profile) as office:
        execution = office.start(60)

        report = office.report()

        assert execution.status == "SUCCEEDED"
        assert is_balanced(office, report)
        assert outcomes(report).total() == 60
        assert office.most_texts_to_one_person() == 1
        assert office.most_parts_in_a_minute() <= 240


@pytest.mark.parametrize(
    "fault", [Script(refused="21211"), Script(silent=True)], ids=["refused for good", "taken, and no answer"]
)
def test_one_recipient_of_a_batch_is_no_fate_of_the_others(fault: Script) -> None:
    third = phone_number(3)
    with an_office(profile=replace(KIND, scripts={third: fault})) as office:
        office.start(5)

        report = office.report()

        outcomes = {row["lead_no"]: row["outcome"] for row in office.rows("outcomes.csv")}
        assert [outcomes[lead] for lead in "1245"] == ["delivered"] * 4
        assert outcomes["3"] == ("failed" if fault.refused else "delivered")
        assert office.most_texts_to_one_person() == 1
        assert is_balanced(office, report)


def test_a_429_costs_time_and_no_message() -> None:
    with an_office(profile=Profile(shares=ALL_DELIVERED, refused=(), throttled=0.3, retry_after=60)) as office:
        office.start(45)

        report = office.report()

        assert report["outcomes"]["delivered"] == office.sent == 45
        assert report["credits"] == {"reserved": report["credits"]["reserved"], "consumed": 45} | {
            "released": report["credits"]["reserved"] - 45
        }
        assert report["lost_to"].get("provider_throttled", 0) > 0


def test_a_silent_carriers_messages_are_found_by_their_receipts() -> None:
    with an_office(profile=Profile(shares=ALL_DELIVERED, refused=(), silent=1.0)) as office:
        office.start(10)

        report = office.report()

        assert report["outcomes"]["delivered"] == office.sent == 10


def test_a_silent_carriers_messages_without_receipts_are_found_by_looking_them_up() -> None:
    nothing = Profile(shares=((DELIVERED, 1.0),), refused=(), silent=1.0, intermediate=False)
    with an_office(profile=nothing) as office:
        office.sandbox.carrier.call_back = lambda *_: None  # type: ignore[assignment, method-assign, return-value]
        office.start(10)

        report = office.report()

        assert is_balanced(office, report)
        assert report["outcomes"]["delivered"] == office.sent == 10


def test_what_the_carrier_never_took_is_unconfirmed_and_costs_nothing() -> None:
    with an_office(profile=Profile(shares=ALL_DELIVERED, refused=(), failing=1.0)) as office:
        office.start(10)

        report = office.report()

        assert is_balanced(office, report)
        assert report["outcomes"]["unconfirmed"] == 10
        assert report["credits"]["consumed"] == office.sent == 0


# -- killed --------------------------------------------------------------------------------------------------------

# A warm sender makes six calls (campaign, recipient, claim, route, provider, record), the first a few more.
CALLS = 7


class Killer:
    """Kills each lead's first sender at a call of its own: lead 1's at its first, lead 2's at its second, ...

    A killed sender hangs until its function's time-out; `after`: once the call had its effect.
    """

    def __init__(self, sandbox: Sandbox, *, after: bool) -> None:
        self._sandbox, self._after = sandbox, after
        self._calls: Counter[str] = Counter()
        self._leads: dict[str, int] = {}
        self.killed = 0
        for owner, name in ((sandbox.dynamodb, "call"), (sandbox.network, "request")):
            setattr(owner, name, self._around(getattr(owner, name)))

    def _around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            is_due = self._is_due(arguments)
            if is_due and not self._after:
                self._hang()
            answer = call(*arguments)
            if is_due:
                self._hang()
            return answer

        return watched

    def _is_due(self, arguments: tuple[Any, ...]) -> bool:
        invocation = self._sandbox.functions.running()
        if invocation is None or "SendFunction" not in invocation.function.name:
            return False
        request = invocation.context.aws_request_id
        self._calls[request] += 1
        number = self._leads.setdefault(request, len(self._leads))
        return number < 40 and self._calls[request] == number % CALLS + 1

    def _hang(self) -> None:
        self.killed += 1
        self._sandbox.scheduler.sleep(60)


@pytest.mark.parametrize("after", [pytest.param(False, id="before the call"), pytest.param(True, id="after it")])
def test_a_sender_killed_at_any_call_never_makes_a_second_message(after: bool) -> None:
    with an_office() as office:
        killer = Killer(office.sandbox, after=after)
        office.start(40)

        report = office.report()

        assert killer.killed >= 20
        assert is_balanced(office, report)
        assert office.most_texts_to_one_person() == 1
        # Those that died between claim and provider are given up, not sent by a guess.
        assert outcomes(report) == {"delivered": office.sent, "unconfirmed": 40 - office.sent}
        assert 20 <= office.sent < 40


def lose_answers(office: Office, function: str, every: int) -> Counter[str]:
    """Let every so-manieth answer of a function be lost on its way: it did its work, and Step Functions asks again."""
    invoke, lost = office.sandbox.functions.invoke, Counter[str]()

    def invoke_and_lose(name: str, payload: str) -> str:
        answer = invoke(name, payload)
        if function in name:
            lost["asked"] += 1
            if lost["asked"] % every == 0:
                lost["lost"] += 1
                raise TaskFailed("Lambda.Unknown", "the answer was lost")
        return answer

    office.sandbox.functions.invoke = invoke_and_lose  # type: ignore[method-assign]
    return lost


@pytest.mark.parametrize(
    ("function", "every"),
    [
        ("Send", 3),
        *((name, 2) for name in ("Admit", "Close", "Hold", "Plan", "CountOpen", "Reconcile", "Report", "Publish")),
    ],
)
def test_a_step_whose_answer_is_lost_is_repeated_without_a_trace(function: str, every: int) -> None:
    with an_office(credits=25) as office:
        lost = lose_answers(office, f"{function}Function", every)
        execution = office.start(50)
        office.passes(minutes=10)
        office.buy(100)
        office.wait_until(lambda: office.sent >= 26, most_hours=1)
        if function in ("Plan", "Report", "Publish"):  # steps that run once in a campaign: let one more run
            office.start(3, "another")
            office.report("another")

        report = office.report()

        assert lost["asked"] >= 1
        assert execution.status == "SUCCEEDED"
        assert report["balanced"]
        assert report["outcomes"]["delivered"] == 50
        assert office.most_texts_to_one_person() <= 2  # one a campaign
        assert office.account().reserved == 0
        assert office.account().consumed == office.sent


def test_the_carriers_host_is_the_only_one_that_a_send_reaches() -> None:
    with an_office() as office:
        hosts: set[str] = set()
        request = office.sandbox.network.request

        def watched(method: str, url: str, *rest: Any) -> Any:
            invocation = office.sandbox.functions.running()
            if invocation is not None and "SendFunction" in invocation.function.name:
                hosts.add(url.split("/")[2])
            return request(method, url, *rest)

        office.sandbox.network.request = watched  # type: ignore[method-assign]
        office.start(3)
        office.report()

        assert hosts == {CARRIER_HOST}
