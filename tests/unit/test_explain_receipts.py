"""What the inbox keeps of each provider's receipts can be read again, without its secret or a client."""

from __future__ import annotations

import pytest

from console.receipt_readers import RECEIPT_READERS
from paceline.adapters.end_user_messaging import EndUserMessaging
from paceline.models import ProviderName
from paceline.status import MessageStatus

EVENT = {"messageId": "aws-1", "destinationPhoneNumber": "+12025550100", "context": {"paceline_message_id": "a.b.1"}}


@pytest.mark.parametrize(
    ("kind", "is_final", "status"),
    [
        ("TEXT_DELIVERED", True, MessageStatus.DELIVERED),
        ("TEXT_UNREACHABLE", True, MessageStatus.UNDELIVERED),
        ("TEXT_UNREACHABLE", False, MessageStatus.SENT),
    ],
)
def test_an_event_of_end_user_messaging_is_read_as_it_was_applied(
    kind: str, is_final: bool, status: MessageStatus
) -> None:
    event = {**EVENT, "eventType": kind, "isFinal": is_final}
    provider = EndUserMessaging(lambda: None, "", "")
    kept = provider.without_people(event)

    read = RECEIPT_READERS["end_user_messaging"]("a.b.1", kept)

    assert read is not None
    assert read.status is status
    applied = provider.read_event(event)
    assert applied is not None
    assert (read.status, read.cause) == (applied.status, applied.cause)


def test_every_provider_has_a_reader() -> None:
    assert set(RECEIPT_READERS) == set(ProviderName.__args__)  # type: ignore[attr-defined]
