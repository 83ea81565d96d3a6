"""A campaign's lead file: where to upload it, and whether it is there."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.answers.campaigns import UploadAnswer
from api.caller import CampaignPath, campaign_asked, services
from api.document import documented
from paceline.errors import ObjectNotFound, RequestInvalid
from paceline.models import Campaign, JsonObject
from paceline.ports import StoredObject
from paceline.status import CampaignStatus

router = Router()  # type: ignore[no-untyped-call]

MAX_FILE_BYTES = 200 * 1024 * 1024
UPLOAD_SECONDS = 3600


@documented(router, "POST", "/v1/campaigns/<campaign_id>/upload", UploadAnswer, 404)
def upload(campaign_id: CampaignPath) -> JsonObject:
    """Return the address and form fields for uploading the lead file (multipart/form-data, the file last)."""
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    if campaign.status is not CampaignStatus.CREATED:
        raise RequestInvalid("The campaign was started; its lead file can no longer change.")
    return services.store.presigned_post(campaign.leads_key, MAX_FILE_BYTES, UPLOAD_SECONDS)


def lead_file_of(campaign: Campaign) -> StoredObject:
    """Return what the campaign's lead file is. Raises: RequestInvalid, where there is none."""
    try:
        return services.store.describe(campaign.leads_key)
    except ObjectNotFound:
        raise RequestInvalid("The campaign has no lead file yet; upload it first.") from None
