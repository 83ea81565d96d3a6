"""Our own costs: a campaign in the sandbox, from the customer's first request to the end of its execution."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from console.plan import DEFAULT_MESSAGE
from sandbox.carrier import Profile
from sandbox.customer import ApiRefused, set_up
from sandbox.kept import kept_by
from sandbox.operations import CUSTOMER, Operation, Operations
from sandbox.world import Sandbox

# What brings a message to the provider; the others take its receipts and tell its customer.
SENDING = frozenset({"workflow", "plan", "admit", "hold", "send", "close"})

# What a carrier does: its receipts, its refusals, its doubles.
EVERYDAY = Profile()


class CannotCount(Exception):
    """The campaign cannot be counted; the text says why."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A campaign that was counted. messages: those that the provider took. per_minute: the routes' caps, in parts."""

    leads: str
    per_minute: int
    messages: int
    operations: Operations

    def per_1000(self, operation: Operation, *, only_sending: bool = False) -> float:
        """Return how much 1,000 messages use of an operation, or how much of it their way to the provider uses."""
        used = self.operations.total(operation, SENDING if only_sending else None)
        return used * 1000 / self.messages


def count_campaign(leads: Path, per_minute: int, seed: int = 1, profile: Profile = EVERYDAY) -> Counted:
    """Run the campaign in virtual time. The same seed gives the same counts. Raises: CannotCount."""
    try:
        body = leads.read_bytes()
    except OSError as error:
        raise CannotCount(f"The file {leads} cannot be read: {error.strerror}.") from None
    with Sandbox(seed=seed, profile=profile) as sandbox:
        try:
            customer = set_up(sandbox, credits=10_000_000, parts_per_minute=per_minute)
            before, operations = kept_by(sandbox), Operations.watch(sandbox)
            campaign_id = customer.create(body, file_name=leads.name, message=DEFAULT_MESSAGE)
            customer.post(f"/v1/campaigns/{campaign_id}/start")
        except ApiRefused as refused:
            raise CannotCount(str(refused)) from None
        sandbox.run_until(sandbox.execution(campaign_id).done)
        operations.finish()
        operations.add(Operation.S3_PUTS, CUSTOMER)  # the upload, which goes past every client of ours
        kept = kept_by(sandbox) - before
        operations.add(Operation.TABLE_GB_MONTHS, CUSTOMER, kept.table)
        operations.add(Operation.BACKUP_GB_MONTHS, CUSTOMER, kept.table)
        operations.add(Operation.S3_GB_MONTHS, CUSTOMER, kept.bucket)
        if not sandbox.carrier.book:
            why = sandbox.execution(campaign_id).cause or "the file has nobody to send to"
            raise CannotCount(f"The provider took no message of this campaign: {why}")
        return Counted(leads.name, per_minute, len(sandbox.carrier.book), operations)
