"""A field of 64 KB wherever a client can put one: handled, or refused in a few clear words; never a fault of ours."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import requests

from bench.loads.campaigns import Say
from bench.loads.served import Answered, Client, Served, served
from tests.builders.api import DOCUMENT, Operation, operations

LARGE = "x" * 65_536
# A refusal says what is wrong; it does not repeat it.
MOST_ANSWER_BYTES = 4_000
ENDS = ("finished", "failed: LeadFileInvalid", "422")
HEADERS = ("x_api_key", "idempotency_key", "if_match", "content_type", "accept", "user_agent", "x_anything")
LEAD_FILES = {
    "a number": f"phone,first_name\n{LARGE},Ann\n+12025550101,Ann\n",
    "a name that the message shows": f"phone,first_name\n+12025550101,{LARGE}\n+12025550102,Ann\n",
    "a column that nobody reads": f"phone,first_name,note\n+12025550101,Ann,{LARGE}\n+12025550102,Ann,\n",
    "a column's name": f"phone,first_name,{LARGE}\n+12025550101,Ann,\n+12025550102,Ann,\n",
    "a time zone": f"phone,first_name,timezone\n+12025550101,Ann,{LARGE}\n+12025550102,Ann,\n",
    "a quote that never ends": f'phone,first_name\n+12025550101,"{LARGE}\n+12025550102,Ann\n',
}
MOST_SECONDS = 60
# Who has no known time zone may wait two hours for the window to be open everywhere.
SPEED = 600


def measure(say: Say) -> dict[str, Any]:
    """Send the fields; return figures and faults."""
    with served("--speed", str(SPEED)) as server:
        answers = dict(_of_bodies(server)) | dict(_of_addresses_and_headers(server))
        say(f"{len(answers)} requests with a field of 64 KB")
        ends = {what: _end_of_file(server.customer, content) for what, content in LEAD_FILES.items()}
    faults = [f"{what}: {one.status}" for what, one in answers.items() if one.status >= 500]
    faults += [
        f"{what}: refused in {len(one.content):,} bytes"
        for what, one in answers.items()
        if one.status >= 400 and len(one.content) > MOST_ANSWER_BYTES
    ]
    faults += [f"a lead file with {what}: {end}" for what, end in ends.items() if not end.startswith(ENDS)]
    return {
        "requests": len(answers),
        "statuses": dict(sorted(Counter(one.status for one in answers.values()).items())),
        "lead_files": ends,
        "faults": faults,
    }


def _of_bodies(server: Served) -> Iterator[tuple[str, Answered]]:
    """Each operation that takes a body, once for each of its texts, the rest as it should be."""
    for operation in operations():
        for name, value in _large_values(operation):
            body = {**(operation.body or {}), name: value}
            address = operation.address().removeprefix("/v1")
            yield (
                f"{operation.method} {operation.path} {name}",
                _owner(server, operation).ask(operation.method, address, body),
            )


def _large_values(operation: Operation) -> Iterator[tuple[str, Any]]:
    if operation.body is None:
        return
    schema = operation.definition["requestBody"]["content"]["application/json"]["schema"]
    for name, field in _resolved(schema)["properties"].items():
        yield from ((name, value) for value in _large(field))
    yield LARGE, 1


def _large(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield values of a schema with a large text in each place where it takes one."""
    schema = _resolved(schema)
    for one in schema.get("anyOf", []):
        yield from _large(one)
    if schema.get("type") == "string":
        yield LARGE
    if schema.get("type") == "array":
        yield from ([value] for value in _large(schema["items"]))
    for name, field in schema.get("properties", {}).items():
        yield from ({name: value} for value in _large(field))
    if isinstance(schema.get("additionalProperties"), dict):
        yield {LARGE: "shared"}
        yield from ({"any": value} for value in _large(schema["additionalProperties"]))


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _of_addresses_and_headers(server: Served) -> Iterator[tuple[str, Answered]]:
    customer = server.customer
    for header in HEADERS:
        yield f"header {header}", customer.ask("POST", "/campaigns", {"name": "a", "message": "b"}, **{header: LARGE})
    # An address of its own part of the head: 9,000 bytes still come to a function.
    for size in (9_000, 65_536):
        for operation in operations():
            names = {name: LARGE[:size] for name in operation.names}
            address = operation.address(**names).removeprefix("/v1") + ("" if names else f"?after={LARGE[:size]}")
            what = f"{operation.method} {operation.path}, {size} bytes in the address"
            yield what, _owner(server, operation).ask(operation.method, address, operation.body)


def _owner(server: Served, operation: Operation) -> Client:
    return server.operator if "/admin/" in operation.path else server.customer


def _end_of_file(customer: Client, content: str) -> str:
    """Upload a lead file and start its campaign; return how that ended."""
    campaign = customer.post("/campaigns", {"name": "Large", "message": "Hi {{first_name|there}}"})["campaign_id"]
    post = customer.post(f"/campaigns/{campaign}/upload")
    requests.post(post["url"], data=post["fields"], files={"file": content.encode()}, timeout=60).raise_for_status()
    started = customer.ask("POST", f"/campaigns/{campaign}/start")
    if started.status >= 300:
        return f"{started.status} {started.body['detail'][:300]}"
    until = time.perf_counter() + MOST_SECONDS
    while (shown := customer.get(f"/campaigns/{campaign}"))["status"] in ("running", "starting", "planning"):
        if time.perf_counter() > until:
            break
        time.sleep(0.5)
    if shown["status"] == "failed":
        return f"failed: {customer.get(f'/campaigns/{campaign}/report')['reason']}"
    plan = shown["plan"]
    return f"{shown['status']}: {plan['leads']}, rejected {plan['rejected_reasons']}"
