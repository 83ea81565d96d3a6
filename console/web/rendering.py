"""From a page's values to HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from console.operator.values import masked
from console.web.moments import clock, moment
from console.web.page import Page, Visit
from paceline.report.words import counted, duration, label


@pass_context
def _moment(context: Context, value: Any) -> Markup:
    return moment(value, context.get("zone"))


@pass_context
def _clock(context: Context, value: Any, has_day: bool) -> str:
    return clock(value, context.get("zone"), has_day=has_day)


def _number(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("console.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "moment": _moment,
        "clock": _clock,
        "number": _number,
        "duration": duration,
        "label": label,
        "counted": counted,
        "masked": masked,
    }
    return made


_ENVIRONMENT = _environment()


@dataclass(frozen=True, slots=True)
class Content:
    """A page's title and the HTML of its main part. is_live: there may be news of it."""

    title: str
    html: str
    is_live: bool


def content_of(page: Page, visit: Visit, token: str) -> Content:
    """Return a page as it is now. token: what its forms carry."""
    values = page.read(visit)
    return Content(*rendered(page.template, values, visit, token), page.is_live and not values.get("is_over"))


def rendered(template: str, values: Mapping[str, Any], visit: Visit, token: str) -> tuple[str, str]:
    """Return the title among a template's values, and the HTML that it makes of them."""
    made = _ENVIRONMENT.get_template(template).render(
        values, zone=visit.zone, token=token, query=visit.query, may_change=True
    )
    return str(values["title"]), made


_USUAL = {"content": "", "trouble": "", "live": "", "to": "/", "is_loading": False}


def frame(template: str = "frame.html", **values: Any) -> str:
    """Return a whole document. values: in place of those that are usual."""
    return _ENVIRONMENT.get_template(template).render(_USUAL | values)
