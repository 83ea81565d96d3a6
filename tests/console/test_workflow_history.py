"""A history as rows: which state an event is of, how long it took, what was asked of what failed; page by page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from console.workflow.events import Known
from console.workflow.history import PAGE, SEARCHED, HistoryPage, Wanted, read_page
from tests.fakes.step_functions import WrittenHistory

BEGAN = datetime(2026, 9, 2, 16, tzinfo=UTC)


class Pages:
    """GetExecutionHistory of a written history, an event a second. asked: what each call asked."""

    def __init__(self, history: WrittenHistory) -> None:
        self.asked: list[dict[str, Any]] = []
        self._events = [one | {"timestamp": BEGAN + timedelta(seconds=one["id"])} for one in history.events]

    def __call__(self, **given: Any) -> dict[str, Any]:
        self.asked.append(given)
        events = self._events[::-1] if given["reverseOrder"] else self._events
        first = int(given.get("nextToken", 0))
        end = first + given["maxResults"]
        return {"events": events[first:end], **({"nextToken": str(end)} if end < len(events) else {})}

    def read(self, known: Known | None = None, **wanted: Any) -> HistoryPage:
        return read_page(self, "arn", known or Known(), Wanted(**wanted))


def a_failed_task() -> WrittenHistory:
    history = WrittenHistory()
    history.add("ExecutionStarted", input="{}")
    history.enter("Send Message", after=1)
    history.add("TaskScheduled", parameters='{"lead_no": 3}')
    history.add("TaskStarted")
    history.add("TaskFailed", error="SenderFailed", cause="it fell")
    history.add("ExecutionFailed", error="SenderFailed", cause="it fell")
    return history


def test_a_failure_is_told_with_its_state_what_was_asked_and_how_long_it_took() -> None:
    found = Pages(a_failed_task()).read(is_failed=True)

    ended, failed = found.rows
    assert (ended.type, ended.state, ended.asked) == ("ExecutionFailed", "", None)
    assert (failed.state, failed.error, failed.cause) == ("Send Message", "SenderFailed", "it fell")
    assert (failed.asked, failed.seconds) == (3, 2.0)


def test_a_map_run_that_failed_leads_to_it() -> None:
    history = WrittenHistory()
    history.run_map("Send Streams", "arn:run")
    history.add("MapRunFailed", error="States.ExceedToleratedFailureThreshold", cause="too many")

    [failed] = Pages(history).read(is_failed=True).rows

    assert (failed.state, failed.map_run, failed.seconds) == ("Send Streams", "arn:run", 1.0)


def test_each_iteration_is_measured_from_its_own_start() -> None:
    history = WrittenHistory()
    history.enter("Send Items", kind="Map")
    first, second = history.iterate("Send Items", 0), history.iterate("Send Items", 1, after=1)
    inside = history.enter("Send Message", after=first)
    left = history.exit("Send Message", after=inside)
    history.iterate("Send Items", 0, left, "Succeeded")
    history.iterate("Send Items", 1, second, "Succeeded")

    rows = {row.id: row for row in Pages(history).read(is_oldest_first=True).rows}

    assert (rows[6].state, rows[6].index, rows[6].seconds) == ("Send Items", 0, 4.0)
    assert (rows[7].index, rows[7].seconds) == (1, 4.0)
    assert (rows[left].state, rows[left].seconds) == ("Send Message", 1.0)


def a_long_one(visits: int) -> WrittenHistory:
    """Of 3 events a visit and 3 more; the last visit goes on."""
    history = WrittenHistory()
    history.add("ExecutionStarted")
    for number in range(visits):
        history.enter("Odd" if number % 2 else "Even")
        history.add("TaskScheduled")
        history.exit("Odd" if number % 2 else "Even")
    history.enter("Even")
    history.add("TaskScheduled")
    return history


def test_a_page_is_one_call_whatever_the_length_and_another_only_to_name_states() -> None:
    pages, known = Pages(a_long_one(2000)), Known()

    newest = pages.read(known)
    again = pages.read(known)
    older = pages.read(known, after=newest.next)

    assert [row.id for row in newest.rows] == list(range(6003, 6003 - PAGE, -1))
    assert all(row.state for row in newest.rows)
    assert again == newest
    assert older.rows[0].id == 6003 - PAGE
    calls = [one.get("includeExecutionData", True) for one in pages.asked]
    assert calls.count(True) == 3
    assert len(calls) <= 5


def test_a_state_is_searched_for_part_by_part() -> None:
    pages = Pages(a_long_one(400))

    first = pages.read(state="Odd", is_oldest_first=True)
    rest = [pages.read(state="Odd", is_oldest_first=True, after=first.next)]
    while rest[-1].next:
        rest.append(pages.read(state="Odd", is_oldest_first=True, after=rest[-1].next))

    assert first.searched == SEARCHED
    assert {row.state for row in first.rows} == {"Odd"}
    assert sum(len(page.rows) for page in (first, *rest)) >= 598  # 200 visits, less what began on the page before
