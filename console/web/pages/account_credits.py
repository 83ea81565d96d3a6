"""Adding credits to an account: a form, what it would come to, and then it is done, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from console.operator.api import at
from console.web.asking import asked, is_once, new_once, reviewed
from console.web.changing import status_of
from console.web.fields import Field, Typed, typed
from console.web.page import Act, Done, Page, Shown, Visit

_PATH = "/accounts/{account_id}/credits"
_BACK = "/accounts/{account_id}"
_FIELDS = (Field("credits", "Credits to add", "number", "one credit is one part"),)


def _form(visit: Visit, given: Typed | None = None) -> dict[str, Any]:
    name = visit.params["account_id"]
    account = visit.api.get(at("admin", "accounts", name))
    here = _BACK.format_map(visit.params)
    return asked(f"Add credits to {name}", here, _FIELDS, given.texts if given else {"credits": ""}) | {
        "action": f"{here}/credits",
        "note": f"{account['available']:,} are available now.",
        "problems": given.problems if given else {},
        "button": "See what it comes to",
    }


def _review(visit: Visit, form: Mapping[str, str]) -> Shown:
    given = typed(_FIELDS, form)
    if given.problems:
        return Shown("ask.html", _form(visit, given), 422)
    return _reviewed(visit, given, new_once())


def _reviewed(visit: Visit, given: Typed, once: str, told: str = "", status: int = 200) -> Shown:
    name, credits = visit.params["account_id"], given.values["credits"]
    here = _BACK.format_map(visit.params)
    return reviewed(
        f"Add {credits:,} credits to {name}?",
        here,
        action=f"{here}/credits/confirmed",
        hidden={"credits": str(credits), "once": once},
        lines=[] if told else _lines(visit, name, credits),
        note="Batches that wait for credits go on at once. Sending this page again adds nothing more.",
        button="Add them",
        told=told,
        status=status,
    )


def _lines(visit: Visit, name: str, credits: int) -> list[str]:
    account = visit.api.get(at("admin", "accounts", name))
    both = ("available", "bought")
    return [f"{word}: {account[word]:,} → {account[word] + credits:,}" for word in both]


def _add(visit: Visit, form: Mapping[str, str]) -> Done | Shown:
    given, once = typed(_FIELDS, form), form.get("once", "")
    if given.problems or not is_once(once):
        return Shown("ask.html", _form(visit, given), 422)
    name = visit.params["account_id"]
    path, body = at("admin", "accounts", name, "credits"), {"credits": given.values["credits"]}
    try:
        after = visit.api.post(path, body, **{"idempotency-key": f"console-{once}"})
    except click.ClickException as error:  # the same word again: nobody need know whether it was done
        return _reviewed(visit, given, once, error.message, status_of(error))
    told = f"{name} has {after['available']:,} credits available; waiting batches that go on: "
    return Done(told + f"{after['released_batches']:,}.", _BACK.format_map(visit.params))


PAGES = [Page(_PATH, "ask.html", _form, is_live=False)]
ACTS = [Act(_PATH, _PATH, _review), Act(f"{_PATH}/confirmed", _PATH, _add)]
