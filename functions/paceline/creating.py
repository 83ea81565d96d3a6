"""The creation of a campaign: its row, its place in the account's list and its request's answer, all or none."""

from __future__ import annotations

from paceline.audit import Signature
from paceline.campaigns import create_campaign, get_own_campaign
from paceline.errors import CampaignNotFound, RequestInvalid
from paceline.idempotency import Once, find_answer, remember
from paceline.models import Campaign, JsonObject
from paceline.progress import describe_campaign
from paceline.status import CampaignStatus
from paceline.table import Table

# What a campaign gets after it was posted is no part of whether two posts are the same.
_NOT_POSTED = {
    "status",
    "created_at",
    "execution_arn",
    "pauses",
    "charging",
    "in_doubt",
    "sending_ended_at",
    "reports_begun",
    "report_version",
    "kept_until",
}

_SET_BY_START = {"start_at", "send_by", "sending_window", "weight"}


def create_once(table: Table, campaign: Campaign, signature: Signature, once: Once | None) -> JsonObject:
    """Create the campaign and return it as its customer sees it. The same again gets the same answer.

    Of two requests at once with the same key, or the same id, one creates and both get its campaign.
    Raises: RequestInvalid, where the id is another campaign's; IdempotencyKeyReused.
    """
    answer = describe_campaign(table, campaign)
    try:
        create_campaign(table, campaign, signature, *([remember(once, answer)] if once else []))
    except RequestInvalid:
        known = find_answer(table, once) if once else None
        return known or _same(table, campaign)
    return answer


def _same(table: Table, campaign: Campaign) -> JsonObject:
    """Return the campaign that has the id, if it is the one that was posted. Raises: RequestInvalid."""
    taken = f"The campaign id {campaign.campaign_id!r} is taken; choose another, or leave it out."
    try:
        there = get_own_campaign(table, campaign.account_id, campaign.campaign_id)
    except CampaignNotFound:
        raise RequestInvalid(taken, field="campaign_id") from None
    later = _NOT_POSTED if there.status is CampaignStatus.CREATED else _NOT_POSTED | _SET_BY_START
    if there.model_dump(exclude=later) != campaign.model_dump(exclude=later):
        raise RequestInvalid(taken, field="campaign_id")
    return describe_campaign(table, there)
