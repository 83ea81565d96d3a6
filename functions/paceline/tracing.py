"""Traces: a subsegment for each invocation with the ids that it has, and one for each call to AWS in it.

Powertools switches tracing off where no X-Ray daemon listens, as outside Lambda. Only botocore is patched: what the SDK
keeps of other HTTP calls is their address, and an address may have a customer's secret in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aws_lambda_powertools import Tracer

tracer = Tracer(service="paceline", patch_modules=("botocore",))

ANNOTATIONS = ("campaign_id", "batch_id", "route")


@contextmanager
def traced(function: str, ids: Mapping[str, Any]) -> Iterator[None]:
    """Trace an invocation, so that X-Ray finds it by its campaign, batch or route. Answers and inputs are not kept."""
    if tracer.disabled:
        yield
        return
    with tracer.provider.in_subsegment(name=f"## {function}"):
        annotate(ids)
        yield


def annotate(ids: Mapping[str, Any]) -> None:
    """Let X-Ray find the running invocation by these ids; nothing, where tracing is off."""
    for name in ANNOTATIONS:
        if name in ids:
            tracer.put_annotation(name, ids[name])
