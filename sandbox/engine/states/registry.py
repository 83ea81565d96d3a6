"""The state types by their names in ASL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.engine.states.base import State
from sandbox.engine.states.distributed_map import DistributedMapState
from sandbox.engine.states.inline_map import InlineMapState
from sandbox.engine.states.maps import item_processor
from sandbox.engine.states.parallel import ParallelState
from sandbox.engine.states.simple import ChoiceState, FailState, PassState, SucceedState
from sandbox.engine.states.task import TaskState
from sandbox.engine.states.wait import WaitState


def _map_state(name: str, fields: dict[str, Any]) -> State:
    mode = item_processor(fields).get("ProcessorConfig", {}).get("Mode", "INLINE")
    return (DistributedMapState if mode == "DISTRIBUTED" else InlineMapState)(name, fields)


STATE_TYPES: dict[str, Callable[[str, dict[str, Any]], State]] = {
    "Pass": PassState,
    "Task": TaskState,
    "Choice": ChoiceState,
    "Wait": WaitState,
    "Succeed": SucceedState,
    "Fail": FailState,
    "Parallel": ParallelState,
    "Map": _map_state,
}
