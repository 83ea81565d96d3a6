"""The campaign that is disturbed: small, and with all in it that can matter.

Two routes; a pace that is slow, a day cap and credits that bind for a while; leads that are duplicates, refused,
filtered, opted out before and in between; a provider that says 429, or takes a message and never answers; receipts
that are late, doubled, lost, or never come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

import boto3

from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Profile, Script
from sandbox.customer import ACCOUNT_ID, operator_of, table_of
from sandbox.faults import Choice
from sandbox.simulation.clients import Client
from sandbox.testing.leads import make_leads, to_csv
from sandbox.world import Sandbox

MESSAGE = "Hi {{first_name|there}}, your quote is ready. Reply STOP to opt out."
# Late in the day of the routes' place: a day cap holds what is left until midnight, the window until the morning.
START = datetime(2026, 9, 2, 22, tzinfo=UTC)
PER_MINUTE = 60
RECEIPT_DEADLINE_HOURS = 6

# When people and operators act, after the start.
STOP_AFTER = timedelta(minutes=20)
CREDITS_AFTER = timedelta(minutes=40)

# In the order of the leads, over and over: so a campaign of six has most of it.
SCRIPTS = (
    Script(DELIVERED, silent=True),
    Script(FILTERED),
    Script(DELIVERED, receipts=0),
    Script(DELIVERED, refused="21614"),
    Script(DELIVERED, receipts=2),
    Script(DELIVERED),
    Script(NO_FINAL_RECEIPT),
    Script(DELIVERED, delay=7200.0),
    Script(DELIVERED),
    Script(FILTERED, silent=True, receipts=0),
)


@dataclass(slots=True)
class Told:
    """What the world outside was told; by it the product is judged. stopped_at: when our side took the STOP."""

    bought: int = 0
    stops: bool = False
    stopped_at: int | None = None
    started: bool = False


@dataclass
class SimulatedCampaign:
    """One world with one campaign. Use as a context manager; `play` runs it to its end, once.

    repeats_callbacks: whether the provider sends a callback again that our side failed to take.
    """

    leads: int
    seed: int = 1
    repeats_callbacks: bool = True
    told: Told = field(default_factory=Told)
    campaign_id: str = ""

    def __enter__(self) -> SimulatedCampaign:
        rows = make_leads(self.leads + 1)
        for row, carrier in zip(rows, cycle(("", "Verizon")), strict=False):
            row["carrier"] = carrier
        *self.rows, before = rows
        self.stopper: str = self.rows[-1]["phone"]  # the last of its stream: sent when it has said STOP
        self.opted_out_before: str = before["phone"]
        scripts = dict(zip((row["phone"] for row in self.rows), cycle(SCRIPTS), strict=False))
        scripts[rows[0]["phone"]] = replace(
            SCRIPTS[0], throttles=1
        )  # one 429: a route that slows down takes many calls
        tries = 4 if self.repeats_callbacks else 1
        self.world = Sandbox(seed=self.seed, start=START, profile=Profile(scripts=scripts, callback_tries=tries))
        self.world.__enter__()
        self.table = table_of(self.world)
        self._operator = operator_of(self.world)
        self._set_up()
        return self

    def __exit__(self, *error: Any) -> None:
        self.world.__exit__(*error)

    @property
    def route_caps(self) -> dict[str, int | None]:
        """The routes, each with its cap of parts a day."""
        return {"shared": None, "verizon": max(1, self.leads // 4)}

    @property
    def file_rows(self) -> list[dict[str, Any]]:
        """The customer's file: the leads, one of them twice, a number that is none, and one that opted out before."""
        odd = [self.rows[0], {"phone": "12", "carrier": ""}, {"phone": self.opted_out_before, "carrier": ""}]
        return [*self.rows, *odd]

    def _set_up(self) -> None:
        """What is there before: an account whose credits are for half of the leads, two routes, one opt-out."""
        credits = max(1, self.leads // 2)
        self._operator.post("/v1/admin/accounts", {"account_id": ACCOUNT_ID, "credits": credits})
        for name, cap in self.route_caps.items():
            carriers = ["Verizon"] if name == "verizon" else []
            route = {"name": name, "carriers": carriers, "parts_per_minute": PER_MINUTE, "parts_per_day": cap}
            self._operator.post("/v1/admin/routes", route)
        self._customer = Client(
            self.world, str(self._operator.post("/v1/admin/keys", {"account_id": ACCOUNT_ID})["api_key"])
        )
        self.world.do(self._customer.persist, "POST", "/v1/opt-outs", {"phone_numbers": [self.opted_out_before]})
        self.told.bought = credits

    # -- the run ----------------------------------------------------------------------------------------------------

    def play(self, choose: Choice) -> None:
        """Run the campaign from its creation to the last thing that happens. Calls meet what `choose` says.

        Raises: sandbox.scheduler.Stalled, where the campaign waits for what cannot come.
        """
        world = self.world
        world.faults.arm(choose)
        world.do(self._start)
        for after, act in ((STOP_AFTER, self._say_stop), (CREDITS_AFTER, self._buy)):
            world.scheduler.spawn(self._later, after, act)
        if self.told.started:
            world.run_until(world.execution(self.campaign_id).done)
        world.scheduler.run()  # receipts that are still on their way

    def _later(self, after: timedelta, act: Callable[[], None]) -> None:
        self.world.scheduler.sleep(after.total_seconds())
        act()

    def _start(self) -> None:
        """Create the campaign, upload its file by the form that the API gives, and start it."""
        campaign = {"name": "Simulated", "campaign_id": "simulated", "message": MESSAGE}
        body = {**campaign, "receipt_deadline_hours": RECEIPT_DEADLINE_HOURS}
        made = self._customer.read("POST", "/v1/campaigns", body, idempotency_key="simulated")
        self.campaign_id = str(made["campaign_id"])
        path = f"/v1/campaigns/{self.campaign_id}"
        fields = self._customer.read("POST", f"{path}/upload")["fields"]
        boto3.client("s3").put_object(
            Bucket=self.world.outputs["BucketName"], Key=fields["key"], Body=to_csv(self.file_rows)
        )
        self.told.started = self._customer.persist("POST", f"{path}/start").status < 300

    def _say_stop(self) -> None:
        """A recipient writes STOP to the sender; the provider tells us, as it tells us of receipts."""
        self.told.stops = True
        url = f"{self.world.outputs['ApiUrl']}/v1/callbacks/twilio?account_id={ACCOUNT_ID}"
        fields = {"MessageSid": "SM" + "5" * 32, "From": self.stopper, "To": "+12025550100", "Body": "Stop."}
        if self.world.carrier.call_back(url, fields).status < 300:
            self.told.stopped_at = self.world.scheduler.microseconds

    def _buy(self) -> None:
        """An operator adds the credits that are missing, and after an error asks again with the same key."""
        path, missing = f"/v1/admin/accounts/{ACCOUNT_ID}/credits", 2 * self.leads - self.told.bought
        operator = Client(self.world, self._operator.key)
        answer = operator.persist("POST", path, {"credits": missing}, idempotency_key="the missing credits")
        if answer.status < 300:
            self.told.bought += missing
