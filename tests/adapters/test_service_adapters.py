"""AWS's own faults, as every adapter tells them: what may be asked again, and what may not."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ReadTimeoutError
from botocore.response import StreamingBody

from paceline.adapters.dynamodb import DynamoDBTable
from paceline.adapters.eventbridge import EventBridge
from paceline.adapters.functions import DryRunFunction
from paceline.adapters.s3 import S3Store
from paceline.adapters.stepfunctions import StepFunctions
from paceline.errors import ServiceFault, ServiceUnavailable, TableThrottled
from paceline.table import Delete, Put, Update

TIME_OUT = ReadTimeoutError(endpoint_url="https://service.invalid")


def refusal(code: str, status: int) -> ClientError:
    response = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "Operation")  # type: ignore[arg-type]


class FailingClient:
    """A client of any service: each of its calls ends in the error."""

    def __init__(self, error: ClientError | BotoCoreError) -> None:
        self._error = error

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**request: Any) -> None:
            raise self._error

        return call


KEY = ("A", "B")
TABLE_CALLS: dict[str, Callable[[Any], object]] = {
    "get": lambda client: DynamoDBTable(client, "t").get(KEY),
    "get_many": lambda client: DynamoDBTable(client, "t").get_many([KEY]),
    "query": lambda client: list(DynamoDBTable(client, "t").query("A")),
    "page": lambda client: DynamoDBTable(client, "t").page("A", 1),
    "put": lambda client: DynamoDBTable(client, "t").put(Put({"pk": "A", "sk": "B"})),
    "update": lambda client: DynamoDBTable(client, "t").update(Update(KEY, "SET #a = :a", {"a": 1})),
    "delete": lambda client: DynamoDBTable(client, "t").delete(Delete(KEY)),
    "transact": lambda client: DynamoDBTable(client, "t").transact([Delete(KEY)]),
}
CALLS: dict[str, Callable[[Any], object]] = TABLE_CALLS | {
    "open": lambda client: S3Store(client, "b").open("k"),
    "read": lambda client: S3Store(client, "b").get("k"),
    "read a range": lambda client: S3Store(client, "b").get("k", 0, 1),
    "describe": lambda client: S3Store(client, "b").describe("k"),
    "write": lambda client: S3Store(client, "b").put("k", b""),
    "start": lambda client: StepFunctions(client, "arn").start("spring"),
    "resume": lambda client: StepFunctions(client, "arn").resume("token", {}),
    "publish": lambda client: EventBridge(client, "bus").publish("Campaign Finished", {}),
    "invoke": lambda client: DryRunFunction(client, "name").begin("spring", "1"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "error",
    [
        pytest.param(refusal("InternalError", 500), id="500"),
        pytest.param(refusal("SlowDown", 503), id="503"),
        pytest.param(TIME_OUT, id="no answer"),
    ],
)
def test_what_failed_on_awss_side_may_be_asked_again(
    call: Callable[[Any], object], error: ClientError | BotoCoreError
) -> None:
    with pytest.raises(ServiceUnavailable):
        call(FailingClient(error))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("error", [refusal("AccessDeniedException", 400), NoCredentialsError()], ids=["denied", "none"])
def test_what_is_refused_whoever_asks_when_is_no_passing_fault(
    call: Callable[[Any], object], error: ClientError | BotoCoreError
) -> None:
    with pytest.raises(ServiceFault):
        call(FailingClient(error))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_throttled_call_may_be_asked_again(call: Callable[[Any], object]) -> None:
    wrote_nothing = call in TABLE_CALLS.values()

    with pytest.raises(TableThrottled if wrote_nothing else ServiceUnavailable):
        call(FailingClient(refusal("ThrottlingException", 400)))


def test_an_object_whose_stream_breaks_off_may_be_asked_for_again() -> None:
    class Broken:
        def get_object(self, **request: Any) -> dict[str, Any]:
            return {"Body": StreamingBody(io.BytesIO(b"half"), content_length=8)}

    with pytest.raises(ServiceUnavailable):
        S3Store(Broken(), "b").get("k")


@pytest.mark.parametrize(
    ("code", "expected"),
    [("ThrottlingException", ServiceUnavailable), ("NotAuthorizedForSourceException", ServiceFault)],
)
def test_an_event_that_the_bus_did_not_take_is_told_by_its_own_code(code: str, expected: type[Exception]) -> None:
    class Bus:
        def put_events(self, Entries: list[Any]) -> dict[str, Any]:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": code}]}

    with pytest.raises(expected):
        EventBridge(Bus(), "bus").publish("Campaign Finished", {})
