"""Whole runs from the command line, on a made-up recording and on the real stereo pair."""

from pathlib import Path

import numpy as np
import pytest

from rpx_core.images import encode_png
from tests.commands import captions, numbers, rpx
from tests.dataset_folder import DatasetFolder

MODELS = """
import numpy as np

def half(rgb):
    return np.full((rgb.shape[0] // 2, rgb.shape[1] // 2), 2.0, np.float32)

def in_millimetres(rgb):
    return np.full(rgb.shape[:2], 2000.0, np.float32)
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    """A folder with two sequences of three frames, their manifest, and two models."""
    root = tmp_path_factory.mktemp("work")
    data = DatasetFolder(root / "data")
    rng = np.random.default_rng(0)
    for sequence in ("walk", "stand"):
        for frame in range(3):
            depth = rng.integers(1000, 4000, (24, 32)).astype(np.uint16)
            depth[:4] = 0
            images = {"rgb": rng.integers(0, 255, (24, 32, 3), dtype=np.uint8), "depth": depth}
            for kind, image in images.items():
                data.write(f"{kind}/{sequence}/{frame}.png", encode_png(image))
    (root / "models.py").write_text(MODELS)
    rpx(root, "data", "index", "folders", "data", "-o", "data/set.json")
    return root


def test_depth_files_as_predictions_are_perfect(work):
    outcome = rpx(
        work, "score", "--task", "monocular_depth", "--data", "data/set.json",
        "--predictions", "data/depth", "--set", "options.prediction_scale=0.001",
        "--output", "perfect",
    )  # fmt: skip
    got = numbers(outcome)
    for aggregate in ("sample", "pooled", "sample_median", "group"):
        assert got[f"depth.absrel@{aggregate}"] == 0
        assert got[f"depth.delta1_of_truth@{aggregate}"] == 1
        assert got[f"depth.coverage@{aggregate}"] == 1


def test_integer_predictions_of_unknown_unit_fail_every_sample(work):
    outcome = rpx(
        work, "score", "--task", "monocular_depth", "--data", "data/set.json",
        "--predictions", "data/depth", "--output", "unitless", expect=3,
    )  # fmt: skip
    (run,) = outcome["runs"]
    assert run["status"]["failed_samples"] == 6
    assert numbers(outcome)["depth.absrel@sample"] is None


def test_saved_predictions_score_like_the_run_that_saved_them(work):
    run = rpx(
        work, "run", "--model", "models.py:half", "--data", "data/set.json", "--save-predictions",
        "--set", "align=median", "--output", "saved",
    )  # fmt: skip
    predictions = f"{run['runs'][0]['run']}/predictions"
    score = rpx(
        work, "score", "--task", "monocular_depth", "--data", "data/set.json",
        "--predictions", predictions, "--set", "align=median", "--output", "scored",
    )  # fmt: skip
    assert numbers(score) == numbers(run)
    assert numbers(run)["depth.absrel@sample"] > 0


# RW-047
def test_millimetres_against_metres_are_warned_about(work):
    outcome = rpx(
        work, "run", "--model", "models.py:in_millimetres", "--data", "data/set.json",
        "--output", "unit",
    )  # fmt: skip
    assert any("scale_ratio" in warning for warning in outcome["runs"][0]["warnings"])


def test_protocol_names_what_its_crop_cannot_be_applied_to(work):
    outcome = rpx(
        work, "run", "--model", "models.py:half", "--data", "data/set.json",
        "--protocol", "nyu-eigen-1", "--output", "crop", expect=3,
    )  # fmt: skip
    row = (work / outcome["runs"][0]["run"] / "report" / "per_sample.csv").read_text()
    assert "480x640" in row


def test_stereo_on_the_real_pair_from_the_command_line(work):
    outcome = rpx(work, "run", "--model", "stereo-sgbm", "--data", "motorcycle", "--output", "real")
    got = numbers(outcome)
    assert 0.0140 <= got["depth.absrel@sample"] <= 0.0155
    assert 0.85 <= got["depth.coverage@sample"] <= 0.89
    assert captions(work / "real") == [["rgb", "ground truth", "prediction", "error"]]
