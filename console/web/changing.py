"""Changing something in two steps: a form, then what would change, then it is done. It needs no script.

What somebody else changed meanwhile is not written over, and nothing that was typed is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import click

from console.operator.api import Refused
from console.operator.values import differences
from console.web.asking import asked, reviewed
from console.web.fields import Field, Typed, typed
from console.web.page import Act, Done, Page, Shown, Visit

MEANWHILE = "Somebody changed it meanwhile. What you typed is still here; look at what it is now, then decide."

_BINDS = "It binds at once, running campaigns too; batches that wait for it go on, or wait by the new value."
_SAME = "Nothing would change: it is so already. Batches that wait for it are told to look again all the same."


@dataclass(frozen=True, slots=True)
class Found:
    """A thing as it is. revision: the one whose values these are."""

    name: str
    values: Mapping[str, Any]
    revision: int


@dataclass(frozen=True, slots=True)
class Changing:
    """A kind of thing that operators change. path: of one's page. write: changes it if it is still of the revision,
    and returns what the API answers. kind: its word, as "route".
    """

    kind: str
    path: str
    fields: Sequence[Field]
    read: Callable[[Visit], Found]
    write: Callable[[Visit, Mapping[str, Any], int], Mapping[str, Any]]

    def page(self) -> Page:
        """Return the page with the form."""
        return Page(f"{self.path}/change", "ask.html", self._form, is_live=False)

    def acts(self) -> list[Act]:
        """Return what the form does: first it shows what would change, then it is done."""
        change = f"{self.path}/change"
        return [Act(change, change, self._review), Act(f"{change}/confirmed", change, self._change)]

    def _form(self, visit: Visit) -> dict[str, Any]:
        found = self.read(visit)
        return self._values(visit, found, {one.name: one.shown(found.values.get(one.name)) for one in self.fields})

    def _values(self, visit: Visit, found: Found, texts: Mapping[str, str]) -> dict[str, Any]:
        here = self._address(visit)
        now = {one.name: one.told(found.values[one.name]) for one in self.fields if one.name in found.values}
        return asked(f"Change {self.kind} {found.name}", here, self.fields, texts) | {
            "action": f"{here}/change",
            "hidden": {"revision": found.revision},
            "now": now,
            "button": "See what would change",
        }

    def _again(self, visit: Visit, form: Mapping[str, str], given: Typed, told: str, status: int) -> Shown:
        """Return the form with what was typed, and what is so now beside it."""
        try:
            found = self.read(visit)
        except click.ClickException:  # what was typed is not lost where nothing answers
            revision = form.get("revision", "")
            found = Found(self._name(visit), {}, int(revision) if is_number(revision) else -1)
        values = self._values(visit, found, given.texts)
        return Shown("ask.html", values | {"problems": given.problems, "told": told}, status)

    def _review(self, visit: Visit, form: Mapping[str, str]) -> Shown:
        given = typed(self.fields, form)
        if given.problems:
            return self._again(visit, form, given, "Nothing was changed: a value below cannot be used.", 422)
        try:
            found = self.read(visit)
        except click.ClickException as error:
            return self._again(visit, form, given, error.message, status_of(error))
        if form.get("revision") != str(found.revision):
            return self._again(visit, form, given, MEANWHILE, 409)
        here, changes = self._address(visit), differences(found.values, given.values)
        return reviewed(
            f"Change {self.kind} {found.name}?",
            here,
            action=f"{here}/change/confirmed",
            hidden={**given.texts, "revision": found.revision},
            lines=changes,
            note=_BINDS if changes else _SAME,
            button="Change it" if changes else "Let them look again",
        )

    def _change(self, visit: Visit, form: Mapping[str, str]) -> Done | Shown:
        given, revision = typed(self.fields, form), form.get("revision", "")
        if given.problems or not is_number(revision):
            return self._again(visit, form, given, "Nothing was changed: the page was not whole.", 422)
        try:
            after = self.write(visit, given.values, int(revision))
        except click.ClickException as error:
            return self._again(visit, form, given, error.message, status_of(error))
        told = f"{self._name(visit)} is changed; waiting batches that go on: {after['released_batches']:,}."
        return Done(told, self._address(visit))

    def _name(self, visit: Visit) -> str:
        return next(iter(visit.params.values()))

    def _address(self, visit: Visit) -> str:
        return self.path.format_map({name: quote(value, safe="") for name, value in visit.params.items()})


def is_number(text: str) -> bool:
    """Tell whether a hidden field holds a number as the page wrote it."""
    return text.isascii() and text.isdecimal() and len(text) < 12


def status_of(error: click.ClickException) -> int:
    """Return the HTTP status that says how something was refused."""
    return 409 if isinstance(error, Refused) else getattr(error, "status", None) or 502
