"""The closed sets of words for what a campaign, a message and a lead can be."""

from enum import StrEnum


class CampaignStatus(StrEnum):
    """CREATED until started; RUNNING and PAUSED while the workflow lives; the others are the end."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    FAILED = "failed"


class MessageStatus(StrEnum):
    """The life of one message: claimed → sent → an outcome; or claimed → unknown → an outcome, by evidence only."""

    CLAIMED = "claimed"  # ours: written before the provider is called
    UNKNOWN = "unknown"  # the call's end was not seen: never sent again
    SENT = "sent"  # the provider accepted it
    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"  # accepted, and the carrier could not or would not deliver it
    FAILED = "failed"  # the provider refused it
    SKIPPED = "skipped"  # never offered to a provider, on purpose
    UNCONFIRMED = "unconfirmed"  # no final receipt by the deadline


class Resend(StrEnum):
    """Of a message whose end was not seen, where the account wants such sent once more: how far that has come.

    Its first try may have left. So the lease of that try keeps its parts, beside what another try's lease has.
    """

    NO = ""
    DUE = "due"  # while it is unknown, it is left to be sent
    DONE = "done"  # claimed once more: never a third time
    REFUSED = "refused"  # it may not go once more: evidence settles it


FINAL = frozenset(
    {
        MessageStatus.DELIVERED,
        MessageStatus.UNDELIVERED,
        MessageStatus.FAILED,
        MessageStatus.SKIPPED,
        MessageStatus.UNCONFIRMED,
    }
)


class Excluded(StrEnum):
    """Why a row of the customer's file never becomes an accepted lead."""

    REJECTED = "rejected"
    DUPLICATE = "duplicates"
    OPTED_OUT = "opted_out"


class Cause(StrEnum):
    """What can hold a batch or skip a message. A refusal always names one, with its evidence."""

    CREDITS = "credits"
    ACCOUNT_NOT_ACTIVE = "account_not_active"
    ACCOUNT_DAY_CAP = "account_day_cap"
    ROUTE_DAY_CAP = "route_day_cap"
    ROUTE_DISABLED = "route_disabled"
    PACE = "pace"
    PROVIDER_THROTTLED = "provider_throttled"
    PROVIDER_MISCONFIGURED = "provider_misconfigured"
    SENDING_WINDOW = "sending_window"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    SEND_BY_PASSED = "send_by_passed"
    SLOT_MISSED = "slot_missed"
    CONFLICT = "conflict"
    OPTED_OUT = "opted_out"
    FREQUENCY_CAP = "frequency_cap"
    SENDER_FAILED = "sender_failed"
    LEAD_UNREADABLE = "lead_unreadable"
