"""The signature of a webhook's requests, by the Standard Webhooks scheme, and the secret that it is made with.

No secret is stored: an account's is derived from a master secret, the account's id and a number, its generation. A new
generation is a new secret, and for `BOTH_HOURS` after a rotation requests carry a signature by each of the two.
Source: Standard Webhooks 1.0 (standardwebhooks.com), symmetric signatures.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime, timedelta

from standardwebhooks import Webhook

from paceline.models import Account

# Long enough to change a configuration on a working day, and to notice on the next one that it was forgotten.
BOTH_HOURS = 24


def secret_of(master: bytes, account_id: str, generation: int) -> str:
    """Return the account's signing secret of a generation, as its customer sees it: `whsec_` and base64."""
    # The id has no "#", so no two accounts and generations are signed as the same text.
    derived = hmac.new(master, f"paceline-webhook#{account_id}#{generation}".encode(), hashlib.sha256).digest()
    return "whsec_" + base64.b64encode(derived).decode()


def old_secret_ends_at(account: Account) -> datetime | None:
    """Return until when requests are signed with the secret before the last rotation too; None: there was none."""
    rotated_at = account.webhook_rotated_at
    return rotated_at + timedelta(hours=BOTH_HOURS) if rotated_at else None


def secrets_in_use(master: bytes, account: Account, now: datetime) -> list[str]:
    """Return the secrets that a request is signed with now, the newest first."""
    ends_at, generation = old_secret_ends_at(account), account.webhook_generation
    generations = [generation, generation - 1] if ends_at is not None and now < ends_at else [generation]
    return [secret_of(master, account.account_id, number) for number in generations]


def signed_headers(secrets: list[str], webhook_id: str, at: datetime, body: str) -> dict[str, str]:
    """Return the headers that prove who sent a body, and when."""
    signatures = [Webhook(secret).sign(webhook_id, at, body) for secret in secrets]
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
