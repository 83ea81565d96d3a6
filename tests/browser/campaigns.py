"""Campaigns to be seen in a browser, made over the API as customers and operators make them."""

from __future__ import annotations

from typing import Any

import requests

from tests.server.server_process import Server, until

AREAS = ("202", "212", "312", "305", "617", "404", "215", "313", "216", "919")


def ask(server: Server, method: str, path: str, body: object = None, *, key: str = "customer_key") -> Any:
    headers = {"x-api-key": server.facts[key]}
    answer = requests.request(method, f"{server.address}/v1{path}", headers=headers, json=body, timeout=30)
    assert answer.status_code < 300, answer.text
    return answer.json()


def make_route(server: Server, name: str, **caps: Any) -> None:
    """Make a route that leads of the carrier of the same name take."""
    body = {"name": name, "sender": "+12025550100", "carriers": [name], **caps}
    ask(server, "POST", "/admin/routes", body, key="operator_key")


def start_campaign(server: Server, name: str, leads: int, route: str) -> str:
    """Start a campaign of so many leads (1,000 at most) by a route; return its id."""
    campaign = make_campaign(server, name, leads, route)
    ask(server, "POST", f"/campaigns/{campaign}/start")
    return campaign


def make_campaign(server: Server, name: str, leads: int, route: str) -> str:
    """Create a campaign and upload its leads; return its id."""
    created = ask(server, "POST", "/campaigns", {"name": name, "message": "Hi {{first_name}}, call us."})
    campaign = str(created["campaign_id"])
    numbers = [f"+1{area}5550{line}" for line in range(100, 200) for area in AREAS][:leads]
    rows = [f"{number},Ann{row},{route},NY" for row, number in enumerate(numbers)]
    post = ask(server, "POST", f"/campaigns/{campaign}/upload")
    file = "\n".join(["phone,first_name,carrier,state", *rows]).encode()
    assert requests.post(post["url"], data=post["fields"], files={"file": file}, timeout=10).ok
    return campaign


def status_of(server: Server, campaign: str) -> str:
    return str(ask(server, "GET", f"/campaigns/{campaign}")["status"])


def finish(server: Server, campaign: str) -> None:
    """Wait for a campaign's report."""
    until(lambda: status_of(server, campaign) == "finished", seconds=40)
