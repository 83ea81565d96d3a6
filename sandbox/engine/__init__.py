"""An interpreter of the Amazon States Language (JSONPath), on the sandbox's scheduler."""

from sandbox.engine.engine import Engine, StateMachine
from sandbox.engine.errors import InvalidDefinition
from sandbox.engine.executions import Execution
from sandbox.engine.integrations import Integrations, TaskFailed
from sandbox.engine.timing import Timing
from sandbox.engine.validate import validate

__all__ = [
    "Engine",
    "Execution",
    "Integrations",
    "InvalidDefinition",
    "StateMachine",
    "TaskFailed",
    "Timing",
    "validate",
]
