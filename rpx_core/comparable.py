"""Whether the numbers of two runs may stand beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpx_core.report import RunRecord


def find_differences(one: RunRecord, two: RunRecord) -> tuple[str, ...]:
    """What differs between two runs apart from the model; empty where they are comparable.

    Compared are the task, the data, the protocol, the alignment and the metrics, each with its
    options and version. The versions of the distributions that hold them may differ: a number
    never changes unless the version of its own metric moves.
    """
    first, second = _conditions(one), _conditions(two)
    return tuple(name for name in first if first[name] != second.get(name))


def _conditions(record: RunRecord) -> dict[str, Any]:
    inputs = record.inputs
    return {
        "task": (record.task, _without_version(inputs.get("task"))),
        "data": inputs.get("data"),
        "protocol": record.protocol,
        "alignment": inputs.get("align"),
        "metrics": {
            label: _without_version(metric) for label, metric in inputs.get("metrics", {}).items()
        },
        "primary number": record.primary,
    }


def _without_version(part: object) -> object:
    """A part as identified, without the version of its distribution."""
    if not isinstance(part, Mapping):
        return part
    return {key: value for key, value in part.items() if key != "version"}
