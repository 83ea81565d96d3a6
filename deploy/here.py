"""A function's artifact for the Python that runs this: the same code and packages, linked from where they are.

What is measured and started in it finds no package of the sandbox or of a test, as on Lambda: httpx alone imports
three more where it finds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from deploy.left_out import is_left_out
from deploy.requirements import needed
from deploy.target import FUNCTIONS


def make_tree_here(tree: Path) -> None:
    """Fill an empty folder. Needs no package registry."""
    link_packages(tree, needed())
    for path in FUNCTIONS.rglob("*"):
        if path.is_file():
            _link(tree / path.relative_to(FUNCTIONS), path)


def link_packages(tree: Path, names: Iterable[str]) -> None:
    """Link installed packages, without what is left out of an artifact."""
    for name in names:
        installed = distribution(name)
        for file in installed.files or []:
            if ".." not in file.parts and not is_left_out(file):  # "..": commands
                _link(tree.joinpath(*file.parts), Path(str(installed.locate_file(file))))


def _link(link: Path, target: Path) -> None:
    if target.exists():  # a record of what was installed names bytecode that may not be there
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
