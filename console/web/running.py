"""The campaigns whose executions run, by Step Functions itself: those too that no list was read far enough for."""

from __future__ import annotations

import time
from threading import Lock

from console.web.aging import Aging
from console.web.site import Site

# AWS gives two or more calls a second; a campaign that just began is in its account's list anyway.
_SECONDS = 5.0
_MOST = 1000


class Running:
    """Names of running executions, kept for some seconds."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = Lock()
        self._kept = Aging(1, time.monotonic)

    def names(self) -> list[str]:
        """Return the ids of campaigns that run, the newest first. Raises: CannotReach."""
        with self._lock:
            found: list[str] = self._kept.get("names", _SECONDS, self._ask)
            return found

    def _ask(self) -> list[str]:
        if not self._site.system.state_machine_arn:
            return []
        with self._site.aws() as system:
            client = self._site.kept.get("a client of Step Functions", lambda: system.client("stepfunctions"))
            answer = client.list_executions(
                stateMachineArn=system.state_machine_arn, statusFilter="RUNNING", maxResults=_MOST
            )
        # A further version of a report has an execution of its own, "campaign.r2"; the campaign is over.
        return [one["name"] for one in answer["executions"] if "." not in one["name"]]
