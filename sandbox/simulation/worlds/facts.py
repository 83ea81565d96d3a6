"""What is known of a world when it is over: the carrier's book by campaign, and what each campaign left."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from paceline import keys
from sandbox.carrier import Entry
from sandbox.simulation.evidence import Left
from sandbox.simulation.worlds.plans import Person, PlannedAccount, PlannedCampaign, PlannedRoute
from sandbox.simulation.worlds.playing import PlayedWorld


class Facts:
    """Reads what judges need, once."""

    def __init__(self, played: PlayedWorld) -> None:
        self.played, self.plan, self.told = played, played.plan, played.told
        self.book: list[Entry] = played.world.carrier.book
        self.people: dict[str, Person] = {person.number: person for person in self.plan.people}
        self.accounts: dict[str, PlannedAccount] = {one.account_id: one for one in self.plan.accounts}
        self.routes: dict[str, PlannedRoute] = {one.sender: one for one in self.plan.routes}

    @cached_property
    def campaigns(self) -> dict[str, PlannedCampaign]:
        """The campaigns by id: those that were created."""
        return {self.told.campaigns[one.tag]: one for one in self.plan.campaigns if one.tag in self.told.campaigns}

    @cached_property
    def left(self) -> dict[str, Left]:
        """What each started campaign left, by id."""
        bucket = self.played.world.outputs["BucketName"]
        return {
            campaign_id: Left(self.played.table, bucket, campaign_id)
            for campaign_id, campaign in self.campaigns.items()
            if campaign.tag in self.told.started
        }

    @cached_property
    def entries(self) -> dict[str, list[Entry]]:
        """The carrier's book by campaign id."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.book:
            found[keys.parse_message_id(entry.message_id)[0]].append(entry)
        return found

    def account_of(self, campaign_id: str) -> PlannedAccount:
        return self.accounts[self.campaigns[campaign_id].account_id]
