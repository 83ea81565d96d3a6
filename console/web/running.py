"""The campaigns whose executions run, by Step Functions itself: those too that no list was read far enough for."""

from __future__ import annotations

from functools import partial

from console.web.keeping import for_a_while
from console.web.page import Visit
from console.web.site import Site

# AWS gives two or more calls a second; a campaign that just began is in its account's list anyway.
_SECONDS = 5.0
_MOST = 1000


def running_names(visit: Visit) -> list[str]:
    """Return the ids of campaigns that run, the newest first, asked for every five seconds. Raises: CannotReach."""
    return for_a_while(visit, ("running",), _SECONDS, partial(_ask, visit.site))


def _ask(site: Site) -> list[str]:
    if not site.system.state_machine_arn:
        return []
    with site.workflows() as client:
        answer = client.list_executions(
            stateMachineArn=site.system.state_machine_arn, statusFilter="RUNNING", maxResults=_MOST
        )
    # A further version of a report has an execution of its own, "campaign.r2"; the campaign is over.
    return [one["name"] for one in answer["executions"] if "." not in one["name"]]
