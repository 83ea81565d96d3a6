"""What hinders the console from reaching a system is said with what to do about it, at exit status 2."""

from __future__ import annotations

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ProfileNotFound,
    ReadTimeoutError,
)

from console.reach import CannotReach, Where, explained


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "No."}}, "GetItem")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (refused("AccessDeniedException"), "You may not do GetItem here: No. Reading needs"),
        (refused("ExpiredTokenException"), "sign in again"),
        (refused("ResourceNotFoundException"), "no such table here (outcomes)"),
        (refused("NoSuchBucket"), "no such bucket here"),
        (refused("InternalServerError"), "AWS refused GetItem: InternalServerError: No."),
        (NoCredentialsError(), "set AWS_PROFILE"),
        (NoRegionError(), "give --region"),
        (ProfileNotFound(profile="nobody"), "aws configure list-profiles"),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:4600"), "Is `paceline up` running, on that port?"),
        (ReadTimeoutError(endpoint_url="http://127.0.0.1:4600"), "does not answer as it should"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_each_hindrance_says_what_to_do(error: Exception, words: str) -> None:
    where = Where(endpoint_url="http://127.0.0.1:4600", table="outcomes")

    with pytest.raises(CannotReach) as hindered, explained(where):
        raise error

    assert words in hindered.value.message
    assert hindered.value.exit_code == 2
