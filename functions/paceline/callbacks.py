"""What a provider's callback means: verified on what came, stored as it came, then applied."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl

from paceline import keys
from paceline.inbound import Word, read_word
from paceline.leads.phone import PhoneNumber, normalise
from paceline.models import is_account_id
from paceline.moments import iso
from paceline.observability import identify_message
from paceline.opt_outs import opt_in, opt_out
from paceline.ports import CallbackReader, Workflow
from paceline.receipts import store_callback, without_numbers
from paceline.receiving import take_receipt
from paceline.table import Put, Table

# Ten times what a provider sends. Fields are taken apart before their signature can be looked at, and a million of
# them take longer than a function has.
MOST_CHARACTERS = 32_768
# An E.164 number has 15 digits, an address of another channel somewhat more.
LONGEST_SENDER = 64

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
    if len(body) > MOST_CHARACTERS:
        return Reply(Answer.MALFORMED)
    fields = dict(parse_qsl(body, keep_blank_values=True))
    if not provider.is_signed(url, fields, signature):
        return Reply(Answer.NOT_SIGNED)
    if "message_id" in query:
        return Reply(_take_receipt(table, workflow, provider, query["message_id"], fields, now))
    if is_account_id(query.get("account_id", "")) and _is_inbound(fields):
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
        identify_message(message_id)
        receipt = provider.read_receipt(message_id, fields)
    except (ValueError, KeyError):
        return Answer.MALFORMED
    kept = {name: value for name, value in fields.items() if name not in _PERSONAL}
    kept = without_numbers(kept, fields.get("To", ""), fields.get("From", ""))
    store_callback(table, provider.name, message_id, kept, now, receipt)
    if receipt is not None:  # a word that we do not know stays in the inbox, until somebody knows what it means
        take_receipt(table, workflow, receipt, now)
    return Answer.TAKEN


def _is_inbound(fields: Mapping[str, str]) -> bool:
    return "Body" in fields and 0 < len(fields.get("From", "")) <= LONGEST_SENDER


def _take_inbound(table: Table, account_id: str, fields: Mapping[str, str], now: datetime) -> Reply:
    said_id = fields.get("MessageSid", "")
    if note_words(table, account_id, fields["From"], fields["Body"], now, said_id=said_id) is Word.HELP:
        return Reply(Answer.TAKEN, (table.get(keys.account(account_id)) or {}).get("help_text", ""))
    return Reply(Answer.TAKEN)


def note_words(
    table: Table, account_id: str, sender: str, text: str, now: datetime, *, said_id: str = ""
) -> Word | None:
    """Do what somebody asks for who wrote to an account's number, and return the word; None: nothing to do.

    said_id: the provider's id of what was written. The same once more changes nothing, else whoever has kept a signed
    START, or a queue that repeats one, would end a STOP that was said since. Blank: there is none.
    """
    number = normalise(sender)
    person = number.e164 if isinstance(number, PhoneNumber) else sender
    word = read_word(text)
    if word not in (Word.STOP, Word.START):
        return word
    # With person and word: were an id ever given twice, the second STOP must not be lost.
    pk, sk = keys.word(account_id, sha256(f"{said_id}#{person}#{word}".encode()).hexdigest()[:24])
    if said_id and table.get((pk, sk)):
        return word
    if word is Word.STOP:
        opt_out(table, account_id, person, iso(now))
    else:
        opt_in(table, account_id, person, iso(now))
    if said_id:
        table.put(Put({"pk": pk, "sk": sk, "taken_at": iso(now)}))
    return word
