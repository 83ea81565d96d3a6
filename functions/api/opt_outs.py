"""The account's opt-outs: export and import."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import Field

from api.answers.imports import ImportedAnswer, OptOutsAnswer
from api.caller import AccountAsked, After, PageSize, account_asked, services, signature_of
from api.document import documented
from paceline.accounts import audit_import, get_account
from paceline.leads.phone import Refusal
from paceline.listing import list_opt_outs
from paceline.models import AccountId, JsonObject, Model
from paceline.moments import iso
from paceline.opt_outs import import_opt_outs

router = Router()  # type: ignore[no-untyped-call]


class OptOutsPost(Model):
    """phone_numbers: in any spelling. account_id: only with an operator's key."""

    # About 50 ms for 50 numbers: the most that is sure to be done before the gateway gives up.
    phone_numbers: Annotated[list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=5000)]
    account_id: AccountId | None = None


@documented(router, "GET", "/v1/opt-outs", OptOutsAnswer, tag="opt-outs")
def export(account_id: AccountAsked = None, limit: PageSize = 50, after: After = None) -> JsonObject:
    """Return the account's opt-outs, by number, a page at a time."""
    owner = account_asked(router.current_event.raw_event, account_id)
    page = list_opt_outs(services.table, owner, limit, after)
    return {"opt_outs": [asdict(entry) for entry in page.items], "next": page.next}


@documented(router, "POST", "/v1/opt-outs", ImportedAnswer, tag="opt-outs")
def import_(post: OptOutsPost) -> JsonObject:
    """Add numbers to the account's opt-outs; the same again changes nothing.

    Who is on the list is sent to by no campaign of the account from now on, running ones too.
    """
    owner = account_asked(router.current_event.raw_event, post.account_id)
    get_account(services.table, owner)
    numbered = enumerate(post.phone_numbers, start=1)
    signature = signature_of(router.current_event.raw_event)
    imported = import_opt_outs(services.table, owner, numbered, iso(signature.at))
    audit_import(services.table, owner, "opt-outs", imported.added, signature)
    return {"added": imported.added, "known": imported.known, "refused": shown_refusals(imported.refused)}


def shown_refusals(refused: Iterable[tuple[int, Refusal]]) -> list[JsonObject]:
    return [{"row_number": row, "reason": why.reason, "detail": why.sentence} for row, why in refused]
