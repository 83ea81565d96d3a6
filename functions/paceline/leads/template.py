"""A campaign's message with its fields: checked once against the file, then filled for every lead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from paceline.errors import LeadFileInvalid, RequestInvalid
from paceline.leads.names import SPREADSHEET_ERRORS, normalise_name, trimmed

_FIELD = re.compile(r"\{\{([^{}|]*)(?:\|([^{}]*))?\}\}")
_BRACE = re.compile(r"[{}]+")


@dataclass(frozen=True, slots=True)
class Field:
    """A place to fill. name: as the customer wrote it; column: normalised; default: None where there is none."""

    name: str
    column: str
    default: str | None


@dataclass(frozen=True, slots=True)
class BlankField:
    """A lead has no value for a field without a default: it is not sent to, for "Hi ," would go out."""

    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled message: literal texts and fields in turn."""

    pieces: tuple[str | Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Field))

    def check_columns(self, columns: Mapping[str, str]) -> None:
        """Raise LeadFileInvalid if a field without a default has no column. columns: normalised name → heading."""
        for field in self.fields:
            if field.default is None and field.column not in columns:
                raise LeadFileInvalid(
                    f"The message needs the field {field.name!r}, and the file has no such column. Its headings are:"
                    f" {', '.join(map(repr, columns.values()))}. Add the column, or a default:"
                    f" {{{{{field.name}|there}}}}.",
                    field=field.name,
                    headings=list(columns.values()),
                )

    def render(self, values: Mapping[str, str]) -> str | BlankField:
        """Return the text for one lead. A value goes in as it is: braces in it are never read as a field.

        No value is: what shows nothing, and what a spreadsheet exports for a formula that failed (#N/A).
        """
        texts = []
        for piece in self.pieces:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            text: str | None = trimmed(values.get(piece.column, ""))
            if not text or text in SPREADSHEET_ERRORS:
                text = piece.default
            if text is None:
                return BlankField(piece.name)
            texts.append(text)
        return "".join(texts)


def compile_template(message: str) -> Template:
    """Return the message compiled. `{{first_name}}`; `{{ first_name | there }}` with a default. An empty one drops
    the field from the text, but is none where it would leave a gap: "Hi {{first_name|}}, it is due".

    Any other brace is an error, not a text: "Hi {first_name}" sent 25,000 times is the worse mistake.
    Raises: RequestInvalid with the position (from 1) of what cannot be read.
    """
    pieces: list[str | Field] = []
    end = 0
    for match in _FIELD.finditer(message):
        pieces += _literal(message, end, match.start())
        pieces.append(_field(match))
        end = match.end()
    pieces += _literal(message, end, len(message))
    return Template(tuple(pieces))


def _field(match: re.Match[str]) -> Field:
    name, default = trimmed(match[1]), match[2]
    if not normalise_name(name):
        raise _unreadable(match.start(), "a field without a name")
    default = None if default is None else trimmed(default)
    return Field(name, normalise_name(name), None if default == "" and _leaves_a_gap(match) else default)


def _leaves_a_gap(match: re.Match[str]) -> bool:
    """Tell whether a blank in the place of a field would show: "Hi ,". Elsewhere the sentence may be whole: "Hi!"."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    return before[-1:].strip() == "" and re.match(r"\s*[,.;:!?]", after) is not None


def _literal(message: str, start: int, end: int) -> list[str]:
    if brace := _BRACE.search(message, start, end):
        raise _unreadable(brace.start(), f"{brace[0]!r} that does not belong to a field")
    return [message[start:end]] if end > start else []


def _unreadable(index: int, what: str) -> RequestInvalid:
    return RequestInvalid(
        f"The message has, at position {index + 1}, {what}. Fields are written {{{{first_name}}}}.", position=index + 1
    )
