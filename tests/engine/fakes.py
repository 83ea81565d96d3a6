"""An AWS for the engine's tests: the one that people's own tests get, and when and as whom it was called."""

from __future__ import annotations

from sandbox.scheduler import Scheduler
from sandbox.testing.machines import FakeAWS


class FakeAws(FakeAWS):
    """A `FakeAWS` on the scheduler's clock.

    latency_seconds: of each function. call_times: the second at which each call began. roles: who called.
    """

    def __init__(self, scheduler: Scheduler, latency_seconds: float = 0.0) -> None:
        super().__init__({}, {})
        self.scheduler = scheduler
        self.latency_seconds = latency_seconds
        self.call_times: list[float] = []
        self.roles: set[str] = set()

    def invoke_function(self, function_name: str, payload: str, *, role_arn: str) -> str:
        self.call_times.append(self.scheduler.time())
        self.roles.add(role_arn)
        if self.latency_seconds:
            self.scheduler.sleep(self.latency_seconds)
        return super().invoke_function(function_name, payload, role_arn=role_arn)
