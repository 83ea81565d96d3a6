"""The console's commands against `paceline up`, by the address alone."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result
from server_process import Server
from test_server_campaign import Customer

from console.cli import main


def run(server: Server, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--json"], env={"PACELINE_ENDPOINT_URL": server.address})


def told(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_audit_and_the_life_of_a_lead_are_told_over_http(server: Server) -> None:
    customer = Customer(server)
    campaign = customer.run_campaign()

    while_running = told(run(server, "audit"))
    customer.report(campaign)
    after = told(run(server, "audit", "acme"))
    lead = told(run(server, "explain", campaign, "row:2"))

    assert not while_running["differs"]
    account = after["accounts"][0]
    assert account["found"] == account["expected"]
    assert account["found"]["consumed"] > 0  # other tests' campaigns ran on the same server
    assert lead["lead_no"] == 1
    assert any("receipt" in step["text"] for step in lead["steps"])


def test_operators_see_and_steer_over_http(server: Server) -> None:
    campaign = Customer(server).run_campaign()
    env = {"PACELINE_URL": f"{server.address}/v1", "PACELINE_KEY": server.facts["operator_key"]}

    def desk(*arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments], env=env)

    listed = told(desk("campaigns", "--json"))["campaigns"]
    changed = desk("account", "set", "acme", "--name", "Acme Insurance", "--yes")
    gone = desk("routes", "--url", "http://127.0.0.1:9")

    assert campaign in [one["campaign_id"] for one in listed]
    assert changed.exit_code == 0, changed.output
    assert told(desk("account", "acme", "--json"))["name"] == "Acme Insurance"
    assert campaign in desk("campaign", campaign).output
    assert (gone.exit_code, "Nothing answers at" in gone.output) == (2, True)
