"""The errors of DynamoDB, as data: a code, a message and what else the service's answer carries."""

from __future__ import annotations

from typing import Any


class DynamoDBError(Exception):
    """An answer that is an error.

    code: what boto3 shows as `error.response["Error"]["Code"]`.
    details: the other top level keys of `error.response`, for example `CancellationReasons` or `Item`.
    """

    def __init__(self, code: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details or {}


def invalid(message: str) -> DynamoDBError:
    """A request that DynamoDB would refuse to look at."""
    return DynamoDBError("ValidationException", message)


def not_supported(what: str) -> DynamoDBError:
    """A request that AWS would accept and the sandbox does not: loud, and with a code that no handler catches."""
    return DynamoDBError("NotSupportedBySandbox", f"the sandbox's DynamoDB does not support {what}")


def condition_failed(old_item: dict[str, Any] | None) -> DynamoDBError:
    """A condition that did not hold; `old_item` (ReturnValuesOnConditionCheckFailure=ALL_OLD) travels as `Item`."""
    details = {"Item": old_item} if old_item else {}
    return DynamoDBError("ConditionalCheckFailedException", "The conditional request failed", details)


def transaction_cancelled(reasons: list[dict[str, Any]]) -> DynamoDBError:
    """A cancelled transaction, with its reasons in request order."""
    codes = ", ".join(reason["Code"] for reason in reasons)
    message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    return DynamoDBError("TransactionCanceledException", message, {"Message": message, "CancellationReasons": reasons})
