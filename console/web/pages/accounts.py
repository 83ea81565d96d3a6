"""Accounts: their credits, caps and statuses; one with its ledger, keys and changes, and what changes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from console.operator.api import at
from console.web.changing import Changing, Found
from console.web.fields import Field
from console.web.keeping import for_a_while
from console.web.page import Page, Visit
from console.web.pages.trails import trail_of
from console.web.paging import Paged, paged, sliced
from console.web.together import together
from paceline import keys

OPERATIONAL = {"active": "active", "suspended": "suspended: nothing is sent for it"}
COMPLIANCE = {"approved": "approved", "pending": "pending: nothing is sent yet", "refused": "refused: nothing is sent"}
IN_DOUBT = {"never_resend": "never sent again", "resend_once": "sent once more"}
_LEDGER_PAGE, LEDGER_SECONDS = 10, 10
_FIELDS = (
    Field("name", "Name"),
    Field("parts_per_day", "Parts a day", "cap", "of the route's time zone; blank: no cap"),
    Field("operational_status", "Status", "choice", choices=OPERATIONAL),
    Field("compliance_status", "Compliance", "choice", choices=COMPLIANCE),
    Field("in_doubt", "Messages whose sending was not seen to end", "choice", choices=IN_DOUBT),
)


def _read_all(visit: Visit) -> dict[str, Any]:
    search = visit.query.get("search", "").strip()
    path = at("admin", "accounts")
    if search:
        found = sliced(visit, [one for one in visit.api.every(path, "accounts") if _has(one, search)], by="page")
    else:
        found = paged(visit, path, "accounts")
    return {"title": "Accounts", "accounts": found, "search": search}


def _has(account: Mapping[str, Any], search: str) -> bool:
    return search.casefold() in f"{account['account_id']} {account['name']}".casefold()


def _read_one(visit: Visit) -> dict[str, Any]:
    name = visit.params["account_id"]
    account, ledger, keys_of, trail = together(
        lambda: visit.api.get(at("admin", "accounts", name)),
        lambda: _ledger(visit, name),
        lambda: visit.api.get(at("admin", "keys"), account_id=name)["keys"],
        lambda: trail_of(visit.api, "accounts", name),
    )
    return {
        "title": f"Account {name}",
        "account": account,
        "words": {"in_doubt": IN_DOUBT, "ledger_seconds": LEDGER_SECONDS},
        "ledger": ledger,
        "keys": keys_of,
        "changes": sliced(visit, trail, by="changes"),
    }


def _ledger(visit: Visit, name: str) -> Paged:
    """Return a page of the ledger; of each campaign in it all batches are read, so not at every look."""
    path = at("admin", "accounts", name, "ledger")
    look = partial(paged, visit, path, "entries", by="ledger", a_page=_LEDGER_PAGE)
    return for_a_while(visit, ("ledger", name, tuple(sorted(visit.query.items()))), LEDGER_SECONDS, look)


def _found(visit: Visit) -> Found:
    name = visit.params["account_id"]
    # Before the values: what is changed between the two is refused, not written over.
    with visit.site.aws() as system:
        revision = int((system.table.get(keys.account(name)) or {}).get("revision", 0))
    return Found(name, visit.api.get(at("admin", "accounts", name)), revision)


def _write(visit: Visit, values: Mapping[str, Any], revision: int) -> Mapping[str, Any]:
    path = at("admin", "accounts", visit.params["account_id"])
    return visit.api.patch(path, dict(values), **{"if-match": str(revision)})


def _read_opt_outs(visit: Visit) -> dict[str, Any]:
    name = visit.params["account_id"]
    found = paged(visit, at("opt-outs"), "opt_outs", account_id=name)
    return {"title": f"Opt-outs of {name}", "account_id": name, "opt_outs": found}


_CHANGING = Changing("account", "/accounts/{account_id}", _FIELDS, _found, _write)

PAGES = [
    Page("/accounts", "accounts.html", _read_all),
    Page("/accounts/{account_id}", "account.html", _read_one),
    Page("/accounts/{account_id}/opt-outs", "opt_outs.html", _read_opt_outs),
    _CHANGING.page(),
]
ACTS = _CHANGING.acts()
