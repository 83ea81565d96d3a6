"""The life of one lead: planned, held, leased, claimed, sent, answered, charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from paceline import keys
from paceline.batches import Ledger, read_ledger
from paceline.campaigns import get_campaign, get_plan
from paceline.errors import ObjectNotFound
from paceline.explain.finding import duplicates_of, find, parse
from paceline.explain.steps import Explanation, Step, in_order, moment
from paceline.models import Batch, Campaign, ExcludedLead, JsonObject, Lead, Message, Plan
from paceline.moments import from_us, iso
from paceline.ports import ObjectStore
from paceline.receipts import Receipt
from paceline.report.words import MEANINGS, label
from paceline.retention import INBOX, no_longer_kept
from paceline.settlement import is_charged
from paceline.status import FINAL, Cause, MessageStatus, Resend
from paceline.table import Row, Table

_UNTAKEN = (MessageStatus.SKIPPED, MessageStatus.FAILED)
ReadReceipt = Callable[[str, Mapping[str, str]], Receipt | None]
"""A provider's way of reading its own receipts: message id and fields to our words; None: not a word we know."""
Found = tuple[Batch, Lead] | list[ExcludedLead]


def _at_once(look: Callable[[], Found]) -> Found:
    return look()


def explain_lead(
    table: Table,
    store: ObjectStore,
    campaign_id: str,
    text: str,
    readers: Mapping[str, ReadReceipt],
    remember: Callable[[Callable[[], Found]], Found] = _at_once,
) -> Explanation:
    """Return the life of a lead. text: its number, row:N, or its phone number. readers: by provider's name.

    remember: for who tells a life again and again: finding the lead reads all of them, and what is found stays so.

    Raises: CampaignNotFound, LeadNotFound; ObjectNotFound, where the leads are no longer kept.
    """
    campaign, wanted = get_campaign(table, campaign_id), parse(text)
    plan = get_plan(table, campaign_id)
    if plan is None:
        why = f"The campaign is {campaign.status.value} and has no plan yet: nobody has read its file."
        return Explanation(f"Campaign {campaign_id} has no leads yet.", {"campaign_id": campaign_id}, (), (why,))
    try:
        found = remember(lambda: find(store, plan, wanted))
    except ObjectNotFound:
        raise no_longer_kept(campaign, "leads") from None
    if isinstance(found, list):
        return _excluded(campaign, found)
    life = _Life(table, store, campaign, plan, *found, readers)
    return life.told()


def _excluded(campaign: Campaign, leads: list[ExcludedLead]) -> Explanation:
    steps = [Step(None, f"row {one.row_number}: {_why_excluded(one)}", _facts_of(one)) for one in leads]
    about = f"No message was planned for this lead of campaign {campaign.campaign_id}."
    facts = {"campaign_id": campaign.campaign_id, "excluded": True, "charged": False}
    return Explanation(about, facts, tuple(steps), ("when the file was read: rows do not tell",))


def _why_excluded(lead: ExcludedLead) -> str:
    kind = {"rejected": "rejected", "duplicates": "a duplicate", "opted_out": "opted out"}[lead.kind.value]
    return f"{kind}: {lead.explanation or label(lead.reason)}"


def _facts_of(lead: ExcludedLead) -> JsonObject:
    return {"row_number": lead.row_number, "lead_no": lead.lead_no, "kind": lead.kind.value, "reason": lead.reason}


def last_four(phone_number: str) -> str:
    """Return as much of a number as is shown."""
    return f"…{phone_number[-4:]}" if phone_number else "forgotten at the person's request"


def _evidence(hold: JsonObject) -> str:
    """Return the counter that refused, where the cause has one."""
    used, limit = hold.get("used"), hold.get("limit")
    if used is None or limit is None:
        return ""
    if hold["cause"] == Cause.CREDITS:
        return f" ({used:,} needed, {limit:,} available)"
    return f" ({used:,} of {limit:,} used)"


