"""Leads: the life of one, by its number or row, and a campaign's messages. A phone number is in no address.

Who has only that types it in the form, which is posted; it leads to the address with the lead's number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from console.operator.api import NoAnswer, at
from console.receipt_readers import RECEIPT_READERS
from console.web.keeping import for_a_while
from console.web.page import Act, Done, Page, Shown, Visit
from console.web.paging import paged
from paceline.errors import PacelineError
from paceline.explain import Explanation, LeadNotFound, explain_lead

_NO_NUMBER = re.compile(r"[0-9]{1,7}|row:[0-9]{1,9}", re.ASCII)
_TYPE_IT = "A phone number does not belong in an address, which logs and histories keep: type it in the form."
# A lead that is erased meanwhile is seen to be after that.
_KEPT_SECONDS = 60


def _read(visit: Visit) -> dict[str, Any]:
    campaign, lead = visit.query.get("campaign", "").strip(), visit.query.get("lead", "").strip()
    asked: dict[str, Any] = {"title": "Leads", "campaign": campaign, "lead": lead, "problem": ""}
    asked |= {"life": None, "messages": None}
    if lead and not _NO_NUMBER.fullmatch(lead):
        return asked | {"lead": "", "problem": _TYPE_IT}
    if lead and campaign:
        return asked | _life(visit, campaign, lead)
    return asked | (_messages(visit, campaign) if campaign else {})


def _messages(visit: Visit, campaign: str) -> dict[str, Any]:
    try:
        return {"messages": paged(visit, at("campaigns", campaign, "messages"), "messages")}
    except NoAnswer as error:
        if error.status != 404:
            raise
        return {"problem": error.message}


def _life(visit: Visit, campaign: str, lead: str) -> dict[str, Any]:
    try:
        return {"life": _told(visit, campaign, lead), "title": f"Lead {lead}"}
    except PacelineError as error:
        return {"problem": str(error)}


def _told(visit: Visit, campaign: str, lead: str) -> Explanation:
    """Return the life of a lead. Raises: PacelineError, where it cannot be told; CannotReach."""
    with visit.site.aws() as system:
        table, store = system.table, system.store
        return explain_lead(table, store, campaign, lead, RECEIPT_READERS, _remembering(visit, campaign, lead))


def _remembering(visit: Visit, campaign: str, lead: str) -> Callable[[Callable[[], Any]], Any]:
    def remember(look: Callable[[], Any]) -> Any:
        if not _NO_NUMBER.fullmatch(lead):
            return look()
        return for_a_while(visit, ("lead", campaign, lead), _KEPT_SECONDS, look)

    return remember


def _find(visit: Visit, form: Mapping[str, str]) -> Done | Shown:
    campaign, lead = form.get("campaign", "").strip(), form.get("lead", "").strip()
    if not campaign:
        return _again(visit, "", lead, "Which campaign? Write its id, as the list of campaigns has it.", 422)
    if not lead or _NO_NUMBER.fullmatch(lead):
        return Done("", _address(campaign, lead))
    try:
        return Done("", _address(campaign, _named(_told(visit, campaign, lead))))
    except PacelineError as error:
        return _again(visit, campaign, "", str(error), 404)


def _named(life: Explanation) -> str:
    """Return how an address names the lead whose life it is: its number, or its row where it was left out."""
    if life.facts.get("lead_no"):
        return str(life.facts["lead_no"])
    rows = (step.facts["row_number"] for step in life.steps if step.facts.get("row_number"))
    if (row := next(rows, None)) is None:
        raise LeadNotFound(" ".join([life.about, *life.not_told]))
    return f"row:{row}"


def _again(visit: Visit, campaign: str, lead: str, problem: str, status: int) -> Shown:
    asked = {"title": "Leads", "campaign": campaign, "lead": lead if _NO_NUMBER.fullmatch(lead) else ""}
    return Shown("leads.html", asked | {"problem": problem, "life": None, "messages": None}, status)


def _address(campaign: str, lead: str) -> str:
    return "/leads?" + urlencode({"campaign": campaign} | ({"lead": lead} if lead else {}), safe=":")


PAGES = [Page("/leads", "leads.html", _read)]
ACTS = [Act("/leads", "/leads", _find)]
