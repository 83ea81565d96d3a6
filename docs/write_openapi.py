"""Write docs/openapi.json from the API's code: `make openapi`. A test holds the file to the code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "openapi.json"


def document() -> str:
    """Return the document as the API serves it. Nothing of AWS is asked: the settings only have to be there."""
    sys.path[:0] = [str(ROOT / "functions")]
    names = ("TABLE_NAME", "BUCKET_NAME", "BUS_NAME", "PROVIDER_SECRET_NAME")
    os.environ.update({name: "unused" for name in names} | {"POWERTOOLS_LOG_LEVEL": "ERROR"})
    from api.app import app
    from api.document import document_of

    return document_of(app)


if __name__ == "__main__":
    FILE.write_text(document())
