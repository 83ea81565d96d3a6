"""The operators' routes for accounts and their credits. Every change is audited, and a signal to what it frees."""

from __future__ import annotations

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import Field

from api.answers.operators import (
    AccountAnswer,
    AccountChangesAnswer,
    AccountsAnswer,
    ChangedAccountAnswer,
    LedgerAnswer,
)
from api.caller import (
    AccountPath,
    After,
    IdempotencyKey,
    IfMatch,
    PageSize,
    named_account,
    revision_seen,
    services,
    sign_as_operator,
)
from api.document import documented
from paceline.accounts import buy_credits, change_account, create_account, get_account
from paceline.api_keys import OPERATORS
from paceline.audit import account_subject, changes_of
from paceline.credit_ledger import list_ledger
from paceline.errors import RequestInvalid, RouteNotFound
from paceline.holds import account_scope, release_holds
from paceline.idempotency import Once, digest_of
from paceline.listing import list_accounts
from paceline.models import (
    Account,
    AccountId,
    Charging,
    InDoubt,
    JsonObject,
    Model,
    Parts,
    RoutingRules,
    SendingWindow,
)
from paceline.planned import day_use
from paceline.routes import get_route

router = Router()  # type: ignore[no-untyped-call]

MOST_CREDITS = 1_000_000_000


class AccountPost(Model):
    account_id: AccountId
    name: Annotated[str, Field(max_length=200)] = ""
    credits: Annotated[int, Field(strict=True, ge=0, le=MOST_CREDITS)] = 0
    parts_per_day: Parts | None = None


class AccountPatch(Model):
    """What to change of an account; what is not given stays. null removes a cap, or the account's own window."""

    name: Annotated[str, Field(max_length=200)] = ""
    parts_per_day: Parts | None = None
    compliance_status: Literal["approved", "pending", "refused"] = "approved"
    operational_status: Literal["active", "suspended"] = "active"
    sending_window: SendingWindow | None = None
    routing: RoutingRules = RoutingRules()
    help_text: Annotated[str, Field(max_length=320)] = ""
    charging: Charging = Charging()
    in_doubt: InDoubt = "never_resend"


class CreditsPost(Model):
    credits: Annotated[int, Field(strict=True, ge=1, le=MOST_CREDITS)]


@documented(router, "POST", "/v1/admin/accounts", Account, 409, tag="operators")
def create_one_account(post: AccountPost) -> JsonObject:
    """Create an account; the same again changes nothing."""
    signature = sign_as_operator(router.current_event.raw_event)
    if post.account_id == OPERATORS:
        raise RequestInvalid("This name is the operators' own; choose another.", field="account_id")
    account = Account(
        account_id=post.account_id, name=post.name, available=post.credits, parts_per_day=post.parts_per_day
    )
    return create_account(services.table, account, signature).model_dump(mode="json")


@documented(router, "GET", "/v1/admin/accounts", AccountsAnswer, tag="operators")
def show_accounts(limit: PageSize = 50, after: After = None) -> JsonObject:
    """Return every account, by id, a page at a time."""
    sign_as_operator(router.current_event.raw_event)
    page = list_accounts(services.table, limit, after)
    return {"accounts": [account.model_dump(mode="json") for account in page.items], "next": page.next}


@documented(router, "GET", "/v1/admin/accounts/<account_id>", AccountAnswer, 404, tag="operators")
def show_account(account_id: AccountPath) -> JsonObject:
    """Return an account: its credits, cap with today's use, statuses and rules."""
    sign_as_operator(router.current_event.raw_event)
    found = named_account(account_id)
    return found.model_dump(mode="json") | {"day_use": day_use(services.table, found, services.clock.now())}


LedgerSize = Annotated[int, Query(ge=1, le=20, description="How many at most; of each campaign all batches are read.")]


@documented(router, "GET", "/v1/admin/accounts/<account_id>/ledger", LedgerAnswer, 404, tag="operators")
def ledger(account_id: AccountPath, limit: LedgerSize = 10, after: After = None) -> JsonObject:
    """Return what was bought and what each campaign holds and used, the newest first, a page at a time."""
    sign_as_operator(router.current_event.raw_event)
    named_account(account_id)
    page = list_ledger(services.table, account_id, limit, after)
    return {"account_id": account_id, "entries": page.items, "next": page.next}


@documented(router, "PATCH", "/v1/admin/accounts/<account_id>", ChangedAccountAnswer, 404, 409, tag="operators")
def patch_account(account_id: AccountPath, post: AccountPatch, if_match: IfMatch = None) -> JsonObject:
    """Change an account's cap, statuses, name, window, rules of routing or answer to HELP.

    Batches that wait for the account go on at once.
    """
    fields = post.model_dump(mode="json", exclude_unset=True)
    signature = sign_as_operator(router.current_event.raw_event)
    named_account(account_id)
    _check(post.routing)
    change_account(services.table, account_id, fields, signature, revision=revision_seen(if_match))
    released = release_holds(services.table, services.workflow, account_scope(account_id))
    return get_account(services.table, account_id).model_dump(mode="json") | {"released_batches": released}


@documented(router, "POST", "/v1/admin/accounts/<account_id>/credits", ChangedAccountAnswer, 404, tag="operators")
def add_credits(account_id: AccountPath, post: CreditsPost, idempotency_key: IdempotencyKey = None) -> JsonObject:
    """Add bought credits; batches that wait for credits go on at once.

    The same Idempotency-Key with the same body buys once, and is answered with the account as it is; with another body
    it is refused.
    """
    signature = sign_as_operator(router.current_event.raw_event)
    named_account(account_id)
    once = None
    if idempotency_key is not None:
        digest = digest_of("credits", account_id, post.model_dump(mode="json"))
        once = Once(OPERATORS, idempotency_key, digest, services.clock.now())
    account = buy_credits(services.table, account_id, post.credits, signature, once)
    released = release_holds(services.table, services.workflow, account_scope(account_id))
    return account.model_dump(mode="json") | {"released_batches": released}


@documented(router, "GET", "/v1/admin/accounts/<account_id>/changes", AccountChangesAnswer, 404, tag="operators")
def account_changes(account_id: AccountPath) -> JsonObject:
    """Return every change of an account by an operator, the newest first."""
    sign_as_operator(router.current_event.raw_event)
    changes = changes_of(services.table, account_subject(account_id))
    if not changes:  # the operators' own keys have changes and no account
        named_account(account_id)
    return {"account_id": account_id, "changes": changes}


def _check(rules: RoutingRules) -> None:
    """Raises: RouteNotFound, for rules that would make every plan fail."""
    for name in sorted({*rules.carriers.values(), *filter(None, [rules.otherwise])}):
        try:
            get_route(services.table, name)
        except RouteNotFound as missing:
            raise RouteNotFound(str(missing), **{"field": "routing", **missing.evidence}) from None
