"""The leads bucket."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from typing import Any, BinaryIO, cast

from botocore.exceptions import BotoCoreError, ClientError

from paceline.adapters.service_faults import as_ours, our_errors
from paceline.errors import ObjectNotFound
from paceline.ports import StoredObject

# Batch objects never change, and every send of a batch reads the same one: a warm function reads it once.
CACHED_OBJECTS = 256

# InvalidRange: it is shorter than the part that is asked for.
_NOT_THERE = ("NoSuchKey", "404", "InvalidRange")


class S3Store:
    """A `paceline.ports.ObjectStore`."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self.bucket = bucket
        self._get_range = lru_cache(maxsize=CACHED_OBJECTS)(self._get_range_uncached)

    def open(self, key: str) -> BinaryIO:
        """Return the object as a stream. Raises: ObjectNotFound."""
        return cast(BinaryIO, self._get_object(Key=key)["Body"])

    def describe(self, key: str) -> StoredObject:
        """Return what the object is, without reading it. Raises: ObjectNotFound."""
        answer = self._get_object(Key=key)
        with our_errors(), closing(answer["Body"]) as body:
            return StoredObject(answer["ContentLength"], answer["ETag"], body.read(4))

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        """Return the object, or a range of its bytes (of a batch object; it is kept). Raises: ObjectNotFound."""
        if first_byte is None:
            return self._read(Key=key)
        return self._get_range(key, first_byte, last_byte)

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        """Write an object."""
        with our_errors():
            self._client.put_object(Bucket=self.bucket, Key=key, Body=body, ContentType=content_type)

    def presigned_post(self, key: str, max_bytes: int, expires_seconds: int) -> dict[str, Any]:
        """Return the address and the form fields with which a customer uploads one object of bounded size."""
        conditions = [["content-length-range", 1, max_bytes]]
        post = self._client.generate_presigned_post(self.bucket, key, Conditions=conditions, ExpiresIn=expires_seconds)
        return cast(dict[str, Any], post)

    def presigned_get(self, key: str, expires_seconds: int) -> str:
        """Return an address from which the object can be read for a while."""
        request = {"Bucket": self.bucket, "Key": key}
        return str(self._client.generate_presigned_url("get_object", Params=request, ExpiresIn=expires_seconds))

    def _get_range_uncached(self, key: str, first_byte: int, last_byte: int) -> bytes:
        return self._read(Key=key, Range=f"bytes={first_byte}-{last_byte}")

    def _read(self, **request: Any) -> bytes:
        body = self._get_object(**request)["Body"]
        with our_errors():
            return cast(bytes, body.read())

    def _get_object(self, **request: Any) -> Any:
        try:
            return self._client.get_object(Bucket=self.bucket, **request)
        except ClientError as error:
            if error.response["Error"]["Code"] in _NOT_THERE:
                raise ObjectNotFound(f"There is no object {request['Key']!r}.", key=request["Key"]) from error
            raise as_ours(error) from error
        except BotoCoreError as error:
            raise as_ours(error) from error
