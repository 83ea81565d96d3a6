"""What all executions of one engine share."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from sandbox.engine.integrations import Integrations
from sandbox.engine.timing import Timing
from sandbox.engine.tokens import TaskTokens
from sandbox.scheduler import Scheduler

if TYPE_CHECKING:
    from sandbox.engine.executions import Execution
    from sandbox.engine.map_runs import MapRun


class Runtime:
    """The clock, the outside world, the one generator of random numbers, and the registers.

    transitions: states entered, retries included (what AWS bills).
    watchers: called whenever a state is entered, with its execution and its name.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        integrations: Integrations,
        rng: random.Random,
        timing: Timing,
        account: str,
        region: str,
    ) -> None:
        self.scheduler = scheduler
        self.integrations = integrations
        self.rng = rng
        self.timing = timing
        self.account = account
        self.region = region
        self.transitions = 0
        self.watchers: list[Callable[[Execution, str], None]] = []
        self.executions: dict[str, Execution] = {}
        self.map_runs: dict[str, MapRun] = {}
        self.tokens = TaskTokens(scheduler, rng)

    def new_uuid(self) -> str:
        """Return a random-looking UUID that the seed determines."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def arn(self, kind: str, name: str) -> str:
        return f"arn:aws:states:{self.region}:{self.account}:{kind}:{name}"

    def transition(self) -> None:
        """Count a transition and let its time pass."""
        self.transitions += 1
        if (seconds := self.timing.transition()) > 0:
            self.scheduler.sleep(seconds)
