"""Typographic punctuation: sent as typed, or made plain where that makes a text GSM-7, and never anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.leads.punctuation import _PLAIN, measured
from paceline.segments import Encoding, measure


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param("D’Arcy’s ‘quote’", "D'Arcy's 'quote'", id="curly single quotes"),
        pytest.param("“Renew” „now‟", '"Renew" "now"', id="curly double quotes"),
        pytest.param("Mon–Fri — 9‑5", "Mon-Fri - 9-5", id="dashes of every length"),
        pytest.param("Wait…", "Wait...", id="an ellipsis"),
        pytest.param("5\u00a0% off\u202fnow", "5 % off now", id="spaces that do not break"),
        pytest.param("a\u200bb\ufeffc", "abc", id="marks that nobody sees"),
        pytest.param("it`s", "it's", id="the backtick, which is ASCII and not GSM-7"),
        pytest.param("• one\t• two", "- one - two", id="bullets and tabs"),
    ],
)
def test_punctuation_is_made_plain_on_request_only(text: str, plain: str) -> None:
    assert measured(text, to_gsm7=True).text == plain
    assert measured(text, to_gsm7=False).text == text


@pytest.mark.parametrize(
    "text", ["Zoë’s quote", "Hi 😀 … there", "Привет…", "naïve — really", "plain text", "José (5 €)"]
)
def test_a_text_that_would_not_be_gsm7_or_is_already_stays_as_it_is(text: str) -> None:
    assert measured(text, to_gsm7=True) == (text, measure(text), 0)


@pytest.mark.parametrize(
    ("length", "saved"),
    [
        pytest.param(50, 0, id="one part either way"),
        pytest.param(70, 0, id="a full part of UCS-2"),
        pytest.param(71, 1, id="two parts against one"),
        pytest.param(160, 2, id="three parts against one"),
    ],
)
def test_the_parts_that_it_saves_are_counted_whether_it_is_asked_for_or_not(length: int, saved: int) -> None:
    text = "’" + "x" * (length - 1)

    asked, not_asked = measured(text, to_gsm7=True), measured(text, to_gsm7=False)

    assert asked.punctuation_parts == not_asked.punctuation_parts == saved
    assert not_asked.segments.parts - asked.segments.parts == saved


@given(st.text(st.sampled_from("ax ’…—€[😀ë\u00a0"), max_size=200))
def test_what_is_made_plain_is_gsm7_and_reads_the_same(text: str) -> None:
    made = measured(text, to_gsm7=True)

    assert made.segments == measure(made.text)
    if made.text != text:
        assert made.segments.encoding is Encoding.GSM_7
        assert made.text == text.translate(_PLAIN)
