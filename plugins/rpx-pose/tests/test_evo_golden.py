"""Trajectory errors against evo 1.38.1; where the numbers come from is in data/ORIGIN.md."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_pose.metrics.absolute import AteNone, AteOrigin, AteSe3, AteSim3
from rpx_pose.metrics.relative import RelativeError, RelativeErrorOptions
from rpx_pose.tasks.trajectory import TrajectoryOptions, TrajectoryTask
from rpx_pose.types import Trajectory, TrajectoryPrediction

DATA = Path(__file__).parent / "data"
CASES = {case["name"]: case for case in json.loads((DATA / "evo_golden.json").read_text())["cases"]}
with np.load(DATA / "evo_golden.npz", allow_pickle=False) as _arrays:
    INPUTS = dict(_arrays)
ALIGNMENTS = {"none": AteNone, "origin": AteOrigin, "se3": AteSe3, "sim3": AteSim3}
TOLERANCE = {"space": 1e-9, "keyframes": 1e-9, "plane": 1e-8}
"""The last bit of the map coordinates of `plane`, millions of metres, is 1e-9 m."""


def side(name: str, which: str) -> Trajectory:
    return Trajectory(INPUTS[f"{name}-{which}-poses"], INPUTS[f"{name}-{which}-timestamps"])


@pytest.fixture(params=list(CASES))
def recording(request) -> tuple[dict, Sample, TrajectoryPrediction]:
    truth = side(request.param, "truth")
    sample = Sample(request.param, ground_truth=truth)
    task = TrajectoryTask(TrajectoryOptions(max_difference_s=0.02))
    return CASES[request.param], sample, task.validate(side(request.param, "estimate"), sample)


def check(values: dict, case: dict, expected: dict) -> None:
    for unit, prefix in (("m", ""), ("deg", "rotation_")):
        for name, value in expected[unit].items():
            near = pytest.approx(value, abs=TOLERANCE[case["name"]])
            assert values[f"{prefix}{name}_{unit}"] == near, name


def test_association_finds_the_same_pairs(recording):
    case, _, prediction = recording
    assert len(prediction.indices) == case["associated"]


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_absolute_error_after_each_alignment(recording, alignment):
    case, sample, prediction = recording
    metric = ALIGNMENTS[alignment]()
    values = metric.result(metric.measure(sample, sample.ground_truth, prediction))
    check(values, case, case["ate"][alignment])


@pytest.mark.parametrize("step", ["frames-1", "frames-5-every", "metres-0.5"])
def test_relative_error_over_each_kind_of_step(recording, step):
    case, sample, prediction = recording
    expected = case["rpe"][step]
    metric = RelativeError(RelativeErrorOptions(**expected["options"]))
    values = metric.result(metric.measure(sample, sample.ground_truth, prediction))
    check(values, case, expected)
