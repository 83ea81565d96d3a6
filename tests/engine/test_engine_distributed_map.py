"""Distributed Maps: readers, batches, tolerance, results, children."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.engine import Timing
from tests.engine.builders import Bench, distributed, machine, output, task, types

PASS = machine(Item={"Type": "Pass"})
GET = "arn:aws:states:::s3:getObject"
PLACE = {"Bucket": "data", "Key": "leads"}


class Refused(Exception): ...


def refusing(*refused: Any) -> Any:
    """Return a function that fails for these items."""

    def function(event: Any) -> Any:
        if event in refused:
            raise Refused(str(event))
        return event

    return function


def map_run(bench: Bench, arn: str) -> dict[str, Any]:
    (run,) = bench.engine.list_map_runs(arn)
    return bench.engine.describe_map_run(run["mapRunArn"])


def read(text: str, **config: Any) -> Any:
    """Return what a Map of an ItemReader with this configuration reads from an object."""
    bench = Bench()
    bench.aws.objects["data", "leads"] = text.encode()
    reader = {"Resource": GET, "ReaderConfig": config, "Parameters": PLACE}
    return output(bench.run(machine(Leads=distributed(PASS, ItemReader=reader))))


def test_json_lines_are_items() -> None:
    assert read('{"lead": 1}\n\n{"lead": 2}\n', InputType="JSONL") == [{"lead": 1}, {"lead": 2}]


def test_rows_of_csv_are_objects_of_strings() -> None:
    text = 'name,city\n"Ann, the first",Oslo\nBob\n'

    rows = read(text, InputType="CSV", CSVHeaderLocation="FIRST_ROW")

    assert rows == [{"name": "Ann, the first", "city": "Oslo"}, {"name": "Bob", "city": ""}]


def test_no_more_than_max_items_are_read() -> None:
    assert read("[1, 2, 3]", InputType="JSON", MaxItems=2) == [1, 2]


def test_an_object_that_is_missing_fails_the_reader_and_can_be_caught() -> None:
    bench = Bench()
    reader = {"Resource": GET, "ReaderConfig": {"InputType": "JSON"}, "Parameters": PLACE}
    catch = [{"ErrorEquals": ["States.ItemReaderFailed"], "Next": "No File"}]
    definition = machine(
        Leads=distributed(PASS, ItemReader=reader, Catch=catch, End=True), **{"No File": {"Type": "Pass"}}
    )

    execution = bench.run(definition)

    assert output(execution)["Error"] == "States.ItemReaderFailed"


def test_batches_hold_their_items_and_what_they_share() -> None:
    bench = Bench()
    batcher = {"MaxItemsPerBatch": 2, "BatchInput": {"campaign.$": "$.id"}}
    definition = machine(Leads=distributed(PASS, ItemsPath="$.leads", ItemBatcher=batcher))

    batches = output(bench.run(definition, {"id": "c-1", "leads": [1, 2, 3]}))

    shared = {"BatchInput": {"campaign": "c-1"}}
    assert batches == [{"Items": [1, 2], **shared}, {"Items": [3], **shared}]


def test_batches_keep_below_their_bytes() -> None:
    bench = Bench()
    definition = machine(Leads=distributed(PASS, ItemBatcher={"MaxInputBytesPerBatch": 40}))

    batches = output(bench.run(definition, ["x" * 10] * 5))

    assert [len(batch["Items"]) for batch in batches] == [2, 2, 1]
    assert all(len(json.dumps(batch, separators=(",", ":"))) <= 40 for batch in batches)


@pytest.mark.parametrize(
    ("tolerance", "status"),
    [
        pytest.param({}, "FAILED", id="none is tolerated by default"),
        pytest.param({"ToleratedFailureCount": 2}, "SUCCEEDED", id="count reached"),
        pytest.param({"ToleratedFailureCount": 1}, "FAILED", id="count exceeded"),
        pytest.param({"ToleratedFailurePercentage": 20}, "SUCCEEDED", id="percentage reached"),
        pytest.param({"ToleratedFailurePercentage": 19.9}, "FAILED", id="percentage exceeded"),
        # either limit is enough to fail
        pytest.param({"ToleratedFailurePercentage": 100, "ToleratedFailureCount": 1}, "FAILED", id="both given"),
    ],
)
def test_a_map_run_fails_when_more_fail_than_is_tolerated(tolerance: dict[str, Any], status: str) -> None:
    bench = Bench()
    bench.aws.functions["work"] = refusing(3, 6)
    definition = machine(Leads=distributed(machine(Work=task()), MaxConcurrency=1, **tolerance))

    execution = bench.run(definition, list(range(10)))

    assert execution.status == status
    assert map_run(bench, execution.arn)["status"] == status
    if status == "FAILED":
        assert execution.error == "States.ExceedToleratedFailureThreshold"
        assert types(execution)[-3:] == ["MapRunFailed", "MapStateFailed", "ExecutionFailed"]


def test_a_breach_stops_early_and_aborts_what_runs() -> None:
    bench = Bench()

    def work(event: int) -> int:
        bench.scheduler.sleep(1 if event == 0 else 50)
        return refusing(0)(event)

    bench.aws.functions["work"] = work
    definition = machine(Leads=distributed(machine(Work=task()), MaxConcurrency=3))

    execution = bench.run(definition, list(range(10)))

    counts = map_run(bench, execution.arn)["itemCounts"]
    assert bench.seconds() == 1
    assert {name: counts[name] for name in ("failed", "aborted", "pending", "running")} == {
        "failed": 1, "aborted": 2, "pending": 7, "running": 0,
    }  # fmt: skip


def test_failed_children_within_the_tolerance_leave_no_output() -> None:
    bench = Bench()
    bench.aws.functions["work"] = refusing(1)
    definition = machine(Leads=distributed(machine(Work=task()), ToleratedFailureCount=1))

    assert output(bench.run(definition, [0, 1, 2])) == [{"result": 0}, {"result": 2}]


def test_results_are_written_as_files_with_a_manifest() -> None:
    bench = Bench()
    bench.aws.functions["work"] = refusing(1)
    writer = {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "results", "Prefix": "c-1"}}
    leads = distributed(machine(Work=task()), ToleratedFailureCount=1, ResultWriter=writer, Label="Leads")

    result = output(bench.run(machine(Leads=leads), [0, 1, 2]))

    details = result["ResultWriterDetails"]
    manifest = json.loads(bench.aws.objects[details["Bucket"], details["Key"]])
    run_id = result["MapRunArn"].rpartition(":")[2]
    assert details == {"Bucket": "results", "Key": f"c-1/{run_id}/manifest.json"}
    assert manifest["MapRunArn"] == result["MapRunArn"]
    assert manifest["ResultFiles"]["PENDING"] == []
    (succeeded,), (failed,) = manifest["ResultFiles"]["SUCCEEDED"], manifest["ResultFiles"]["FAILED"]
    records = json.loads(bench.aws.objects["results", succeeded["Key"]])
    assert [record["Input"] for record in records] == ["0", "2"]
    assert json.loads(records[0]["Output"]) == {"result": 0}
    (record,) = json.loads(bench.aws.objects["results", failed["Key"]])
    assert (record["Error"], record["Status"], record["RedriveStatus"]) == ("Refused", "FAILED", "REDRIVABLE")


def test_what_a_breach_left_undone_is_written_as_pending() -> None:
    bench = Bench()
    bench.aws.functions["work"] = refusing(0)
    writer = {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "results"}}
    leads = distributed(machine(Work=task()), MaxConcurrency=1, ResultWriter=writer)

    bench.run(machine(Leads=leads), [0, 1, 2])

    (body,) = [body for (_, key), body in bench.aws.objects.items() if key.endswith("PENDING_0.json")]
    assert [record["Input"] for record in json.loads(body)] == ["1", "2"]


def test_children_are_executions_with_histories_of_their_own() -> None:
    bench = Bench()

    execution = bench.run(machine(Leads=distributed(PASS, Label="Leads")), ["a", "b"])

    (run,) = bench.engine.list_map_runs(execution.arn)
    children = bench.engine.list_executions(map_run_arn=run["mapRunArn"])
    assert [child.input for child in children] == ['"b"', '"a"']
    assert all(
        child.arn.startswith("arn:aws:states:us-east-1:123456789012:execution:machine-1/Leads:") for child in children
    )
    assert types(children[0]) == ["ExecutionStarted", "PassStateEntered", "PassStateExited", "ExecutionSucceeded"]
    assert bench.engine.list_executions(execution.state_machine_arn) == [execution]


def test_no_more_children_run_than_the_limit_and_the_limit_may_change_meanwhile() -> None:
    bench = Bench()
    bench.aws.functions["work"] = lambda event: bench.scheduler.sleep(10)
    definition = machine(Leads=distributed(machine(Work=task()), MaxConcurrencyPath="$.limit", ItemsPath="$.items"))
    execution = bench.start(definition, {"limit": 2, "items": list(range(12))})

    bench.run_for(5)
    running_at_first = map_run(bench, execution.arn)["itemCounts"]["running"]
    bench.engine.update_map_run(bench.engine.list_map_runs(execution.arn)[0]["mapRunArn"], max_concurrency=5)
    bench.run_for(1)
    running_later = map_run(bench, execution.arn)["itemCounts"]["running"]
    bench.scheduler.run(until=execution.done)

    assert (running_at_first, running_later) == (2, 5)
    assert execution.status == "SUCCEEDED"


def test_children_start_one_after_the_other_at_the_service_s_pace() -> None:
    bench = Bench(timing=Timing(child_start_spacing=lambda: 0.01))
    bench.aws.functions["work"] = lambda event: None

    bench.run(machine(Leads=distributed(machine(Work=task()))), [1, 2, 3])

    assert [round(time - bench.aws.call_times[0], 6) for time in bench.aws.call_times] == [0, 0.01, 0.02]


def test_a_distributed_map_may_stand_in_another() -> None:
    bench = Bench()
    inner = machine(Batches=distributed(PASS, ItemsPath="$.batches"))

    result = output(bench.run(machine(Streams=distributed(inner)), [{"batches": [1, 2]}, {"batches": [3]}]))

    assert result == [[1, 2], [3]]


def test_the_selector_sees_the_state_s_input_and_the_item() -> None:
    bench = Bench()
    selector = {"id.$": "$.id", "index.$": "$$.Map.Item.Index", "lead.$": "$$.Map.Item.Value.lead"}
    definition = machine(Leads=distributed(PASS, ItemsPath="$.leads", ItemSelector=selector))

    result = output(bench.run(definition, {"id": "c-1", "leads": [{"lead": "x"}]}))

    assert result == [{"id": "c-1", "index": 0, "lead": "x"}]
