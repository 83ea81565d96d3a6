"""A function's artifact for the Python that runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.here import make_tree_here


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("artifact")
    make_tree_here(made)
    return made
