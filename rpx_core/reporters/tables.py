"""Tables as CSV or Parquet: `per_sample`, `cells`, one for each further unit, and counts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from rpx_core.errors import ConfigError
from rpx_core.report import Results
from rpx_core.reporters.columns import Table, Value, build_tables
from rpx_core.reporters.counts import count_columns
from rpx_core.reporters.formatting import reveal

# A spreadsheet runs a cell that starts so; it reads the full-width forms as the plain ones.
_FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def render_csv(results: Results) -> Mapping[str, bytes]:
    """One CSV file per table, UTF-8; floats round-trip, an undefined value is an empty cell.

    Text that a spreadsheet would run as a formula gets a leading apostrophe; control characters
    are written as escapes.
    """
    return {f"{table.name}.csv": _write_csv(table) for table in _tables(results)}


def render_parquet(results: Results) -> Mapping[str, bytes]:
    """One Parquet file per table, typed; raises ConfigError when pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(
            "the parquet report needs pyarrow, which is not installed",
            hint='pip install "rpx-core[parquet]"',
        ) from error
    return {f"{table.name}.parquet": _write_parquet(table, pyarrow) for table in _tables(results)}


def _tables(results: Results) -> tuple[Table, ...]:
    return (*build_tables(results), *count_columns(results.report))


def _write_csv(table: Table) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([_cell(column.name) for column in table.columns])
    writer.writerows(
        [_cell(value) for value in row]
        for row in zip(*(column.values for column in table.columns), strict=True)
    )
    return stream.getvalue().encode()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = reveal(value)
        return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
    return repr(value)


def _write_parquet(table: Table, pyarrow: Any) -> bytes:
    types = {
        "text": pyarrow.string(),
        "integer": pyarrow.int64(),
        "real": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
    }
    arrays = [pyarrow.array(column.values, types[column.kind]) for column in table.columns]
    names = [column.name for column in table.columns]
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, names=names), stream)
    return stream.getvalue()
