"""The words of AWS End User Messaging SMS in ours: its event types, and the reasons of its refusals.

Source: "Event types for SMS, MMS, and voice" and "Example event data" of its user guide; the API reference's
EventDestination (the list of types), ConflictException, ValidationException and ServiceQuotaExceededException.
"""

from __future__ import annotations

from paceline.status import MessageStatus

_SENT, _DELIVERED = MessageStatus.SENT, MessageStatus.DELIVERED
_UNDELIVERED, _FAILED = MessageStatus.UNDELIVERED, MessageStatus.FAILED

# Event type → our status and cause. Each event is about the whole message (totalMessageParts, totalMessagePrice): no
# event per part is documented. More than one for a message is, and `isFinal` may be true in two of them: AWS's own
# example has TEXT_SUCCESSFUL and then TEXT_DELIVERED.
EVENTS: dict[str, tuple[MessageStatus, str]] = {
    "TEXT_QUEUED": (_SENT, ""),  # accepted, and on its way nowhere yet
    "TEXT_PENDING": (_SENT, ""),
    "TEXT_SENT": (_SENT, ""),  # in the list, and "not supported": nobody has seen one
    "TEXT_SUCCESSFUL": (_SENT, ""),  # the carrier took it. Not the handset: like Twilio's `sent`, maybe the last word
    "TEXT_DELIVERED": (_DELIVERED, ""),
    "TEXT_INVALID": (_FAILED, "invalid_number"),
    "TEXT_INVALID_MESSAGE": (_FAILED, "invalid_text"),
    "TEXT_PROTECT_BLOCKED": (_FAILED, "blocked_by_protection"),  # by a protect configuration of the account's own
    "TEXT_UNREACHABLE": (_UNDELIVERED, "unreachable"),  # handset off, or out of reach
    "TEXT_CARRIER_UNREACHABLE": (_UNDELIVERED, "carrier_unreachable"),  # a passing fault of the network
    "TEXT_BLOCKED": (_UNDELIVERED, "blocked"),  # by the handset, or by the carrier for this recipient
    "TEXT_CARRIER_BLOCKED": (_UNDELIVERED, "carrier_filtered"),  # taken for malicious or unsolicited
    "TEXT_SPAM": (_UNDELIVERED, "carrier_filtered"),  # taken for unsolicited advertising
    "TEXT_TTL_EXPIRED": (_UNDELIVERED, "expired"),
    # Both "not delivered for another reason" and, after 72 hours without a word from the carrier, "we do not know": no
    # outcome, so what remains is that it was accepted.
    "TEXT_UNKNOWN": (_SENT, ""),
}

# Reasons that are about this recipient or this text: its message failed.
REFUSALS: dict[str, str] = {
    "DESTINATION_PHONE_NUMBER_OPTED_OUT": "opted_out",  # on the opt-out list of the sender
    "DESTINATION_COUNTRY_BLOCKED": "country_not_enabled",
    "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION": "country_not_enabled",
    "DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE": "blocked_by_protection",
    "COUNTRY_NOT_ENABLED": "country_not_enabled",
    "INTERNATIONAL_SENDING_NOT_SUPPORTED": "country_not_enabled",
    "INVALID_IDENTITY_FOR_DESTINATION_COUNTRY": "not_reachable_from_sender",
    "COUNTRY_CODE_MISMATCH": "not_reachable_from_sender",
    "MAXIMUM_SIZE_EXCEEDED": "invalid_text",
    "PRICE_OVER_THRESHOLD": "price_exceeded",
}

# What a ValidationException's fields say where its reason is one of the general ones (FIELD_VALIDATION_FAILED, ...).
FIELDS: dict[str, str] = {"DestinationPhoneNumber": "invalid_number", "MessageBody": "invalid_text"}

# Reasons that are about the sender or the account: every message of the route would be refused.
TROUBLES: dict[str, str] = {
    "ACCOUNT_DISABLED": "account_not_active",
    "INSUFFICIENT_ACCOUNT_REPUTATION": "account_not_active",
    "DESTINATION_PHONE_NUMBER_NOT_VERIFIED": "account_on_trial",  # AWS's own SMS sandbox: verified numbers only
    "MESSAGE_TYPE_MISMATCH": "invalid_sender",  # a promotional message from a transactional number, or the reverse
    "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT": "spend_limit_reached",
    "NO_ORIGINATION_IDENTITIES_FOUND": "invalid_sender",
    "NUMBER_CAPABILITIES_MISMATCH": "invalid_sender",  # a number that sends no SMS
    "REGISTRATION_NOT_COMPLETE": "sender_unregistered",
    "RESOURCE_NOT_ACTIVE": "invalid_sender",
    "RESOURCE_NOT_ACCESSIBLE": "invalid_sender",
    "SENDER_ID_NOT_REGISTERED": "sender_unregistered",
    "SENDER_ID_NOT_SUPPORTED": "invalid_sender",
    "SENDER_ID_REQUIRES_REGISTRATION": "sender_unregistered",
}

# Errors that come with no reason, or with one that no table has: the same rule by the error itself.
ERRORS: dict[str, str] = {
    "AccessDenied": "not_allowed",
    "AccessDeniedException": "not_allowed",  # the function's role may not send from this identity
    "ConflictException": "invalid_sender",  # "not valid for the current state or configuration of the resource"
    "ExpiredToken": "not_authenticated",
    "ExpiredTokenException": "not_authenticated",
    "InvalidSignatureException": "not_authenticated",
    "ResourceNotFoundException": "sender_not_found",  # no such sender, pool or configuration set
    "ServiceQuotaExceededException": "spend_limit_reached",
    "UnrecognizedClientException": "not_authenticated",
}
