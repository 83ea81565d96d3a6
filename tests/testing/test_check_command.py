"""`paceline check` finds each kind of fault: a copy of the project is broken on purpose, one thing at a time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.checks import Problem, contracts
from console.checks.contracts import check_contracts, check_samples
from console.checks.definitions import check_definition
from console.checks.template import check_template
from console.cli import main

ROOT = Path(__file__).resolve().parents[2]
DEFINITION = "statemachines/campaign.asl.json"
SCHEMAS = "functions/paceline/contracts/schemas"
BATCH = "/States/Send Streams/ItemProcessor/States/Send Batches/ItemProcessor/States"
SAMPLE = {"campaign_id": "c-1"}

Break = Callable[[Any], object]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what is checked, without the sample events."""
    shutil.copy(ROOT / "template.yaml", tmp_path)
    for folder in ("statemachines", "functions"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def check(project: Path) -> Result:
    return CliRunner().invoke(main, ["check", "--root", str(project)])


def lines(problems: Iterable[Problem]) -> str:
    return "\n".join(map(str, problems))


def break_definition(project: Path, change: Break) -> None:
    path = project / DEFINITION
    definition = json.loads(path.read_text())
    change(definition["States"])
    path.write_text(json.dumps(definition))


def batch_states(states: Any) -> Any:
    """The states of the innermost Distributed Map: a fault may sit at any depth."""
    return states["Send Streams"]["ItemProcessor"]["States"]["Send Batches"]["ItemProcessor"]["States"]


def test_the_project_as_it_is_has_no_problem() -> None:
    result = CliRunner().invoke(main, ["check"])

    assert (result.exit_code, result.output) == (0, "Nothing is wrong.\n")


def test_the_template_is_read_for_its_routes_once_however_many_samples_there_are(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(contracts, "routes", lambda root: read.append(root) or {"GET /v1/account"})
    (project / "events").mkdir()
    for number in range(3):
        (project / f"events/api-{number}.json").write_text('{"routeKey": "GET /v1/account"}')

    assert lines(check_samples(project)) == ""
    assert read == [project]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(
            lambda s: s["Wait For Start Time"].update(Next="Any Leads?"),
            "/States/Wait For Start Time/Next: there is no state 'Any Leads?'",
            id="a dangling Next",
        ),
        pytest.param(
            lambda s: s.update({"Lost": {"Type": "Succeed"}}),
            "/States/Lost: cannot be reached",
            id="a state that nothing leads to",
        ),
        pytest.param(
            lambda s: batch_states(s)["Close Batch"].pop("TimeoutSeconds"),
            f"{BATCH}/Close Batch: a Task without TimeoutSeconds waits for 99,999,999 seconds",
            id="a Task without a timeout, two maps deep",
        ),
        pytest.param(
            lambda s: s["Build Report"]["Retry"][0].update(ErrorEquals=["TransactionConflicts"]),
            "/States/Build Report/Retry[0]: nothing raises an error 'TransactionConflicts'",
            id="a misspelt error",
        ),
        pytest.param(
            lambda s: s["Build Report"]["Retry"][0].update(JitterStrategy="SOME"),
            "/States/Build Report/Retry",
            id="a value that the schema does not know",
        ),
        pytest.param(
            lambda s: s["Build Report"].update(TimeOutSeconds=3),
            "/States/Build Report/TimeOutSeconds: there is no such field here",
            id="a misspelt field",
        ),
        pytest.param(
            lambda s: s["Wait For Start Time"].update(TimestampPath="$.plan["),
            "/States/Wait For Start Time/TimestampPath: ",
            id="a path that is none",
        ),
    ],
)
def test_a_fault_of_a_state_machine_is_one_line_with_its_file_and_place(
    project: Path, change: Break, line: str
) -> None:
    break_definition(project, change)

    found = lines(check_definition(project / DEFINITION, DEFINITION))

    assert f"{DEFINITION}: {line}" in found


def test_a_task_in_a_branch_is_looked_at_too(tmp_path: Path) -> None:
    task = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}}
    branch = {"StartAt": "Call", "States": {"Call": {**task, "End": True}}}
    states = {"Both": {"Type": "Parallel", "Branches": [branch], "End": True}}
    (tmp_path / "m.asl.json").write_text(json.dumps({"StartAt": "Both", "States": states}))

    found = lines(check_definition(tmp_path / "m.asl.json", "m.asl.json"))

    assert found.startswith("m.asl.json: /States/Both/Branches[0]/States/Call: a Task without TimeoutSeconds")


