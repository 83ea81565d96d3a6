"""People's programs as they should be: after a 5xx, or no answer, they ask again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sandbox.gateway import Answer
from sandbox.world import Sandbox

TRIES = 5
BETWEEN_TRIES = 3.0


@dataclass(frozen=True, slots=True)
class Client:
    """Calls the API from a task of the sandbox, with a key. tries: how often, until an answer is none of 5xx."""

    world: Sandbox
    key: str
    tries: int = TRIES

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask once."""
        sent = {"x-api-key": self.key, "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = b"" if body is None else json.dumps(body).encode()
        return self.world.network.request(method, f"{self.world.outputs['ApiUrl']}{path}", sent, content)

    def persist(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask until there is an answer that is none of 5xx, or the tries are spent; return the last one."""
        answer = self.ask(method, path, body, **headers)
        for _ in range(self.tries - 1):
            if answer.status < 500:
                break
            self.world.scheduler.sleep(BETWEEN_TRIES)
            answer = self.ask(method, path, body, **headers)
        return answer

    def read(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        """Return the answer's JSON, however it went."""
        read: dict[str, Any] = json.loads(self.persist(method, path, body, **headers).body or b"{}")
        return read
