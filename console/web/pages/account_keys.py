"""An account's keys: a new one, which is shown once and kept nowhere, and the end of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from console.operator.api import Refused, at
from console.web.asking import asked, is_first, is_once, new_once, reviewed
from console.web.changing import status_of
from console.web.fields import Field, Typed, typed
from console.web.page import Act, Done, Page, Shown, Visit

_BACK = "/accounts/{account_id}"
_NEW = f"{_BACK}/keys/new"
_REVOKE = f"{_BACK}/keys/{{key_id}}/revoke"
_FIELDS = (Field("name", "What it is for", hint="the audit names the key by it", most=100),)


def _form(visit: Visit, given: Typed | None = None, told: str = "") -> dict[str, Any]:
    name = visit.params["account_id"]
    visit.api.get(at("admin", "accounts", name))
    here = _BACK.format_map(visit.params)
    return asked(f"A new key of {name}", here, _FIELDS, given.texts if given else {"name": ""}) | {
        "action": f"{here}/keys/new",
        "hidden": {"once": new_once()},
        "note": "Whoever has it calls the API as this account. It is shown once, on the next page.",
        "problems": given.problems if given else {},
        "told": told,
        "button": "Make the key",
    }


def _make(visit: Visit, form: Mapping[str, str]) -> Shown:
    given, once = typed(_FIELDS, form), form.get("once", "")
    if given.problems or not is_once(once):
        return Shown("ask.html", _form(visit, given), 422)
    name = visit.params["account_id"]
    if not is_first(visit, once):
        raise Refused("A key was made by that form already, and was shown then. If nobody has it, revoke it.")
    try:
        made = visit.api.post(at("admin", "keys"), {"account_id": name, "name": given.values["name"]})
    except click.ClickException as error:
        return Shown("ask.html", _form(visit, given, error.message), status_of(error))
    return Shown(
        "new_key.html", {"title": f"A new key of {name}", "made": made, "here": _BACK.format_map(visit.params)}
    )


def _ask_to_revoke(visit: Visit, form: Mapping[str, str]) -> Shown:
    here, key_id = _BACK.format_map(visit.params), visit.params["key_id"]
    return reviewed(
        f"Revoke key {key_id}?",
        here,
        action=f"{_REVOKE.format_map(visit.params)}/confirmed",
        hidden={},
        note="The next request with it is refused. It cannot be undone; a new key can be made.",
        button="Revoke it",
        is_bad=True,
    )


def _revoke(visit: Visit, form: Mapping[str, str]) -> Done:
    gone = visit.api.post(at("admin", "keys", visit.params["key_id"], "revoke"))
    return Done(f"Key {gone['key_id']} is revoked.", _BACK.format_map(visit.params))


PAGES = [Page(_NEW, "ask.html", _form, is_live=False)]
ACTS = [Act(_NEW, _NEW, _make), Act(_REVOKE, _BACK, _ask_to_revoke), Act(f"{_REVOKE}/confirmed", _BACK, _revoke)]
