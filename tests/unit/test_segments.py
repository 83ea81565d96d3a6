"""Parts: against the standard's limits, real personalised texts, and a slow count that is plainly right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.segments import GSM_BASIC, GSM_EXTENSION, Encoding, Segments, characters_outside_gsm, measure

PERSONALISED = "Hi {}! " + 140 * "x" + " end"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", (Encoding.GSM_7, 0, 0), id="empty"),
        pytest.param("a", (Encoding.GSM_7, 1, 1), id="one character"),
        pytest.param("a" * 160, (Encoding.GSM_7, 160, 1), id="one part is full"),
        pytest.param("a" * 161, (Encoding.GSM_7, 161, 2), id="one over"),
        pytest.param("a" * 306, (Encoding.GSM_7, 306, 2), id="two joined parts are full"),
        pytest.param("a" * 307, (Encoding.GSM_7, 307, 3), id="one over two"),
        pytest.param("€" * 80, (Encoding.GSM_7, 160, 1), id="extension characters take two septets"),
        pytest.param("€" * 81, (Encoding.GSM_7, 162, 2), id="extension characters one over"),
        # 152 septets, then a pair that does not fit into the 153rd: plain division would say 2
        pytest.param("a" * 152 + "€" + "a" * 152, (Encoding.GSM_7, 306, 3), id="a pair is not cut"),
        pytest.param("a" * 151 + "€" + "a" * 153, (Encoding.GSM_7, 306, 2), id="a pair fills a part to the brim"),
        pytest.param("é" * 160, (Encoding.GSM_7, 160, 1), id="accents of the alphabet"),
        pytest.param("ё" * 70, (Encoding.UCS_2, 70, 1), id="UCS-2 one part is full"),
        pytest.param("ё" * 71, (Encoding.UCS_2, 71, 2), id="UCS-2 one over"),
        pytest.param("ё" * 134, (Encoding.UCS_2, 134, 2), id="UCS-2 two joined parts are full"),
        pytest.param("ё" * 135, (Encoding.UCS_2, 135, 3), id="UCS-2 one over two"),
        pytest.param("😀" * 35, (Encoding.UCS_2, 70, 1), id="an emoji takes two units"),
        # 66 units, then a surrogate pair that does not fit into the 67th
        pytest.param("ё" * 66 + "😀" + "ё" * 66, (Encoding.UCS_2, 134, 3), id="a surrogate pair is not cut"),
        pytest.param("`", (Encoding.UCS_2, 1, 1), id="the backtick is ASCII and not GSM"),
    ],
)
def test_a_text_has_the_parts_that_the_standard_gives_it(text: str, expected: Segments) -> None:
    assert measure(text) == expected


@pytest.mark.parametrize(
    ("first_name", "encoding", "units", "parts"),
    [
        ("Ana", Encoding.GSM_7, 152, 1),
        ("Maximiliano", Encoding.GSM_7, 160, 1),
        ("Maximilianoo", Encoding.GSM_7, 161, 2),
        ("D’Arcy", Encoding.UCS_2, 155, 3),  # the apostrophe that word processors write
        ("Max [Power]", Encoding.GSM_7, 162, 2),
        ("Zoë", Encoding.UCS_2, 152, 3),  # ë is not in the alphabet, é is
        ("José", Encoding.GSM_7, 153, 1),
    ],
)
def test_parts_depend_on_the_personalised_text(first_name: str, encoding: Encoding, units: int, parts: int) -> None:
    assert measure(PERSONALISED.format(first_name)) == (encoding, units, parts)


def test_the_characters_that_cost_are_named() -> None:
    assert characters_outside_gsm("Zoë’s quote: 5 €") == {"ë", "’"}


runs = st.lists(st.builds(str.__mul__, st.sampled_from("aé[€`ё😀"), st.integers(1, 160)), max_size=5).map("".join)


@given(runs)
def test_parts_match_a_text_cut_character_by_character(text: str) -> None:
    segments = measure(text)

    assert segments == _cut_by_hand(text)


@given(st.text(max_size=300), st.text(max_size=50))
def test_a_longer_text_never_has_fewer_parts(text: str, more: str) -> None:
    assert measure(text + more).parts >= measure(text).parts


def _cut_by_hand(text: str) -> tuple[Encoding, int, int]:
    is_gsm = all(c in GSM_BASIC + GSM_EXTENSION for c in text)
    widths = [1 + (c in GSM_EXTENSION) if is_gsm else len(c.encode("utf-16-le")) // 2 for c in text]
    alone, joined = (160, 153) if is_gsm else (70, 67)
    parts: list[int] = []
    for width in widths:
        if not parts or parts[-1] + width > joined:
            parts.append(0)
        parts[-1] += width
    count = len(parts) if sum(widths) > alone else min(1, len(parts))
    return (Encoding.GSM_7 if is_gsm else Encoding.UCS_2, sum(widths), count)
