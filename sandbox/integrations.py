"""What the engine's states reach: functions, the bucket, the bus; each call checked against the machine's role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from sandbox.engine import TaskFailed
from sandbox.functions import Functions
from sandbox.permissions import NotAllowed, Permissions


class SandboxIntegrations:
    """A `sandbox.engine.Integrations`. s3, events: boto3 clients without a role of their own."""

    def __init__(self, functions: Functions, permissions: Permissions, s3: Any, events: Any) -> None:
        self._functions = functions
        self._permissions = permissions
        self._s3 = s3
        self._events = events

    def invoke_function(self, function_name: str, payload: str, *, role_arn: str) -> str:
        """Invoke a function. Raises: TaskFailed."""
        function = self._functions.get(function_name)
        self._check(role_arn, "lambda:InvokeFunction", function.arn, "Lambda.AccessDeniedException")
        return self._functions.invoke(function.name, payload)

    def get_object(self, bucket: str, key: str, *, role_arn: str, version_id: str | None = None) -> bytes:
        """Return an object. Raises: TaskFailed."""
        self._check(role_arn, "s3:GetObject", f"arn:aws:s3:::{bucket}/{key}", "S3.AccessDeniedException")
        version = {"VersionId": version_id} if version_id else {}
        try:
            body: bytes = self._s3.get_object(Bucket=bucket, Key=key, **version)["Body"].read()
            return body
        except ClientError as error:
            raise _failed("S3", error) from error

    def list_objects(self, bucket: str, prefix: str, *, role_arn: str) -> Iterator[dict[str, Any]]:
        """Yield the objects below a prefix. Raises: TaskFailed."""
        self._check(role_arn, "s3:ListBucket", f"arn:aws:s3:::{bucket}", "S3.AccessDeniedException")
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        for item in pages.search("Contents[]"):
            if item is not None:
                chosen = {"Etag": item["ETag"], "Key": item["Key"], "Size": item["Size"]}
                yield chosen | {"LastModified": item["LastModified"].timestamp(), "StorageClass": item["StorageClass"]}

    def put_object(self, bucket: str, key: str, body: bytes, *, role_arn: str) -> None:
        """Write an object. Raises: TaskFailed."""
        self._check(role_arn, "s3:PutObject", f"arn:aws:s3:::{bucket}/{key}", "S3.AccessDeniedException")
        try:
            self._s3.put_object(Bucket=bucket, Key=key, Body=body, ContentType="application/json")
        except ClientError as error:
            raise _failed("S3", error) from error

    def put_events(self, entries: list[dict[str, Any]], *, role_arn: str) -> dict[str, Any]:
        """Put events. Raises: TaskFailed."""
        for entry in entries:
            bus = entry.get("EventBusName", "default")
            self._check(role_arn, "events:PutEvents", f"*event-bus/{bus}", "EventBridge.AccessDeniedException")
        answer: dict[str, Any] = self._events.put_events(Entries=entries)
        return answer

    def _check(self, role_arn: str, action: str, resource: str, error: str) -> None:
        try:
            self._permissions.check(role_arn, f"state machine role {role_arn.rsplit('/', 1)[-1]}", action, resource)
        except NotAllowed as refused:
            raise TaskFailed(error, str(refused)) from refused


def _failed(service: str, error: ClientError) -> TaskFailed:
    details = error.response["Error"]
    return TaskFailed(f"{service}.{details['Code']}Exception", details.get("Message", ""))
