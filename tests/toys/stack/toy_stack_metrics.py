from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rpx_core.contracts import Output, Unit
from rpx_core.state import Sum as Added


@dataclass(frozen=True)
class Total:
    total: Added
    count: Added


class Differences:
    version = "1"
    unit = Unit.SAMPLE
    State = Total
    outputs: ClassVar = {"mean": Output(better="lower", best=0.0)}

    def measure(self, sample, truth, prediction):
        value = next(iter(vars(prediction).values()))
        return Total(float(np.abs(value - truth).sum()), value.size)

    def result(self, state):
        return {"mean": float(state.total / state.count)}


class Sum:
    """The mean label plus the mean depth; has no pictures."""

    version = "1"
    unit = Unit.STACK
    State = Total
    outputs: ClassVar = {"level": Output(better="lower", best=0.0)}

    def measure(self, sample, answers):
        masks, depth = answers.values()
        assert list(answers) == ["object_segmentation", "monocular_depth"]
        level = masks.prediction.mask.mean() + depth.prediction.depth_map.mean()
        return Total(float(level), 1)

    def result(self, state):
        return {"level": float(state.total / state.count)}
