"""Tracing as on Lambda: what X-Ray's daemon is sent of an invocation, and that nothing is sent elsewhere."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

from paceline.tracing import tracer
from sandbox.deployment import ROOT

# One invocation of a step that fails, and of one that answers: with a person's number and text in input and answer.
PROGRAM = """
from paceline.errors import RateLimited
from paceline.observability import observed

class Context:
    aws_request_id = "request-1"

def answers(event, context):
    return {"text": "your renewal is due", "to": "+12025550101"}

def fails(event, context):
    raise RateLimited("the slot was missed", cause="slot_missed")

event = {"batch": {"campaign_id": "renewals", "batch_id": "00001", "route": "shared"}, "to": "+12025550101"}
observed(answers)(event, Context())
try:
    observed(fails)(event, Context())
except RateLimited:
    pass
"""


def sent_to_the_daemon(**environment: str) -> list[dict[str, object]]:
    """Run the program beside a daemon; return the documents that it was sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(0.2)
        own = {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "functions")]),
            "AWS_XRAY_DAEMON_ADDRESS": f"127.0.0.1:{daemon.getsockname()[1]}",
            "_X_AMZN_TRACE_ID": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        }
        subprocess.run([sys.executable, "-c", PROGRAM], env=os.environ | own | environment, check=True, timeout=60)  # noqa: S603 (our own)
        documents = []
        try:
            while True:
                documents.append(json.loads(daemon.recv(65_536).partition(b"\n")[2]))
        except TimeoutError:
            return documents


def test_an_invocation_is_found_by_its_campaign_batch_and_route_and_has_nothing_of_people() -> None:
    answered, failed = sent_to_the_daemon(LAMBDA_TASK_ROOT="/var/task")

    ids = {"campaign_id": "renewals", "batch_id": "00001", "route": "shared"}
    assert (answered["annotations"], failed["annotations"]) == (ids, ids)
    assert failed["fault"] is True
    assert "metadata" not in answered
    assert "12025550101" not in json.dumps([answered, failed])
    assert "renewal is due" not in json.dumps([answered, failed])


def test_outside_lambda_nothing_is_traced() -> None:
    assert tracer.disabled
    assert sent_to_the_daemon() == []


def test_lambda_can_be_told_to_trace_nothing() -> None:
    assert sent_to_the_daemon(LAMBDA_TASK_ROOT="/var/task", POWERTOOLS_TRACE_DISABLED="true") == []
