"""What a provider's callback means: verified on what came, stored as it came, then applied."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple
from urllib.parse import parse_qsl

from paceline import keys
from paceline.inbound import Word, read_word
from paceline.leads.phone import PhoneNumber, normalise
from paceline.moments import iso
from paceline.opt_outs import opt_in, opt_out
from paceline.ports import CallbackReader, Workflow
from paceline.receipts import store_callback
from paceline.receiving import take_receipt
from paceline.table import Table

# Kept out of the inbox: what people wrote, and who.
_PERSONAL = {"Body", "To", "From"}


class Reply(NamedTuple):
    """What a callback is answered with. text: what the person who wrote to us is sent back; blank: nothing."""

    answer: Answer
    text: str = ""


class Answer(IntEnum):
    """The HTTP status that the provider gets. It repeats a callback only where it helps: not for 4xx of its own."""

    TAKEN = 204
    MALFORMED = 400
    NOT_SIGNED = 403


def take_callback(
    table: Table,
    workflow: Workflow,
    provider: CallbackReader,
    url: str,
    query: Mapping[str, str],
    body: str,
    signature: str,
    now: datetime,
) -> Reply:
    """Take one callback: a receipt (query message_id) or an inbound message (query account_id).

    url: the whole address as the provider called it: its signature covers that. Raises: TransactionConflict,
    TableThrottled.
    """
    fields = dict(parse_qsl(body, keep_blank_values=True))
    if not provider.is_signed(url, fields, signature):
        return Reply(Answer.NOT_SIGNED)
    if "message_id" in query:
        return Reply(_take_receipt(table, workflow, provider, query["message_id"], fields, now))
    if "account_id" in query and {"Body", "From"} <= fields.keys():
        return _take_inbound(table, query["account_id"], fields, now)
    return Reply(Answer.MALFORMED)


def _take_receipt(
    table: Table,
    workflow: Workflow,
    provider: CallbackReader,
    message_id: str,
    fields: Mapping[str, str],
    now: datetime,
) -> Answer:
    try:
        keys.parse_message_id(message_id)
        receipt = provider.read_receipt(message_id, fields)
    except (ValueError, KeyError):
        return Answer.MALFORMED
    kept = {name: value for name, value in fields.items() if name not in _PERSONAL}
    store_callback(table, provider.name, message_id, kept, now, receipt)
    if receipt is not None:  # a word that we do not know stays in the inbox, until somebody knows what it means
        take_receipt(table, workflow, receipt, now)
    return Answer.TAKEN


def _take_inbound(table: Table, account_id: str, fields: Mapping[str, str], now: datetime) -> Reply:
    if note_words(table, account_id, fields["From"], fields["Body"], now) is Word.HELP:
        return Reply(Answer.TAKEN, (table.get(keys.account(account_id)) or {}).get("help_text", ""))
    return Reply(Answer.TAKEN)


def note_words(table: Table, account_id: str, sender: str, text: str, now: datetime) -> Word | None:
    """Do what somebody asks for who wrote to an account's number, and return the word; None: nothing to do."""
    number = normalise(sender)
    person = number.e164 if isinstance(number, PhoneNumber) else sender
    match word := read_word(text):
        case Word.STOP:
            opt_out(table, account_id, person, iso(now))
        case Word.START:
            opt_in(table, account_id, person, iso(now))
    return word
