"""The kernels and metrics against other tools; data/ORIGIN.md says which."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.state import fold
from rpx_seg import confusion
from rpx_seg.boundaries import boundary_band
from rpx_seg.classes import ClassOptions
from rpx_seg.metrics.panoptic import PanopticQuality
from rpx_seg.metrics.precision import MaskAveragePrecision
from rpx_seg.overlaps import count_pairs
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "seg_golden.json").read_text())
with np.load(DATA / "seg_golden.npz", allow_pickle=False) as _arrays:
    ARRAYS = dict(_arrays)

TOLERANCE = 1e-12


def by_id(table: dict[str, object]) -> dict[int, object]:
    return {int(key): value for key, value in table.items()}


def states(metric) -> list:
    return [
        metric.measure(
            Sample(f"s{number}"),
            SegmentationGroundTruth(ARRAYS[f"truth{number}"], by_id(scene["truth_labels"])),
            SegmentationPrediction(
                ARRAYS[f"prediction{number}"], by_id(scene["scores"]), by_id(scene["labels"])
            ),
        )
        for number, scene in enumerate(GOLDEN["scenes"])
    ]


def check(got, want) -> None:
    for name, value in want.items():
        if value == -1:
            assert got[name] is None, name
        else:
            assert got[name] == pytest.approx(value, abs=TOLERANCE, rel=TOLERANCE), name


@pytest.mark.parametrize("kind", ["agnostic", "by_class"])
def test_panoptic_quality_is_that_of_panopticapi(kind):
    metric = PanopticQuality(ClassOptions(by_class=kind == "by_class"))
    check(metric.result(fold(states(metric))), GOLDEN["panoptic"][kind])


def test_panoptic_quality_of_each_image_is_that_of_panopticapi():
    metric = PanopticQuality(ClassOptions())
    for state, want in zip(states(metric), GOLDEN["panoptic"]["each"], strict=True):
        check(metric.result(state), want)


@pytest.mark.parametrize("kind", ["agnostic", "by_class"])
def test_average_precision_and_recall_are_those_of_pycocotools(kind):
    metric = MaskAveragePrecision(ClassOptions(by_class=kind == "by_class"))
    check(metric.result(fold(states(metric))), GOLDEN["coco"][kind])


def test_confusion_and_iou_are_those_of_scikit_learn():
    pairs = count_pairs(ARRAYS["classes"], ARRAYS["answers"])
    table = confusion.tabulate(pairs, range(6))
    assert table.matrix.tolist() == GOLDEN["semantic"]["confusion"]
    np.testing.assert_allclose(confusion.iou(table), GOLDEN["semantic"]["iou"], rtol=TOLERANCE)


def test_bands_are_as_wide_as_those_of_boundary_iou():
    for number, pixels in enumerate(GOLDEN["band_pixels"]):
        band = boundary_band(ARRAYS[f"prediction{number}"])
        got = {str(i): int(np.count_nonzero(band == i)) for i in map(int, pixels)}
        assert got == pixels
