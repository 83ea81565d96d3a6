"""A campaign's messages: what became of each, without its number and its text."""

from __future__ import annotations

from dataclasses import asdict

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.answers.messages import MessagesAnswer
from api.caller import After, CampaignPath, PageSize, campaign_asked, services
from api.document import documented
from paceline.errors import ObjectNotFound
from paceline.listing import list_messages
from paceline.models import JsonObject, Message
from paceline.moments import iso
from paceline.retention import no_longer_kept

router = Router()  # type: ignore[no-untyped-call]

_TIMES = ("slot", "claimed_at", "sent_at", "answered_at", "final_at")


@documented(router, "GET", "/v1/campaigns/<campaign_id>/messages", MessagesAnswer, 404)
def list_own_messages(campaign_id: CampaignPath, limit: PageSize = 50, after: After = None) -> JsonObject:
    """Return the campaign's messages, by lead number, a page at a time.

    A lead has a message once its send was claimed, or once it was skipped. lead_no 1 is the first row of the file below
    its heading; the report's outcomes.csv has the same numbers.
    """
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    try:
        page = list_messages(services.table, services.store, campaign, limit, after)
    except ObjectNotFound:
        raise no_longer_kept(campaign, "messages") from None
    return {"messages": [_shown(message) for message in page.items], "next": page.next}


def _shown(message: Message) -> JsonObject:
    times = {name: getattr(message, name) for name in _TIMES}
    return asdict(message) | {name: iso(moment) if moment else None for name, moment in times.items()}
