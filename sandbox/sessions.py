"""botocore sessions that read AWS's own model files once in a process: each is megabytes of JSON, and never changes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import boto3
from botocore.loaders import Loader
from botocore.session import Session


class _SharedLoader(Loader):  # type: ignore[misc]
    """A loader whose paths stay as they are: boto3 adds its own to each session's."""

    @property
    def search_paths(self) -> list[str]:
        return list(super().search_paths)


@cache
def _loader() -> Loader:
    return _SharedLoader(extra_search_paths=[str(Path(boto3.__file__).parent / "data")])


def a_session(region: str) -> Session:
    """Return a new session for a region. Nothing is shared with another but the model files."""
    session = Session()
    session.register_component("data_loader", _loader())
    session.set_config_variable("region", region)
    return session
