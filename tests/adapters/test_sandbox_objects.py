"""S3's objects in process: the same bytes, names and refusals as moto's own, whichever of the two wrote them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
import requests
from botocore.exceptions import ClientError

from sandbox.objects import Objects
from sandbox.world import Sandbox

BODY = b"lead_no,outcome\r\n1,delivered\r\n"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with Sandbox() as sandbox:
        yield sandbox.outputs["BucketName"]


@pytest.fixture(params=[True, False], ids=["in process", "moto's"])
def s3(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if not request.param:
        monkeypatch.setattr(Objects, "call", lambda self, operation, parameters: None)
    return boto3.client("s3")


@pytest.mark.parametrize("body", [BODY, io.BytesIO(BODY), bytearray(BODY)], ids=["bytes", "a file", "a bytearray"])
def test_an_object_is_read_as_it_was_written(s3: Any, bucket: str, body: Any) -> None:
    if isinstance(body, io.BytesIO):
        body.seek(0)
    put = s3.put_object(Bucket=bucket, Key="a/one.csv", Body=body, ContentType="text/csv")

    got = s3.get_object(Bucket=bucket, Key="a/one.csv")

    assert got["Body"].read() == BODY
    assert (got["ContentLength"], got["ContentType"]) == (len(BODY), "text/csv")
    assert (got["ETag"], got["VersionId"]) == (put["ETag"], put["VersionId"])
    assert got["LastModified"].utcoffset() is not None
    [listed] = s3.list_objects_v2(Bucket=bucket, Prefix="a/one.csv")["Contents"]
    assert (listed["Size"], listed["ETag"]) == (len(BODY), put["ETag"])


def test_every_version_is_kept(s3: Any, bucket: str) -> None:
    versions = [s3.put_object(Bucket=bucket, Key="a/two", Body=body)["VersionId"] for body in (b"1", b"2")]

    assert s3.get_object(Bucket=bucket, Key="a/two")["Body"].read() == b"2"
    assert s3.get_object(Bucket=bucket, Key="a/two", VersionId=versions[0])["Body"].read() == b"1"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("bytes=0-6", BODY[:7]),
        ("bytes=17-999", BODY[17:]),  # to the end, where it is shorter than asked
        ("bytes=5-5", BODY[5:6]),
        ("bytes=-4", BODY[-4:]),  # of the end
        ("bytes=9-3", BODY),  # no range at all
    ],
)
def test_a_range_is_that_part(s3: Any, bucket: str, asked: str, expected: bytes) -> None:
    s3.put_object(Bucket=bucket, Key="a/three", Body=BODY)

    assert s3.get_object(Bucket=bucket, Key="a/three", Range=asked)["Body"].read() == expected


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"Key": "a/none"}, "NoSuchKey"),
        ({"Key": "a/four", "Range": "bytes=99-120"}, "InvalidRange"),
        ({"Key": "a/gone"}, "NoSuchKey"),
        ({"Key": "a/four", "Bucket": "nobodys"}, "NoSuchBucket"),
    ],
    ids=["none", "beyond its end", "deleted", "no such bucket"],
)
def test_what_is_not_there_is_refused(s3: Any, bucket: str, request_: dict[str, str], code: str) -> None:
    s3.put_object(Bucket=bucket, Key="a/four", Body=BODY)
    s3.put_object(Bucket=bucket, Key="a/gone", Body=BODY)
    s3.delete_object(Bucket=bucket, Key="a/gone")

    with pytest.raises(ClientError) as refused:
        s3.get_object(**{"Bucket": bucket, **request_})

    assert refused.value.response["Error"]["Code"] == code


def test_nobody_reads_it_without_a_signature(s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="a/five", Body=BODY)
    signed = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "a/five"})

    assert requests.get(signed, timeout=5).content == BODY
    assert requests.get(signed.partition("?")[0], timeout=5).status_code == 403
