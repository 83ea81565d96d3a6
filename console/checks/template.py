"""template.yaml: cfn-lint's rules, the SAM translator's, and that it and the files it names belong together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.yaml_helper import yaml_parse

from console.checks import Problem
from console.checks.definitions import substitutions
from console.checks.linting import lint
from sandbox.template import translate

REGION = "us-east-1"


def check_template(root: Path, machines: list[Path]) -> Iterator[Problem]:
    """Yield what is wrong with the template of a project. machines: the definitions that there are."""
    path = root / "template.yaml"
    if not path.is_file():
        yield Problem("template.yaml", "", "there is no such file")
        return
    linted = list(_lint(path.read_text()))
    yield from linted
    try:
        resources = yaml_parse(path.read_text())["Resources"]
        belongs = [*_check_machines(root, resources, machines), *_check_handlers(root, resources)]
    except Exception as error:  # cfn-lint has said the same, with the line
        yield Problem("template.yaml", "", f"cannot be read: {' '.join(str(error).split())}")
        return
    yield from belongs
    if not linted and not any(problem.text.startswith("there is no file") for problem in belongs):
        yield from _check_translated(path)


def _lint(text: str) -> Iterator[Problem]:
    for match in lint(text):
        yield Problem("template.yaml", f"line {match.linenumber}", f"{match.message} ({match.rule.id})")


def _check_translated(path: Path) -> Iterator[Problem]:
    """Let the SAM translator take it, and cfn-lint its answer: in SAM's own policies cfn-lint follows no reference."""
    try:
        translated = translate(path, REGION)
    except InvalidDocumentException as error:
        for cause in error.causes:
            yield Problem("template.yaml", "", f"the SAM translator refuses it: {cause.message}")
        return
    except Exception as error:  # the translator lets plain KeyErrors out of odd templates
        yield Problem("template.yaml", "", f"the SAM translator refuses it: {type(error).__name__}: {error}")
        return
    for match in lint(json.dumps(translated)):
        place = "/" + "/".join(map(str, match.path or []))
        yield Problem("template.yaml", f"translated, {place}", f"{match.message} ({match.rule.id})")


def _check_machines(root: Path, resources: dict[str, Any], machines: list[Path]) -> Iterator[Problem]:
    named = set()
    for logical, resource in resources.items():
        if resource["Type"] != "AWS::Serverless::StateMachine":
            continue
        place, properties = f"/Resources/{logical}", resource["Properties"]
        path = root / properties.get("DefinitionUri", "")
        if not path.is_file():
            yield Problem("template.yaml", place, f"there is no file {properties.get('DefinitionUri')}")
            continue
        named.add(path)
        given, used = set(properties.get("DefinitionSubstitutions", {})), substitutions(path)
        for name in sorted(used - given):
            yield Problem("template.yaml", place, f"{path.name} needs a substitution {name}, which is not given")
        for name in sorted(given - used):
            yield Problem("template.yaml", place, f"the substitution {name} is used nowhere in {path.name}")
    for path in machines:
        if path not in named:
            yield Problem(path.relative_to(root).as_posix(), "", "no resource of template.yaml is made from it")


def _check_handlers(root: Path, resources: dict[str, Any]) -> Iterator[Problem]:
    for logical, resource in resources.items():
        if resource["Type"] == "AWS::Serverless::Function":
            handler = resource["Properties"]["Handler"]
            module = "/".join(handler.split(".")[:-1])
            if not (root / "functions" / f"{module}.py").is_file():
                yield Problem("template.yaml", f"/Resources/{logical}", f"there is no file functions/{module}.py")


def routes(root: Path) -> set[str]:
    """Return the HTTP API's routes, as an event's `routeKey` names them."""
    found = set()
    for resource in yaml_parse((root / "template.yaml").read_text())["Resources"].values():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            if event["Type"] == "HttpApi":
                method, path = (event["Properties"].get(name) for name in ("Method", "Path"))
                found.add(f"{method.upper()} {path}" if path else "$default")
    return found
