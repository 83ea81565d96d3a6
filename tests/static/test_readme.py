"""README.md and docs/ say what is there: paths, commands, options, and the picture of the workflow."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

from console.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), ROOT / "events" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "functions|statemachines|sandbox|console|tests|events|docs|bench|deploy"
PATH = re.compile(rf"`((?:{FOLDERS})/[^`\s<>…*|]*|[A-Za-z_.-]+\.(?:yaml|toml|lock|md))`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)\)")
PICTURE_COMMAND = ".venv/bin/python docs/draw_workflow.py"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_path_it_names_exists(document: Path) -> None:
    text = document.read_text()

    missing = [path for path in PATH.findall(text) if not _exists(document, path.partition("::")[0])]
    missing += [link for link in LINK.findall(text) if not (document.parent / link).exists()]

    assert not missing


ANCHOR = re.compile(r"\]\((?!https?:)([^)#]*)#([^)]+)\)")


def anchors_of(document: Path) -> set[str]:
    """Return the anchors that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_heading_it_leads_to_is_there(document: Path) -> None:
    for link, anchor in ANCHOR.findall(document.read_text()):
        assert anchor in anchors_of(document.parent / link if link else document), f"{link}#{anchor}"


def _exists(document: Path, path: str) -> bool:
    """A path from the top, or beside the document, or (keys.py) beside the rules."""
    folders = (ROOT, document.parent, ROOT / "functions" / "paceline")
    return any((folder / path).exists() for folder in folders)


def commands() -> list[tuple[Path, list[str]]]:
    """Return the words of every `paceline` command in a code block of a document."""
    found = [
        (document, line)
        for document in DOCUMENTS
        for line in re.findall(r"^ *(?:\.venv/bin/)?(paceline [a-z].*)$", code_of(document.read_text()), re.MULTILINE)
    ]
    return [(document, shlex.split(line, comments=True)[1:]) for document, line in found]


def code_of(text: str) -> str:
    """Return the lines of a document's code blocks, fenced or set in by four blanks after an empty line."""
    fenced = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    indented = re.findall(r"(?:^\n)((?: {4,}(?![-*|] ).*\n)+)", text, re.MULTILINE)
    return "\n".join([*fenced, *indented])


BARE_PYTHON = re.compile(
    r"(?<![\w/.-])python3? (?:docs|bench|events)/\S+\.py|^ {4}(?:docs|bench|events)/\w+\.py\b", re.MULTILINE
)


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "bench" / "README.md"], ids=name_of)
def test_a_script_is_started_with_the_python_that_has_its_packages(document: Path) -> None:
    assert BARE_PYTHON.findall(document.read_text()) == [], "write .venv/bin/python"


def options_of(name: str) -> set[str]:
    """Return the options of a command, and of the commands below it."""
    command = main.places[name].load()
    below = list(command.commands.values()) if isinstance(command, click.Group) else []
    parameters = [one for each in (command, *below) for one in each.get_params(click.Context(each))]
    return {option for one in parameters for option in (*one.opts, *one.secondary_opts)}


@pytest.mark.parametrize(("document", "words"), commands(), ids=lambda one: one.stem if isinstance(one, Path) else None)
def test_the_command_has_these_options(document: Path, words: list[str]) -> None:
    command = main.places[words[0]].load()

    rest = words[1:]
    if isinstance(command, click.Group) and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    with click.Context(command) as context:
        command.make_parser(context).parse_args(rest)  # Raises: click.NoSuchOption, where there is none such
    assert {word for word in words if word.startswith("--")} <= options_of(words[0])


INLINE = [
    (document, *found)
    for document in DOCUMENTS
    for found in re.findall(r"`paceline ([a-z-]+)\b([^`]*)`", document.read_text())
]


@pytest.mark.parametrize(
    ("document", "name", "rest"), INLINE, ids=lambda one: one.stem if isinstance(one, Path) else None
)
def test_a_command_that_a_sentence_names_is_there_with_its_options(document: Path, name: str, rest: str) -> None:
    assert name in main.places
    assert set(re.findall(r"--[a-z][a-z-]*", rest)) <= options_of(name)


def test_commands_are_found_in_the_readme_and_in_the_documents() -> None:
    assert {document.name for document, _ in commands()} >= {"README.md", "runbooks.md", "operations.md", "testing.md"}
    assert len(INLINE) > 40


def test_the_readme_names_every_command_of_the_cli() -> None:
    assert "`run`, `up`, `check`" in README.read_text()
    assert set(main.places) <= set(re.findall(r"`([\w-]+)`", README.read_text()))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"^ {4}make (\w+)", README.read_text(), re.MULTILINE))))
def test_the_makefile_has_the_target(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_every_lead_file_and_sample_in_a_command_exists() -> None:
    files = re.findall(r"(?<=[ @])events/[\w.-]+", README.read_text())

    assert files
    assert all((ROOT / file).exists() for file in files)


def test_the_api_paths_in_the_commands_are_routes_of_the_template() -> None:
    requests = re.findall(r"curl -s( -X \w+)? \"?\$API/([\w/-]+)", README.read_text())
    template = (ROOT / "template.yaml").read_text()

    assert len(requests) > 5
    for _, path in requests:
        named = path.replace("spring-renewals", "{campaign_id}").replace("accounts/acme", "accounts/{account_id}")
        assert f"/v1/{named}" in template


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_workflow", ROOT / "docs" / "draw_workflow.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_workflow_is_up_to_date(drawing: ModuleType) -> None:
    text = README.read_text()

    assert drawing.BLOCK.search(text)
    assert drawing.with_picture(text) == text, f"draw it anew: {PICTURE_COMMAND}"


def test_the_picture_has_every_state(drawing: ModuleType) -> None:
    picture = drawing.BLOCK.search(README.read_text())[0]
    names = re.findall(r'^\s+"([A-Z][^"]+)": \{\n\s+"Type":', drawing.DEFINITION.read_text(), re.MULTILINE)

    assert len(names) > 25
    assert [name for name in names if f"<b>{name}</b>" not in picture] == []


def test_every_function_in_the_picture_has_a_folder(drawing: ModuleType) -> None:
    picture = drawing.BLOCK.search(README.read_text())[0]
    folders = set(re.findall(r"</b> · ([a-z_]+)", picture))

    assert folders
    assert all((ROOT / "functions" / folder / "app.py").exists() for folder in folders)
