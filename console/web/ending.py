"""How the execution of a campaign stands, and where it failed: asked of Step Functions now and then."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from console.web.keeping import for_a_while
from console.web.page import Visit
from console.web.site import Site

_SECONDS = 5.0
# Between what failed and the end there are the report's steps and, at most, some looks at open batches.
_MOST_EVENTS = 500


@dataclass(frozen=True, slots=True)
class Ending:
    """status: Step Functions' word; "": there is no such execution. error, cause: of its end. state: which failed."""

    status: str = ""
    error: str = ""
    cause: str = ""
    state: str = ""


def ending_of(visit: Visit, arn: str) -> Ending:
    """Return how an execution stands, asked for every five seconds. Raises: CannotReach."""
    return for_a_while(visit, ("ending", arn), _SECONDS, partial(_ask, visit.site, arn))


def _ask(site: Site, arn: str) -> Ending:
    with site.workflows() as client:
        try:
            told = client.describe_execution(executionArn=arn)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
            return Ending()
        has_failed = told["status"] in ("FAILED", "TIMED_OUT", "ABORTED")
        state = failed_state(_newest_events(client, arn)) if has_failed else ""
        return Ending(told["status"], told.get("error") or "", told.get("cause") or "", state)


def failed_state(newest: list[dict[str, Any]]) -> str:
    """Return the state whose step failed last, of events, the newest first; "" where these do not tell."""
    by_id = {event["id"]: event for event in newest}
    for event in newest:
        kind = event["type"]
        if not kind.endswith(("Failed", "TimedOut")) or kind.startswith("Execution"):
            continue
        while event and not event["type"].endswith("StateEntered"):
            event = by_id.get(event["previousEventId"], {})
        return str(event["stateEnteredEventDetails"]["name"]) if event else ""
    return ""


def _newest_events(client: Any, arn: str) -> list[dict[str, Any]]:
    answer = client.get_execution_history(
        executionArn=arn, reverseOrder=True, includeExecutionData=False, maxResults=_MOST_EVENTS
    )
    found: list[dict[str, Any]] = answer["events"]
    return found
