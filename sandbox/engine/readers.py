"""ItemReader: the items of a Distributed Map, read from S3."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from sandbox.engine.errors import StateFailed
from sandbox.engine.executions import Branch
from sandbox.engine.integrations import TaskFailed
from sandbox.engine.states.maps import Number
from sandbox.engine.templates import compile_template

MAXIMUM_ITEMS = 100_000_000
READERS = ("arn:aws:states:::s3:getObject", "arn:aws:states:::s3:listObjectsV2")
INPUT_TYPES = ("CSV", "JSON", "JSONL")
DELIMITERS = {"COMMA": ",", "PIPE": "|", "SEMICOLON": ";", "SPACE": " ", "TAB": "\t"}


class ItemReaderFailed(StateFailed):
    def __init__(self, cause: str) -> None:
        super().__init__("States.ItemReaderFailed", cause)


class ItemReader:
    """The compiled ItemReader field."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.lists = fields["Resource"].endswith("listObjectsV2")
        self.parameters = compile_template(fields.get("Parameters", {}))
        self.config: dict[str, Any] = fields.get("ReaderConfig", {})
        self.max_items = Number(self.config, "MaxItems")

    def read(self, branch: Branch, data: Any) -> list[Any]:
        """Return the items. Raises: StateFailed States.ItemReaderFailed, StateRuntimeError."""
        maximum = self._maximum(branch, data)
        parameters = self.parameters(data, branch)
        try:
            return list(islice(self._items(branch, parameters), maximum))
        except TaskFailed as failure:
            raise ItemReaderFailed(failure.cause or failure.error) from None

    def _maximum(self, branch: Branch, data: Any) -> int:
        maximum = self.max_items.value(branch, data)
        if maximum is not None and maximum < 0:
            raise ItemReaderFailed("field MaxItems must be positive")
        return min(int(maximum or MAXIMUM_ITEMS), MAXIMUM_ITEMS)

    def _items(self, branch: Branch, parameters: dict[str, Any]) -> Iterable[Any]:
        integrations, role_arn = branch.runtime.integrations, branch.execution.role_arn
        bucket = _text(parameters, "Bucket")
        if self.lists:
            return integrations.list_objects(bucket, _text(parameters, "Prefix", ""), role_arn=role_arn)
        version = parameters.get("VersionId")
        body = integrations.get_object(bucket, _text(parameters, "Key"), role_arn=role_arn, version_id=version)
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ItemReaderFailed(f"The object is not UTF-8: {error}") from error
        return self._parsed(text)

    def _parsed(self, text: str) -> Iterable[Any]:
        input_type = self.config.get("InputType", "JSON")
        if input_type == "CSV":
            return _csv_items(text, self.config)
        if input_type == "JSONL":
            return _json_lines(text)
        return _json_items(text, self.config.get("ItemsPointer"))


def _text(parameters: dict[str, Any], name: str, default: str | None = None) -> str:
    value = parameters.get(name, default)
    if not isinstance(value, str):
        raise ItemReaderFailed(f"The parameter {name} must be a string")
    return value


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ItemReaderFailed(f"The object is not valid JSON: {error}") from error


def _json_items(text: str, pointer: str | None) -> list[Any]:
    value = _load(text)
    for name in (pointer or "").split("/")[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, list):
        raise ItemReaderFailed("Attempting to map over non-iterable node.")
    return value


def _json_lines(text: str) -> Iterator[Any]:
    return (_load(line) for line in text.splitlines() if line.strip())


def _csv_items(text: str, config: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield a row as an object of strings: missing fields are empty, extra ones dropped (recorded on AWS)."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITERS[config.get("CSVDelimiter", "COMMA")])
    headers: list[str] = config["CSVHeaders"] if config.get("CSVHeaderLocation") == "GIVEN" else next(rows, [])
    if len(set(headers)) != len(headers):
        raise ItemReaderFailed("CSV headers cannot contain duplicates.")
    return ({header: row[i] if i < len(row) else "" for i, header in enumerate(headers)} for row in rows if row)
