"""A world for each test: an empty table with account "acme", route "shared" and the running campaign "renewals"."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paceline.models import Route
from tests.builders.core import World, a_campaign, a_world, an_account


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as made:
        made.has(an_account(), Route(name="shared"), a_campaign())
        yield made


@pytest.fixture
def empty_world() -> Iterator[World]:
    """For tests whose account, route or campaign differ."""
    with a_world() as made:
        yield made
