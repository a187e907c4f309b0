"""Stack geometric coherence of masks with the depth that their samples carry."""

from __future__ import annotations

from typing import Any

import numpy as np

from rpx_core.coherence.metrics import Coherence, CoherenceOptions
from rpx_core.contracts import Answer, Frame, Sample, Task, TaskType, Undefined
from rpx_core.folds import average
from rpx_core.host import Host
from rpx_core.measure import evaluate
from rpx_core.parts import resolve_part
from rpx_core.published.readiness import StackGeometricCoherenceResult
from rpx_core.report import Row
from rpx_core.report.row import owner_of

_DEPTH = str(TaskType.MONOCULAR_DEPTH)
MASK_TASKS = frozenset({str(TaskType.OBJECT_SEGMENTATION), "semantic_segmentation"})


class DepthCoherence:
    """Compares the masks of scored frames with the depth of their samples, by `sgc` of `rpx-2`.

    The depth is `metadata["depth_map"]`, (H, W) metres, as published, else that of the ground
    truth; a sample without any says nothing. What depth is, is the depth task's to say.
    """

    def __init__(self, name: str, masks: Task[Any, Any], depth: Task[Any, Any]) -> None:
        self._name, self._masks, self._depth = name, masks, depth
        self._metric = Coherence(CoherenceOptions())
        self._values: list[dict[str, float | None]] = []

    @classmethod
    def open(cls, masks: str) -> DepthCoherence | None:
        """For masks of this task; None where no depth task is installed."""
        host = Host.discover()
        if all(offer.spec.name != _DEPTH for offer in host.offers("task").values()):
            return None
        return cls(masks, _build(host, masks), _build(host, _DEPTH))

    def take(self, row: Row, frame: Frame) -> None:
        """Measure one scored frame; called for each."""
        depth = _depth_of(frame.sample)
        boundary = self._masks.boundary(frame.prediction, frame.sample)
        if depth is None or boundary is None:
            return
        surface = _Surface(np.asarray(depth))
        jumps = self._depth.boundary(surface, frame.sample)
        if jumps is None:
            return
        answers = {
            self._name: Answer(frame.prediction, boundary),
            _DEPTH: Answer(surface, jumps),
        }
        state = self._metric.measure(frame.sample, answers)
        if not isinstance(state, Undefined):
            self._values.append(dict(evaluate(self._metric, state, owner=owner_of("sgc")).values))

    def result(self) -> StackGeometricCoherenceResult | None:
        """Means over the samples that have a value; None where none has."""
        sgc, precision, recall = (
            average([values[name] for values in self._values]).value
            for name in ("sgc", "precision", "recall")
        )
        if sgc is None or precision is None or recall is None:
            return None
        return StackGeometricCoherenceResult(sgc, precision, recall, len(self._values))


class _Surface:
    """A depth map in the form of the depth task's predictions."""

    def __init__(self, depth_map: Any) -> None:
        self.depth_map = depth_map


def _build(host: Host, task: str) -> Task[Any, Any]:
    built: Task[Any, Any] = resolve_part(host.find("task", task), {}, field_name="task").build()
    return built


def _depth_of(sample: Sample) -> Any | None:
    given = (sample.metadata or {}).get("depth_map")
    return given if given is not None else getattr(sample.ground_truth, "depth", None)
