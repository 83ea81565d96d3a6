"""Which route a lead goes by, and why."""

from __future__ import annotations

import pytest

from paceline.errors import RouteNotFound
from paceline.models import Route
from paceline.routing import Because, choose_route

SHARED = Route(name="shared")
VERIZON = Route(name="verizon", carriers=("Verizon", "Verizon Wireless"))
ATT = Route(name="att", carriers=("AT&T",), is_enabled=False)
ROUTES = (SHARED, VERIZON, ATT)


@pytest.mark.parametrize(
    ("carrier", "route", "because"),
    [
        pytest.param("Verizon", VERIZON, Because.CARRIER, id="as configured"),
        pytest.param(" VERIZON-wireless", VERIZON, Because.CARRIER, id="case, space and punctuation do not count"),
        pytest.param("at & t", ATT, Because.CARRIER, id="a disabled route is chosen all the same"),
        pytest.param("", SHARED, Because.NO_CARRIER, id="none given"),
        pytest.param(" - ", SHARED, Because.NO_CARRIER, id="nothing but punctuation"),
        pytest.param("Sprint", SHARED, Because.UNKNOWN_CARRIER, id="no route is for it"),
        pytest.param("Verizonix", SHARED, Because.UNKNOWN_CARRIER, id="a longer name is another carrier"),
    ],
)
def test_a_lead_goes_by_its_carriers_route_or_the_shared_one(carrier: str, route: Route, because: Because) -> None:
    assert choose_route(carrier, ROUTES) == (route, because)


def test_a_forced_route_wins_over_the_carrier() -> None:
    assert choose_route("Verizon", ROUTES, forced="att") == (ATT, Because.FORCED)


@pytest.mark.parametrize(("routes", "forced"), [(ROUTES, "dedicated"), ((VERIZON,), None)])
def test_a_route_that_does_not_exist_is_an_error_that_names_those_that_do(
    routes: tuple[Route, ...], forced: str | None
) -> None:
    with pytest.raises(RouteNotFound, match="verizon") as caught:
        choose_route("", routes, forced)

    assert caught.value.evidence["routes"] == sorted(route.name for route in routes)
