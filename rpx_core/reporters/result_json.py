"""The report itself as strict JSON: `result.json`."""

from __future__ import annotations

from collections.abc import Mapping

from rpx_core.documents import to_pretty_json
from rpx_core.report import Results


def render(results: Results) -> Mapping[str, bytes]:
    """`result.json`: every field of the report, in the order of the model, nothing rounded."""
    document = results.report.model_dump(mode="json", by_alias=True)
    return {"result.json": to_pretty_json(document)}
