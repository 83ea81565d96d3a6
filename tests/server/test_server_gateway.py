"""The gateway's memory and its limits, with functions that only answer."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox.gateway import MAX_HEAD_BYTES, Gateway

MINUTE = 60_000_000


class Clock:
    microseconds = 0

    def time(self) -> float:
        return self.microseconds / 1e6

    def now(self) -> Any:
        return SimpleNamespace(strftime=lambda _: "", timestamp=self.time)


class Functions:
    """Lets everybody in, and counts whom it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def invoke(self, name: str, payload: str) -> str:
        self.asked += name == "authorize"
        return json.dumps({"isAuthorized": True} if name == "authorize" else {"statusCode": 200, "body": ""})


def a_gateway(ttl_seconds: int) -> Gateway:
    authorizer = {
        "authorizerUri": "${Authorize.Arn}",
        "identitySource": ["$request.header.x-api-key"],
        "authorizerResultTtlInSeconds": ttl_seconds,
    }
    operation = {"security": [{"Key": []}], "x-amazon-apigateway-integration": {"uri": "${Api.Arn}"}}
    schemes = {"Key": {"x-amazon-apigateway-authorizer": authorizer}}
    definition = {"paths": {"/v1/x": {"get": operation}}, "components": {"securitySchemes": schemes}}
    names = {"Authorize": "authorize", "Api": "api"}
    return Gateway("a", definition, names, Functions(), Clock(), "a.example")  # type: ignore[arg-type]


@pytest.mark.parametrize(("ttl_seconds", "asked", "kept"), [(0, 300, 0), (30, 300, 1)])
def test_keys_that_are_no_longer_asked_for_are_forgotten(ttl_seconds: int, asked: int, kept: int) -> None:
    gateway = a_gateway(ttl_seconds)

    for number in range(300):
        gateway.scheduler.microseconds += MINUTE  # type: ignore[misc]
        assert gateway.handle("GET", "/v1/x", {"x-api-key": f"pk_{number}"}).status == 200

    assert gateway.functions.asked == asked  # type: ignore[attr-defined]
    assert len(gateway._authorized) == kept


def test_what_an_authorizer_said_is_good_for_its_time() -> None:
    gateway = a_gateway(30)

    for _ in range(3):
        gateway.handle("GET", "/v1/x", {"x-api-key": "pk_1"})

    assert gateway.functions.asked == 1  # type: ignore[attr-defined]


def test_a_head_beyond_the_gateways_limit_is_refused_before_any_function_is_asked() -> None:
    gateway = a_gateway(0)

    assert gateway.handle("GET", "/v1/x", {"x-api-key": "k" * (MAX_HEAD_BYTES - 8)}).status == 200
    refused = gateway.handle("GET", "/v1/x", {"x-api-key": "k" * (MAX_HEAD_BYTES - 7)})

    assert (refused.status, gateway.functions.asked) == (431, 1)  # type: ignore[attr-defined]
    assert "more than 10,240 bytes" in json.loads(refused.body)["message"]
