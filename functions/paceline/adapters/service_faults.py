"""What AWS's own faults mean to us: asked again, a call may succeed (`ServiceUnavailable`), or it may not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
)
from botocore.parsers import ResponseParserError

from paceline.errors import PacelineError, ServiceFault, ServiceUnavailable

# What services call a refusal for their own load or trouble, where its HTTP status (400) does not say so.
# Source: botocore's retry modes, `retries/standard.py`.
_AGAIN = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_NO_ANSWER = (ConnectionError, HTTPClientError, IncompleteReadError, ResponseParserError)


def as_ours(error: ClientError | BotoCoreError) -> PacelineError:
    """Return AWS's error as one of ours, by its code and status, never by its text."""
    if not isinstance(error, ClientError):
        kind = type(error).__name__
        if isinstance(error, _NO_ANSWER):
            return ServiceUnavailable(f"AWS did not answer: {kind}", code=kind)
        return ServiceFault(f"{kind}: {error}", code=kind)
    code = str(error.response["Error"]["Code"])
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if status >= 500 or code in _AGAIN:
        return ServiceUnavailable(f"AWS failed at {error.operation_name}: {code}", code=code)
    return ServiceFault(f"{type(error).__name__}: {error}", code=code)


@contextmanager
def our_errors() -> Iterator[None]:
    """Let AWS's errors leave as ours. Raises: ServiceUnavailable, ServiceFault."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise as_ours(error) from error
