"""Writes the contracts' schemas anew: `python -m paceline.contracts`."""

import json

from paceline.contracts import SCHEMAS
from paceline.contracts.models import all_contracts


def schema_text(schema: object) -> str:
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    for name, schema in all_contracts().items():
        path = SCHEMAS / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(schema_text(schema))
        print(path.relative_to(SCHEMAS))
