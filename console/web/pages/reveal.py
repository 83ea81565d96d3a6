"""Revealing one lead's number and text, with a reason, to whoever asks: in that answer alone, and in the trail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import click

from console.operator.api import at
from console.web.asking import asked
from console.web.changing import is_number, status_of
from console.web.fields import Field, Typed, typed
from console.web.page import Act, Page, Shown, Visit

_FIELDS = (Field("reason", "Why you must know it", hint="kept in the account's trail, without the number", least=3),)


def _form(visit: Visit) -> dict[str, Any]:
    return _asked(visit.query.get("campaign", ""), visit.query.get("lead", ""), {"reason": ""})


def _asked(campaign: str, lead: str, texts: Mapping[str, str]) -> dict[str, Any]:
    here = "/leads?" + urlencode({"campaign": campaign, "lead": lead})
    return asked(f"Reveal lead {lead} of {campaign}", here, _FIELDS, texts) | {
        "action": "/leads/reveal",
        "hidden": {"campaign": campaign, "lead": lead},
        "note": "The number and the text are shown once. That you looked, and why, is written to the account's trail.",
        "button": "Reveal it",
    }


def _reveal(visit: Visit, form: Mapping[str, str]) -> Shown:
    given, campaign, lead = typed(_FIELDS, form), form.get("campaign", ""), form.get("lead", "")
    if given.problems or not campaign or not is_number(lead):
        return _again(campaign, lead, given, "", 422)
    body = {"reason": given.values["reason"].strip()}
    try:
        owner = visit.api.get(at("campaigns", campaign))["account_id"]
        found = visit.api.post(at("admin", "campaigns", campaign, "leads", lead, "reveal"), body)
    except click.ClickException as error:
        return _again(campaign, lead, given, error.message, status_of(error))
    here = "/leads?" + urlencode({"campaign": campaign, "lead": lead})
    values = {"title": f"Lead {lead} of {campaign}", "found": found, "account_id": owner, "here": here}
    return Shown("revealed.html", values | body)


def _again(campaign: str, lead: str, given: Typed, told: str, status: int) -> Shown:
    asks = _asked(campaign, lead, given.texts)
    return Shown("ask.html", asks | {"problems": given.problems, "told": told}, status)


PAGES = [Page("/leads/reveal", "ask.html", _form, is_live=False)]
ACTS = [Act("/leads/reveal", "/leads", _reveal)]
