"""The deployed state machine on another interpreter: moto's. The functions are the real ones, the campaigns tiny."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paceline.campaigns import get_campaign
from sandbox.testing.campaigns import CampaignSandbox
from sandbox.testing.tested_campaign import TestedCampaign
from tests.engines.moto_world import MotoWorld


def definition_of(sandbox: CampaignSandbox) -> str:
    """The campaign's definition as deployed: statemachines/campaign.asl.json with its substitutions."""
    return sandbox.world.engine.state_machine(sandbox.world.outputs["CampaignStateMachineArn"]).definition


def batch_workflow_of(sandbox: CampaignSandbox) -> str:
    """The workflow of one batch, taken out of the campaign's two Distributed Maps as it stands there."""
    states = json.loads(definition_of(sandbox))["States"]
    processor: dict[str, Any] = states["Send Streams"]["ItemProcessor"]["States"]["Send Batches"]["ItemProcessor"]
    return json.dumps({"StartAt": processor["StartAt"], "States": processor["States"]})


def execution_arn_of(sandbox: CampaignSandbox, campaign: TestedCampaign) -> str:
    """The execution that the API noted when it started the campaign."""
    return get_campaign(sandbox.table, campaign.campaign_id).execution_arn or ""


def test_a_whole_campaign_runs_on_motos_interpreter(sandbox: CampaignSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    moto = MotoWorld(sandbox, monkeypatch)
    moto.create(definition_of(sandbox))
    campaign = sandbox.campaign(leads=5)

    campaign.start()
    described = moto.run_to_end(execution_arn_of(sandbox, campaign))

    assert described["status"] == "SUCCEEDED", described
    report = campaign.read_report()
    assert (report["outcomes"]["delivered"], report["balanced"]) == (5, True)
    assert len(sandbox.carrier.book) == 5
    assert moto.invoked.count("send") == 5
    assert moto.invoked[0] == "plan"
    assert moto.invoked[-2:] == ["report", "publish"]


def test_a_campaign_that_is_held_for_credits_goes_on_on_motos_interpreter_when_they_come(
    sandbox: CampaignSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.account(credits=2)
    moto = MotoWorld(sandbox, monkeypatch)
    moto.create(definition_of(sandbox))
    campaign = sandbox.campaign(leads=5).start()

    moto.run_until(lambda: bool(campaign.holds))
    assert [hold["cause"] for hold in campaign.holds] == ["credits"]
    sandbox.credits(10)  # the token goes from the API's function to moto
    described = moto.run_to_end(execution_arn_of(sandbox, campaign))

    assert described["status"] == "SUCCEEDED", described
    assert campaign.read_report()["outcomes"]["delivered"] == 5


def test_the_workflow_of_a_batch_goes_on_alone_on_motos_interpreter(
    sandbox: CampaignSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = sandbox.campaign(leads=4).start()
    child = sandbox.run_until(state="Admit Batch")
    sandbox.world.engine.stop_execution(campaign.execution.arn)
    moto = MotoWorld(sandbox, monkeypatch)
    moto.create(batch_workflow_of(sandbox))

    described = moto.run_to_end(moto.start("batch-1", json.loads(child.input)))

    assert described["status"] == "SUCCEEDED", described
    assert json.loads(described["output"])["admission"]["left"] == 0
    assert moto.invoked[0] == "admit"  # and again, where it is told to come back for its turn
    assert [name for name in moto.invoked if name != "admit"] == [*["send"] * 4, "close"]
    assert len(sandbox.carrier.book) == 4
