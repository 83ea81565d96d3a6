"""Plain words for a report: numbers, plurals, durations, and a customer's name for each cause."""

from __future__ import annotations

# What the page calls a cause. A cause that is not here is shown as it is spelt, its underscores as spaces.
LABELS = {
    "duplicates": "Duplicates",
    "opted_out": "Opted out",
    "not_stated": "No cause given",
    "carrier_filtered": "Filtered by the carrier",
    "credits": "Not enough credits",
    "account_not_active": "Account not active",
    "account_day_cap": "Daily cap of the account",
    "route_day_cap": "Daily cap of the route",
    "route_disabled": "Route switched off",
    "pace": "Pace of the route",
    "provider_throttled": "Throttled by the provider",
    "sending_window": "Outside the sending hours",
    "paused": "Campaign paused",
    "cancelled": "Campaign cancelled",
    "send_by_passed": "Too late: its send-by time had passed",
    "slot_missed": "Missed its slot",
    "conflict": "Conflicts between transactions",
    "frequency_cap": "Recipient had enough messages in 24 hours",
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
    return LABELS.get(word) or word.replace("_", " ").capitalize()


def counted(count: int, one: str, many: str = "") -> str:
    """Return the count with its noun: "1 lead", "2,360 leads"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


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
