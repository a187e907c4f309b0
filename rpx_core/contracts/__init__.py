"""The contracts between the engine and plugins: samples, tasks, metrics, models.

Everything that they name is imported from here. At this boundary everything is numpy: `uint8` RGB
in HWC order, metres, radians, boxes as half-open `xyxy` floats, 3x3 rotations, OpenCV camera axes
(x right, y down, z forward), poses camera-to-world.
"""

from rpx_core.contracts.metric import (
    Aggregate,
    Answer,
    Better,
    CountTable,
    Metric,
    Output,
    PairMetric,
    ResultMap,
    SampleMetric,
    SequenceMetric,
    StackMetric,
    Undefined,
    Unit,
)
from rpx_core.contracts.model import Model, Runtime
from rpx_core.contracts.sample import (
    BlindSample,
    Difficulty,
    Frame,
    Phase,
    Sample,
    map_arrays,
    seal,
    withhold,
)
from rpx_core.contracts.task import Aligned, Picture, Task, TaskType

__all__ = [
    "Aggregate",
    "Aligned",
    "Answer",
    "Better",
    "BlindSample",
    "CountTable",
    "Difficulty",
    "Frame",
    "Metric",
    "Model",
    "Output",
    "PairMetric",
    "Phase",
    "Picture",
    "ResultMap",
    "Runtime",
    "Sample",
    "SampleMetric",
    "SequenceMetric",
    "StackMetric",
    "Task",
    "TaskType",
    "Undefined",
    "Unit",
    "map_arrays",
    "seal",
    "withhold",
]
