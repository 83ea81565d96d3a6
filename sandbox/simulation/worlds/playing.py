"""Plays one world, from its set-up to the last thing that happens in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import boto3

from paceline.moments import iso
from sandbox.carrier import Profile
from sandbox.customer import operator_of, table_of
from sandbox.deployment import Deployment
from sandbox.engine import Execution
from sandbox.faults import nothing
from sandbox.latency import Latencies
from sandbox.scheduler import Stalled
from sandbox.simulation.clients import Client
from sandbox.simulation.worlds.acting import act
from sandbox.simulation.worlds.drawing import PRIVATE
from sandbox.simulation.worlds.plans import Act, Person, PlannedCampaign, Spell, WorldPlan
from sandbox.simulation.worlds.storms import chooser
from sandbox.simulation.worlds.told import CapHistory, Told
from sandbox.simulation.worlds.watching import CreditWatch
from sandbox.testing.leads import to_csv
from sandbox.world import Sandbox

# When nothing fails any more and operators cleared what held, a world of a few leads is over within this time: each
# window opens once a day, and receipts are waited for by the hour.
LONGEST = timedelta(days=4)


# Who got no answer asks again, for minutes: what a program gave up half done is nobody's fault but its own.
PATIENCE = 60


def everything(tag: str) -> bool:
    """Keep every piece."""
    return True


@dataclass
class PlayedWorld:
    """One world. Use as a context manager; `play` runs it, once. kept: which pieces and faults are not left out."""

    plan: WorldPlan
    kept: Callable[[str], bool] = everything
    deployment: Deployment | None = None
    told: Told = field(default_factory=Told)
    stuck: str = ""  # why the run did not come to its end

    def __enter__(self) -> PlayedWorld:
        plan = self.plan
        scripts = {person.number: person.script for person in plan.people}
        self.world = Sandbox(
            seed=plan.seed,
            start=plan.start,
            profile=Profile(scripts=scripts, callback_tries=6),
            latencies=Latencies.realistic(plan.seed),
            deployment=self.deployment,
        )
        self.world.__enter__()
        self.table = table_of(self.world)
        self._set_up()
        self.watch = CreditWatch(self.world, [account.account_id for account in plan.accounts])
        return self

    def __exit__(self, *error: Any) -> None:
        self.world.__exit__(*error)

    # -- what acting asks -------------------------------------------------------------------------------------------

    def customer(self, account_id: str) -> Client:
        return self._customers[account_id]

    def person(self, index: int) -> Person:
        return self.plan.people[index]

    def account_of(self, campaign: str) -> str:
        return next(one.account_id for one in self.plan.campaigns if one.tag == campaign)

    # -- before -----------------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        """What is there before: routes, accounts with their rules, a key for each."""
        operator = operator_of(self.world)
        self.operator = Client(self.world, operator.key, PATIENCE)
        self._customers: dict[str, Client] = {}
        for route in self.plan.routes:
            operator.post("/v1/admin/routes", {**vars(route), "carriers": list(route.carriers)})
            self.told.paces[route.name] = CapHistory([route.parts_per_minute])
            self.told.route_days[route.name] = CapHistory([route.parts_per_day])
        for account in self.plan.accounts:
            first = {"credits": account.credits, "parts_per_day": account.parts_per_day}
            operator.post("/v1/admin/accounts", {"account_id": account.account_id, **first})
            window = account.sending_window and account.sending_window.model_dump(mode="json")
            rules = {"charging": account.charging.model_dump(), "in_doubt": account.in_doubt, "sending_window": window}
            operator.call("PATCH", f"/v1/admin/accounts/{account.account_id}", rules)
            key = str(operator.post("/v1/admin/keys", {"account_id": account.account_id})["api_key"])
            self._customers[account.account_id] = Client(self.world, key, PATIENCE)
            self.told.account_days[account.account_id] = CapHistory([account.parts_per_day])
            self.told.bought[account.account_id] = account.credits

    # -- the run ----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Run to the end of everything. Where something never ends, `stuck` says it."""
        scheduler, plan = self.world.scheduler, self.plan
        began = scheduler.microseconds
        choose = chooser(
            plan.seed, plan.storm, lambda: (scheduler.microseconds - began) / 1e6, self.kept, self.told.met
        )
        self.world.faults.arm(choose)
        later: list[tuple[float, Callable[..., None], Any]] = []
        later += [(campaign.after, self._start, campaign) for campaign in plan.campaigns]
        later += [(one.after, lambda one: act(self, one), one) for one in plan.acts]
        later += [(spell.after, self._suffer, spell) for spell in plan.spells]
        self._errands = [scheduler.spawn(self._later, *one) for one in later]
        scheduler.run(deadline=began + round(plan.heals_after.total_seconds() * 1e6))
        self.world.faults.arm(nothing)
        try:
            self.world.do(self._heal)
            self._run_out(scheduler.microseconds + round(LONGEST.total_seconds() * 1e6))
        except Stalled:
            self.stuck = "everything waits for what cannot come"

    def _later(self, after: float, do: Callable[[Any], None], what: Any) -> None:
        self.world.scheduler.sleep(after)
        do(what)

    def _start(self, campaign: PlannedCampaign) -> None:
        """Create the campaign, upload its file by the form that the API gives, and start it; persistently."""
        client = self.customer(campaign.account_id)
        now = self.world.scheduler.now()
        body: dict[str, Any] = {"name": campaign.tag, "campaign_id": f"world-{campaign.tag}"}
        body |= {"message": campaign.message, "sending_window": campaign.sending_window.model_dump(mode="json")}
        body |= {"receipt_deadline_hours": campaign.receipt_deadline_hours}
        body |= {"max_messages_per_recipient_24h": campaign.max_messages_per_recipient_24h}
        for name, seconds in (("start_at", campaign.start_in), ("send_by", campaign.send_by_in)):
            body[name] = None if seconds is None else iso(now + timedelta(seconds=seconds))
        made = client.read("POST", "/v1/campaigns", body, idempotency_key=campaign.tag)
        campaign_id = str(made["campaign_id"])
        if campaign.weight > 1:
            self.operator.persist("PATCH", f"/v1/admin/campaigns/{campaign_id}", {"weight": campaign.weight})
        fields = client.read("POST", f"/v1/campaigns/{campaign_id}/upload")["fields"]
        bucket = self.world.outputs["BucketName"]
        boto3.client("s3").put_object(Bucket=bucket, Key=fields["key"], Body=to_csv(self.rows_of(campaign)))
        self.told.campaigns[campaign.tag] = campaign_id
        client.persist("POST", f"/v1/campaigns/{campaign_id}/start")
        # Not by its answer: a start that was not answered may have been, and somebody cancelled it meanwhile.
        if client.read("GET", f"/v1/campaigns/{campaign_id}").get("status") != "created":
            self.told.started[campaign.tag] = self.world.scheduler.microseconds

    def rows_of(self, campaign: PlannedCampaign) -> list[dict[str, Any]]:
        """Return the customer's file: its leads, and a number that is none."""
        people = [self.person(index) for _, index in campaign.leads]
        rows = [{"phone": one.number, "first_name": PRIVATE, "carrier": one.carrier} for one in people]
        return [*rows, {"phone": "12", "first_name": PRIVATE, "carrier": ""}]

    def _suffer(self, spell: Spell) -> None:
        carrier = self.world.carrier
        bad = replace(carrier.profile, throttled=spell.throttled, failing=spell.failing, silent=spell.silent)
        carrier.behave(bad)
        self.world.scheduler.sleep(spell.seconds)
        carrier.behave(replace(bad, throttled=0.0, failing=0.0, silent=0.0))

    # -- the end ----------------------------------------------------------------------------------------------------

    def _heal(self) -> None:
        """Let operators clear what holds campaigns: pauses, suspended accounts, disabled routes, missing credits."""
        for errand in self._errands:
            errand.wait()
        for route in self.plan.routes:
            self._do("enable", route.name)
            self._do("route_day", route.name)
        for account in self.plan.accounts:
            more = 4 * sum(len(one.leads) for one in self.plan.campaigns) + 1
            self._do("credits", account.account_id, more)
            self._do("activate", account.account_id)
            self._do("account_day", account.account_id)
        for tag in self.told.campaigns:
            self._do("resume", tag)
            self._do("redrive", tag)

    def _do(self, word: str, target: str, value: Any = None) -> None:
        act(self, Act(f"heal-{target}", 0.0, word, target, value))

    def _run_out(self, deadline: int) -> None:
        """Let time pass until no execution runs and no receipt is on its way: a late one begins another execution."""
        scheduler = self.world.scheduler
        for execution in self.roots():
            scheduler.run(until=execution.done, deadline=deadline)
        scheduler.run(deadline=deadline)
        for execution in (one for one in self.roots() if one.status == "RUNNING"):
            self.stuck = f"the execution {execution.name} did not end within {LONGEST.days} days"

    def roots(self) -> list[Execution]:
        """Return the campaigns' executions, without the children of their Maps."""
        return [one for one in self.world.engine.executions() if one.map_run_arn is None]
