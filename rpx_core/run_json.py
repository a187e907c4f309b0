"""`run.json`: the record of a run in its directory, written once and checked when it is read."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from rpx_core.atomic import write_atomic
from rpx_core.documents import read_json, to_pretty_json
from rpx_core.errors import ConfigError, JournalError
from rpx_core.files import MEBIBYTE, quote, read_file
from rpx_core.identity import digest
from rpx_core.report import RunRecord
from rpx_core.stored_inputs import check_inputs, check_names

RECORD_LIMIT = 64 * MEBIBYTE
"""Bytes of a `run.json`."""


def read_record(directory: Path) -> RunRecord:
    """The record of a run directory; raises ConfigError when it is not one."""
    path = directory / "run.json"
    if not os.path.lexists(path):
        raise ConfigError(
            f"{directory} is not a run directory: {path.name} is missing",
            hint="a run directory holds run.json and journal/",
        )
    return _parse_record(read_json(path, error=ConfigError, limit=RECORD_LIMIT), str(path))


def write_record(directory: Path, record: RunRecord) -> None:
    """Write run.json, the same bytes whoever writes it; raises what `check_record` does."""
    write_atomic(directory / "run.json", check_record(directory, record))


def check_record(directory: Path, record: RunRecord) -> bytes:
    """What run.json is to hold.

    Raises ConfigError for what could not be read again, before any work is done, and JournalError
    where a run.json is there that says something else.
    """
    content = to_pretty_json(record.model_dump(mode="json", by_alias=True))
    path = directory / "run.json"
    source = "the record of this run"
    _parse_record(read_json(content, source=source, error=ConfigError, limit=RECORD_LIMIT), source)
    if os.path.lexists(path) and _read_present(path) != content:
        raise JournalError(
            f"{path} describes another run", hint="choose another --output, or pass --fresh"
        )
    return content


def _parse_record(document: object, source: str) -> RunRecord:
    try:
        record = RunRecord.model_validate(document)
    except ValidationError as error:
        raise ConfigError(
            f"{source}: not the record of a run by this version of rpx",
            hint="run the evaluation again with --fresh",
        ) from error
    check_names(record, source)
    check_inputs(record.inputs, source)
    if digest(record.inputs) != record.identity:
        raise ConfigError(
            f"{source} was edited: its identity is not that of its inputs",
            hint="run the evaluation again; its settings make another run",
        )
    if not record.name.endswith(f"-{record.identity[:8]}"):
        raise ConfigError(
            f"{source} was edited: its name {quote(record.name)} is not that of its identity",
            hint=f"the name of this run ends with -{record.identity[:8]}",
        )
    return record


def _read_present(path: Path) -> bytes:
    return read_file(path, source=str(path), limit=RECORD_LIMIT, error=JournalError)
