"""An interpreter of the Amazon States Language (JSONPath), on the sandbox's scheduler.

To read it: engine.py (the API) → lifecycle.py (one execution) → compiler.py → states/base.py (one visit to a state) →
states/ (what each type does) → pool.py (many lines at once). Every execution, branch and iteration is a task of the
scheduler that runs plain sequential code; whatever takes time sleeps there.

Not run, and refused by name: JSONata, Assign, EXPRESS machines and children, Credentials, WriterConfig, CSV manifests
and Parquet as items, activities, and integrations other than lambda:invoke (also with a task token) and
events:putEvents.
"""

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
