"""What is refused before a body is read: too large, no JSON, no text."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

from aws_lambda_powertools.event_handler import Response

from api.problems import problem

# Far below what the gateway (10 MB) and Lambda (6 MB, with the event around it) refuse in their own words, which tell
# nobody what to do instead.
MAX_BODY_BYTES = 1_000_000


def refused_body(event: dict[str, Any]) -> Response[str] | None:
    """Return why the event's body cannot be read; None: it can, or there is none."""
    body, is_base64 = event.get("body") or "", event.get("isBase64Encoded", False)
    content = base64.b64decode(body) if is_base64 else body.encode("utf-8", "surrogatepass")
    if len(content) > MAX_BODY_BYTES:
        told = "Upload lead files instead: POST /v1/campaigns/{campaign_id}/upload says where; long lists go in pieces."
        detail = f"The body has {len(content):,} bytes; at most {MAX_BODY_BYTES:,} are read. {told}"
        return problem(413, "body-too-large", detail, limit=MAX_BODY_BYTES)
    media_type = event["headers"].get("content-type", "application/json").partition(";")[0].strip().lower()
    if content and media_type != "application/json":
        return problem(415, "body-is-no-json", "Send the body as application/json.", field="content-type")
    return _unreadable(content) if content else None


def _unreadable(content: bytes) -> Response[str] | None:
    try:
        json.loads(content.decode(), object_pairs_hook=_each_name_once, parse_constant=_no_number)
    except UnicodeDecodeError:
        told = "Send UTF-8 text."
    except RecursionError:
        told = "It is nested too deeply; send one JSON object as the document describes it."
    except json.JSONDecodeError as error:
        told = f"The body is not JSON at line {error.lineno}, column {error.colno}; send one JSON object."
    except ValueError as error:
        told = str(error)
    else:
        return None
    return problem(422, "request-malformed", f"body: {told}", field="body")


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says one thing twice: readers differ in which of them they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{json.dumps(twice[:100])} is there twice; give it once.")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number in JSON; give one, or leave the field out.")
