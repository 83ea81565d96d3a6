"""Nothing of people is kept without an end: every log, every prefix of the bucket, every row that says when it ends."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.deployment import REGION, ROOT
from sandbox.template import translate

RESOURCES: dict[str, Any] = translate(ROOT / "template.yaml", REGION)["Resources"]
RULES = RESOURCES["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
SOURCES = sorted((ROOT / "functions").rglob("*.py"))
# Where an object's key begins, in the functions' code; states/ is how the contracts' names begin.
_KEY = re.compile(r"f\"([a-z-]+)/\{")


def log_groups() -> dict[str, int]:
    groups = {name: one["Properties"] for name, one in RESOURCES.items() if one["Type"] == "AWS::Logs::LogGroup"}
    return {name: properties["RetentionInDays"] for name, properties in groups.items()}


@pytest.mark.parametrize(
    "name", [name for name, resource in RESOURCES.items() if resource["Type"] == "AWS::Lambda::Function"]
)
def test_every_function_logs_to_a_group_that_forgets(name: str) -> None:
    assert log_groups()[RESOURCES[name]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]] <= 90


def test_every_state_machine_logs_to_a_group_that_forgets() -> None:
    for resource in RESOURCES.values():
        if resource["Type"] == "AWS::StepFunctions::StateMachine":
            configuration = resource["Properties"]["LoggingConfiguration"]
            [destination] = configuration["Destinations"]
            assert log_groups()[destination["CloudWatchLogsLogGroup"]["LogGroupArn"]["Fn::GetAtt"][0]] <= 90
            assert not configuration["IncludeExecutionData"]


def test_every_prefix_that_is_written_ends() -> None:
    written = {prefix for path in SOURCES for prefix in _KEY.findall(path.read_text())} - {"states"}

    assert {f"{prefix}/" for prefix in written} == {rule["Prefix"] for rule in RULES if "ExpirationInDays" in rule}


def test_what_was_written_over_and_what_was_never_ended_goes_too() -> None:
    [everything] = [rule for rule in RULES if "Prefix" not in rule]

    assert everything["NoncurrentVersionExpiration"]["NoncurrentDays"] <= 30
    assert everything["ExpiredObjectDeleteMarker"]
    assert everything["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] <= 7
    assert all(rule["Status"] == "Enabled" for rule in RULES)


def test_one_place_writes_when_a_row_ends() -> None:
    writing = re.compile(r"""["']expires_at["']\s*:""")

    assert [path.name for path in SOURCES if writing.search(path.read_text())] == ["retention.py"]
