"""The fields of ASL: which belong to what, and which the sandbox does not run."""

from __future__ import annotations

MACHINE = {"Comment", "StartAt", "States", "Version", "TimeoutSeconds", "QueryLanguage"}
PROCESSOR = {"Comment", "StartAt", "States", "ProcessorConfig", "QueryLanguage"}
BRANCH = {"Comment", "StartAt", "States", "QueryLanguage"}

_ALL = {"Type", "Comment", "QueryLanguage"}
_PATHS = {"InputPath", "OutputPath"}
_FLOW = {"Next", "End"}
_RESULT = {"Parameters", "ResultPath"}
_ERRORS = {"ResultSelector", "Retry", "Catch"}
_TIMES = {"TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"}
_INLINE_MAP = {"ItemsPath", "ItemSelector", "ItemProcessor", "Iterator", "MaxConcurrency", "MaxConcurrencyPath"}
DISTRIBUTED_MAP = {
    "ItemReader", "ItemBatcher", "ResultWriter", "Label", "ToleratedFailureCount", "ToleratedFailureCountPath",
    "ToleratedFailurePercentage", "ToleratedFailurePercentagePath",
}  # fmt: skip

STATES: dict[str, set[str]] = {
    "Pass": _ALL | _PATHS | _FLOW | _RESULT | {"Result"},
    "Task": _ALL | _PATHS | _FLOW | _RESULT | _ERRORS | _TIMES | {"Resource"},
    "Choice": _ALL | _PATHS | {"Choices", "Default"},
    "Wait": _ALL | _PATHS | _FLOW | {"Seconds", "SecondsPath", "Timestamp", "TimestampPath"},
    "Succeed": _ALL | _PATHS,
    "Fail": _ALL | {"Error", "ErrorPath", "Cause", "CausePath"},
    "Parallel": _ALL | _PATHS | _FLOW | _RESULT | _ERRORS | {"Branches"},
    "Map": _ALL | _PATHS | _FLOW | _RESULT | _ERRORS | _INLINE_MAP | DISTRIBUTED_MAP,
}
RETRIER = {
    "ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy", "Comment",
}  # fmt: skip
CATCHER = {"ErrorEquals", "Next", "ResultPath", "Comment"}
PROCESSOR_CONFIG = {"Mode", "ExecutionType", "Comment"}
READER = {"Resource", "ReaderConfig", "Parameters", "Comment"}
READER_CONFIG = {
    "InputType", "CSVHeaderLocation", "CSVHeaders", "CSVDelimiter", "MaxItems", "MaxItemsPath", "ItemsPointer",
    "Comment",
}  # fmt: skip
BATCHER = {
    "MaxItemsPerBatch", "MaxItemsPerBatchPath", "MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath", "BatchInput",
    "Comment",
}  # fmt: skip
WRITER = {"Resource", "Parameters", "Comment"}

UNSUPPORTED = {
    "Assign": "variables (Assign)",
    "Arguments": "JSONata (Arguments)",
    "Output": "JSONata (Output)",
    "Items": "JSONata (Items)",
    "Condition": "JSONata (Condition)",
    "Credentials": "Credentials",
    "WriterConfig": "WriterConfig",
}
"""Fields that AWS knows and the sandbox does not run: refused by name, never ignored."""
