"""The pytest plugin. It imports the sandbox only where a test asks for a fixture, so that other tests pay nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sandbox.testing.campaigns import CampaignSandbox
    from sandbox.testing.machines import TestedStateMachine

MARKER = "sandbox(start, seed, profile, latencies): how the test's sandbox begins; start is ISO 8601 or a datetime"
OPTIONS = {"start", "seed", "profile", "latencies"}


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    marker = request.node.get_closest_marker("sandbox")
    if marker is None:
        return {}
    if marker.args or set(marker.kwargs) - OPTIONS:
        raise pytest.UsageError(f"the marker takes these options by name: {MARKER}")
    return dict(marker.kwargs)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[CampaignSandbox]:
    """The whole of Paceline on a virtual clock, with builders and with what a test looks at."""
    from sandbox.testing.campaigns import CampaignSandbox

    with CampaignSandbox(**_options(request)) as world:
        yield world


@pytest.fixture
def state_machine(request: pytest.FixtureRequest) -> Callable[..., TestedStateMachine]:
    """Make a state machine of any definition, with Python functions in the place of its Lambda functions."""
    from sandbox.testing.machines import TestedStateMachine

    options = _options(request)

    def make(definition: Any, functions: Any = None, objects: Any = None) -> TestedStateMachine:
        chosen = {name: value for name, value in options.items() if name in ("start", "seed")}
        return TestedStateMachine(definition, functions or {}, objects or {}, **chosen)

    return make
