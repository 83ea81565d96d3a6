"""Campaigns: their row, and the changes of state that customers ask for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from paceline import keys, rows
from paceline.audit import Signature, account_subject, audit_row, transact
from paceline.campaign_ids import own_id
from paceline.errors import CampaignNotFound, ChangedMeanwhile, RequestInvalid
from paceline.models import Campaign, Plan
from paceline.moments import iso
from paceline.status import CampaignStatus
from paceline.table import Action, ConditionFailed, Put, Table, TransactionRefused, Update

# No message is handed to the provider later than this after its campaign's pause was accepted: a sender that has
# looked at the campaign longer ago gives its claim up.
PAUSE_BOUND_SECONDS = 5

OVER = frozenset({CampaignStatus.CANCELLED, CampaignStatus.FINISHED, CampaignStatus.FAILED})


def create_campaign(table: Table, campaign: Campaign, signature: Signature | None = None, *more: Action) -> None:
    """Write a new campaign and its place in the account's list, and `more` with them, or nothing.

    signature: of the operator who gives it a weight above 1, for the account's audit.
    Raises: RequestInvalid, where its id is taken or `more` is refused.
    """
    name = f"{iso(campaign.created_at)}#{campaign.campaign_id}"
    listed = {"pk": keys.account_campaigns(campaign.account_id), "sk": name, "campaign_id": campaign.campaign_id}
    actions = [Put(rows.campaign_row(campaign), condition="attribute_not_exists(#pk)"), Put(listed), *more]
    if signature is not None and campaign.weight > 1:
        actions.append(_weight_audit(campaign, 1, campaign.weight, signature))
    try:
        transact(table, actions)
    except TransactionRefused:
        raise RequestInvalid(f"The campaign id {campaign.campaign_id!r} is taken; choose another.") from None


def get_campaign(table: Table, campaign_id: str) -> Campaign:
    """Return a campaign. Raises: CampaignNotFound."""
    row = table.get(keys.campaign(campaign_id))
    if row is None:
        raise _not_found(campaign_id)
    return rows.to_campaign(row)


def get_own_campaign(table: Table, account_id: str, named: str) -> Campaign:
    """Return a campaign of the account. named: its id, or what its customer chose for one. Raises: CampaignNotFound."""
    for campaign_id in (named, own_id(account_id, named)):
        row = table.get(keys.campaign(campaign_id))
        if row is not None and row["account_id"] == account_id:
            return rows.to_campaign(row)
    raise _not_found(named)


def _not_found(campaign_id: str) -> CampaignNotFound:
    return CampaignNotFound(f"There is no campaign {campaign_id!r}.", campaign_id=campaign_id)


def change_weight(table: Table, campaign_id: str, weight: int, signature: Signature) -> Campaign:
    """Give a campaign another share of its routes, from its batches' next turns on; audited with its account.

    Raises: CampaignNotFound; RequestInvalid, where it is over; ChangedMeanwhile; TransactionConflict.
    """
    campaign = get_campaign(table, campaign_id)
    if campaign.status in OVER:
        raise RequestInvalid(f"The campaign is {campaign.status.value}; its weight can no longer change.")
    if campaign.weight == weight:
        return campaign
    values = {"weight": weight, "before": campaign.weight}
    update = Update(keys.campaign(campaign_id), "SET #weight = :weight", values, condition="#weight = :before")
    try:
        transact(table, [update, _weight_audit(campaign, campaign.weight, weight, signature)])
    except TransactionRefused:
        now = {"weight": get_campaign(table, campaign_id).weight}
        raise ChangedMeanwhile("Somebody changed it before you: look at what is there `now`.", now=now) from None
    return campaign.model_copy(update={"weight": weight})


def _weight_audit(campaign: Campaign, before: int, after: int, signature: Signature) -> Put:
    difference = {f"weight of campaign {campaign.campaign_id}": {"before": before, "after": after}}
    return audit_row(account_subject(campaign.account_id), signature, difference)


def get_plan(table: Table, campaign_id: str) -> Plan | None:
    """Return the plan that was kept, or None before planning."""
    row = table.get(keys.plan(campaign_id))
    return Plan.model_validate_json(row["plan"]) if row else None


def keep_plan(table: Table, campaign_id: str, plan: Plan) -> Plan:
    """Keep the campaign's plan, once: whoever plans again gets the first plan, whatever changed meanwhile.

    Two plans would put a lead into two batches, and so send it twice.
    """
    pk, sk = keys.plan(campaign_id)
    try:
        row = {"pk": pk, "sk": sk, "plan": plan.model_dump_json(by_alias=True)}
        table.put(Put(row, condition="attribute_not_exists(#pk)"))
    except ConditionFailed:
        return get_plan(table, campaign_id) or plan
    return plan


def set_status(table: Table, campaign_id: str, to: CampaignStatus, allowed: Iterable[CampaignStatus]) -> Campaign:
    """Move a campaign to another status. Raises: CampaignNotFound; RequestInvalid, where its status forbids it."""
    allowed_from = sorted({*allowed, to})
    names = {f"from{index}": status.value for index, status in enumerate(allowed_from)}
    condition = "#status IN (" + ", ".join(f":{name}" for name in names) + ")"
    update = Update(keys.campaign(campaign_id), "SET #status = :to", {"to": to.value, **names}, condition=condition)
    try:
        return rows.to_campaign(table.update(update, returning="ALL_NEW"))
    except ConditionFailed as refused:
        if refused.old is None:
            raise _not_found(campaign_id) from None
        is_now = refused.old["status"]
        raise RequestInvalid(
            f"The campaign is {is_now}; only a campaign that is {' or '.join(allowed_from)} can become {to.value}.",
            campaign_status=is_now,
        ) from None


def pause_campaign(table: Table, campaign_id: str, key_id: str, now: datetime) -> Campaign:
    """Pause a running campaign and note it in one write; one that is paused stays as it is.

    Raises: CampaignNotFound; RequestInvalid, where it is not running.
    """
    update = Update(
        keys.campaign(campaign_id),
        "SET #status = :paused, #pauses = list_append(if_not_exists(#pauses, :none), :pause)",
        {"paused": "paused", "none": [], "pause": [{"paused_at": iso(now), "paused_by": key_id}], "running": "running"},
        condition="#status = :running",
    )
    try:
        return rows.to_campaign(table.update(update, returning="ALL_NEW"))
    except ConditionFailed:
        return set_status(table, campaign_id, CampaignStatus.PAUSED, {CampaignStatus.RUNNING})


def resume_campaign(table: Table, campaign_id: str, key_id: str, now: datetime) -> Campaign:
    """Resume a paused campaign and note it in one write; one that runs stays as it is. Raises: as `pause_campaign`."""
    campaign = get_campaign(table, campaign_id)
    if campaign.status is not CampaignStatus.PAUSED or not campaign.pauses:
        return set_status(table, campaign_id, CampaignStatus.RUNNING, {CampaignStatus.PAUSED})
    # The last pause is the open one; were it another by now, there would be more of them.
    count = len(campaign.pauses)
    last = f"#pauses[{count - 1}]"
    update = Update(
        keys.campaign(campaign_id),
        f"SET #status = :running, {last}.#resumed_at = :now, {last}.#resumed_by = :by",
        {"running": "running", "paused": "paused", "now": iso(now), "by": key_id, "count": count},
        condition="#status = :paused AND size(#pauses) = :count",
    )
    try:
        return rows.to_campaign(table.update(update, returning="ALL_NEW"))
    except ConditionFailed:  # somebody else resumed it, or ended it
        return set_status(table, campaign_id, CampaignStatus.RUNNING, set())


def note_started(table: Table, campaign_id: str, execution_arn: str, start_at: datetime, send_by: datetime) -> None:
    """Keep which execution runs the campaign, when it starts and when what is left will be skipped."""
    values = {"arn": execution_arn, "start": start_at.isoformat(), "by": send_by.isoformat()}
    expression = "SET #execution_arn = :arn, #start_at = :start, #send_by = :by"
    table.update(Update(keys.campaign(campaign_id), expression, values))


def note_sending_ended(table: Table, campaign_id: str, at: datetime) -> None:
    """Keep when the last message had gone or was given up: what is left is to wait for receipts."""
    table.update(Update(keys.campaign(campaign_id), "SET #sending_ended_at = :at", {"at": iso(at)}))
