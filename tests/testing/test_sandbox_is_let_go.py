"""A sandbox that is left leaves nothing behind: no object of its world, no running task, no hook in this process."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.client import BaseClient

from paceline import observability
from paceline.bootstrap import SystemClock
from paceline.table import Put
from sandbox.dynamodb import Latency
from sandbox.latency import Latencies
from sandbox.scheduler import Scheduler
from sandbox.testing.campaigns import CampaignSandbox
from sandbox.world import START, Sandbox


def left_behind(live: Callable[[CampaignSandbox], object]) -> list[Any]:
    """Live in a sandbox, leave it, and return what still exists of it: its world, its table, its API's module."""
    with CampaignSandbox() as sandbox:
        sandbox.campaign(leads=5).start()
        live(sandbox)
        parts = [sandbox, sandbox.world, sandbox.world.dynamodb, sandbox.world.scheduler, sys.modules["api.app"].app]
        seen = [weakref.ref(part) for part in parts]
    del sandbox, parts
    gc.collect()
    return [found for reference in seen if (found := reference()) is not None]


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(lambda sandbox: sandbox.run_to_end(), id="a campaign that is over"),
        pytest.param(lambda sandbox: sandbox.run_until(state="Send Message"), id="in mid-campaign"),
        pytest.param(lambda sandbox: sandbox.advance(timedelta(seconds=1)), id="a second after its start"),
    ],
)
def test_nothing_of_a_sandbox_outlives_it(live: Callable[[CampaignSandbox], object]) -> None:
    assert left_behind(live) == []


def test_no_hook_of_a_sandbox_outlives_it() -> None:
    def hooks() -> list[object]:
        streams = [handler.stream for handler in observability.logger.handlers]  # type: ignore[attr-defined]
        own = [BaseClient._make_api_call, httpx.HTTPTransport.handle_request, SystemClock.now, boto3.DEFAULT_SESSION]
        return [*own, *streams, gc.get_threshold(), dict(os.environ)]

    before = hooks()

    with Sandbox():
        assert hooks() != before

    assert hooks() == before


def test_a_sandbox_whose_template_is_broken_leaves_no_hook_either(tmp_path: Path) -> None:
    before = (BaseClient._make_api_call, SystemClock.now, dict(os.environ))
    (tmp_path / "template.yaml").write_text("Resources: {A: {Type: 'AWS::Serverless::Function'}}")

    with pytest.raises(Exception, match="A"), Sandbox(template=tmp_path / "template.yaml"):
        pass

    assert (BaseClient._make_api_call, SystemClock.now, dict(os.environ)) == before


# -- tasks that are ended --------------------------------------------------------------------------------------------


def test_a_task_that_is_ended_cleans_up_and_cannot_wait_once_more() -> None:
    scheduler, done = Scheduler(START), []

    def work() -> None:
        try:
            scheduler.sleep(60)
        finally:
            done.append("cleaned up")
            scheduler.sleep(1)
            done.append("waited")

    task = scheduler.spawn(work)
    scheduler.run(deadline=scheduler.microseconds)
    scheduler.spawn(lambda: done.append("began"), name="too late")

    scheduler.close()
    scheduler.run()

    assert task.done
    assert done == ["cleaned up"]


def test_what_a_handler_does_when_it_is_ended_reaches_no_table() -> None:
    calls_take_no_time = replace(Latencies.realistic(1), dynamodb=Latency())
    with CampaignSandbox(latencies=calls_take_no_time) as sandbox:
        world, ended = sandbox.world, []
        function = next(name for name in world.names.values() if "PlanFunction" in name)

        def killed(event: Any, context: Any) -> None:
            try:
                world.scheduler.sleep(10)
            finally:
                ended.append(True)
                sandbox.table.put(Put({"pk": "LATE", "sk": "LATE"}))

        world.functions._handlers[function] = killed
        world.scheduler.spawn(world.functions.invoke, function, "{}")
        sandbox.advance(timedelta(seconds=5))

        world.scheduler.close()

        assert ended
        assert sandbox.rows("LATE") == []
