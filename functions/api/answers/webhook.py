"""Answers about the webhook of an account."""

from __future__ import annotations

from pydantic import AwareDatetime

from api.answers import Answer


class WebhookAnswer(Answer):
    """webhook_secret: shown where it is new, and then never again. old_secret_ends_at: both sign until then."""

    webhook_url: str | None
    webhook_generation: int
    old_secret_ends_at: AwareDatetime | None
    webhook_secret: str | None


class WebhookTestAnswer(Answer):
    """delivered: the server answered 2xx. http_status: null where no answer came. reason: why not, blank if it was."""

    webhook_id: str
    delivered: bool
    http_status: int | None
    reason: str
