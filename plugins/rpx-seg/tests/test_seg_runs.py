"""Whole runs from the command line, on a made-up recording."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.images import encode_png
from tests.commands import captions, numbers, rpx
from tests.dataset_folder import DatasetFolder

MODELS = """
import numpy as np

def halves(rgb):
    mask = np.zeros(rgb.shape[:2], np.int32)
    mask[:, rgb.shape[1] // 2:] = 4
    return mask

def colours(rgb):
    return rgb

def table(rgb):
    return np.full(rgb.shape[:2], 1, np.uint8)
"""
CLASSES = {"0": "unlabelled", "1": "table", "2": "mug"}


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    """A folder with two sequences of three frames, their manifest, and models."""
    root = tmp_path_factory.mktemp("work")
    data = DatasetFolder(root / "data")
    rng = np.random.default_rng(0)
    for sequence in ("walk", "stand"):
        for frame in range(3):
            masks = np.zeros((24, 32), np.uint16)
            masks[6:16, 4 + frame : 12 + frame], masks[8:20, 20:28] = 300, 7
            semantic = np.where(masks > 0, 2, 1).astype(np.uint8)
            semantic[:3] = 0
            rgb = rng.integers(0, 255, (24, 32, 3), dtype=np.uint8)
            for kind, image in {"rgb": rgb, "masks": masks, "semantic": semantic}.items():
                data.write(f"{kind}/{sequence}/{frame}.png", encode_png(image))
    (root / "data" / "classes.json").write_text(json.dumps(CLASSES))
    (root / "models.py").write_text(MODELS)
    rpx(root, "data", "index", "mask-folders", "data", "-o", "data/set.json")
    return root


def test_masks_as_predictions_are_perfect(work):
    outcome = rpx(
        work, "score", "--task", "object_segmentation", "--data", "data/set.json",
        "--predictions", "data/masks", "--output", "perfect",
    )  # fmt: skip
    got = numbers(outcome)
    for aggregate in ("sample", "pooled", "sample_median", "group"):
        assert got[f"masks.miou@{aggregate}"] == 1
        assert got[f"panoptic.pq@{aggregate}"] == 1
        assert got[f"boundary.boundary_iou@{aggregate}"] == 1
    assert got["coco.ap@pooled"] is None
    assert got["stability.ts@sample"] is None


def test_class_maps_as_predictions_are_perfect(work):
    outcome = rpx(
        work, "score", "--task", "semantic_segmentation", "--data", "data/set.json",
        "--predictions", "data/semantic", "--output", "perfect",
    )  # fmt: skip
    got = numbers(outcome)
    assert got["semantic.miou@pooled"] == got["semantic.pixel_accuracy@pooled"] == 1
    assert got["semantic.ignored_pixels@pooled"] == 6 * 3 * 32


def test_saved_predictions_score_like_the_run_that_saved_them(work):
    run = rpx(
        work, "run", "--task", "object_segmentation", "--model", "models.py:halves",
        "--data", "data/set.json", "--save-predictions", "--output", "saved",
    )  # fmt: skip
    score = rpx(
        work, "score", "--task", "object_segmentation", "--data", "data/set.json",
        "--predictions", f"{run['runs'][0]['run']}/predictions", "--output", "scored",
    )  # fmt: skip
    assert numbers(score) == numbers(run)
    assert 0 < numbers(run)["masks.miou@sample"] < 1


def test_translated_predictions_are_saved_untranslated(work):
    options = ("--set", 'options.prediction_map={"1" = 2}')
    run = rpx(
        work, "run", "--task", "semantic_segmentation", "--model", "models.py:table",
        "--data", "data/set.json", "--save-predictions", "--output", "mapped", *options,
    )  # fmt: skip
    score = rpx(
        work, "score", "--task", "semantic_segmentation", "--data", "data/set.json",
        "--predictions", f"{run['runs'][0]['run']}/predictions", "--output", "remapped", *options,
    )  # fmt: skip
    assert numbers(score) == numbers(run)
    assert numbers(run)["semantic.classes@pooled"] == 2
    assert numbers(run)["semantic.miou@pooled"] == pytest.approx(176 / (21 * 32) / 2)


def test_classes_in_the_configuration_get_outputs_of_their_own(work):
    config = work / "classes.toml"
    config.write_text(
        """
        task = "semantic_segmentation"
        model = "models.py:table"
        data = "data/set.json"
        [metrics.semantic]
        name = "semantic-iou"
        options.classes = { table = 1, mug = 2 }
        """
    )
    got = numbers(rpx(work, "run", str(config), "--output", "classes"))
    assert got["semantic.iou_mug@pooled"] == 0
    assert got["semantic.iou_table@pooled"] == got["semantic.precision_table@pooled"]
    assert got["semantic.miou_all@pooled"] == got["semantic.miou@pooled"]


def test_wrong_answers_fail_every_sample_by_name(work):
    outcome = rpx(
        work, "run", "--task", "object_segmentation", "--model", "models.py:colours",
        "--data", "data/set.json", "--output", "wrong", expect=3,
    )  # fmt: skip
    (run,) = outcome["runs"]
    assert run["status"]["failed_samples"] == 6
    rows = (work / run["run"] / "report" / "per_sample.csv").read_text()
    assert "sample walk/0: colours returned shape" in rows


def test_pictures_of_the_worst_samples_are_kept(work):
    rpx(
        work, "run", "--task", "object_segmentation", "--model", "models.py:halves",
        "--data", "data/set.json", "--output", "pictures",
    )  # fmt: skip
    found = captions(work / "pictures")
    assert found
    for pictures in found:
        assert [caption.partition(":")[0] for caption in pictures] == [
            "rgb",
            "ground truth",
            "prediction",
            "error",
        ]
