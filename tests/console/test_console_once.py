"""What is asked for once, or once in a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from console.web.once import Once


@pytest.fixture
def clock() -> list[float]:
    return [100.0]


@pytest.fixture
def kept(clock: list[float]) -> Once[int]:
    return Once(lambda: clock[0])


def counting() -> Callable[[], int]:
    numbers: Iterator[int] = iter(range(1, 100))
    return lambda: next(numbers)


def test_a_value_is_asked_for_anew_once_it_is_old(kept: Once[int], clock: list[float]) -> None:
    ask = counting()

    found = []
    for clock[0] in (100.0, 104.9, 105.0, 109.9, 110.0):
        found.append(kept.get(ask, seconds=5))

    assert found == [1, 1, 2, 2, 3]


def test_a_value_without_an_age_is_asked_for_once(kept: Once[int], clock: list[float]) -> None:
    ask = counting()

    first, clock[0] = kept.get(ask), 1e9

    assert (first, kept.get(ask)) == (1, 1)


def test_where_asking_fails_the_next_one_asks_again(kept: Once[int]) -> None:
    def fail() -> int:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 (any error will do)
        kept.get(fail)

    assert kept.get(counting()) == 1
