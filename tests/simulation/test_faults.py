"""Faults at a call boundary: what happens, what does not, and what the caller sees."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from sandbox.faults import Boundary, Fault, Faults, at_position, by_seed, nothing


class Killed(BaseException):
    pass


class Refused(Exception):
    pass


class Caller:
    """Makes calls that add up, and says how the last one ended."""

    def __init__(self, fault: Fault | None, *, is_idempotent: bool = False, asks_again: bool = True) -> None:
        self.faults, self.effects, self.is_idempotent, self.asks_again = Faults(), 0, is_idempotent, asks_again
        self.faults.arm(lambda boundary: fault)

    def call(self) -> str:
        try:
            answer = self.faults.meet(
                "send",
                "dynamodb:PutItem",
                self.act,
                kill=kill,
                orphan=orphan,
                refuse=refuse,
                is_idempotent=self.is_idempotent,
                asks_again=self.asks_again,
            )
        except (Killed, Refused) as end:
            return type(end).__name__
        return f"answer {answer}"

    def act(self) -> int:
        self.effects += 1
        return self.effects


def kill() -> NoReturn:
    raise Killed


def orphan() -> None:
    return


def refuse(fault: Fault) -> Any:
    raise Refused(fault)


@pytest.mark.parametrize(
    ("fault", "effects", "end"),
    [
        pytest.param(None, 1, "answer 1", id="no fault"),
        pytest.param(Fault.BEFORE, 0, "Killed", id="killed before"),
        pytest.param(Fault.AFTER, 1, "Killed", id="killed after"),
        pytest.param(Fault.ORPHANED, 1, "answer 1", id="its function's caller let go"),
        pytest.param(Fault.THROTTLED, 0, "Refused", id="throttled"),
        pytest.param(Fault.FAILED, 0, "Refused", id="5xx"),
        pytest.param(Fault.LOST, 1, "Refused", id="its answer lost"),
        pytest.param(Fault.REPEATED, 2, "answer 2", id="asked again by its client"),
    ],
)
def test_a_fault_decides_whether_a_call_takes_effect_and_what_its_caller_sees(
    fault: Fault | None, effects: int, end: str
) -> None:
    caller = Caller(fault)

    assert caller.call() == end
    assert caller.effects == effects


def test_an_idempotent_call_that_its_client_repeats_takes_effect_once() -> None:
    caller = Caller(Fault.REPEATED, is_idempotent=True)

    assert caller.call() == "answer 1"
    assert caller.effects == 1


def test_a_call_that_was_refused_takes_its_caller_down_all_the_same() -> None:
    faults = Faults()
    faults.arm(at_position(1, Fault.AFTER))

    with pytest.raises(Killed):
        faults.meet("send", "dynamodb:PutItem", lambda: refuse(Fault.FAILED), kill=kill, orphan=orphan, refuse=refuse)


def test_positions_are_counted_from_the_arming_on() -> None:
    faults, seen = Faults(), []
    faults.meet("send", "a", lambda: None, kill=kill, orphan=orphan, refuse=refuse)
    faults.arm(lambda boundary: seen.append(str(boundary)))

    for call in ("b", "c"):
        faults.meet("send", call, lambda: None, kill=kill, orphan=orphan, refuse=refuse)

    assert seen == ["1 send b", "2 send c"]


def test_the_same_seed_chooses_the_same_faults_and_about_the_share_that_was_asked_for() -> None:
    boundaries = [Boundary(position, "send", "dynamodb:PutItem") for position in range(2000)]

    def chosen(seed: int) -> list[Fault | None]:
        choose = by_seed(seed, 0.1)
        return [choose(boundary) for boundary in boundaries]

    assert chosen(7) == chosen(7) != chosen(8)
    assert 150 < sum(fault is not None for fault in chosen(7)) < 250
    assert {fault for fault in chosen(7) if fault} == set(Fault)


def test_where_nothing_is_chosen_nothing_goes_wrong() -> None:
    assert nothing(Boundary(1, "send", "dynamodb:PutItem")) is None


def test_a_client_that_does_not_ask_again_by_itself_loses_the_answer_and_the_call_is_made_once() -> None:
    caller = Caller(Fault.REPEATED, asks_again=False)

    assert caller.call() == "Refused"
    assert caller.effects == 1
