"""The leads bucket with every version of its objects: for whoever must erase, not write over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, cast

from botocore.exceptions import ClientError

from paceline.errors import ObjectNotFound, ServiceFault
from paceline.ports import StoredVersion

_AT_ONCE = 1000  # what DeleteObjects takes


class S3Versions:
    """A `paceline.ports.VersionedStore`."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def versions(self, prefix: str) -> Iterator[StoredVersion]:
        """Yield every version of every object whose key begins so, those of one key together."""
        for page in self._client.get_paginator("list_object_versions").paginate(Bucket=self._bucket, Prefix=prefix):
            listed = [(one, False) for one in page.get("Versions", [])]
            listed += [(one, True) for one in page.get("DeleteMarkers", [])]
            found = [StoredVersion(one["Key"], one["VersionId"], one["IsLatest"], marker) for one, marker in listed]
            yield from sorted(found, key=lambda version: version.key)

    def read_version(self, version: StoredVersion) -> bytes:
        """Return a version's bytes. Raises: ObjectNotFound."""
        return cast(bytes, self._get(version)["Body"].read())

    def write_over(self, version: StoredVersion, body: bytes) -> str:
        """Write an object anew, with the content type that it had; return the new version's id."""
        kind = self._get(version)
        kind["Body"].close()
        answer = self._client.put_object(
            Bucket=self._bucket, Key=version.key, Body=body, ContentType=kind["ContentType"]
        )
        return str(answer.get("VersionId", "null"))  # a bucket that keeps no versions has one, of that name

    def erase(self, versions: Iterable[StoredVersion]) -> None:
        """Delete versions for good. Raises: ServiceFault, where S3 keeps one."""
        waiting = iter(versions)
        while some := list(islice(waiting, _AT_ONCE)):
            objects = [{"Key": version.key, "VersionId": version.version_id} for version in some]
            answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})
            if errors := answer.get("Errors"):
                raise ServiceFault(f"S3 did not delete {errors[0]['Key']!r}: {errors[0].get('Message', '')}")

    def _get(self, version: StoredVersion) -> Any:
        try:
            return self._client.get_object(Bucket=self._bucket, Key=version.key, VersionId=version.version_id)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("NoSuchKey", "NoSuchVersion", "404"):
                raise ObjectNotFound(f"There is no object {version.key!r}.", key=version.key) from error
            raise
