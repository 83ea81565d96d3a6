"""The account's own table of carriers: used where a lead file does not say who carries a number."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import Field

from api.answers.imports import ImportedCarriersAnswer
from api.caller import account_asked, services, signature_of
from api.document import documented
from api.opt_outs import shown_refusals
from paceline.accounts import audit_import, get_account
from paceline.carriers import import_carriers
from paceline.models import AccountId, JsonObject, Model

router = Router()  # type: ignore[no-untyped-call]


class CarrierEntry(Model):
    """phone_number: in any spelling. carrier: as routes name it; blank: it is not known any more."""

    phone_number: Annotated[str, Field(max_length=100)]
    carrier: Annotated[str, Field(max_length=100)]


class CarriersPost(Model):
    """carriers: of one number the last counts. account_id: only with an operator's key."""

    carriers: Annotated[list[CarrierEntry], Field(min_length=1, max_length=5000)]
    account_id: AccountId | None = None


@documented(router, "POST", "/v1/carriers", ImportedCarriersAnswer, tag="carriers")
def import_carrier_table(post: CarriersPost) -> JsonObject:
    """Add to the account's table of carriers; the same again changes nothing.

    A campaign that is planned from now on takes a lead's carrier from the table where its file does not say it.
    """
    owner = account_asked(router.current_event.raw_event, post.account_id)
    get_account(services.table, owner)
    signature = signature_of(router.current_event.raw_event)
    numbered = ((row, entry.phone_number, entry.carrier) for row, entry in enumerate(post.carriers, start=1))
    imported = import_carriers(services.table, owner, numbered, signature.at, services.settings.retention_days)
    audit_import(services.table, owner, "carriers", imported.added, signature)
    return {"kept": imported.added, "refused": shown_refusals(imported.refused)}
