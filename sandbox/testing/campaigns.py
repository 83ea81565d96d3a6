"""Paceline in a test: builders for what a campaign needs, and the time that passes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from types import TracebackType
from typing import Any

from paceline.accounts import get_account
from paceline.models import Account
from paceline.table import Row
from sandbox.carrier import DELIVERED, Carrier, Profile
from sandbox.customer import Customer, operator_of, table_of
from sandbox.engine import Execution
from sandbox.latency import Latencies
from sandbox.testing.leads import make_leads, to_csv
from sandbox.testing.tested_campaign import TestedCampaign
from sandbox.testing.timeline import Timeline, moment
from sandbox.world import START, Sandbox

MESSAGE = "Hi {{first_name|there}}, your quote is ready. Reply STOP to opt out."
# A carrier without chance: tests say what goes wrong, and nothing else does.
PERFECT = Profile(shares=((DELIVERED, 1.0),), refused=(), doubled=0.0)


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
        self._customers: dict[str, Customer] = {}
        self._routes: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> CampaignSandbox:
        self.world.__enter__()
        super().__init__(self.world.scheduler, self.world.engine)
        self.table = table_of(self.world)
        self._operator = operator_of(self.world)
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.world.__exit__(*error)

    # -- builders -----------------------------------------------------------------------------------------------------

    def account(self, account_id: str = "acme", *, credits: int = 1_000_000, **caps: Any) -> str:
        """Create an account with credits (1 a part) and a key. caps: `parts_per_day`."""
        self.call("POST", "/v1/admin/accounts", {"account_id": account_id, "credits": credits, **caps})
        key = self.call("POST", "/v1/admin/keys", {"account_id": account_id})
        self._customers[account_id] = Customer(self.world, key["api_key"])
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
        if account not in self._customers:
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
        """Call the API, as an operator or as an account's customer. Raises: ApiRefused."""
        return (self._operator if account is None else self._customers[account]).call(method, path, body)

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


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}
