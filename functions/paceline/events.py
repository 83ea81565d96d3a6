"""What an event of a provider's topic means. Who may publish is the topic's and the function's policy, not a signature.

The same rules as for callbacks: stored before it is applied, kept where nobody knows what it means, and an error only
where trying again or a person may help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from paceline.callbacks import note_words
from paceline.errors import RequestMalformed
from paceline.metrics import Metric, count
from paceline.observability import identify_message, logger
from paceline.ports import EventReader, Inbound, Workflow
from paceline.receipts import store_callback
from paceline.receiving import take_receipt
from paceline.routes import all_routes
from paceline.table import Table

# In the inbox's key for an event of a message that is not ours.
NOBODYS = "nobodys"


def take_event(
    table: Table, workflow: Workflow, provider: EventReader, text: str, now: datetime, published: datetime
) -> None:
    """Take one event: a receipt, or an inbound message. published: when; a queue may have held it for two weeks.

    Raises: RequestMalformed, for what is neither; TransactionConflict, TableThrottled.
    """
    try:
        event = json.loads(text)
        if not isinstance(event, dict):
            raise TypeError
        if inbound := provider.read_inbound(event):
            return _take_inbound(table, provider, inbound, published)
        return _take_receipt(table, workflow, provider, event, now)
    except (ValueError, KeyError, TypeError, RecursionError):
        count(Metric.CALLBACKS_REFUSED, reason="malformed")
        raise RequestMalformed("neither an event of a message nor an inbound message") from None


def _take_receipt(
    table: Table, workflow: Workflow, provider: EventReader, event: Mapping[str, Any], now: datetime
) -> None:
    receipt = provider.read_event(event)
    message_id = _ours(provider.our_id(event))
    store_callback(table, provider.name, message_id or NOBODYS, provider.without_people(event), now, receipt)
    if receipt is not None and message_id:  # the others stay in the inbox, until somebody knows what they mean
        take_receipt(table, workflow, receipt, now)


def _ours(message_id: str) -> str:
    """Return the id where it has the form of ours; "" for what somebody else put there."""
    try:
        identify_message(message_id)
    except ValueError:
        return ""
    return message_id


def _take_inbound(table: Table, provider: EventReader, inbound: Inbound, said_at: datetime) -> None:
    """Note what somebody wrote for every account whose leads answer to the number that it came to.

    Where no route names an account for the number it is no outcome of ours: the log says so, without number and text.
    """
    routes = [one for one in all_routes(table) if inbound.to in (one.sender, *one.inbound_numbers)]
    accounts = sorted({account for one in routes if one.provider == provider.name for account in one.inbound_accounts})
    if not accounts:
        logger.warning("an inbound message came to a number of no account", extra={"provider": provider.name})
    for account_id in accounts:
        note_words(table, account_id, inbound.sender, inbound.text, said_at, said_id=inbound.said_id)
