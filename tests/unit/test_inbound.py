"""Inbound words: every form that people write, and nothing that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.inbound import WORDS, Word, read_word

FORMS = sorted((form, word) for word, forms in WORDS.items() for form in forms)


def full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def bold(text: str) -> str:
    return "".join(chr(0x1D400 + ord(c) - ord("A")) if "A" <= c <= "Z" else c for c in text)


WAYS = {
    "as it is": str,
    "small": str.lower,
    "capitalised": str.capitalize,
    "with space around": "  {}\r\n".format,
    "with a full stop": "{}.".format,
    "with exclamation marks": "{}!!!".format,
    "in quotes": "“{}”".format,
    "in brackets": "[{}]".format,
    "spaced": " ".join,
    "dotted": ".".join,
    "hyphened": "-".join,
    "underlined": "_{}_".format,
    "full width": full_width,
    "full width and small": lambda form: full_width(form.lower()),
    "bold letters": bold,
    "with an accent": lambda form: form[0] + "\u0301" + form[1:],
    "with an emoji": "{} 🛑".format,
    "with invisible marks": lambda form: "\u200b".join(("", form, "")),
    "repeated": lambda form: f"{form} {form.lower()} {form}",
    "politely": "{} please".format,
    "with thanks": "{}, thank you!".format,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("form", "word"), FORMS, ids=[form for form, _ in FORMS])
def test_a_word_is_read_however_it_is_written(form: str, word: Word, way: str) -> None:
    assert read_word(WAYS[way](form)) is word


@pytest.mark.parametrize(
    "text",
    [
        "Stop all",
        "opt out",
        "Opt-Out please",
        "Please stop",
        "STOP texting me",
        "please stop sending me messages",
        "Unsubscribe me",
        "unsubscribe me from this list",
        "I want to unsubscribe",
        "Stop it",
        "remove me from your list",
        "ok stop now",
        "Opt me out please",
        "take me off your list",
        "No more texts",
        "Do not text me",
        "don't text me please",
    ],
)
def test_a_plain_sentence_that_asks_to_stop_is_a_stop(text: str) -> None:
    assert read_word(text) is Word.STOP


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "...",
        "🛑",
        "Please do not stop",
        "Don't stop",
        "dont stop",
        "stop by my office tomorrow",
        "non-stop flights",
        "When does it end?",
        "Can I cancel my policy?",
        "please cancel my appointment",
        "End of the month",
        "the end",
        "I quit my job",
        "Yes",
        "YES, stop calling at noon",
        "Let's start on Monday",
        "Can you help my mother?",
        "information",
        "stopped",
        "unstoppable",
        "nonstop",
        "STOP " + "and " * 100 + "go",
        "Stop by tomorrow\nBob",
        "Top",
    ],
)
def test_what_only_has_a_word_in_it_is_left_to_a_person(text: str) -> None:
    assert read_word(text) is None


@pytest.mark.parametrize("text", ["help stop", "START STOP", "Stop! Help please"])
def test_of_two_words_stop_wins(text: str) -> None:
    assert read_word(text) is Word.STOP


@pytest.mark.parametrize("text", ["STOP\n\nSent from my phone", "Hello\r\nSTOP", "STOPPP", "St0p", "stooop!"])
def test_a_line_of_its_own_and_a_slip_of_the_finger_are_a_stop(text: str) -> None:
    assert read_word(text) is Word.STOP


@given(st.text())
def test_whatever_people_write_there_is_an_answer(text: str) -> None:
    assert read_word(text) in {None, *Word}
