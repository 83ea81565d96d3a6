"""Every cap of every route, with today's use, who changed it last, and what binds the route now."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.caller import caller_of, named_route, services
from paceline.bottleneck import show_route
from paceline.models import JsonObject
from paceline.outlook import Outlook
from paceline.routes import route_names

router = Router()  # type: ignore[no-untyped-call]


@router.get("/v1/routes")
def routes() -> JsonObject:
    """Return every route. Of campaigns, a customer sees the own ones."""
    return {"routes": [_shown(name) for name in route_names(services.table)]}


@router.get("/v1/routes/<name>")
def route(name: str) -> JsonObject:
    """Return one route."""
    return _shown(named_route(name))


def _shown(name: str) -> JsonObject:
    account_id = caller_of(router.current_event.raw_event).account_id
    return show_route(Outlook(services.table, services.store, services.clock.now()), name, account_id)
