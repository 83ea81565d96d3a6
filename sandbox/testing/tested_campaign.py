"""One campaign in a test: what its customer does with it, and what a test looks at."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import boto3
import requests

from paceline.adapters.s3 import S3Store
from paceline.batches import batch_summaries, read_ledger
from paceline.campaigns import get_campaign
from paceline.models import Message
from paceline.outlook import Outlook
from paceline.progress import held_by, show_campaign
from paceline.status import CampaignStatus
from sandbox.engine import Execution
from sandbox.testing.history import all_states_entered, assert_in_order, states_entered
from sandbox.testing.timeline import moment

if TYPE_CHECKING:
    from sandbox.testing.campaigns import CampaignSandbox


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
        world, table = self._sandbox.world, self._sandbox.table
        store = S3Store(boto3.client("s3"), world.outputs["BucketName"])
        outlook = Outlook(table, store, world.scheduler.now())
        return show_campaign(outlook, get_campaign(table, self.campaign_id))

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
        return self.read_report()

    def read_report(self) -> dict[str, Any]:
        """Return the outcome report that is there now. Raises: ApiRefused."""
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
