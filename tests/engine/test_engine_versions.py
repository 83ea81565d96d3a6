"""Versions and aliases: an execution keeps the definition that it was started with."""

from __future__ import annotations

import pytest

from sandbox.engine.errors import ResourceNotFound, StateMachineDoesNotExist
from tests.engine.builders import ROLE_ARN, Bench, machine

OLD = machine(Rest={"Type": "Wait", "Seconds": 100}, Told={"Type": "Pass", "Result": "old"})
NEW = machine(Told={"Type": "Pass", "Result": "new"})


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_an_alias_leads_new_executions_to_its_version_and_those_that_run_keep_theirs(bench: Bench) -> None:
    engine = bench.engine
    arn = engine.create_state_machine("campaign", OLD, ROLE_ARN)
    alias = engine.set_alias("live", engine.publish_version(arn))
    before = engine.execution(engine.start_execution(alias, name="before"))

    bench.run_for(1)
    engine.update_state_machine(arn, str(NEW).replace("'", '"').replace("True", "true"))
    engine.set_alias("live", engine.publish_version(arn))
    after = engine.execution(engine.start_execution(alias, name="after"))
    bench.scheduler.run(until=before.done)

    assert (before.output, after.output) == ('"old"', '"new"')
    assert (before.version_arn, after.version_arn) == (f"{arn}:1", f"{arn}:2")
    assert before.alias_arn == after.alias_arn == f"{arn}:live"
    assert before.arn == f"{arn.replace('stateMachine', 'execution')}:before"
    assert engine.machine_of(before).definition != engine.machine_of(after).definition


def test_rolling_back_is_letting_the_alias_lead_to_the_version_before(bench: Bench) -> None:
    engine = bench.engine
    arn = engine.create_state_machine("campaign", OLD, ROLE_ARN)
    first = engine.publish_version(arn)
    engine.update_state_machine(arn, str(NEW).replace("'", '"').replace("True", "true"))
    alias = engine.set_alias("live", engine.publish_version(arn))

    engine.set_alias("live", first)
    started = engine.execution(engine.start_execution(alias))
    bench.scheduler.run(until=started.done)

    assert (started.version_arn, started.output) == (first, '"old"')


def test_what_did_not_change_is_no_new_version(bench: Bench) -> None:
    arn = bench.engine.create_state_machine("campaign", OLD, ROLE_ARN)

    assert bench.engine.publish_version(arn) == bench.engine.publish_version(arn) == f"{arn}:1"


def test_an_execution_by_the_machines_own_name_has_no_version(bench: Bench) -> None:
    arn = bench.engine.create_state_machine("campaign", NEW, ROLE_ARN)
    bench.engine.publish_version(arn)

    started = bench.engine.execution(bench.engine.start_execution(arn))

    assert (started.version_arn, started.alias_arn) == (None, None)


def test_what_does_not_exist_is_named(bench: Bench) -> None:
    arn = bench.engine.create_state_machine("campaign", NEW, ROLE_ARN)

    with pytest.raises(StateMachineDoesNotExist, match="campaign:live"):
        bench.engine.start_execution(f"{arn}:live")
    with pytest.raises(ResourceNotFound, match="campaign:7"):
        bench.engine.set_alias("live", f"{arn}:7")
