"""Paceline in a test: builders for what a campaign needs, and campaigns that can be run, held up and looked at."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from types import TracebackType
from typing import Any

import boto3
import requests

from paceline.accounts import get_account, store_key
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.batches import batch_summaries, read_ledger
from paceline.campaigns import get_campaign
from paceline.models import Account, Message
from paceline.progress import describe_campaign, held_by
from paceline.status import CampaignStatus
from paceline.table import Row
from sandbox.carrier import DELIVERED, Carrier, Profile
from sandbox.engine import Execution
from sandbox.latency import Latencies
from sandbox.testing.history import all_states_entered, assert_in_order, states_entered
from sandbox.testing.leads import make_leads, to_csv
from sandbox.testing.timeline import Timeline, moment
from sandbox.world import START, Sandbox

OPERATOR = "operator-of-the-test"
MESSAGE = "Hi {{first_name|there}}, your quote is ready. Reply STOP to opt out."
# A carrier without chance: tests say what goes wrong, and nothing else does.
PERFECT = Profile(shares=((DELIVERED, 1.0),), refused=(), doubled=0.0)


class Refused(Exception):
    """The API refused a request; `status` is HTTP's, the text the problem's own sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class CampaignSandbox(Timeline):
    """The whole system on a virtual clock. What it builds, it builds by the API, as operators and customers do.

    A builder's call takes the API's time: some tenths of a second of the clock.
    """

    def __init__(
        self,
        *,
        start: datetime | str = START,
        seed: int = 1,
        profile: Profile = PERFECT,
        latencies: Latencies | None = None,
    ) -> None:
        self.world = Sandbox(seed=seed, start=moment(start), profile=profile, latencies=latencies)
        self.campaigns: list[TestedCampaign] = []
        self._keys: dict[str, str] = {}
        self._routes: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> CampaignSandbox:
        self.world.__enter__()
        super().__init__(self.world.scheduler, self.world.engine)
        self.table = DynamoDBTable(boto3.client("dynamodb"), self.world.outputs["TableName"])
        store_key(self.table, OPERATOR, "operators", "operator")
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.world.__exit__(*error)

    # -- builders -----------------------------------------------------------------------------------------------------

    def account(self, account_id: str = "acme", *, credits: int = 1_000_000, **caps: Any) -> str:
        """Create an account with credits (1 a part) and a key. caps: `parts_per_day`."""
        self.call("POST", "/v1/admin/accounts", {"account_id": account_id, "credits": credits, **caps})
        key = self.call("POST", "/v1/admin/keys", {"account_id": account_id})
        self._keys[account_id] = key["api_key"]
        return account_id

    def credits(self, count: int, account_id: str = "acme") -> None:
        """Add bought credits; what waits for credits goes on."""
        self.call("POST", f"/v1/admin/accounts/{account_id}/credits", {"credits": count})

    def route(self, name: str = "shared", **caps: Any) -> str:
        """Create a route, or change what is given of one. caps: `parts_per_minute`, `parts_per_day`, `carriers`, …"""
        self._routes[name] = {**self._routes.get(name, {"name": name}), **caps}
        self.call("POST", "/v1/admin/routes", self._routes[name])
        return name

    leads = staticmethod(make_leads)

    def campaign(
        self,
        leads: int | Iterable[dict[str, Any]] | bytes = 10,
        *,
        account: str = "acme",
        message: str = MESSAGE,
        **fields: Any,
    ) -> TestedCampaign:
        """Create a campaign and upload its leads: so many, or these, or a file. fields: as the API takes them.

        An account and a route are created too, where the test has none.
        """
        if account not in self._keys:
            self.account(account)
        if not self._routes:
            self.route()
        number = len(self.campaigns) + 1
        body = {"campaign_id": f"campaign-{number}", "name": f"Campaign {number}", "message": message, **_plain(fields)}
        made = self.call("POST", "/v1/campaigns", body, account=account)
        campaign = TestedCampaign(self, made["campaign_id"], account)
        rows = make_leads(leads) if isinstance(leads, int) else leads
        campaign.upload(rows if isinstance(rows, bytes) else to_csv(rows))
        self.campaigns.append(campaign)
        return campaign

    @property
    def carrier(self) -> Carrier:
        """The carrier: `book` is what it accepted, and `behave(Profile(...))` changes what it does from now on."""
        return self.world.carrier

    def call(self, method: str, path: str, body: object = None, *, account: str | None = None) -> dict[str, Any]:
        """Call the API, as an operator or as an account's customer. Raises: Refused."""
        answer = self.world.call_api(method, path, body, OPERATOR if account is None else self._keys[account])
        content: dict[str, Any] = json.loads(answer.body or b"{}")
        if answer.status >= 400:
            raise Refused(answer.status, content.get("detail") or content.get("message") or "")
        return content

    # -- time ---------------------------------------------------------------------------------------------------------

    def run_to_end(self) -> None:
        """Let time pass until every campaign that was started is over. Raises: NotReached."""
        self.until_done(campaign.execution for campaign in self.campaigns if campaign.is_started)

    def run_until(self, *, state: str, campaign: TestedCampaign | None = None) -> Execution:
        """Let time pass until a campaign (the last one) enters a state, in its execution or in a child of it.

        Return the execution that entered it. Raises: NotReached, ValueError.
        """
        return self.until_state(state, (campaign or self.campaigns[-1]).execution)

    def run_until_time(self, when: datetime | str) -> None:
        """Let time pass until a moment."""
        self.until(when)

    # -- what there is ------------------------------------------------------------------------------------------------

    def rows(self, partition: str, prefix: str = "") -> list[Row]:
        """Return the rows of a partition of the table. Looking takes no time."""
        return list(self.table.query(partition, prefix))

    def account_of(self, account_id: str = "acme") -> Account:
        """Return an account's row: its credits available, reserved, consumed and bought."""
        return get_account(self.table, account_id)


