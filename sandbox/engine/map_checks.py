"""The checks of a Map: its processor's mode, reader, batcher, writer and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.engine import fields
from sandbox.engine.field_checks import check_fields, check_path, check_template, check_whole
from sandbox.engine.readers import DELIMITERS, INPUT_TYPES, MAXIMUM_ITEMS, READERS
from sandbox.engine.result_writer import WRITER

MAXIMUM_LABEL_LENGTH = 40
_MOST = 2**31 - 1


def check_map(state: dict[str, Any], where: str) -> Iterator[str]:
    processor = state.get("ItemProcessor", state.get("Iterator"))
    config = processor.get("ProcessorConfig", {}) if isinstance(processor, dict) else {}
    yield from check_fields(config, f"{where}/ItemProcessor/ProcessorConfig", fields.PROCESSOR_CONFIG)
    yield from check_path(state, "ItemsPath", where)
    yield from check_template(state, "ItemSelector", where)
    yield from check_whole(state, "MaxConcurrency", where, 0, _MOST, path_too=True)
    if config.get("Mode", "INLINE") == "DISTRIBUTED":
        yield from _check_distributed(state, config, where)
    elif config.get("Mode", "INLINE") != "INLINE":
        yield f"{where}/ItemProcessor/ProcessorConfig/Mode: must be INLINE or DISTRIBUTED"
    else:
        for name in sorted(fields.DISTRIBUTED_MAP & state.keys()):
            yield f"{where}/{name}: only a DISTRIBUTED Map has it"


def _check_distributed(state: dict[str, Any], config: dict[str, Any], where: str) -> Iterator[str]:
    kind = config.get("ExecutionType", "STANDARD")
    if kind != "STANDARD":
        yield f"{where}/ItemProcessor/ProcessorConfig/ExecutionType: {kind} is not supported by the sandbox"
    label = state.get("Label", "label")
    if not isinstance(label, str) or not 0 < len(label) <= MAXIMUM_LABEL_LENGTH:
        yield f"{where}/Label: has 1 to {MAXIMUM_LABEL_LENGTH} characters"
    yield from check_whole(state, "ToleratedFailureCount", where, 0, _MOST, path_too=True)
    yield from check_path(state, "ToleratedFailurePercentagePath", where)
    percentage = state.get("ToleratedFailurePercentage", 0)
    if isinstance(percentage, bool) or not isinstance(percentage, (int, float)) or not 0 <= percentage <= 100:
        yield f"{where}/ToleratedFailurePercentage: must be a number from 0 to 100"
    if "ItemReader" in state:
        yield from _check_reader(state["ItemReader"], f"{where}/ItemReader")
    if "ItemBatcher" in state:
        yield from _check_batcher(state["ItemBatcher"], f"{where}/ItemBatcher")
    if "ResultWriter" in state:
        yield from _check_writer(state["ResultWriter"], f"{where}/ResultWriter")


def _check_reader(reader: dict[str, Any], where: str) -> Iterator[str]:
    yield from check_fields(reader, where, fields.READER)
    if not isinstance(reader, dict):
        return
    if reader.get("Resource") not in READERS:
        yield f"{where}/Resource: {reader.get('Resource')!r} is not supported by the sandbox"
    yield from check_template(reader, "Parameters", where)
    config, here = reader.get("ReaderConfig", {}), f"{where}/ReaderConfig"
    yield from check_fields(config, here, fields.READER_CONFIG)
    yield from check_whole(config, "MaxItems", here, 0, MAXIMUM_ITEMS, path_too=True)
    if config.get("InputType", "JSON") not in INPUT_TYPES:
        yield f"{here}/InputType: {config['InputType']} is not supported by the sandbox, only {', '.join(INPUT_TYPES)}"
    if config.get("CSVDelimiter", "COMMA") not in DELIMITERS:
        yield f"{here}/CSVDelimiter: must be one of {', '.join(DELIMITERS)}"
    if config.get("CSVHeaderLocation", "FIRST_ROW") not in ("FIRST_ROW", "GIVEN"):
        yield f"{here}/CSVHeaderLocation: must be FIRST_ROW or GIVEN"
    if config.get("CSVHeaderLocation") == "GIVEN" and not isinstance(config.get("CSVHeaders"), list):
        yield f"{here}/CSVHeaders: is missing"


def _check_batcher(batcher: dict[str, Any], where: str) -> Iterator[str]:
    yield from check_fields(batcher, where, fields.BATCHER)
    yield from check_template(batcher, "BatchInput", where)
    for name in ("MaxItemsPerBatch", "MaxInputBytesPerBatch"):
        yield from check_whole(batcher, name, where, 1, _MOST, path_too=True)
    if not any(name.startswith("Max") for name in batcher):
        yield f"{where}: MaxItemsPerBatch or MaxInputBytesPerBatch is needed"


def _check_writer(writer: dict[str, Any], where: str) -> Iterator[str]:
    yield from check_fields(writer, where, fields.WRITER)
    if isinstance(writer, dict) and writer.get("Resource") != WRITER:
        yield f"{where}/Resource: {writer.get('Resource')!r} is not supported by the sandbox"
    yield from check_template(writer, "Parameters", where)
