"""Take a provider's callback: a receipt, or a recipient's STOP."""

from __future__ import annotations

import base64
from typing import Any

from paceline.bootstrap import Services
from paceline.callbacks import take_callback
from paceline.metrics import Metric, count
from paceline.models import JsonObject
from paceline.observability import logger, observed

services = Services()


@observed
def lambda_handler(event: dict[str, Any], context: Any) -> JsonObject:
    """Answer 204 for what was taken (200 with a text back), 400 for no callback, 403 for one that is not signed."""
    try:
        return _answer(event)
    except Exception:  # the provider gets 500, and may repeat it
        count(Metric.CALLBACKS_REFUSED, reason="failed")
        raise


def _answer(event: dict[str, Any]) -> JsonObject:
    request = event["requestContext"]
    query = f"?{event['rawQueryString']}" if event.get("rawQueryString") else ""
    body = event.get("body", "")
    answer, text = take_callback(
        services.table,
        services.workflow,
        services.twilio,
        f"https://{request['domainName']}{event['rawPath']}{query}",
        event.get("queryStringParameters") or {},
        base64.b64decode(body).decode(errors="replace") if event.get("isBase64Encoded") else body,
        event["headers"].get("x-twilio-signature", ""),
        services.clock.now(),
    )
    if answer >= 400:
        logger.warning("callback refused", extra={"answer": answer.name})
        count(Metric.CALLBACKS_REFUSED, reason=answer.name.lower())
    if text:
        content_type, reply = services.twilio.reply(text)
        return {"statusCode": 200, "headers": {"content-type": content_type}, "body": reply}
    return {"statusCode": int(answer), "body": ""}
