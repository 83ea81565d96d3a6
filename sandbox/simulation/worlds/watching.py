"""What is watched at every instant: an account's credits, after each write of its row."""

from __future__ import annotations

from paceline import keys
from sandbox.dynamodb import Call
from sandbox.world import Sandbox


class CreditWatch:
    """Looks at an account's row after each call that wrote it. found: what did not hold, in words, each once."""

    def __init__(self, world: Sandbox, account_ids: list[str]) -> None:
        self._world = world
        self._table = world.outputs["TableName"]
        self._rows = {keys.account(account_id): account_id for account_id in account_ids}
        self.found: dict[str, None] = {}
        world.counters.watchers.append(self._look)

    def _look(self, call: Call) -> None:
        for access in call.keys:
            account_id = self._rows.get((str(access.pk), str(access.sk)))
            if account_id is not None and access.action in ("Update", "Put"):
                self._check(account_id)

    def _check(self, account_id: str) -> None:
        pk, sk = keys.account(account_id)
        item = self._world.dynamodb.peek(self._table, {"pk": {"S": pk}, "sk": {"S": sk}}) or {}
        names = ("available", "reserved", "consumed", "bought")
        counts = {name: int(item.get(name, {"N": "0"})["N"]) for name in names}
        available, reserved, consumed, bought = counts.values()
        said = f"{available} available, {reserved} reserved, {consumed} consumed of {bought} bought"
        if min(available, reserved, consumed) < 0:
            self.found.setdefault(f"the credits of {account_id} were below zero: {said}")
        if available + reserved + consumed != bought:
            self.found.setdefault(f"the credits of {account_id} did not add up: {said}")