class TestedCampaign:
    """One campaign."""

    __test__ = False  # not a test, whatever pytest makes of the name

    def __init__(self, sandbox: CampaignSandbox, campaign_id: str, account: str) -> None:
        self.campaign_id = campaign_id
        self._sandbox = sandbox
        self._account = account

    # -- what a customer does -----------------------------------------------------------------------------------------

    def _post(self, action: str) -> dict[str, Any]:
        return self._sandbox.call("POST", f"/v1/campaigns/{self.campaign_id}/{action}", account=self._account)

    def upload(self, body: bytes) -> None:
        """Upload the lead file, by the form that the API gives."""
        form = self._post("upload")
        requests.post(form["url"], data=form["fields"], files={"file": body}, timeout=60).raise_for_status()

    def plan(self) -> dict[str, Any]:
        """Return what a start now would do."""
        return self._post("plan")

    def start(self) -> TestedCampaign:
        """Start the campaign."""
        self._post("start")
        return self

    def pause(self) -> None:
        """Pause the campaign."""
        self._post("pause")

    def resume(self) -> None:
        """Resume the campaign."""
        self._post("resume")

    def cancel(self) -> None:
        """Cancel the campaign."""
        self._post("cancel")

    # -- what a test looks at; looking takes no time -------------------------------------------------------------------

    @property
    def status(self) -> CampaignStatus:
        """The campaign's status."""
        return get_campaign(self._sandbox.table, self.campaign_id).status

    @property
    def is_started(self) -> bool:
        """Whether it has an execution."""
        return get_campaign(self._sandbox.table, self.campaign_id).execution_arn is not None

    @property
    def execution(self) -> Execution:
        """The campaign's execution on the engine."""
        return self._sandbox.world.execution(self.campaign_id)

    @property
    def progress(self) -> dict[str, Any]:
        """What GET /v1/campaigns/{id} answers."""
        table = self._sandbox.table
        return describe_campaign(table, get_campaign(table, self.campaign_id))

    @property
    def holds(self) -> list[dict[str, Any]]:
        """What holds batches now: cause, route, since, until, used, limit, batches."""
        return held_by(batch_summaries(self._sandbox.table, self.campaign_id))

    @property
    def messages(self) -> list[Message]:
        """The messages of the ledger, by lead."""
        table = self._sandbox.table
        batches = [row["sk"].removeprefix("BATCH#") for row in batch_summaries(table, self.campaign_id)]
        found = [m for batch in batches for m in read_ledger(table, self.campaign_id, batch).messages.values()]
        return sorted(found, key=lambda message: message.lead_no)

    @property
    def report(self) -> dict[str, Any]:
        """The outcome report, as the API gives it; a started campaign is run to its end first."""
        self._sandbox.until_done([self.execution])
        return self._sandbox.call("GET", f"/v1/campaigns/{self.campaign_id}/report", account=self._account)

    @property
    def states(self) -> list[str]:
        """The states that the campaign's execution entered, in order."""
        return states_entered(self.execution)

    # -- assertions that say more than `assert` when they fail ---------------------------------------------------------

    def assert_outcomes(self, **expected: int) -> None:
        """Assert the counts of the outcomes that are not 0, and that the report's sums close."""
        report = self.report
        got = {name: count for name, count in report["outcomes"].items() if count}
        if got != expected:
            raise AssertionError(f"outcomes: expected {expected}, got {got}; {report['headline']}")
        if not report["balanced"]:
            raise AssertionError(f"the sums do not close: {[s['off'] for s in report['sums'] if not s['closes']]}")

    def assert_held_by(self, cause: str, *, until: datetime | str | None = None) -> None:
        """Assert that a cause holds batches now (and until when)."""
        found = [hold for hold in self.holds if hold["cause"] == cause]
        ends = {moment(hold["until"]) if hold.get("until") else None for hold in found}
        if not found or (until is not None and ends != {moment(until)}):
            wanted = cause if until is None else f"{cause} until {moment(until).isoformat()}"
            raise AssertionError(f"expected a hold by {wanted}; the holds are {self.holds}")

    def assert_states(self, *names: str) -> None:
        """Assert that these states were entered in this order, in any execution; others may come between."""
        assert_in_order(all_states_entered(self._sandbox.world.engine, self.execution), names)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}
