"""The check of what `sam build` made, on made-up trees. The build itself, `make build`, needs a package registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.check import complaints_of, handlers_of, zipped_size
from deploy.left_out import SERVICES, leave_out
from deploy.requirements import needed, pinned
from deploy.target import ROOT

ELF = b"\x7fELF\x02\x01\x01" + bytes(11)
ARM64, X86 = ELF + (183).to_bytes(2, "little"), ELF + (62).to_bytes(2, "little")
Spoil = Callable[[Path], object]


def write(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """A made-up artifact of the sender, with which nothing is wrong."""
    pins = pinned()
    for name in needed():
        version = pins[name].split()[0].split("==")[1]
        write(tmp_path / f"{name.replace('-', '_')}-{version}.dist-info" / "WHEEL", b"Tag: py3-none-any\n")
    write(tmp_path / "send" / "__init__.py")
    write(tmp_path / "send" / "app.py", b"def lambda_handler(event, context): ...\n")
    write(tmp_path / "send" / "__pycache__" / "app.cpython-313.pyc", bytes([0xF3, 0x0D]) + b"\r\n")
    write(tmp_path / "rpds" / "rpds.cpython-313-aarch64-linux-gnu.so", ARM64)
    return tmp_path


def test_an_artifact_in_order_has_no_complaint(artifact: Path) -> None:
    assert list(complaints_of(artifact, "send.app.lambda_handler")) == []


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        pytest.param(lambda a: write(a / "x.cpython-313-aarch64-linux-gnu.so", X86), "is not for arm64", id="x86"),
        pytest.param(
            lambda a: write(a / "x.cpython-311-aarch64-linux-gnu.so", ARM64), "extension of another Python", id="3.11"
        ),
        pytest.param(lambda a: write(a / "x.dylib", b"\xcf\xfa\xed\xfe"), "is no Linux binary", id="of a Mac"),
        pytest.param(
            lambda a: write(a / "send" / "__pycache__" / "app.cpython-311.pyc", b"\xa7\r\r\n"),
            "is bytecode of another Python",
            id="bytecode of 3.11",
        ),
        pytest.param(
            lambda a: write(a / "x-1.dist-info" / "WHEEL", b"Tag: cp313-cp313-manylinux_2_39_aarch64\n"),
            "is a wheel for manylinux_2_39_aarch64",
            id="a newer glibc",
        ),
        pytest.param(
            lambda a: write(a / "x-1.dist-info" / "WHEEL", b"Tag: cp313-cp313-musllinux_1_2_aarch64\n"),
            "is a wheel for musllinux_1_2_aarch64",
            id="of Alpine",
        ),
        pytest.param(lambda a: write(a / "bin" / "jsonschema"), "nothing at run time needs it", id="a command"),
        pytest.param(
            lambda a: write(a / "referencing" / "tests" / "x.py"), "nothing at run time", id="a library's tests"
        ),
        pytest.param(lambda a: (a / "send" / "app.py").unlink(), "there is no such module", id="no handler's file"),
        pytest.param(lambda a: (a / "send" / "__init__.py").unlink(), "there is no such module", id="no package"),
        pytest.param(lambda a: write(a / "send" / "app.py"), "has no such function", id="no handler"),
        pytest.param(lambda a: write(a / "pip-26.3.dist-info" / "METADATA"), "pip 26.3 is not in", id="pip"),
        pytest.param(
            lambda a: next(a.glob("wrapt-*")).rename(a / "gone"), "is missing", id="a dependency that is not there"
        ),
    ],
)
def test_what_lambda_cannot_run_is_complained_of(artifact: Path, spoil: Spoil, complaint: str) -> None:
    spoil(artifact)

    assert complaint in "\n".join(complaints_of(artifact, "send.app.lambda_handler"))


def test_services_that_no_function_calls_are_left_out_of_botocore(tmp_path: Path) -> None:
    for service in SERVICES | {"ec2", "iam"}:
        write(tmp_path / "botocore" / "data" / service / "2026-01-01" / "service-2.json.gz")
    write(tmp_path / "botocore" / "data" / "partitions.json")
    write(tmp_path / "phonenumbers" / "geodata" / "data0.py")

    leave_out(tmp_path)

    assert {path.name for path in (tmp_path / "botocore" / "data").iterdir()} == SERVICES | {"partitions.json"}
    assert not (tmp_path / "phonenumbers" / "geodata").exists()


def test_every_function_of_the_template_is_looked_for() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}

    assert {handler.split(".")[0] for handler in handlers_of(ROOT / "template.yaml").values()} == folders


def test_the_size_is_that_of_the_zipped_file(tmp_path: Path) -> None:
    write(tmp_path / "a" / "zeros", bytes(1_000_000))

    assert 100 < zipped_size(tmp_path) < 2_000
