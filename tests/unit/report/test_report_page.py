"""The page and the schema: complete, safe, and nothing loaded from outside."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html.parser import HTMLParser

import jsonschema
import pytest
from report_builders import NOON, a_campaign, a_message, a_plan, a_report, a_skipped_message

from paceline.models import Message
from paceline.report import Credits, render_page
from paceline.report.model import Difference
from paceline.report.schema import SCHEMA_PATH, schema_text
from paceline.report.words import duration, label
from paceline.status import Cause, MessageStatus

EVIL = "<script>alert(1)</script>\"'&"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Reads a page strictly enough to see that every element is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def some_messages() -> list[Message]:
    filtered = a_message(2, status=MessageStatus.UNDELIVERED, cause="carrier_filtered")
    return [a_message(1), filtered, a_message(3, route="verizon"), a_skipped_message(4)]


def test_the_page_puts_the_headline_the_outcomes_and_the_sums_in_words() -> None:
    page = render_page(a_report(some_messages(), lost_to={"route_day_cap": 3_900.0}, caps={"shared": 240}))

    for words in ("All 4 messages have an outcome", "Filtered by the carrier", "Every sum closes", "1 h 05 min"):
        assert words in page
    assert "Route verizon" in page
    assert "of 240 allowed" in page


def test_a_later_version_says_first_what_it_changed() -> None:
    told = Difference(
        since_version=1,
        leads=3,
        outcomes={"delivered": 3, "unconfirmed": -3},
        credits={"consumed": 2, "released": -2},
        waived=1,
    )

    page = render_page(a_report(some_messages()).model_copy(update={"version": 2, "difference": told}))

    assert (
        "Since version 1, late receipts changed 3 messages: delivered +3, unconfirmed -3; "
        "2 credits more consumed; 1 credit waived that the account no longer had."
    ) in page


def test_the_page_says_which_sum_does_not_close() -> None:
    page = render_page(a_report(some_messages(), credits=Credits(reserved=9, consumed=4, released=4)))

    assert "Not every sum closes" in page
    assert "Off by 1 credit" in page
    assert page.count("✗") == 1


def test_what_a_customer_wrote_is_escaped_everywhere() -> None:
    plan = a_plan(4, warnings=(EVIL,), rejected_reasons={EVIL: 1})
    messages = [*some_messages()[:3], a_skipped_message(4, EVIL)]
    campaign = a_campaign(name=EVIL, account_id=EVIL)

    page = render_page(
        a_report(messages, campaign=campaign, plan=plan, status="failed", reason=EVIL, lost_to={EVIL: 1.0})
    )

    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 7


@pytest.mark.parametrize("messages", [[], some_messages()], ids=["nothing was sent", "a few messages"])
def test_the_page_is_well_formed_and_loads_nothing(messages: list[Message]) -> None:
    page = render_page(a_report(messages))

    read = Page(page)
    assert read.open == []
    assert not {"script", "link", "img", "iframe"} & set(read.tags)
    assert not re.search(r"https?://|url\(|@import|\ssrc=|\son\w+=", page)


def test_every_chart_has_its_numbers_in_a_table() -> None:
    day = [a_message(n, sent_at=NOON + timedelta(minutes=n), final_at=NOON) for n in range(1, 1_000)]

    page = render_page(a_report(day))

    assert page.count("<figure>") == page.count("<summary>") == 1
    assert "mean of 10 minutes" in page
    assert 99 < page.count(" Sep 2026, ") < 210


def test_a_failed_campaign_is_called_failed() -> None:
    assert '<span class="pill failed">Failed</span>' in render_page(a_report([], status="failed"))


def test_every_cause_that_we_know_has_words_of_its_own() -> None:
    for cause in Cause:
        assert " " in label(cause), cause
    assert label("some_new_code") == "Some new code"
    assert label("provider_30123") == "Provider's code 30123"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (59.7, "1 min 00 s"),  # rounded before it is split
        (200, "3 min 20 s"),
        (3_900, "1 h 05 min"),
        (187_200, "2 d 4 h"),
    ],
)
def test_durations_are_in_their_two_largest_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_the_committed_schema_is_that_of_the_model() -> None:
    assert SCHEMA_PATH.read_text(encoding="utf-8") == schema_text(), "run python -m paceline.report.schema"


@pytest.mark.parametrize("messages", [[], some_messages()], ids=["nothing was sent", "a few messages"])
def test_a_built_report_fits_the_schema(messages: list[Message]) -> None:
    document = a_report(messages, caps={"shared": 240}).model_dump(mode="json", by_alias=True)

    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"leads": {"total": 1}}, schema)
