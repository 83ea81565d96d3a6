"""Plain words for a report: numbers, plurals, durations, and a customer's name for each cause."""

from __future__ import annotations

from paceline.report.model import Difference

# What the page calls a cause. A cause that is not here is shown as it is spelt, its underscores as spaces.
LABELS = {
    "duplicates": "Duplicates",
    "opted_out": "Opted out",
    "not_stated": "No cause given",
    # why a message did not arrive, or is not known to have
    "carrier_filtered": "Filtered by the carrier",
    "invalid_number": "Number does not exist",
    "not_a_mobile": "Number is not a mobile's",
    "unreachable": "Handset could not be reached",
    "blocked": "Blocked by the carrier or the recipient",
    "unknown_destination": "Number unknown to the carrier",
    "landline": "Number is a landline's",
    "unknown_error": "Carrier gave no reason",
    "sender_unregistered": "Sender not registered with the carriers",
    "invalid_text": "Text not accepted",
    "not_reachable_from_sender": "Number not reachable from this sender",
    "country_not_enabled": "Country not enabled for the account",
    "account_not_active": "Account not active",
    "account_on_trial": "Provider's account is on trial",
    "not_authenticated": "Provider did not know the account",
    "invalid_sender": "Sender cannot send",
    "sender_not_found": "Sender unknown to the provider",
    "not_allowed": "Not allowed to send from this sender",
    "spend_limit_reached": "Provider's spend limit was reached",
    "secret_missing": "Provider's secret is missing",
    "secret_not_readable": "Provider's secret cannot be read",
    "secret_unusable": "Provider's secret is not as it must be",
    "configuration_set_missing": "No configuration set for the provider's events",
    "sender_suspended": "Sender suspended by the carriers",
    "same_sender_and_recipient": "Number is the sender's own",
    "rate_exceeded": "Too fast for the provider or the carrier",
    "queue_full": "Provider's queue was full",
    "daily_cap_of_the_carrier": "Carrier's daily cap for the sender",
    "carrier_congested": "Carrier's network was congested",
    "carrier_unreachable": "Carrier's network could not be reached",
    "carrier_timed_out": "Carrier did not answer in time",
    "expired": "Not delivered within its validity",
    "price_exceeded": "Dearer than allowed",
    "message_loop": "Two machines answering each other",
    "blocked_as_fraud": "Blocked by the provider as suspected fraud",
    "blocked_by_protection": "Blocked by the account's own protection rules",
    "no_final_receipt": "Accepted by the provider, no final receipt",
    "no_evidence_of_acceptance": "No sign that the provider accepted it",
    # what holds a batch or skips a message
    "credits": "Not enough credits",
    "account_day_cap": "Daily cap of the account",
    "route_day_cap": "Daily cap of the route",
    "route_disabled": "Route switched off",
    "pace": "Pace of the route",
    "provider_throttled": "Throttled by the provider",
    "provider_misconfigured": "Route's sender or account refused by the provider",
    "sending_window": "Outside the sending hours",
    "paused": "Campaign paused",
    "cancelled": "Campaign cancelled",
    "send_by_passed": "Too late: its send-by time had passed",
    "slot_missed": "Missed its slot",
    "sender_failed": "Our sender failed",
    "lead_unreadable": "Its planned record could not be read",
    "conflict": "Conflicts between transactions",
    "frequency_cap": "Recipient had enough messages in 24 hours",
    # why a row of the file was rejected
    "blank_phone": "No phone number",
    "scientific_notation": "Number shortened by a spreadsheet (1.2E+10)",
    "decimal_number": "Number turned into a quantity by a spreadsheet",
    "several_numbers": "More than one number",
    "extension": "Number with an extension",
    "letters": "Letters in the number",
    "too_short": "Too few digits",
    "too_long": "Too many digits",
    "not_a_number": "Not a number that exists",
    "toll_free": "Toll-free number",
    "premium_rate": "Premium-rate number",
    "special_service": "Not a lead's own phone (paging, voicemail)",
    "other_country": "Outside the United States",
    "too_many_cells": "More cells than headings",
    "blank_field": "A field that the message needs is empty",
    "blank_text": "The text would be empty",
    "text_too_long": "The text would be too long",
}

MEANINGS = {
    "delivered": "reached the handset",
    "undelivered": "the carrier did not deliver it",
    "failed": "refused by the provider",
    "skipped": "on purpose",
    "unconfirmed": "no final receipt by the deadline",
}


def label(word: str) -> str:
    """Return a customer's words for a cause or a reason."""
    if word.startswith("provider_") and word.removeprefix("provider_").isdecimal():
        return f"Provider's code {word.removeprefix('provider_')}"
    return LABELS.get(word) or word.replace("_", " ").capitalize()


def counted(count: int, one: str, many: str = "") -> str:
    """Return the count with its noun: "1 lead", "2,360 leads"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def changed_since(difference: Difference) -> str:
    """Return in a sentence what late receipts changed: "Since version 1 late receipts changed 3 messages: …"."""
    outcomes = ", ".join(f"{name} {count:+,}" for name, count in difference.outcomes.items())
    consumed = difference.credits.get("consumed", 0)
    parts = [
        f"Since version {difference.since_version}, late receipts changed {counted(difference.leads, 'message')}",
        f": {outcomes}" if outcomes else " (only the cause)",
    ]
    money = f"{counted(abs(consumed), 'credit')} {'more' if consumed > 0 else 'fewer'} consumed" if consumed else ""
    waived = (
        f"{counted(difference.waived, 'credit')} waived that the account no longer had" if difference.waived else ""
    )
    return "".join(parts) + "".join(f"; {told}" for told in (money, waived) if told) + "."


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: "2 d 4 h", "1 h 05 min", "3 min 20 s", "12 s", "0.4 s"."""
    if 0 < seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
