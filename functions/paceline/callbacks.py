"""What a provider's callback means: verified on what came, stored as it came, then applied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from urllib.parse import parse_qsl

from paceline import keys
from paceline.accounts import opt_out
from paceline.moments import iso
from paceline.ports import CallbackReader
from paceline.receipts import apply_receipt, store_callback
from paceline.table import Table

# Words that end all messages to a number (CTIA; facts of the field: STOP, STOPALL, UNSUBSCRIBE, CANCEL, END, QUIT).
OPT_OUT_WORDS = {"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"}

# Kept out of the inbox: what people wrote, and who.
_PERSONAL = {"Body", "To", "From"}


class Answer(IntEnum):
    """The HTTP status that the provider gets. It repeats a callback only where it helps: not for 4xx of its own."""

    TAKEN = 204
    MALFORMED = 400
    NOT_SIGNED = 403


def take_callback(
    table: Table, provider: CallbackReader, url: str, query: Mapping[str, str], body: str, signature: str, now: datetime
) -> Answer:
    """Take one callback: a receipt (query message_id) or an inbound message (query account_id).

    url: the whole address as the provider called it: its signature covers that. Raises: TransactionConflict,
    TableThrottled.
    """
    fields = dict(parse_qsl(body, keep_blank_values=True))
    if not provider.is_signed(url, fields, signature):
        return Answer.NOT_SIGNED
    if "message_id" in query:
        return _take_receipt(table, provider, query["message_id"], fields, now)
    if "account_id" in query and {"Body", "From"} <= fields.keys():
        return _take_inbound(table, query["account_id"], fields, now)
    return Answer.MALFORMED


def _take_receipt(
    table: Table, provider: CallbackReader, message_id: str, fields: Mapping[str, str], now: datetime
) -> Answer:
    try:
        keys.parse_message_id(message_id)
        receipt = provider.read_receipt(message_id, fields)
    except (ValueError, KeyError):
        return Answer.MALFORMED
    kept = {name: value for name, value in fields.items() if name not in _PERSONAL}
    store_callback(table, provider.name, message_id, kept, now)
    if receipt is not None:  # a word that we do not know stays in the inbox, until somebody knows what it means
        apply_receipt(table, receipt, now)
    return Answer.TAKEN


def _take_inbound(table: Table, account_id: str, fields: Mapping[str, str], now: datetime) -> Answer:
    word = re.sub(r"\W", "", fields["Body"]).upper()
    if word in OPT_OUT_WORDS:
        opt_out(table, account_id, fields["From"], iso(now))
    return Answer.TAKEN
