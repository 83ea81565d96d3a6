"""A whole campaign as a customer runs it: over HTTP, from its creation to its report."""

from __future__ import annotations

import json
import signal
from typing import Any

import requests
from click.testing import CliRunner
from server_process import Server, start_server, until

from console.cli import main

LEADS = 12
FILE = "phone,first_name,carrier,state\n" + "".join(f"+12125550{100 + n},Ann{n},,NY\n" for n in range(LEADS))


class Customer:
    """A client of the customers' API that knows an address and a key."""

    def __init__(self, server: Server) -> None:
        self._address, self._key = server.address, {"x-api-key": server.facts["customer_key"]}

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = requests.request(method, f"{self._address}/v1{path}", headers=self._key, json=body, timeout=30)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def run_campaign(self) -> str:
        """Create, upload, plan and start a campaign; return its id."""
        created = self.ask("POST", "/campaigns", {"name": "Quotes", "message": "Hi {{first_name}}, call us."})
        campaign = str(created["campaign_id"])
        post = self.ask("POST", f"/campaigns/{campaign}/upload")
        uploaded = requests.post(post["url"], data=post["fields"], files={"file": FILE.encode()}, timeout=10)
        assert uploaded.status_code < 300, uploaded.text
        assert self.ask("POST", f"/campaigns/{campaign}/plan")["leads"]["accepted"] == LEADS
        self.ask("POST", f"/campaigns/{campaign}/start")
        return campaign

    def report(self, campaign: str) -> Any:
        until(lambda: self.ask("GET", f"/campaigns/{campaign}")["status"] == "finished", seconds=25)
        return self.ask("GET", f"/campaigns/{campaign}/report")


def test_campaign_runs_to_a_report_whose_sums_close(server: Server, client: Any) -> None:
    customer = Customer(server)

    campaign = customer.run_campaign()
    report = customer.report(campaign)
    page = requests.get(report["files"]["report.html"], timeout=10)

    assert report["balanced"]
    assert sum(report["outcomes"].values()) == LEADS
    assert "<html" in page.text
    arn = server.machine_arn.replace(":stateMachine:", ":execution:") + f":{campaign}"
    assert client("stepfunctions").describe_execution(executionArn=arn)["status"] == "SUCCEEDED"
    forget = ["forget", "+12125550103", "--endpoint-url", server.address, "--json"]
    done = CliRunner().invoke(main, forget)
    assert done.exit_code == 0, done.output
    # The server is all tests' of the session, and more than one of them may have sent to this person.
    [of_this] = [one for one in json.loads(done.stdout)["accounts"][0]["campaigns"] if one["campaign_id"] == campaign]
    assert of_this["leads"] == [4]
    assert b"5550103" not in requests.get(report["files"]["outcomes.csv"], timeout=10).content
    assert json.loads(CliRunner().invoke(main, forget).stdout)["accounts"] == []


def test_provider_shows_its_book_page_by_page_and_takes_nothing(server: Server) -> None:
    customer = Customer(server)
    customer.report(customer.run_campaign())
    book = f"{server.address}/2010-04-01/Accounts/AC{'0' * 32}/Messages.json"

    pages = [requests.get(book, params={"Page": page, "PageSize": 5}, timeout=10).json() for page in range(2)]
    refused = [requests.post(book, timeout=10), requests.get(book, params={"Page": "x"}, timeout=10)]

    sids = [one["sid"] for page in pages for one in page["messages"]]
    assert len(set(sids)) == 10
    assert pages[0]["next_page_uri"].startswith("/2010-04-01/")
    assert [one.status_code for one in refused] == [400, 400]


def test_unknown_key_is_turned_away(server: Server) -> None:
    address = f"{server.address}/v1/account"

    assert requests.get(address, timeout=10).status_code == 401
    assert requests.get(address, headers={"x-api-key": "made up"}, timeout=10).status_code == 403


def test_virtual_clock_skips_the_waiting_and_stands_still_between_requests() -> None:
    server = start_server("--clock", "virtual")
    try:
        customer = Customer(server)
        report = customer.report(customer.run_campaign())
        clock = until_still(server)
        later = requests.get(f"{server.address}/health", timeout=10).json()["now"]
    finally:
        status, said = server.stop(signal.SIGTERM)

    assert report["balanced"]
    assert clock == later
    assert (status, said.splitlines()[-1]) == (0, "Stopped. Nothing was kept.")
    assert "Warning" not in said


def until_still(server: Server) -> str:
    """Return what the clock says once nothing is to come."""
    seen = [""]

    def look() -> bool:
        seen.append(requests.get(f"{server.address}/health", timeout=10).json()["now"])
        return seen[-1] == seen[-2]

    until(look)
    return seen[-1]
