"""Every cap of every route, with today's use, who changed it last, and what binds it now; and the caller's account."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.answers.routes import RouteAnswer, RoutesAnswer
from api.caller import RoutePath, account_asked, caller_of, named_route, services
from api.document import documented
from paceline.accounts import get_account
from paceline.bottleneck import show_route
from paceline.models import Account, JsonObject
from paceline.outlook import Outlook
from paceline.routes import route_names

router = Router()  # type: ignore[no-untyped-call]


@documented(router, "GET", "/v1/routes", RoutesAnswer, tag="routes")
def list_routes() -> JsonObject:
    """Return every route. Of campaigns, a customer sees the own ones."""
    return {"routes": [_shown(name) for name in route_names(services.table)]}


@documented(router, "GET", "/v1/routes/<name>", RouteAnswer, 404, tag="routes")
def route(name: RoutePath) -> JsonObject:
    """Return one route."""
    return _shown(named_route(name))


def _shown(name: str) -> JsonObject:
    account_id = caller_of(router.current_event.raw_event).account_id
    return show_route(Outlook(services.table, services.store, services.clock.now()), name, account_id)


@documented(router, "GET", "/v1/account", Account, tag="account")
def account() -> JsonObject:
    """Return the caller's account and its credits."""
    owner = account_asked(router.current_event.raw_event, None)
    return get_account(services.table, owner).model_dump(mode="json")
