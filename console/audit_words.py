"""What `paceline audit` says of a recount, to people and to programs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from paceline.models import JsonObject
from paceline.recount import AccountRecount, Difference, Recount

NUMBERS = ("available", "reserved", "consumed", "bought")


def as_json(found: Recount) -> JsonObject:
    """Return a recount as plain data."""
    return {
        "differs": found.differs,
        "accounts": [_account(one) for one in found.accounts],
        "route_days": {"counted": found.days_counted, "differences": [one.as_json() for one in found.days]},
    }


def _account(one: AccountRecount) -> JsonObject:
    return {
        "account_id": one.account_id,
        "found": {name: one.found[name] for name in NUMBERS},
        "expected": {name: one.expected[name] for name in NUMBERS},
        "moving": one.moving,
        "differences": [difference.as_json() for difference in one.differences],
        "campaigns": [
            {
                "campaign_id": campaign.campaign.campaign_id,
                "status": campaign.campaign.status.value,
                "batches": campaign.batches,
                "reserved": campaign.reserved,
                "consumed": campaign.consumed,
                "differences": [difference.as_json() for difference in campaign.differences],
                "notes": [{"where": note.where, "text": note.text} for note in campaign.notes],
            }
            for campaign in one.campaigns
        ],
    }


def show(found: Recount, repairs: Sequence[JsonObject]) -> None:
    """Print a recount: a table an account, then each difference in a sentence."""
    console = Console(markup=False)
    for account in found.accounts:
        _show_account(console, account)
    if found.days_counted:
        console.print(f"\n{found.days_counted:,} days of routes: {_verdict(found.days)}", highlight=False)
        _show_differences(console, found.days)
    for repair in repairs:
        text = repair.get("refused") or f"corrected: {repair['what']}"
        console.print(text, soft_wrap=True, highlight=False)
    if not found.accounts:
        console.print("There is no account.")
    elif not found.differs:
        console.print("\nNothing differs.")


def _show_account(console: Console, account: AccountRecount) -> None:
    table = Table(title=f"Account {account.account_id}", title_justify="left", box=None, pad_edge=False)
    for heading in ("", *NUMBERS):
        table.add_column(heading, justify="right" if heading else "left")
    for label, numbers in (("its row", account.found), ("by its messages", account.expected)):
        table.add_row(label, *(f"{numbers[name]:,}" for name in NUMBERS))
    for one in account.campaigns:
        name = f"campaign {one.campaign.campaign_id} ({one.campaign.status.value}, {one.batches:,} batches)"
        table.add_row(name, "", f"{one.reserved:,}", f"{one.consumed:,}", "")
    console.print(table, soft_wrap=True)
    if account.moving:
        console.print(f"{account.moving} movements were under way; the row fits with them or does not, as said below.")
    _show_differences(console, account.differences)
    for one in account.campaigns:
        _show_differences(console, one.differences, f"campaign {one.campaign.campaign_id}, ")
        for note in one.notes:
            text = f"  note: campaign {one.campaign.campaign_id}, {note.where}: {note.text}"
            console.print(text, soft_wrap=True, highlight=False)


def _show_differences(console: Console, differences: Sequence[Difference], of: str = "") -> None:
    for one in differences:
        expected, found = (f"{n:,}" if isinstance(n, int) else n for n in (one.expected, one.found))
        where = f"{of}{one.where}: " if of or one.where else ""
        manual = "" if one.is_repairable else " (not repaired by --repair)"
        text = f"  {where}{one.what}: expected {expected}, found {found}: {one.why}{manual}"
        console.print(text, soft_wrap=True, highlight=False)


def _verdict(differences: Sequence[Difference]) -> str:
    return f"{len(differences)} differ" if differences else "none differs"