@dataclass(slots=True)
class _Life:
    """One accepted lead, and what is read of it."""

    table: Table
    store: ObjectStore
    campaign: Campaign
    plan: Plan
    batch: Batch
    lead: Lead
    readers: Mapping[str, ReadReceipt]

    def told(self) -> Explanation:
        ledger = read_ledger(self.table, self.batch.campaign_id, self.batch.batch_id)
        summary = self.table.get(keys.batch(self.batch.campaign_id, self.batch.batch_id)) or {}
        message = ledger.messages.get(self.lead.lead_no)
        receipts = list(self._receipts())
        steps = [*self._holds(summary), *self._rounds(ledger), *self._sending(message), *receipts]
        steps += [*self._outcome(message, summary), *self._late()]
        return Explanation(
            f"Lead {self.lead.lead_no} (row {self.lead.row_number or 'unknown'}, {last_four(self.lead.phone_number)}) "
            f"of campaign {self.campaign.campaign_id}: {self._now(message, summary)}",
            self._facts(message, summary),
            in_order(self._planned(), steps),
            tuple(self._not_told(message, bool(receipts), summary)),
        )

    def _now(self, message: Message | None, summary: Row) -> str:
        if message is not None:
            words = MEANINGS.get(message.status.value, "")
            return message.status.value + (f", {words}" if words else "") + "."
        hold = summary.get("hold")
        return f"not sent; its batch waits: {label(hold['cause'])}." if hold else "not sent yet."

    def _facts(self, message: Message | None, summary: Row) -> JsonObject:
        return {
            "campaign_id": self.campaign.campaign_id,
            "lead_no": self.lead.lead_no,
            "row_number": self.lead.row_number or None,
            "phone_number_ends_in": self.lead.phone_number[-4:] or None,
            "forgotten": self.lead.is_forgotten,
            "batch_id": self.batch.batch_id,
            "route": self.batch.route,
            "parts": self.lead.parts,
            "status": message.status.value if message else None,
            "cause": message.cause or None if message else None,
            "provider_message_id": message.provider_message_id or None if message else None,
            "charged": is_charged(message, self.campaign.charging) if message and message.status in FINAL else None,
            "settled_at": summary.get("settled_at"),
        }

    def _planned(self) -> Iterator[Step]:
        yield Step(self.campaign.created_at, "the campaign was created")
        if self.campaign.start_at:
            yield Step(self.campaign.start_at, "the campaign's start")
        number, streams = self._stream()
        zones = ", ".join(self.batch.zones)
        yield Step(
            None,
            f"planned: route {self.batch.route} ({self._why_route()}), stream {number} of {streams} ({zones}), batch "
            f"{self.batch.batch_id} of {self.batch.leads} leads, {self.lead.parts} part{'s' * (self.lead.parts > 1)}",
            {"route": self.batch.route, "stream": number, "batch_id": self.batch.batch_id, "parts": self.lead.parts},
        )
        for one in duplicates_of(self.store, self.plan, self.lead):
            yield Step(None, f"row {one.row_number} holds the same number and was left out", _facts_of(one))

    def _stream(self) -> tuple[int, int]:
        streams = [(stream.route, stream.zones) for stream in self.plan.streams]
        mine = (self.batch.route, self.batch.zones)
        return (streams.index(mine) + 1 if mine in streams else 0), len(streams)

    def _why_route(self) -> str:
        if self.campaign.route:
            return "the campaign names it"
        return "by its carrier, or for want of one; rows do not tell which"

    def _holds(self, summary: Row) -> Iterator[Step]:
        for held in summary.get("held", []):
            text = f"its batch waited until {held['until'][:19]}Z: {label(held['cause'])}{_evidence(held)}"
            yield Step(moment(held, "since"), text, {"hold": held})
        if hold := summary.get("hold"):
            until = f"until {hold['until'][:19]}Z" if hold.get("until") else "until a signal ends it"
            text = f"its batch waits, {until}: {label(hold['cause'])}{_evidence(hold)}"
            yield Step(moment(hold, "since"), text, {"hold": hold})

    def _rounds(self, ledger: Ledger) -> Iterator[Step]:
        for round_no, lease in sorted(ledger.leases.items()):
            if self.lead.lead_no not in lease["lead_nos"]:
                continue
            leased = {"round": round_no, "parts": lease["parts"], "day": lease["day"]}
            text = f"round {round_no}: {lease['parts']} credits and day use leased for {len(lease['lead_nos'])} leads"
            yield Step(moment(lease, "leased_at"), text, leased)
            yield from self._slot(round_no, lease)
            if "closed_at" in lease:
                text = f"round {round_no} was closed: {lease.get('unused', 0)} of its parts went back"
                yield Step(moment(lease, "closed_at"), text, {"round": round_no, "unused": lease.get("unused", 0)})

    def _slot(self, round_no: int, lease: Row) -> Iterator[Step]:
        if "slots" not in lease:
            return
        index = lease["lead_nos"].index(self.lead.lead_no)
        if index >= len(lease["slots"]):  # the day or the window ended first
            yield Step(moment(lease, "given_at"), f"round {round_no} had no slot left for it", {"round": round_no})
            return
        slot = from_us(lease["slots"][index])
        text = f"round {round_no}: its slot was set to {iso(slot)}"
        yield Step(moment(lease, "given_at"), text, {"round": round_no, "slot": iso(slot)})

    def _sending(self, message: Message | None) -> Iterator[Step]:
        if message is None or message.status is MessageStatus.SKIPPED:
            return
        yield from self._claims(message)
        if message.sent_at:
            yield Step(message.sent_at, "handed to the provider")
        if message.answered_at:
            sid = message.provider_message_id
            text = f"the provider took it as {sid}" if sid else "the provider refused it"
            yield Step(message.answered_at, text, {"provider_message_id": sid or None})

    def _claims(self, message: Message) -> Iterator[Step]:
        if message.resend is Resend.NO:
            yield Step(message.claimed_at, f"claimed in round {message.round}: from here on it is never sent twice")
            return
        then = "; it is to be sent once more" if message.is_due else ""
        then = "; sending it once more was refused" if message.resend is Resend.REFUSED else then
        yield Step(message.first_claimed_at or message.claimed_at, "claimed; whether it left was not seen" + then)
        if message.resend is Resend.DONE:
            yield Step(message.claimed_at, f"claimed once more in round {message.round}: there is no third time")

    def _receipts(self) -> Iterator[Step]:
        message_id = keys.message_id(self.batch.campaign_id, self.batch.batch_id, self.lead.lead_no)
        partition, sort_key = keys.inbox(message_id, "")
        for row in self.table.query(partition, sort_key):
            provider = row["sk"].removeprefix(sort_key).split("#")[0]
            words, facts = self._read(message_id, provider, row["fields"])
            yield Step(moment(row, "received_at"), f"a receipt of {provider} came: {words}", facts)

    def _read(self, message_id: str, provider: str, fields: Mapping[str, str]) -> tuple[str, JsonObject]:
        try:
            receipt = self.readers[provider](message_id, fields)
        except (KeyError, ValueError):
            receipt = None
        if receipt is None:
            return "a word that we do not know; it changed nothing", {"provider": provider, "fields": dict(fields)}
        cause = f" ({label(receipt.cause).lower()})" if receipt.cause else ""
        return f"{receipt.status.value}{cause}", {
            "provider": provider,
            "status": receipt.status.value,
            "cause": receipt.cause,
        }

    def _outcome(self, message: Message | None, summary: Row) -> Iterator[Step]:
        if message is None or message.status not in FINAL:
            return
        why = f": {label(message.cause).lower()}" if message.cause else ""
        yield Step(message.final_at, f"outcome: {message.status.value}{why}", {"outcome": message.status.value})
        charged = is_charged(message, self.campaign.charging)
        parts = f"{message.parts} credit{'s' * (message.parts > 1)}"
        text = (f"charged: {parts}" if charged else "not charged") + f", because {self._why_charged(message)}"
        if charged and (waived := summary.get("waived", 0)):
            text += f"; of its batch {waived} credits were waived, which the account had spent when a late receipt came"
        at = moment(summary, "resettled_at") or moment(summary, "settled_at")
        yield Step(at, text, {"charged": charged, "waived_of_batch": summary.get("waived", 0)})

    def _why_charged(self, message: Message) -> str:
        """Return why a final message is charged or not: the account's policy as the campaign was started with it."""
        charging, status = self.campaign.charging, message.status
        if status in _UNTAKEN:
            return "no provider took it"
        if status is MessageStatus.DELIVERED:
            return "it reached the handset"
        if status is MessageStatus.UNCONFIRMED and not message.provider_message_id:
            return "nothing shows that the provider took it"
        if charging.charged == "delivered":
            return "the account pays for what reached a handset, and this is not known to have"
        if is_charged(message, charging):
            return "the account pays for every message that the provider took"
        return "the account does not pay for what a carrier's filter stopped"

    def _late(self) -> Iterator[Step]:
        row = self.table.get(keys.late(self.batch.campaign_id, self.batch.batch_id, self.lead.lead_no))
        if row is not None:
            version = row.get("version")
            where = f"version {version} of the report has it" if version else "the next report will have it"
            text = f"a late receipt changed the outcome, which was {row['status']}: {where}"
            yield Step(moment(row, "at"), text, {"was": row["status"], "version": version})

    def _not_told(self, message: Message | None, has_receipts: bool, summary: Row) -> Iterator[str]:
        yield "when it was planned: the plan keeps no time"
        if self.lead.is_forgotten:
            yield "who it was, what was written, and the provider's receipts: they were erased (`paceline forget`)"
        if message is None:
            return
        if message.status in FINAL and "settled_at" not in summary:
            yield "when it is charged: its batch is not settled yet"
        if message.answered_at is None and message.status is not MessageStatus.SKIPPED:
            yield "what the provider answered: its answer was not seen, or not recorded"
        if message.status not in _UNTAKEN and not has_receipts and not self.lead.is_forgotten:
            yield f"receipts: none is in the inbox; they are kept for {INBOX.days} days, and a look-up leaves none"
