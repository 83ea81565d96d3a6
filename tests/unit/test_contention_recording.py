"""Who shares a row is read from the calls, whatever the rows are called."""

from __future__ import annotations

import pytest

from sandbox.contention.recording import Recording, RowUse, Writer, kind_of
from sandbox.dynamodb import Call, ItemAccess


def call(
    *keys: tuple[str, str], action: str = "Update", second: int = 0, outcome: str = "ok", **more: list[str]
) -> Call:
    accesses = [ItemAccess(action, "table", pk, sk) for pk, sk in keys]
    return Call("UpdateItem", "table", 0, second * 1_000_000, outcome, accesses, **more)


def use_by(*writers: Writer) -> RowUse:
    use = RowUse()
    for writer in writers:
        use.add(writer, 0, is_conflict=False)
    return use


@pytest.mark.parametrize(
    ("pk", "sk", "kind"),
    [
        pytest.param("ACCOUNT#acme", "ACCOUNT", "account", id="one word for both keys"),
        pytest.param("ROUTE#shared", "DAY#2026-09-02", "route day", id="two words"),
        pytest.param("HOLD#account", "spring#0001", "hold", id="an id is no kind"),
    ],
)
def test_a_rows_kind_is_the_words_that_its_keys_begin_with(pk: str, sk: str, kind: str) -> None:
    assert kind_of(pk, sk) == kind


@pytest.mark.parametrize(
    ("writers", "shared"),
    [
        pytest.param([Writer("send", "a.1", "a"), Writer("send", "a.1", "a")], False, id="one message, twice"),
        pytest.param([Writer("send", "a.1", "a"), Writer("close", "", "a")], False, id="a message and its own batch"),
        pytest.param([Writer("send", "a.1", "a"), Writer("send", "a.2", "a")], True, id="two messages of a batch"),
        pytest.param([Writer("admit", "", "a"), Writer("admit", "", "b")], True, id="two batches"),
        pytest.param([Writer(), Writer()], False, id="nobody's calls"),
    ],
)
def test_a_row_is_shared_when_two_messages_or_two_batches_write_it(writers: list[Writer], shared: bool) -> None:
    assert use_by(*writers).is_shared is shared


def test_refused_attempts_count_and_reads_do_not() -> None:
    recording = Recording()
    hot, own = ("ACCOUNT#acme", "ACCOUNT"), ("MESSAGE#1", "MESSAGE")

    recording.take(call(hot, own, outcome="TransactionCanceledException", reasons=["TransactionConflict", "None"]))
    recording.take(call(hot, outcome="ConditionalCheckFailedException"))
    recording.take(call(hot, action="Get"))

    assert (recording.calls, recording.conflicts, recording.conditions) == (3, 1, 1)
    assert (recording.rows[hot].attempts, recording.rows[hot].conflicts) == (2, 1)
    assert (recording.rows[own].attempts, recording.rows[own].conflicts) == (1, 0)


def test_the_busiest_second_of_a_row_is_its_own() -> None:
    recording, row = Recording(), ("ROUTE#shared", "PACE")

    for second in (1, 1, 2, 5, 5, 5, 7):
        recording.take(call(row, second=second))
        recording.take(call(("MESSAGE#1", "MESSAGE"), second=second))

    assert recording.rows[row].busiest_second == 3
