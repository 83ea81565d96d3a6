"""Routes in the web console: what is shown of each, and a change in two steps that writes over nobody's."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.builders.console import Browser, FakeApi, a_console, hidden, refusal

CAMPAIGN = "spring-renewals-822b33ad87"
STAMP = {"changed_at": "2026-09-02T16:00:00.152236Z", "changed_by": "0123456789ab", "changed_by_name": "<i>Ada</i>"}
NEVER = {"changed_at": None, "changed_by": None, "changed_by_name": None}
THROTTLED = {"cause": "provider_throttled", "until": "2026-09-02T16:00:09Z", "detail": ""}
NOTHING = {"before": None, "after": None}
HELD = {
    "cause": "route_day_cap",
    "since": "2026-09-02T18:00:00Z",
    "until": "2026-09-03T04:00:00Z",
    "used": 2000,
    "limit": 2000,
}


def a_route(**other: Any) -> dict[str, Any]:
    return {
        "name": "shared",
        "provider": "twilio",
        "sender": "+12025550100",
        "parts_per_minute": 240,
        "parts_per_day": 2000,
        "concurrency": None,
        "time_zone": "America/New_York",
        "carriers": ["Sprint"],
        "is_enabled": True,
        "caps": {
            "parts_per_minute": {"limit": 240, **STAMP},
            "parts_per_day": {"limit": 2000, **NEVER},
            "concurrency": {"limit": None, **NEVER},
        },
        "changed": {"at": "2026-09-02T16:00:00.152236Z", "by": "0123456789ab", "by_name": "<i>Ada</i>"},
        "pauses": [],
        "revision": 7,
        "parts_used_today": 2000,
        "day_ends_at": "2026-09-03T04:00:00Z",
        "slots_given_until": None,
        "binding": HELD,
        "campaigns": [CAMPAIGN],
        "lost_to": {"route_day_cap": 90.0},
    } | other


def a_browser(route: dict[str, Any] | None = None) -> Browser:
    found = route or a_route()
    changes = [
        {
            "at": "2026-09-02T16:00:00Z",
            "by": "0123456789ab",
            "by_name": "<i>Ada</i>",
            "changes": {
                "parts_per_minute": {"before": 60, "after": 240},
                "concurrency": {"before": None, "after": None},
            },
        }
    ]
    known: dict[str, Any] = {
        "GET /v1/routes": {"routes": [found]},
        "GET /v1/routes/shared": found,
        "GET /v1/admin/routes/shared/changes": {"changes": changes},
        "PATCH /v1/admin/routes/shared": found | {"released_batches": 12},
    }
    return a_console(FakeApi(known))


TYPED = {"revision": "7", "parts_per_minute": "600", "parts_per_day": "", "concurrency": "40", "is_enabled": "yes"}


def test_every_cap_its_use_its_binding_and_who_changed_it_are_shown() -> None:
    page = a_browser().get("/routes").text

    assert 'aria-label="shared: 2,000 of 2,000 used"' in page
    assert "Daily cap of the route" in page
    assert "2,000 of 2,000 used" in page
    assert "2026-09-03 04:00:00 UTC" in page
    assert f'<a href="/campaigns/{CAMPAIGN}">' in page
    assert "&lt;i&gt;Ada&lt;/i&gt;" in page
    assert "<i>Ada" not in page


def test_times_are_in_the_browsers_zone_with_utc_beside() -> None:
    browser = a_browser()

    page = browser.get("/routes", cookie="zone=America%2FNew_York").text

    assert "2026-09-03 00:00:00 EDT <small>04:00:00 UTC</small>" in page


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"is_enabled": False, "binding": {**HELD, "cause": "route_disabled"}}, '<span class="word bad">off</span>'),
        ({"binding": None}, '<span class="word good">free</span>'),
        ({"binding": {**HELD, "cause": "provider_throttled"}}, "Throttled by the provider"),
        (
            {"binding": {**HELD, "cause": "provider_misconfigured", "detail": "invalid <b>sender"}},
            "Invalid &lt;b&gt;sender",
        ),
        ({"pauses": [THROTTLED]}, '<span class="word warn">Throttled by the provider</span>'),
        ({"parts_per_day": None}, "used, no cap"),
        ({"campaigns": []}, "–"),
    ],
    ids=["off", "free", "throttled", "misconfigured", "throttled too", "no cap", "no campaign"],
)
def test_a_route_shows_its_state_in_words(other: dict[str, Any], told: str) -> None:
    assert told in a_browser(a_route(**other)).get("/routes").text


def test_no_route_is_said() -> None:
    browser = a_console(FakeApi({"GET /v1/routes": {"routes": []}}))

    assert "There is no route yet" in browser.get("/routes").text


def test_what_cannot_be_reached_is_said_and_the_page_waits_for_it() -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    answer = a_console(FakeApi({"GET /v1/routes": gone})).get("/routes")

    assert answer.status_code == 502
    assert "Nothing answers at http://127.0.0.1:4600" in answer.text
    assert 'data-live="/live/routes"' in answer.text


def test_a_route_shows_the_trail_of_its_changes_and_what_it_cost() -> None:
    page = a_browser().get("/routes/shared").text

    assert "parts per minute: 60 → 240" in page
    assert "concurrency: none" not in page
    assert "&lt;i&gt;Ada&lt;/i&gt;" in page
    assert "1 min 30 s" in page


def test_the_form_has_what_is_now_and_no_cap_is_blank() -> None:
    page = a_browser().get("/routes/shared/change").text

    assert 'name="parts_per_day" value="2000"' in page
    assert 'name="concurrency" value=""' in page
    assert hidden(page)["revision"] == "7"


def test_a_change_is_shown_before_it_is_made() -> None:
    browser = a_browser()

    page = browser.post("/routes/shared/change", **TYPED).text

    assert "parts per minute: 240 → 600" in page
    assert "parts per day: 2,000 → none" in page
    assert "concurrency: none → 40" in page
    assert "is enabled" not in page
    assert browser.api.writes() == []


def test_a_confirmed_change_is_made_to_the_revision_that_was_seen() -> None:
    browser = a_browser()
    reviewed = hidden(browser.post("/routes/shared/change", **TYPED).text)

    done = browser.post("/routes/shared/change/confirmed", **{k: v for k, v in reviewed.items() if k != "token"})

    assert (done.status_code, done.headers["location"]) == (303, "/routes/shared")
    [(what, body, headers)] = browser.api.writes()
    assert what == "PATCH /v1/admin/routes/shared"
    assert body == {"parts_per_minute": 600, "parts_per_day": None, "concurrency": 40, "is_enabled": True}
    assert headers["if-match"] == "7"
    assert "waiting batches that go on: 12." in browser.get("/routes/shared").text


def test_switching_off_is_a_box_that_is_not_ticked() -> None:
    browser = a_browser()

    page = browser.post("/routes/shared/change", **{k: v for k, v in TYPED.items() if k != "is_enabled"}).text

    assert "is enabled: yes → no" in page


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parts_per_minute", ""),
        ("parts_per_minute", "0"),
        ("parts_per_minute", "-5"),
        ("parts_per_day", "many"),
        ("concurrency", "1.5"),
        ("concurrency", "٤"),  # a digit to Unicode, and to int()
        ("concurrency", "9" * 5000),  # more digits than int() takes
        ("parts_per_day", '"><script>'),
    ],
    ids=["no pace", "zero", "below", "word", "half", "Arabic", "endless", "markup"],
)
def test_what_cannot_be_is_said_beside_it_and_nothing_typed_is_lost(name: str, text: str) -> None:
    browser = a_browser()
    typed = {**TYPED, "parts_per_minute": "601", name: text}

    answer = browser.post("/routes/shared/change", **typed)

    assert answer.status_code == 422
    assert f'id="problem-{name}"' in answer.text
    assert answer.text.count('class="problem"') == 1
    assert "Write a whole number from 1" in answer.text
    assert name == "parts_per_minute" or 'value="601"' in answer.text
    assert "<script>" not in answer.text.partition("<main")[2]
    assert browser.api.writes() == []


def test_a_change_that_somebody_made_meanwhile_is_seen_before_the_review() -> None:
    browser = a_browser()

    answer = browser.post("/routes/shared/change", **{**TYPED, "revision": "6"})

    assert answer.status_code == 409
    assert "Somebody changed it meanwhile" in answer.text
    assert 'value="600"' in answer.text
    assert "now 240" in answer.text
    assert hidden(answer.text)["revision"] == "7"


def test_a_change_that_somebody_made_after_the_review_is_not_written_over() -> None:
    browser = a_browser()
    browser.api.answers["PATCH /v1/admin/routes/shared"] = refusal(409, "It was changed since.")

    answer = browser.post("/routes/shared/change/confirmed", **TYPED)

    assert answer.status_code == 409
    assert "It was changed since. Look at it again, then decide." in answer.text
    assert 'value="600"' in answer.text


def test_nothing_typed_is_lost_where_nothing_answers() -> None:
    browser = a_browser()

    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    browser.api.answers |= {"PATCH /v1/admin/routes/shared": gone, "GET /v1/routes/shared": gone}
    answers = [browser.post(f"/routes/shared/change{step}", **TYPED) for step in ("", "/confirmed")]

    for answer in answers:
        assert answer.status_code == 502
        assert "Nothing answers at" in answer.text
        assert 'value="600"' in answer.text
        assert hidden(answer.text)["revision"] == "7"


def test_what_changes_nothing_still_wakes_what_waits() -> None:
    browser = a_browser()
    same = {**TYPED, "parts_per_minute": "240", "parts_per_day": "2,000", "concurrency": ""}

    assert "Nothing would change" in browser.post("/routes/shared/change", **same).text
    assert browser.post("/routes/shared/change/confirmed", **same).status_code == 303
    assert len(browser.api.writes()) == 1


@pytest.mark.parametrize("step", ["", "/confirmed"])
@pytest.mark.parametrize(
    ("carrying", "headers"),
    [("", {}), ("another", {}), (None, {"origin": "https://evil.example"}), (None, {"origin": "null"})],
    ids=["no token", "another's token", "another origin", "no origin of its own"],
)
def test_a_form_that_is_not_the_consoles_own_changes_nothing(
    step: str, carrying: str | None, headers: dict[str, str]
) -> None:
    browser = a_browser()

    answer = browser.post(f"/routes/shared/change{step}", carrying=carrying, headers=headers, **TYPED)

    assert (answer.status_code, browser.api.writes()) == (303, [])
    assert "Nothing was done" in browser.get("/routes/shared").text
