"""Answers about lists that are imported: opt-outs, carriers."""

from __future__ import annotations

from pydantic import AwareDatetime

from api.answers import Answer


class OptOutEntry(Answer):
    """source: `message` (the person wrote STOP), `import` or `api`."""

    phone_number: str
    opted_out_at: AwareDatetime
    source: str


class OptOutsAnswer(Answer):
    """One page, by number. next: `after` of the next page; null: this is the last."""

    opt_outs: list[OptOutEntry]
    next: str | None


class RefusedNumber(Answer):
    """row_number: the place in the list that was posted, from 1."""

    row_number: int
    reason: str
    detail: str


class ImportedAnswer(Answer):
    """added: new on the list. known: were on it. refused: no numbers that we send to."""

    added: int
    known: int
    refused: list[RefusedNumber]


class ImportedCarriersAnswer(Answer):
    """kept: numbers whose carrier is known now. refused: no numbers that we send to."""

    kept: int
    refused: list[RefusedNumber]
