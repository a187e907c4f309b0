"""The metrics against TrackEval 1.3.0; `parity/tracking_golden.py` wrote the numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.state import fold
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.hota import Hota
from rpx_detection.tracking.metrics.identity import Identity
from rpx_detection.tracking.metrics.options import MatchingOptions, TrackingOptions
from rpx_detection.tracking.types import Tracklet, TrackletGroundTruth, TrackletPrediction

GOLDEN = json.loads((Path(__file__).parent / "data/tracking_golden.json").read_text())
METRICS = (Hota(TrackingOptions()), Clear(MatchingOptions()), Identity(MatchingOptions()))

MADE_UP = {"loca": 1.0, "loca_0": 1.0, "ml_ratio": 1.0}
"""What TrackEval answers where there is nothing to divide by, if not 0."""


def evidence(name):
    sequence = GOLDEN["sequences"][name]
    sides = [[[] for _ in range(sequence["frames"])] for _ in range(2)]
    for side, key in zip(sides, ("truth", "prediction"), strict=True):
        for frame, track, *box in sequence[key]:
            side[int(frame)].append(Tracklet(f"{int(track):05d}", np.array([box])))
    return [
        Frame(Sample(str(n)), TrackletGroundTruth(truth), TrackletPrediction(prediction))
        for n, (truth, prediction) in enumerate(zip(*sides, strict=True))
    ]


def check(values, expected):
    for name, value in expected.items():
        if values[name] is None:
            assert value == MADE_UP.get(name, 0.0), name
        else:
            assert values[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@pytest.mark.parametrize("name", GOLDEN["sequences"])
def test_a_sequence_scores_as_in_trackeval(name):
    frames = evidence(name)
    values = {}
    for metric in METRICS:
        values |= metric.result(metric.measure(frames))
    check(values, GOLDEN["sequences"][name]["expected"])


def test_pooled_sequences_score_as_combined_in_trackeval():
    combined = GOLDEN["combined"]
    values = {}
    for metric in METRICS:
        states = [metric.measure(evidence(name)) for name in combined["sequences"]]
        values |= metric.result(fold(states))
    check(values, combined["expected"])
    assert None not in values.values()
