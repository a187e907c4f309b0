"""What samples a task makes of the frames of a sequence, asked where its code may raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpx_core.contracts import Task
from rpx_core.errors import PluginError, kind_of
from rpx_core.files import Files
from rpx_core.isolation import call_plugin
from rpx_core.records import Record


def arrange(task: Task[Any, Any], frames: Sequence[Record], files: Files) -> list[Record]:
    """The records of a sequence's samples; whatever the task raises becomes one RPXError."""
    doing = f"{type(task).__qualname__}.arrange"
    records = call_plugin(doing, lambda: list(task.arrange(frames, files)))
    for one in records:
        if not isinstance(one, Record):
            raise PluginError(
                f"{doing} gave {kind_of(one)}; records were expected",
                hint="return records of the sequence, or dataclasses.replace() of them",
            )
    return records
