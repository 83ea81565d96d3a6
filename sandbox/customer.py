"""A customer of the sandbox's API, and the operator who sets the sandbox up for one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import boto3
import requests

from paceline.adapters.dynamodb import DynamoDBTable
from paceline.api_keys import store_key
from paceline.table import TransactionRefused
from sandbox.world import Sandbox

ACCOUNT_ID = "acme"
DEFAULT_PER_MINUTE = 240
LOOK_AGAIN_SECONDS = 3  # as `Retry-After` says
ROUTES: tuple[dict[str, Any], ...] = (
    {"name": "shared", "sender": "+12025550100"},
    {"name": "verizon", "sender": "+12025550101", "carriers": ["Verizon", "Verizon Wireless"]},
)


class ApiRefused(Exception):
    """The API refused a request; the text is the problem's own sentence."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail") or problem.get("message") or f"the API answered {status}")
        self.status = status
        self.problem = problem


def table_of(sandbox: Sandbox) -> DynamoDBTable:
    """Return the sandbox's table, for looking on: calls from outside take no time of its clock."""
    return DynamoDBTable(boto3.client("dynamodb"), sandbox.outputs["TableName"])


def set_up(sandbox: Sandbox, *, credits: int, routes: Sequence[dict[str, Any]] = ROUTES, **caps: Any) -> Customer:
    """Create the account, its routes (with these caps) and its key, as an operator does; return the customer."""
    admin = operator_of(sandbox)
    admin.post("/v1/admin/accounts", {"account_id": ACCOUNT_ID, "credits": credits})
    for route in routes:
        admin.post("/v1/admin/routes", {**route, **caps})
    return Customer(sandbox, str(admin.post("/v1/admin/keys", {"account_id": ACCOUNT_ID})["api_key"]))


def operator_of(sandbox: Sandbox) -> Customer:
    """Return a client with an operator's key: the first key is written by hand, as on AWS."""
    key = "pk_operator_of-the-sandbox-on-this-machine"
    with suppress(TransactionRefused):  # it is there already
        store_key(table_of(sandbox), sandbox.key_pepper, key, "operators", "operator")
    return Customer(sandbox, key)


@dataclass(frozen=True, slots=True)
class Customer:
    """A client of the API. Every call lets the sandbox's time pass until it is answered."""

    sandbox: Sandbox
    key: str

    def call(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        """Return the answer's JSON. Raises: ApiRefused."""
        answer = self.sandbox.call_api(method, path, body, self.key, **headers)
        content: dict[str, Any] = json.loads(answer.body or b"{}")
        if answer.status >= 400:
            raise ApiRefused(answer.status, content)
        return content

    def get(self, path: str) -> dict[str, Any]:
        return self.call("GET", path)

    def post(self, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        return self.call("POST", path, body, **headers)

    def create(self, leads: bytes, *, file_name: str = "leads.csv", **campaign: Any) -> str:
        """Create a campaign and upload its lead file as customers do; return its id. Raises: ApiRefused."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", file_name).lstrip("._-")[:100] or "leads.csv"
        key = {"idempotency_key": str(campaign.pop("idempotency_key"))} if "idempotency_key" in campaign else {}
        body = {"name": file_name, "file_name": name, **campaign}
        campaign_id = str(self.post("/v1/campaigns", body, **key)["campaign_id"])
        post = self.post(f"/v1/campaigns/{campaign_id}/upload")
        answer = requests.post(post["url"], data=post["fields"], files={"file": leads}, timeout=60)
        if answer.status_code >= 300:
            raise ApiRefused(answer.status_code, {"detail": f"The bucket answered {answer.status_code} to the upload."})
        return campaign_id

    def plan(self, campaign_id: str) -> dict[str, Any]:
        """Ask for a campaign's plan and look until it is there; return it. Raises: ApiRefused."""
        address = f"/v1/campaigns/{campaign_id}/plan"
        plan = self.post(address)
        while plan["stage"] == "planning":
            self.sandbox.do(self.sandbox.scheduler.sleep, LOOK_AGAIN_SECONDS)
            plan = self.get(address)
        return plan

    def download(self, url: str) -> bytes:
        """Return a file of a report, from the address that the API gave."""
        return requests.get(url, timeout=60).content
