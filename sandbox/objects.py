"""S3's GetObject and PutObject on moto's buckets, answered in process: through HTTP's clothes each takes 3 ms.

Only as functions make them. Any other call, parameter or trouble (no such object, an impossible range) is moto's.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from botocore.response import StreamingBody
from moto.s3.models import FakeKey, S3Backend, get_canned_acl, s3_backends

_TAKEN = {
    "GetObject": frozenset({"Bucket", "Key", "Range"}),
    "PutObject": frozenset({"Bucket", "Key", "Body", "ContentType"}),
}
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")
_PLAIN = "binary/octet-stream"


class Objects:
    """The objects of one account's buckets."""

    def __init__(self, account: str) -> None:
        self._backend: S3Backend = s3_backends[account]["aws"]

    def call(self, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the operation's answer as boto3 shows it (no ResponseMetadata), or None: ask moto."""
        if (
            not parameters.keys() <= _TAKEN.get(operation, frozenset())
            or parameters["Bucket"] not in self._backend.buckets
        ):
            return None
        return self._get(parameters) if operation == "GetObject" else self._put(parameters)

    def _get(self, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        found = self._backend.get_object(parameters["Bucket"], parameters["Key"])
        if found is None:
            return None
        body = found.value
        if "Range" in parameters:
            asked = _RANGE.fullmatch(parameters["Range"])
            if asked is None or not int(asked[1]) <= min(int(asked[2]), len(body) - 1):
                return None
            body = body[int(asked[1]) : int(asked[2]) + 1]
        kind = found.metadata.get("content-type", _PLAIN)
        when, stream = found.last_modified.replace(tzinfo=UTC), StreamingBody(io.BytesIO(body), len(body))
        answer = {"Body": stream, "ContentLength": len(body), "ContentType": kind, "LastModified": when}
        return answer | {"AcceptRanges": "bytes", "Metadata": {}} | _named(found)

    def _put(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        given = parameters.get("Body", b"")
        body = given if isinstance(given, bytes) else bytes(given.read() if hasattr(given, "read") else given)
        made = self._backend.put_object(parameters["Bucket"], parameters["Key"], body)
        made.set_metadata({"Content-Type": parameters.get("ContentType", _PLAIN)})
        made.set_acl(get_canned_acl("private"))
        return _named(made)


def _named(key: FakeKey) -> dict[str, Any]:
    """Return what names an object's content, and its version where the bucket keeps them."""
    version = {} if key.version_id in (None, "null") else {"VersionId": key.version_id}
    return {"ETag": key.etag, **version}