def test_the_schema_finds_what_the_engine_lets_pass(project: Path) -> None:
    break_definition(project, lambda states: states["Plan Campaign"].update(Parameters=[1]))

    found = lines(check_definition(project / DEFINITION, DEFINITION))

    assert found == f"{DEFINITION}: /States/Plan Campaign/Parameters: [1] is not of type 'object'"


@pytest.mark.parametrize(
    ("function", "line"),
    [
        pytest.param(
            "${PlanningFunctionArn}",
            "campaign.asl.json needs a substitution PlanningFunctionArn, which is not given",
            id="not given by the template",
        ),
        pytest.param("plan", "the substitution PlanFunctionArn is used nowhere in campaign.asl.json", id="not used"),
    ],
)
def test_substitutions_that_do_not_match_the_template_are_found(project: Path, function: str, line: str) -> None:
    break_definition(project, lambda states: states["Plan Campaign"]["Parameters"].update(FunctionName=function))

    result = check(project)

    assert result.exit_code == 1
    assert f"template.yaml: /Resources/CampaignStateMachine: {line}" in result.output


def test_a_state_machine_that_is_not_json_does_not_hide_the_rest(project: Path) -> None:
    (project / DEFINITION).write_text("{")
    (project / SCHEMAS / "manifests/batch.json").unlink()

    result = check(project)

    assert f"{DEFINITION}: not JSON" in result.output
    assert f"{SCHEMAS}/manifests/batch.json: is missing" in result.output


def test_a_state_machine_that_the_template_does_not_name_is_found(project: Path) -> None:
    shutil.copy(project / DEFINITION, project / "statemachines/other.asl.json")

    assert "statemachines/other.asl.json: no resource of template.yaml is made from it" in check(project).output


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        pytest.param("MemorySize: 512", "MemorySize: lots", "is not of type 'integer'", id="cfn-lint, with the line"),
        pytest.param("Handler: plan.app", "Handler: planning.app", "no file functions/planning/app.py", id="handler"),
        pytest.param("campaign.asl.json", "campaigns.asl.json", "no file statemachines/campaigns.asl.json", id="uri"),
        pytest.param("!GetAtt Bucket.Arn", "!GetAtt Buckets.Arn", "Buckets", id="a missing resource"),
        pytest.param("ApiId: !Ref HttpApi, Method: POST, Path: /v1/campaigns }", "ApiId: 7 }", "", id="translator"),
        pytest.param("Resources:", "Resources: [", "template.yaml: ", id="not YAML"),
    ],
)
def test_a_fault_of_the_template_is_found(project: Path, old: str, new: str, line: str) -> None:
    path = project / "template.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))

    found = lines(check_template(project, [project / DEFINITION]))

    assert found.startswith("template.yaml: ")
    assert line in found


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(lambda p: (p / "states/admit-batch.input.json").unlink(), "is missing", id="missing"),
        pytest.param(lambda p: (p / "manifests/batch.json").write_text("{}"), "is not what the models say", id="stale"),
        pytest.param(lambda p: (p / "old.json").write_text("{}"), "is no contract's schema any more", id="left over"),
    ],
)
def test_a_schema_that_is_not_up_to_date_is_found(project: Path, change: Break, line: str) -> None:
    change(project / SCHEMAS)

    found = lines(check_contracts(project))

    assert found.startswith(SCHEMAS)
    assert line in found


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        pytest.param("plan-campaign.input", {}, "'campaign_id' is a required property", id="against its schema"),
        pytest.param("plan-campaign.input--two", {"campaign_id": 3}, "/campaign_id: 3 is not", id="a second sample"),
        pytest.param("plan-campaing.input", SAMPLE, "no contract has this name", id="a misspelt name"),
        pytest.param("provider-event", {"Records": [{}]}, "/Records/0: 'Sns' is a required", id="a notification"),
        pytest.param("api-pay", {"routeKey": "POST /v1/pay"}, "no route POST /v1/pay", id="a route that is not there"),
    ],
)
def test_a_sample_that_does_not_fit_is_found(project: Path, name: str, value: object, line: str) -> None:
    (project / "events").mkdir()
    (project / f"events/{name}.json").write_text(json.dumps(value))

    found = lines(check_samples(project))

    assert found.startswith(f"events/{name}.json: ")
    assert line in found


def test_samples_that_fit_are_no_problem(project: Path) -> None:
    (project / "events").mkdir()
    for name, value in {
        "plan-campaign.input": SAMPLE,
        "executions/campaign-input": SAMPLE,
        "api-create": {"routeKey": "POST /v1/campaigns"},
    }.items():
        path = project / f"events/{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))

    assert lines(check_samples(project)) == ""
