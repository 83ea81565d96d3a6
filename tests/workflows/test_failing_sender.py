"""A sender that fails at every message, in the real workflow: it is asked ever more rarely, then no more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from paceline.errors import ServiceFault
from sandbox.testing.campaigns import CampaignSandbox


def break_sender(sandbox: CampaignSandbox) -> Any:
    """Let every send fail as one that lacks a permission does; return what mends it."""
    functions = sandbox.world.functions
    name = next(name for name in functions.usage if "SendFunction" in name)

    def fail(event: Any, context: Any) -> None:
        raise ServiceFault("AccessDeniedException")

    functions._handlers[name] = fail
    return lambda: functions._handlers.pop(name)


def sends(sandbox: CampaignSandbox) -> int:
    return next(use.invocations for name, use in sandbox.world.functions.usage.items() if "SendFunction" in name)


def test_a_campaign_whose_sender_always_fails_ends_within_hours_and_says_so(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=20)
    break_sender(sandbox)
    began = sandbox.now
    campaign.start()

    sandbox.advance(timedelta(minutes=10))
    campaign.assert_held_by("sender_failed")
    sandbox.run_to_end()

    campaign.assert_outcomes(skipped=20)
    assert {message.cause for message in campaign.messages} == {"sender_failed"}
    assert timedelta(hours=1) < sandbox.now - began < timedelta(hours=4)
    assert sends(sandbox) <= 20 + 16
    assert sandbox.account_of().reserved == 0


def test_a_sender_that_is_mended_in_time_sends_everything(sandbox: CampaignSandbox) -> None:
    campaign = sandbox.campaign(leads=20)
    mend = break_sender(sandbox)
    campaign.start()

    sandbox.advance(timedelta(minutes=20))
    mend()
    sandbox.run_to_end()

    campaign.assert_outcomes(delivered=20)
    assert campaign.report["lost_to"]["sender_failed"] > 600
