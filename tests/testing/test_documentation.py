"""The examples of docs/testing.md are tests, run as they stand: each block of Python is executed here."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
_TEXT = DOCUMENT.read_text()
BLOCKS = list(re.finditer(r"^```python\n(.*?)^```", _TEXT, re.MULTILINE | re.DOTALL))

for _block in BLOCKS:
    _line = _TEXT.count("\n", 0, _block.start(1))  # so that a traceback names the document's own line
    exec(compile("\n" * _line + _block[1], str(DOCUMENT), "exec"), globals())  # noqa: S102 (our own document)


def test_the_document_has_five_examples_and_each_is_a_test() -> None:
    examples = [block for block in BLOCKS if "def test_" in block[1]]

    assert (len(BLOCKS), len(examples)) == (5, 5)
