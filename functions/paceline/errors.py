"""Every error that a state machine or a customer sees, named after the condition itself.

`ErrorEquals` matches the bare class name, so a name is used once and never reworded.
"""

from __future__ import annotations

from typing import Any


class PacelineError(Exception):
    """An error with its evidence. `evidence` holds plain JSON values, never a phone number or a text."""

    def __init__(self, message: str, **evidence: Any) -> None:
        super().__init__(message)
        self.evidence = evidence


# -- errors that the workflow retries or catches ----------------------------------------------------------------


class TransactionConflict(PacelineError):
    """Another transaction held a row of ours. Nothing was written; the workflow tries again with jitter."""


class TableThrottled(PacelineError):
    """DynamoDB refused for its own capacity. Nothing was written; the workflow tries again, more slowly."""


class ServiceUnavailable(PacelineError):
    """AWS failed, throttled or did not answer: what the call did is not known. The same step may be run again."""


class RateLimited(PacelineError):
    """The message may not go now: its slot was missed, its window closed or the campaign stopped. Back to admission."""


class ProviderThrottled(PacelineError):
    """The provider answered 429 before accepting. Nothing was sent; back to admission, on a slower route."""


class ProviderMisconfigured(PacelineError):
    """The provider would refuse every message of the route: its secret, sender or account is at fault. Nothing was
    sent; the route holds until an operator changes it, or for a while, and no lead fails for it.
    """


class WebhookFailed(PacelineError):
    """The customer's server did not take a notification: no answer, or another than 2xx. The workflow tries again."""


class AddressRefused(PacelineError):
    """A customer's address leads where we do not call: into a private network. Never leaves a handler."""


class ProviderUnsure(PacelineError):
    """The provider's answer did not come: of a message that was offered or asked about, nobody knows. Never leaves a
    handler.
    """


# -- errors that end a campaign in a Fail state -----------------------------------------------------------------


class LeadFileInvalid(PacelineError):
    """The file as a whole cannot be used: empty, no phone column, a template field that it lacks."""


class CampaignNotFound(PacelineError):
    """There is no such campaign (or it is another account's)."""


class RouteNotFound(PacelineError):
    """The campaign names a route that does not exist."""


class ObjectNotFound(PacelineError):
    """An object that a step was pointed to is not in the bucket."""


class PlanNotFound(PacelineError):
    """Nobody asked for a plan of the campaign, or its planning came to no end."""


class ReportNotReady(PacelineError):
    """The campaign has not ended, so it has no report yet."""


class ChangedMeanwhile(PacelineError):
    """A change was asked of a state that is past: somebody changed it first. `now` is what is there."""


class RequestInvalid(PacelineError):
    """A customer's request cannot be followed; the message says what to change."""


class IdempotencyKeyReused(PacelineError):
    """The same Idempotency-Key came with another request before."""


class RequestMalformed(PacelineError):
    """A state's input is not what its function takes: a fault of the definition or of whoever started it."""


class ServiceFault(PacelineError):
    """AWS refused a call for a reason that no rule of ours answers (a missing permission, a bad request)."""


class ContractBroken(PacelineError):
    """A value is not what its JSON Schema in `contracts/` promises. Never expected; always an alarm."""
