"""The JSON Schema of report.json. `python -m paceline.report.schema > report.schema.json` writes it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from paceline.report.model import Report

SCHEMA_PATH = Path(__file__).with_name("report.schema.json")


def schema_text() -> str:
    """Return the schema (draft 2020-12) of what `Report.model_dump(mode="json", by_alias=True)` gives, as committed."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Paceline outcome report"}
    return json.dumps(head | {k: v for k, v in schema.items() if k != "title"}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
