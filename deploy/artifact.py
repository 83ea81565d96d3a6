"""Make a function's artifact: `sam build` calls this for each function, by functions/Makefile.

Every artifact is the same: one tree is made, and linked into each. `sam deploy` uploads a content once, whatever number
of functions have it (docs/decisions/029-artifacts-and-cold-start.md).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess  # nosec B404 # (pip and the compiler of Python alone)
import sys
from pathlib import Path

from deploy.left_out import leave_out
from deploy.target import FUNCTIONS, PLATFORMS, REQUIREMENTS, ROOT, RUNTIME

TREES = ROOT / ".aws-sam" / "trees"


def make_artifact(artifact: Path) -> None:
    """Fill a function's folder: the code of functions/ and its dependencies."""
    shutil.copytree(_tree(), artifact, copy_function=os.link, dirs_exist_ok=True)


def _tree() -> Path:
    """Return the tree of this code and these dependencies, made if it is new."""
    code = [path for path in sorted(FUNCTIONS.rglob("*")) if _is_deployed(path)]
    compiler = shutil.which(os.environ.get("RUNTIME_PYTHON") or RUNTIME)
    tree = TREES / _digest([*code, REQUIREMENTS, *sorted(Path(__file__).parent.glob("*.py"))], str(compiler))
    if not tree.exists():
        shutil.rmtree(TREES, ignore_errors=True)
        begun = tree.with_suffix(".begun")
        _install(begun)
        leave_out(begun)
        for path in code:
            (begun / path.relative_to(FUNCTIONS)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, begun / path.relative_to(FUNCTIONS))
        _compile(begun, compiler)
        begun.rename(tree)
    return tree


def _is_deployed(path: Path) -> bool:
    return path.is_file() and path.parent != FUNCTIONS and "__pycache__" not in path.parts


def _digest(files: list[Path], compiler: str) -> str:
    content = hashlib.sha256(compiler.encode())
    for path in files:
        content.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return content.hexdigest()[:16]


def _install(tree: Path) -> None:
    """Install the runtime's wheels, which any Python's pip can do: it runs nothing of them."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += ["--require-hashes", "--no-deps", "--only-binary=:all:", "--implementation=cp", "--python-version=3.13"]
    command += [f"--platform={platform}" for platform in PLATFORMS]
    command += [f"--target={tree}", f"--requirement={REQUIREMENTS}"]
    subprocess.run(command, check=True)  # noqa: S603 # nosec B603 # (no word of it comes from outside)


def _compile(tree: Path, compiler: str | None) -> None:
    """Compile for the runtime, where its Python is at hand: Lambda cannot keep what it compiles at a cold start.

    By content, not by time: nobody keeps the times of files.
    """
    how = ["-q", "-j0", "--invalidation-mode=unchecked-hash", f"-s{tree}", "-p/var/task", str(tree)]
    done = False
    if compiler is not None:
        command = [compiler, "-m", "compileall", *how]
        done = subprocess.run(command, check=False).returncode == 0  # noqa: S603 # nosec B603 # (as above)
    print(
        "bytecode:", f"by {compiler}" if done else f"none, as no {RUNTIME} is at hand: slower cold starts", flush=True
    )


if __name__ == "__main__":
    make_artifact(Path(sys.argv[1]))
