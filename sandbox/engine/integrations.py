"""The only way out of the engine: what a Task, an ItemReader and a ResultWriter call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class TaskFailed(Exception):
    """A call failed; error and cause are what a state machine sees."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause


class Integrations(Protocol):
    """AWS as the engine sees it. Every call may block on the scheduler. Every call may raise TaskFailed."""

    def invoke_function(self, function_name: str, payload: str, *, role_arn: str) -> str:
        """Invoke a function (name or ARN) with JSON text and return JSON text.

        Raises: TaskFailed. A Python exception's error is its bare class name, its cause the JSON of errorMessage,
        errorType, requestId and stackTrace.
        """
        ...

    def get_object(self, bucket: str, key: str, *, role_arn: str, version_id: str | None = None) -> bytes: ...

    def list_objects(self, bucket: str, prefix: str, *, role_arn: str) -> Iterator[dict[str, Any]]:
        """Yield {Etag, Key, LastModified (seconds since 1970), Size (bytes), StorageClass}, in the order of keys."""
        ...

    def put_object(self, bucket: str, key: str, body: bytes, *, role_arn: str) -> None: ...

    def put_events(self, entries: list[dict[str, Any]], *, role_arn: str) -> dict[str, Any]:
        """Put EventBridge entries (Detail is JSON text). Returns {Entries, FailedEntryCount}."""
        ...
