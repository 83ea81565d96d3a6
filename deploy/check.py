"""Check what `sam build` made, as `make build` does. Exit status 1, and what is wrong, unless all can be deployed."""

from __future__ import annotations

import ast
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from samtranslator.yaml_helper import yaml_parse

from deploy.left_out import is_left_out
from deploy.target import BUILT, BYTECODE, GLIBC, PYTHON, REQUIREMENTS

MOST_ZIPPED = 50_000_000  # bytes: Lambda's limit for a file that is uploaded by itself
MOST_UNZIPPED = 250_000_000  # and for what it unpacks to
AARCH64 = 183  # e_machine of an ELF file
EXTENSION = re.compile(rf"\.(cpython-{PYTHON[0]}{PYTHON[1]}-aarch64-linux-gnu|abi3)\.so$")


def complaints_of(artifact: Path, handler: str) -> Iterator[str]:
    """Yield what is wrong with a function's artifact. handler: its name in the template."""
    for path in sorted(artifact.rglob("*")):
        name = path.relative_to(artifact).as_posix()
        if path.is_file():
            yield from (f"{name}: {complaint}" for complaint in _of_file(path))
            if is_left_out(path.relative_to(artifact)):
                yield f"{name}: nothing at run time needs it"
    yield from _of_handler(artifact, handler)
    yield from _of_dependencies(artifact)


def _of_file(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        head = file.read(20)
    if head.startswith(b"\x7fELF"):
        if int.from_bytes(head[18:20], "little") != AARCH64:
            yield "is not for arm64"
        if not EXTENSION.search(path.name):
            yield "is an extension of another Python"
    elif path.suffix in (".so", ".pyd", ".dll", ".dylib", ".exe"):
        yield "is no Linux binary"
    if path.suffix == ".pyc" and not head.startswith(BYTECODE):
        yield "is bytecode of another Python"
    if path.name == "WHEEL":
        yield from (f"is a wheel for {tag}" for tag in _tags(path) if not _runs(tag))


def _tags(wheel: Path) -> list[str]:
    return re.findall(r"^Tag: \S+-\S+-(\S+)$", wheel.read_text(), re.MULTILINE)


def _runs(platform: str) -> bool:
    """Whether a wheel's platform is the runtime's: any, or a glibc that is old enough."""
    found = re.fullmatch(r"manylinux_(\d+)_(\d+)_aarch64", platform)
    return platform in ("any", "manylinux2014_aarch64") or (
        found is not None and (int(found[1]), int(found[2])) <= GLIBC
    )


def _of_handler(artifact: Path, handler: str) -> Iterator[str]:
    *module, name = handler.split(".")
    path = artifact.joinpath(*module).with_suffix(".py")
    if not path.is_file() or not (path.parent / "__init__.py").is_file():
        yield f"{handler}: there is no such module"
    elif name not in {n.name for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)}:
        yield f"{handler}: its module has no such function"


def _of_dependencies(artifact: Path) -> Iterator[str]:
    """Compare what is installed with what is pinned."""
    pinned = set(re.findall(r"^(\S+)==(\S+)", REQUIREMENTS.read_text(), re.MULTILINE))
    folders = [path.name.removesuffix(".dist-info").rsplit("-", 1) for path in artifact.glob("*.dist-info")]
    installed = {(re.sub(r"[-_.]+", "-", name).lower(), version) for name, version in folders}
    yield from (f"{name} {version} is missing" for name, version in sorted(pinned - installed))
    yield from (f"{name} {version} is not in requirements.txt" for name, version in sorted(installed - pinned))


def zipped_size(artifact: Path) -> int:
    """Return how many bytes the artifact has when it is zipped as `sam package` does."""
    with TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in (path for path in artifact.rglob("*") if path.is_file()):
                archive.writestr(path.relative_to(artifact).as_posix(), path.read_bytes())
        return file.seek(0, 2)


def handlers_of(template: Path) -> dict[str, str]:
    """Return the handler of every function in a template, by the function's name there."""
    resources = yaml_parse(template.read_text())["Resources"]
    functions = {name: r["Properties"] for name, r in resources.items() if r["Type"] == "AWS::Serverless::Function"}
    return {name: properties["Handler"] for name, properties in functions.items()}


def main() -> int:
    """Print a line for each function, and then what is wrong."""
    wrong = []
    for function, handler in handlers_of(BUILT / "template.yaml").items():
        artifact = BUILT / function
        zipped = zipped_size(artifact)
        unzipped = sum(path.stat().st_size for path in artifact.rglob("*") if path.is_file())
        bytecode = "bytecode" if any(artifact.rglob("*.pyc")) else "no bytecode"
        print(f"{function:24}{zipped / 1e6:6.1f} MB zipped{unzipped / 1e6:7.1f} MB unzipped, {bytecode}")
        wrong += [f"{function}: {complaint}" for complaint in complaints_of(artifact, handler)]
        if zipped > MOST_ZIPPED or unzipped > MOST_UNZIPPED:
            wrong.append(f"{function}: Lambda takes {MOST_ZIPPED} bytes zipped, {MOST_UNZIPPED} unzipped")
    print("\n".join(wrong) or "Every artifact can be deployed.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
