"""Which skeletons there are, and for which tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

CORE = "rpx-core"

TASKS: Mapping[str, str] = MappingProxyType(
    {
        "monocular_depth": "rpx-depth",
        "object_segmentation": "rpx-seg",
        "object_detection": "rpx-detection",
    }
)
"""The tasks that skeletons are written for, and the distributions that own them."""


@dataclass(frozen=True)
class Skeleton:
    """One kind of plugin.

    `tasks` are those that there are templates for, the default first; none where the kind is not
    for one. `computes` when the code is made of arrays and options, `imports_task` when it uses
    types or names of the task's own package; `tests_with` are what only its tests need.
    """

    kind: str
    summary: str
    description: str
    usage: str
    tasks: tuple[str, ...] = tuple(TASKS)
    computes: bool = True
    imports_task: bool = True
    tests_with: tuple[str, ...] = ()


_ALL = (
    Skeleton(
        "model",
        "a baseline that you edit into your model",
        "The model {name} for {task}",
        "rpx run --task {task} --model {name}",
    ),
    Skeleton(
        "metric",
        "a metric with a mergeable state",
        "The metric {name} for {task}",
        "rpx run --task {task} --set 'metrics.{snake}=\"{name}\"'",
    ),
    Skeleton(
        "adapter",
        "from functions of a certain form to models",
        "The adapter {name} for {task}",
        "rpx run --task {task} --model my_model.py:predict --set 'adapter=\"{name}\"'",
    ),
    Skeleton(
        "dataset",
        "data under a name, here drawn, so that it runs anywhere",
        "The dataset {name} for {task}",
        "rpx run --task {task} --data {name}",
        imports_task=False,
    ),
    Skeleton(
        "protocol",
        "a versioned choice of options and metrics",
        "The protocol {name} for {task}",
        "rpx run --set 'protocol=\"{name}\"'",
        computes=False,
    ),
    Skeleton(
        "reporter",
        "a report format",
        "The report format {name}",
        "rpx run && rpx report runs/* --as {name}",
        tasks=(),
        computes=False,
        imports_task=False,
        tests_with=("rpx-depth>=0.1,<0.2",),
    ),
    Skeleton(
        "task",
        "a whole task: types, loader, metric, baseline, adapter, data",
        "The task {snake}",
        "rpx run --task {snake} --data {name}-demo",
        tasks=(),
        imports_task=False,
    ),
)
KINDS: Mapping[str, Skeleton] = MappingProxyType({one.kind: one for one in _ALL})


def templates(folder: str) -> Traversable:
    """A folder of templates, which may not be there."""
    return resources.files(__package__ or __name__).joinpath(folder)
