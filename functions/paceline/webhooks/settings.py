"""An account's webhook as its customer sets it. The secret is shown when there is a new one, and never again."""

from __future__ import annotations

from datetime import datetime

from paceline.accounts import change_account, get_account
from paceline.audit import Signature
from paceline.errors import RequestInvalid
from paceline.models import Account, JsonObject
from paceline.table import Table
from paceline.webhooks.signing import old_secret_ends_at, secret_of


def set_url(table: Table, master: bytes, account_id: str, url: str | None, signature: Signature) -> str | None:
    """Set the account's webhook; None removes it. Return the secret of one that is new, None for one that was there.

    Raises: RequestInvalid, ChangedMeanwhile, TransactionConflict.
    """
    account = get_account(table, account_id)
    is_new = url is not None and account.webhook_url is None
    # A new one gets a new secret: the one of before was shown already, and who has it by now nobody knows.
    generation = account.webhook_generation + is_new
    fresh = {"webhook_generation": generation, "webhook_rotated_at": None} if is_new else {}
    change_account(table, account_id, {"webhook_url": url, **fresh}, signature)
    return secret_of(master, account_id, generation) if is_new else None


def rotate_secret(table: Table, master: bytes, account_id: str, signature: Signature) -> str:
    """Give the account a new secret and return it; the one before signs too until `old_secret_ends_at`.

    Raises: RequestInvalid, where there is no webhook; ChangedMeanwhile, TransactionConflict.
    """
    account = get_account(table, account_id)
    if account.webhook_url is None:
        raise RequestInvalid("The account has no webhook; give its address first.", field="webhook_url")
    generation = account.webhook_generation + 1
    fields = {"webhook_generation": generation, "webhook_rotated_at": signature.at.isoformat()}
    change_account(table, account_id, fields, signature)
    return secret_of(master, account_id, generation)


def shown(account: Account, secret: str | None, now: datetime) -> JsonObject:
    """Return a webhook for its customer."""
    ends_at = old_secret_ends_at(account)
    return {
        "webhook_url": account.webhook_url,
        "webhook_generation": account.webhook_generation,
        "old_secret_ends_at": ends_at.isoformat() if ends_at is not None and now < ends_at else None,
        "webhook_secret": secret,
    }
