"""The operators' route to one lead's phone number: who asks and why is in the account's trail before it is told."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Path
from pydantic import AfterValidator, Field

from api.answers.operators import RevealedAnswer
from api.caller import CampaignPath, services, sign_as_operator
from api.document import documented
from api.texts import legible, without_numbers
from paceline.campaigns import get_campaign
from paceline.models import JsonObject, Model
from paceline.revealing import reveal_lead

router = Router()  # type: ignore[no-untyped-call]

LeadPath = Annotated[int, Path(ge=1, le=9_999_999, description="The lead's number, as its messages have it.")]


class RevealPost(Model):
    """reason: why you must know; kept in the account's trail, without a phone number."""

    reason: Annotated[
        str, Field(min_length=3, max_length=200), AfterValidator(legible), AfterValidator(without_numbers)
    ]


@documented(
    router, "POST", "/v1/admin/campaigns/<campaign_id>/leads/<lead_no>/reveal", RevealedAnswer, 404, tag="operators"
)
def reveal(campaign_id: CampaignPath, lead_no: LeadPath, post: RevealPost) -> JsonObject:
    """Return the phone number and the text of one lead. Each look is kept in the account's trail, with its reason.

    Nothing is told where that could not be written.
    """
    signature = sign_as_operator(router.current_event.raw_event)
    campaign = get_campaign(services.table, campaign_id)
    lead = reveal_lead(services.table, services.store, campaign, lead_no, post.reason, signature)
    shown = {"lead_no": lead_no, "phone_number": lead.phone_number, "text": lead.text}
    return {"campaign_id": campaign.campaign_id} | shown
