"""Twilio's error codes in our words: what each says of a message, and of the ones after it.

Source: Twilio's "Error and Warning Dictionary" (twilio.com/docs/api/errors), a page a code. The same codes come in the
answer to a send and in receipts; what to do about a refusal matters only in the former.
"""

from __future__ import annotations

from enum import Enum, auto


class Refusal(Enum):
    """What an answer that refused a message means for it."""

    FOR_GOOD = auto()  # this recipient or this text: the message failed
    FOR_NOW = auto()  # a queue or a rate: nothing was accepted, the same message may be offered later
    OF_THE_ROUTE = auto()  # secret, sender or account: every message would be refused, so none may fail for it


_GOOD, _NOW, _ROUTE = Refusal.FOR_GOOD, Refusal.FOR_NOW, Refusal.OF_THE_ROUTE

CODES: dict[str, tuple[str, Refusal]] = {
    # -- the account ------------------------------------------------------------------------------------------------
    "10001": ("account_not_active", _ROUTE),  # no funds, or suspended
    "20003": ("not_authenticated", _ROUTE),  # a wrong or revoked token
    "20005": ("account_not_active", _ROUTE),
    "20403": ("account_not_active", _ROUTE),  # "typically the account has been suspended or closed"
    "20404": ("not_authenticated", _ROUTE),  # for a send: there is no such account
    "30002": ("account_not_active", _ROUTE),  # in receipts: suspended after it was queued
    "30037": ("account_not_active", _ROUTE),  # outbound messaging was disabled
    "90010": ("account_not_active", _ROUTE),
    # -- rates and queues -------------------------------------------------------------------------------------------
    "14107": ("rate_exceeded", _NOW),
    "20429": ("rate_exceeded", _NOW),  # comes with HTTP 429 too, which alone is enough
    "21611": ("queue_full", _NOW),  # ten hours' worth of messages wait for this sender
    "21730": ("rate_exceeded", _NOW),  # maintenance: "try again later"
    "30001": ("queue_full", _NOW),  # the same where a messaging service is the sender; in receipts
    "30022": ("rate_exceeded", _NOW),  # the carriers' rate for the brand's campaign; in receipts
    "30023": ("daily_cap_of_the_carrier", _NOW),  # the brand's cap of a day at the carrier; in receipts
    "30027": ("daily_cap_of_the_carrier", _NOW),  # T-Mobile's cap of a day; in receipts
    # -- the sender -------------------------------------------------------------------------------------------------
    "21212": ("invalid_sender", _ROUTE),
    "21266": ("same_sender_and_recipient", _GOOD),  # the lead has our own number
    "21408": ("country_not_enabled", _GOOD),  # the number's country is off for the account: leads of others are not
    "21601": ("invalid_sender", _ROUTE),  # not one of the account's numbers
    "21603": ("invalid_sender", _ROUTE),
    "21606": ("invalid_sender", _ROUTE),  # not owned, or cannot send messages
    "21608": ("account_on_trial", _ROUTE),  # a trial account sends to verified numbers only: all leads are affected
    "21660": ("invalid_sender", _ROUTE),  # the number is another account's
    "21661": ("invalid_sender", _ROUTE),  # not SMS-capable
    "21703": ("invalid_sender", _ROUTE),  # a messaging service without a number
    "21704": ("invalid_sender", _ROUTE),
    "21705": ("invalid_sender", _ROUTE),
    "30024": ("sender_unregistered", _ROUTE),  # the numeric sender is not provisioned with the carrier
    "30032": ("sender_unregistered", _ROUTE),  # a toll-free number that is not verified
    "30033": ("sender_suspended", _ROUTE),  # the campaign was suspended at the registry
    "30034": ("sender_unregistered", _ROUTE),  # a 10DLC number without a registered campaign
    "30035": ("sender_unregistered", _ROUTE),  # registered, and still being set up
    # -- the recipient ----------------------------------------------------------------------------------------------
    "21211": ("invalid_number", _GOOD),
    "21604": ("invalid_number", _GOOD),  # none was given
    "21610": ("opted_out", _GOOD),  # the recipient said STOP to the sender's number
    "21612": ("not_reachable_from_sender", _GOOD),  # no way from this sender to this number; others have one
    "21614": ("not_a_mobile", _GOOD),
    "21635": ("landline", _GOOD),
    "30003": ("unreachable", _GOOD),  # handset off, or out of reach
    "30004": ("blocked", _GOOD),  # by the recipient, or the number takes no messages
    "30005": ("unknown_destination", _GOOD),  # no longer in service
    "30006": ("landline", _GOOD),  # or a carrier that cannot be reached
    # -- the text, and the way --------------------------------------------------------------------------------------
    "21602": ("invalid_text", _GOOD),  # none
    "21605": ("invalid_text", _GOOD),  # too long
    "21617": ("invalid_text", _GOOD),  # too long once its parts are joined
    "21619": ("invalid_text", _GOOD),  # neither text nor media
    "30007": ("carrier_filtered", _GOOD),  # the carrier's spam filter: the story's 6,028
    "30008": ("unknown_error", _GOOD),
    "30010": ("price_exceeded", _GOOD),  # more than the MaxPrice that was set
    "30017": ("carrier_congested", _GOOD),  # in receipts: it was accepted, so it is not offered again
    "30019": ("invalid_text", _GOOD),  # more than the carrier takes
    "30036": ("expired", _GOOD),  # longer in the queue than the ValidityPeriod
    "30039": ("message_loop", _GOOD),  # two machines answer each other
    "30410": ("carrier_timed_out", _GOOD),
    "30450": ("blocked_as_fraud", _GOOD),  # Twilio's own guard against pumped traffic
}


def cause_of(code: object) -> str:
    """Return our word for an error code: "" for none, `provider_<code>` for one that is not known: never guessed at."""
    text = str(code or "")
    return CODES[text][0] if text in CODES else f"provider_{text}" if text else ""


def refusal_of(status: int, code: object) -> Refusal:
    """Return what an answer below 500 that is no success means for the message.

    A code that nobody knows fails its own message only: held for good, one lead's oddity would stop the whole route.
    """
    known = CODES.get(str(code or ""))
    if status == 429:
        return Refusal.FOR_NOW
    if known is None and status in (401, 403, 404):  # not for this secret, whatever it is called
        return Refusal.OF_THE_ROUTE
    return known[1] if known else Refusal.FOR_GOOD
