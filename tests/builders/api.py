"""Every operation of the OpenAPI document, with a request that its owner could make."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.campaign_ids import own_id

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs" / "openapi.json").read_text())

# What goes into the addresses: things of account "acme".
NAMES = {
    "campaign_id": own_id("acme", "renewals"),
    "account_id": "acme",
    "name": "shared",
    "key_id": "customer",
    "lead_no": "1",
}
BODIES: dict[str, dict[str, Any]] = {
    "create": {"name": "Another", "message": "Hi"},
    "import_": {"phone_numbers": ["+12025550199"]},
    "import_carrier_table": {"carriers": [{"phone_number": "+12025550199", "carrier": "Verizon"}]},
    "create_one_account": {"account_id": "another"},
    "patch_account": {"name": "Changed"},
    "change_own_account": {"webhook_url": "https://hooks.customer.example/paceline"},
    "add_credits": {"credits": 5},
    "set_route": {"name": "shared", "parts_per_minute": 1},
    "patch_route": {"parts_per_minute": 1},
    "weigh": {"weight": 10},
    "make_key": {"account_id": "acme"},
    "reveal": {"reason": "a complaint of the customer"},
}


@dataclass(frozen=True)
class Operation:
    """One method of one path. names: what its address takes."""

    operation_id: str
    method: str
    path: str
    names: tuple[str, ...]
    definition: dict[str, Any]

    def address(self, **other: str) -> str:
        return self.path.format_map(NAMES | other)

    @property
    def body(self) -> dict[str, Any] | None:
        return BODIES[self.operation_id] if "requestBody" in self.definition else None


def operations() -> list[Operation]:
    """Return every operation of the document."""
    return [
        Operation(
            definition["operationId"],
            method.upper(),
            path,
            tuple(p["name"] for p in definition.get("parameters", []) if p["in"] == "path"),
            definition,
        )
        for path, methods in DOCUMENT["paths"].items()
        for method, definition in methods.items()
    ]
