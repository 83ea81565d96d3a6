"""The operators' routes for routes and their caps. Every change is audited, and a signal to what it frees."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.answers.operators import RouteChangesAnswer
from api.answers.routes import ChangedRouteAnswer
from api.caller import IfMatch, RoutePath, named_route, revision_seen, services, sign_as_operator
from api.document import documented
from paceline.audit import changes_of, route_subject
from paceline.holds import release_holds, route_scope
from paceline.models import JsonObject, Route, RouteName
from paceline.routes import change_route, describe_route, put_route

router = Router()  # type: ignore[no-untyped-call]


class RoutePatch(Route):
    """What to change of a route; what is not given stays. null removes a cap."""

    name: RouteName = "the-same"


@documented(router, "POST", "/v1/admin/routes", ChangedRouteAnswer, 409, tag="operators")
def set_route(post: Route, if_match: IfMatch = None) -> JsonObject:
    """Create a route or make it this one; batches that wait for it go on at once."""
    signature = sign_as_operator(router.current_event.raw_event)
    put_route(services.table, post, signature, revision=revision_seen(if_match))
    return _changed_route(post.name)


@documented(router, "PATCH", "/v1/admin/routes/<name>", ChangedRouteAnswer, 404, 409, tag="operators")
def patch_route(name: RoutePath, post: RoutePatch, if_match: IfMatch = None) -> JsonObject:
    """Change what is given of a route; batches that wait for it go on at once."""
    signature = sign_as_operator(router.current_event.raw_event)
    fields = post.model_dump(exclude_unset=True)
    change_route(services.table, named_route(name), fields, signature, revision=revision_seen(if_match))
    return _changed_route(name)


@documented(router, "GET", "/v1/admin/routes/<name>/changes", RouteChangesAnswer, 404, tag="operators")
def route_changes(name: RoutePath) -> JsonObject:
    """Return every change of a route, the newest first."""
    sign_as_operator(router.current_event.raw_event)
    return {"route": name, "changes": changes_of(services.table, route_subject(named_route(name)))}


def _changed_route(name: str) -> JsonObject:
    # After an error between change and signal, the same request again still sends the signal.
    released = release_holds(services.table, services.workflow, route_scope(name))
    return describe_route(services.table, name, services.clock.now()) | {"released_batches": released}
