"""A run in which every function does something: what operators, customers and recipients do beside a campaign."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import boto3

from paceline import dry_runs
from sandbox.world import RECEIVER_HOST
from tests.builders.campaigns import OPERATOR, Office
from tests.builders.core import phone_number

NUMBER, POOL = "+12025550199", "pool-0123456789abcdef"
CARRIERS = ("", "verizon", "t-mobile")  # one route each


def invoke(office: Office, logical: str, payload: Any) -> None:
    name = office.sandbox.names[logical]
    office.sandbox.do(office.sandbox.functions.invoke, name, json.dumps(payload))


def a_file_for_every_route(leads: int) -> bytes:
    rows = "".join(f"{phone_number(n)},Ana,{CARRIERS[n % 3]}\n" for n in range(1, leads + 1))
    return f"phone,first_name,carrier\n{rows}".encode()


def administrate(office: Office) -> None:
    """Routes by both providers, a webhook, keys; every list looked at."""
    for name, sender, carrier in (("verizon", NUMBER, "verizon"), ("t-mobile", POOL, "t-mobile")):
        caps = {"provider": "end_user_messaging", "sender": sender, "carriers": [carrier], "inbound_accounts": ["acme"]}
        office.post("/v1/admin/routes", {"name": name, **caps}, OPERATOR)
    office.call("PATCH", "/v1/admin/accounts/acme", {"charging": {"charged": "delivered"}}, OPERATOR)
    office.call("PATCH", "/v1/account", {"webhook_url": f"https://{RECEIVER_HOST}/paceline"})
    office.post("/v1/admin/keys", {"account_id": "acme"}, OPERATOR)
    for path in ("/v1/admin/accounts", "/v1/admin/keys?account_id=acme"):
        office.call("GET", path, key=OPERATOR)


def plan_before_the_start(office: Office) -> str:
    """A small file at once, and a large one by the function for those; return the id of a campaign that was planned."""
    for most_bytes in (1_000_000, 10):
        campaign = str(office.post("/v1/campaigns", {"name": "N", "message": "Hi"})["campaign_id"])
        key = f"uploads/acme/{campaign}/leads.csv"
        boto3.client("s3").put_object(
            Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=b"phone\n+12025550101\n"
        )
        with patch.object(dry_runs, "MOST_BYTES_AT_ONCE", most_bytes):
            office.post(f"/v1/campaigns/{campaign}/plan")
            office.passes(seconds=10)
        office.call("GET", f"/v1/campaigns/{campaign}/plan")
    return campaign


def people_write(office: Office) -> None:
    """STOP and START, to a number of each provider; a receipt is late."""
    url = f"{office.sandbox.outputs['ApiUrl']}/v1/callbacks/twilio?account_id=acme"
    topic = next(iter(office.sandbox.messaging._topics.values()))
    for number, word in enumerate(("STOP", "START")):
        fields = {"MessageSid": f"SM{number:032}", "From": phone_number(70), "To": "+12025550100", "Body": word}
        office.sandbox.do(office.sandbox.carrier.call_back, url, fields)
        inbound = {"originationNumber": phone_number(71), "destinationNumber": NUMBER, "messageBody": word}
        event = {**inbound, "inboundMessageId": f"in-{number}"}
        office.sandbox.do(office.sandbox.messaging.publish, topic, event)
