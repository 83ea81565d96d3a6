"""No web page of somebody else's reaches the sandbox through the browser of who runs it; programs and own pages do."""

from __future__ import annotations

import pytest

from sandbox.server.browsers import refusal_of_page
from sandbox.server.requests import Request

INVOKE = "/2015-03-31/functions/ApiFunction/invocations"
HERE = "127.0.0.1:4600"


def refusal(method: str, path: str, query: str = "", own: str = "127.0.0.1", **headers: str) -> str:
    sent = {"host": HERE} | {name.replace("_", "-"): value for name, value in headers.items()}
    return refusal_of_page(Request(method, path, query, sent, b""), own)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:4600",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost@evil.example",
        "xlocalhost",
        "127.0.0.1, evil.example",
        "0x7f000001",  # no browser sends it: it is made 127.0.0.1 before
        "[::1",
        "127.0.0.1.",
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(host: str) -> None:
    assert "no name of it" in refusal("GET", "/health", host=host)


@pytest.mark.parametrize(
    "host",
    [
        HERE,
        "localhost:4600",
        "LOCALHOST",
        "[::1]:4600",
        "192.0.2.7:4600",
        "leads.s3.localhost:4600",
        "host.docker.internal:4600",
        "mybox:4600",
        "",
    ],
)
def test_names_of_this_machine_are_taken(host: str) -> None:
    assert refusal("GET", "/health", own="mybox", host=host) == ""


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://evil.example:4600",
        "null",  # a sandboxed frame, a file
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "file://",
        "http://[::1",
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", INVOKE), ("GET", "/v1/account"), ("POST", "/console/x")])
def test_a_page_elsewhere_is_refused_whatever_it_asks(origin: str, method: str, path: str) -> None:
    assert "web pages elsewhere" in refusal(method, path, origin=origin)


@pytest.mark.parametrize("origin", [f"http://{HERE}", "http://localhost:3000", "http://[::1]:8080"])
def test_pages_of_this_machine_are_taken(origin: str) -> None:
    assert refusal("POST", "/v1/campaigns", origin=origin, sec_fetch_site="cross-site") == ""


@pytest.mark.parametrize(
    ("mode", "path", "query", "is_refused"),
    [
        pytest.param("no-cors", "/", "Action=DeleteStack", True, id="an image"),
        pytest.param("no-cors", "/health", "", True, id="a script"),
        pytest.param("navigate", "/", "X-Amz-Credential=x/20260101/r/cloudformation/aws4_request", True, id="a link"),
        pytest.param("navigate", "/", "Action=DeleteStack", True, id="a link that asks something"),
        pytest.param("navigate", "/2015-03-31/functions", "", True, id="a link to an operation"),
        pytest.param("navigate", "/console/", "", False, id="a link to the console"),
    ],
)
def test_without_an_origin_only_a_link_to_a_page_of_ours_may_be_followed(
    mode: str, path: str, query: str, is_refused: bool
) -> None:
    told = refusal("GET", path, query, sec_fetch_site="cross-site", sec_fetch_mode=mode)

    assert bool(told) is is_refused


def test_an_address_that_is_typed_is_no_page_elsewhere() -> None:
    assert refusal("GET", "/health", sec_fetch_site="none", sec_fetch_mode="navigate") == ""
