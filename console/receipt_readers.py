"""How each provider's receipts are read again from what the inbox keeps of them."""

from __future__ import annotations

from collections.abc import Mapping

from paceline.adapters.end_user_messaging import EndUserMessaging
from paceline.adapters.twilio import Twilio
from paceline.explain import ReadReceipt
from paceline.receipts import Receipt


def _read_twilio(message_id: str, fields: Mapping[str, str]) -> Receipt | None:
    return Twilio(lambda: "", "").read_receipt(message_id, fields)


def _read_end_user_messaging(message_id: str, fields: Mapping[str, str]) -> Receipt | None:
    event = {**fields, "isFinal": fields.get("isFinal") == "true"}  # the inbox keeps what is no text as JSON
    return EndUserMessaging(lambda: None, "", "").read_event(event)


# Reading needs neither secrets nor clients: what the inbox keeps is all there is to read.
RECEIPT_READERS: dict[str, ReadReceipt] = {
    Twilio.name: _read_twilio,
    EndUserMessaging.name: _read_end_user_messaging,
}
