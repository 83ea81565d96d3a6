"""The first page: which campaigns it shows, in which order, what it says of them, and what it asks for that."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from console.web.roll import PAGE, Roll
from tests.builders.campaign_answers import a_campaign, a_hold, an_api, at
from tests.builders.console import KEY, Browser, FakeApi, a_console, a_system

HELD = a_campaign("held", created_at=at(-9), binding=a_hold("credits", used=7, limit=0))
PAUSED = a_campaign("stopped", status="paused", created_at=at(-8), binding=a_hold("paused", route=None))
RUNNING = a_campaign("runner", created_at=at(-1), binding=a_hold("pace", limit=240), finish_at=at(90))
WAITING = a_campaign("waiter", created_at=at(-2), headline="The queue is empty; 240 reached handsets.")
DRAFT = a_campaign("draft", status="created", created_at=at(-3))
DONE = a_campaign("done", status="finished", created_at=at(-4), report_version=1, account_id="northwind")
BROKEN = a_campaign("broken", status="failed", created_at=at(-5), report_version=1)
DROPPED = a_campaign("dropped", status="cancelled", created_at=at(-6), report_version=1)
ALL = (HELD, PAUSED, RUNNING, WAITING, DRAFT, DONE, BROKEN, DROPPED)


def shown(browser: Browser, address: str = "/") -> list[str]:
    """Return the ids of the rows, as they are shown."""
    answer = browser.get(address)
    assert answer.status_code == 200, answer.text
    return re.findall(r'<tr id="row-([^"]+)"', answer.text)


def asked_for(api: FakeApi) -> list[str]:
    return [one.url.path.removeprefix("/v1/") for one in api.asked]


def tally(page: str) -> dict[str, int]:
    return {name: int(count) for count, name in re.findall(r"<strong>(\d+)</strong> ([a-z ]+)</a>", page)}


def test_what_waits_for_somebody_is_first_and_the_rest_is_newest_first() -> None:
    assert shown(a_console(an_api(*ALL))) == [
        "stopped", "held",  # somebody has to act
        "runner", "waiter",
        "draft", "done", "broken", "dropped",
    ]  # fmt: skip


def test_figures_count_the_states_of_all_that_is_under_way() -> None:
    page = a_console(an_api(*ALL)).get("/").text

    assert tally(page) == {"running": 1, "held": 1, "paused": 1, "waiting for receipts": 1, "failed": 1}


def test_a_row_says_how_far_what_holds_it_and_when_it_ends() -> None:
    page = a_console(an_api(*ALL)).get("/").text

    assert "400 sent · 250 final · of 970" in page
    assert "Not enough credits (7 needed, 0 available)" in page
    assert "until credits are added" in page
    assert "until it is resumed" in page
    assert "Pace of the route (240 a minute)" in page
    assert 'datetime="2026-09-02T17:30:00+00:00"' in page
    assert '<progress max="970" value="400" aria-label="Sent of runner">' in page


@pytest.mark.parametrize(
    ("address", "rows"),
    [
        ("/?status=live", ["stopped", "held", "runner", "waiter"]),
        ("/?status=held", ["held"]),
        ("/?status=waiting", ["waiter"]),
        ("/?status=failed", ["broken"]),
        ("/?status=created", ["draft"]),
        ("/?status=no-such", ["stopped", "held", "runner", "waiter", "draft", "done", "broken", "dropped"]),
        ("/?account=northwind", ["done"]),
        ("/?account=nobodys", []),
        ("/?search=DRO", ["dropped"]),
        ("/?search=The+held", ["held"]),
        ("/?search=e&status=finished&account=northwind", ["done"]),
    ],
)
def test_campaigns_are_chosen_by_the_address(address: str, rows: list[str]) -> None:
    assert shown(a_console(an_api(*ALL)), address) == rows


def test_what_was_chosen_stays_in_the_form_and_in_the_links() -> None:
    page = a_console(an_api(*ALL)).get("/?account=acme&search=e").text

    assert 'name="account" list="accounts" value="acme"' in page
    assert 'href="/?status=held&amp;account=acme&amp;search=e"' in page
    assert 'data-live="/live/?account=acme&amp;search=e"' in page


def test_older_campaigns_are_a_page_further_in_the_order_of_all_accounts() -> None:
    many = [a_campaign(f"c-{n:03}", status="created", account_id=f"a-{n % 3}", created_at=at(n)) for n in range(60)]
    browser = a_console(an_api(*many))

    pages, address = [], "/"
    while address:
        answer = browser.get(address)
        pages += re.findall(r'<tr id="row-([^"]+)"', answer.text)
        found = re.search(r'href="([^"]*before=[^"]*)"', answer.text)
        address = found[1].replace("&amp;", "&") if found else ""

    assert pages == [f"c-{n:03}" for n in reversed(range(60))]


def test_a_search_reads_only_so_far_and_goes_on_from_there() -> None:
    many = [a_campaign(f"c-{n:04}", status="created", created_at=at(n)) for n in range(150)]
    api = an_api(*many, page=5)  # 30 pages; a look reads the first and 20 more
    browser = a_console(api)

    first = browser.get("/?search=The+c-0003&status=created")
    onward = re.search(r'href="([^"]*before=[^"]*)"', first.text)
    asked = list(asked_for(api))
    again = browser.get("/?search=The+c-0003&status=created")

    assert again.text == first.text  # a page that stays open reads no further by itself
    assert len(asked_for(api)) <= len(asked) + 1
    assert asked.count("campaigns") == 21
    assert "Look further back" in first.text
    assert onward
    assert shown(browser, onward[1].replace("&amp;", "&")) == ["c-0003"]


def test_a_campaign_is_found_by_its_whole_id_however_old_it_is() -> None:
    many = [a_campaign(f"c-{n:04}", status="created", created_at=at(n)) for n in range(150)]

    assert shown(a_console(an_api(*many, page=5)), "/?search=c-0003") == ["c-0003"]


def at_executions(api: FakeApi, *names: str) -> Browser:
    """Return a browser where Step Functions says that these run."""
    states = SimpleNamespace(list_executions=lambda **_: {"executions": [{"name": name} for name in names]})
    system = a_system(state_machine_arn="arn:aws:states:here:1:stateMachine:m", client=lambda _: states)
    return a_console(api, system=system)


def test_one_that_runs_is_shown_though_its_account_has_many_newer_ones() -> None:
    newer = [a_campaign(f"c-{n}", status="created", created_at=at(n)) for n in range(PAGE + 1)]
    api = an_api(*newer, a_campaign("old-runner", created_at=at(-9)))

    rows = shown(at_executions(api, "old-runner", "done.r2"))

    assert rows[0] == "old-runner"
    assert len(rows) == 26
    assert "campaigns/done.r2" not in asked_for(api)  # a further report's, of a campaign that is over


def test_of_one_account_only_its_own_are_shown_though_others_run() -> None:
    browser = at_executions(an_api(RUNNING, DONE), "runner")

    assert shown(browser, "/?account=northwind") == ["done"]


def test_a_name_is_no_markup() -> None:
    page = a_console(an_api(a_campaign(name="<script>alert(1)</script>"))).get("/?search=<script>").text

    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") == 1


def test_without_campaigns_it_says_how_they_come() -> None:
    api = an_api()
    api.answers["GET /v1/admin/accounts"] = {"accounts": [{"account_id": "acme"}], "next": None}
    api.answers["GET /v1/campaigns"] = {"campaigns": [], "next": None}

    assert "No campaigns yet" in a_console(api).get("/").text


def test_an_api_that_does_not_answer_is_told() -> None:
    answer = a_console(FakeApi()).get("/")

    assert answer.status_code == 404
    assert "There is nothing at /v1/admin/accounts." in answer.text


# -- what is asked for, look after look ------------------------------------------------------------------------------


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def a_roll(api: FakeApi) -> tuple[Roll, Clock]:
    clock = Clock()
    return Roll(a_console(api, key=KEY).site.api(KEY), 1.0, clock), clock


def names_of(roll: Roll, *wanted: str) -> list[str]:
    return list(roll.details(wanted))


def test_a_campaign_that_is_over_is_asked_for_once_in_a_while_and_one_that_runs_at_each_look() -> None:
    api = an_api(DONE, RUNNING)
    roll, clock = a_roll(api)

    for _ in range(5):
        names_of(roll, "done", "runner")
        clock.seconds += 1

    assert asked_for(api).count("campaigns/done") == 1
    assert asked_for(api).count("campaigns/runner") == 5


def test_looks_of_many_pages_at_once_ask_no_more_than_ones() -> None:
    api = an_api(RUNNING)
    roll, _ = a_roll(api)

    for _ in range(5):
        names_of(roll, "runner")

    assert asked_for(api) == ["campaigns/runner"]


def test_with_hundreds_that_run_each_has_its_turn() -> None:
    many = [a_campaign(f"c-{n}") for n in range(60)]
    api = an_api(*many)
    roll, clock = a_roll(api)
    names = [one["campaign_id"] for one in many]

    known = []
    for _ in range(3):
        known.append(len(names_of(roll, *names)))
        clock.seconds += 1

    assert known == [24, 48, 60]
    assert max(asked_for(api).count(f"campaigns/{name}") for name in names) == 2


def test_with_hundreds_of_accounts_a_look_reads_some_lists_anew_and_all_in_turn() -> None:
    many = [a_campaign(f"c-{n}", account_id=f"a-{n:03}", status="created") for n in range(100)]
    api = an_api(*many)
    roll, clock = a_roll(api)

    def look() -> set[str]:
        before = len(api.asked)
        roll.newest(roll.accounts(), "", lambda one: True, 25)
        clock.seconds += 1
        return {one.url.params["account_id"] for one in api.asked[before:] if "account_id" in one.url.params}

    first, later = look(), [look() for _ in range(9)]

    assert len(first) == 100
    assert max(map(len, later)) == 12
    assert len(set[str]().union(*later)) == 100


def test_a_campaign_that_is_gone_is_left_out() -> None:
    roll, _ = a_roll(an_api(RUNNING))

    assert names_of(roll, "runner", "gone") == ["runner"]


def test_a_page_is_asked_for_by_the_campaigns_own_place() -> None:
    api = an_api(*(a_campaign(f"c-{n}", status="created", created_at=at(n)) for n in range(3)))
    roll, _ = a_roll(api)

    found: Any = roll.newest(["acme"], "", lambda one: True, 2)
    rest = roll.newest(["acme"], found.older, lambda one: True, 2)

    assert [one["campaign_id"] for one in found.rows + rest.rows] == ["c-2", "c-1", "c-0"]
    assert (rest.older, rest.is_cut) == ("", False)
