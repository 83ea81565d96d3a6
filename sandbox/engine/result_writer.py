"""ResultWriter: the results of a Map Run as files in S3, in AWS's layout."""

from __future__ import annotations

from typing import Any

from sandbox.engine.documents import to_text
from sandbox.engine.errors import StateFailed
from sandbox.engine.executions import SUCCEEDED, Branch, Execution
from sandbox.engine.integrations import TaskFailed
from sandbox.engine.map_runs import MapRun
from sandbox.engine.templates import compile_template
from sandbox.engine.timestamps import format_timestamp

WRITER = "arn:aws:states:::s3:putObject"
_FILES = ("SUCCEEDED", "FAILED", "PENDING")


class ResultWriter:
    """The compiled ResultWriter field."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.parameters = compile_template(fields.get("Parameters", {}))

    def write(self, branch: Branch, data: Any, map_run: MapRun) -> dict[str, Any]:
        """Write manifest.json and a file per outcome; return the state's result.

        Raises: StateFailed States.ResultWriterFailed, StateRuntimeError.
        """
        parameters = self.parameters(data, branch)
        bucket, prefix = str(parameters.get("Bucket", "")), str(parameters.get("Prefix", "")).rstrip("/")
        folder = "/".join(part for part in (prefix, map_run.arn.rpartition(":")[2]) if part)
        try:
            self._write_files(branch, map_run, bucket, folder)
        except TaskFailed as failure:
            raise StateFailed("States.ResultWriterFailed", failure.cause or failure.error) from None
        details = {"Bucket": bucket, "Key": f"{folder}/manifest.json"}
        return {"MapRunArn": map_run.arn, "ResultWriterDetails": details}

    def _write_files(self, branch: Branch, map_run: MapRun, bucket: str, folder: str) -> None:
        integrations, role_arn = branch.runtime.integrations, branch.execution.role_arn
        files: dict[str, list[dict[str, Any]]] = {name: [] for name in sorted(_FILES)}
        for name, records in _results(map_run).items():
            if records:
                body = ("[" + ",".join(records) + "]").encode()
                key = f"{folder}/{name}_0.json"
                integrations.put_object(bucket, key, body, role_arn=role_arn)
                files[name].append({"Key": key, "Size": len(body)})
        manifest = {"DestinationBucket": bucket, "MapRunArn": map_run.arn, "ResultFiles": files}
        body = to_text(manifest).encode()
        integrations.put_object(bucket, f"{folder}/manifest.json", body, role_arn=role_arn)
        map_run.results_written = sum(map_run.item_counts)


def _results(map_run: MapRun) -> dict[str, list[str]]:
    """Return the records, as JSON text, by the file they belong to."""
    results: dict[str, list[str]] = {name: [] for name in _FILES}
    for index, text in enumerate(map_run.child_inputs):
        child = map_run.children.get(index)
        if child is None:
            results["PENDING"].append(to_text({"Input": text, "InputDetails": {"Included": True}, "Status": "PENDING"}))
        else:
            results["SUCCEEDED" if child.status == SUCCEEDED else "FAILED"].append(to_text(_record(child)))
    return results


def _record(child: Execution) -> dict[str, Any]:
    succeeded = child.status == SUCCEEDED
    record: dict[str, Any] = {"ExecutionArn": child.arn, "Input": child.input, "InputDetails": {"Included": True}}
    if not succeeded:
        record = {"Cause": child.cause or "", "Error": child.error or "", **record}
    record["Name"] = child.name
    if succeeded:
        record |= {"Output": child.output, "OutputDetails": {"Included": True}}
    return record | {
        "RedriveCount": child.redrive_count,
        "RedriveStatus": "NOT_REDRIVABLE" if succeeded else "REDRIVABLE",
        "StartDate": format_timestamp(child.start_date),
        "StateMachineArn": child.state_machine_arn,
        "Status": child.status,
        "StopDate": format_timestamp(child.stop_date) if child.stop_date else None,
    }
