"""Whole runs of sparse depth from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.images import encode_png
from tests.commands import numbers, rpx

MODELS = """
import numpy as np

def guess(rgb, points):
    return np.where(points[:, 0] < 5, np.nan, 1.0 + points[:, 1] / 10)
"""
COORDINATES = [[0, 0], [31, 0], [10, 23], [20.4, 11.6]]


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    """A folder with three frames of four points each, and a model."""
    root = tmp_path_factory.mktemp("sparse")
    rng = np.random.default_rng(0)
    samples = []
    for frame in range(3):
        name = f"{frame}.png"
        (root / name).write_bytes(encode_png(rng.integers(0, 255, (24, 32, 3), dtype=np.uint8)))
        depths = [None, *rng.uniform(1, 4, 3).round(3).tolist()]
        samples.append(
            {"id": str(frame), "rgb": name, "coordinates": COORDINATES, "depths": depths}
        )
    manifest = {"task": "sparse_depth", "samples": samples}
    (root / "set.json").write_text(json.dumps(manifest))
    (root / "models.py").write_text(MODELS)
    return root


def test_true_depths_as_prediction_files_are_perfect(work):
    truth = work / "truth"
    truth.mkdir()
    for sample in json.loads((work / "set.json").read_text())["samples"]:
        (truth / f"{sample['id']}.json").write_text(json.dumps(sample["depths"]))
    got = numbers(
        rpx(
            work, "score", "--task", "sparse_depth", "--data", "set.json",
            "--predictions", "truth", "--output", "perfect",
        )
    )  # fmt: skip
    assert got["depth.coverage@sample"] == got["depth.delta1_of_truth@pooled"] == 1
    for address in ("depth.absrel@sample", "published.sparse_absrel@sample"):
        assert got[address] == 0


def test_saved_predictions_score_like_the_run_that_saved_them(work):
    common = ("--data", "set.json", "--set", "align=median")
    run = rpx(
        work, "run", *common, "--model", "models.py:guess", "--save-predictions", "--output", "a"
    )
    predictions = f"{run['runs'][0]['run']}/predictions"
    score = rpx(
        work, "score", *common, "--task", "sparse_depth", "--predictions", predictions,
        "--output", "b",
    )  # fmt: skip
    assert numbers(score) == numbers(run)
    assert numbers(run)["depth.coverage@sample"] == 1
    assert numbers(run)["depth.absrel@sample"] > 0


def test_temporal_stability_has_a_reason_instead_of_a_value(work):
    outcome = rpx(work, "run", "--data", "set.json", "--output", "stable")
    folder = work / outcome["runs"][0]["run"]
    result = json.loads((folder / "report" / "result.json").read_text())
    (ts,) = (score for score in result["readiness"]["scores"] if score["name"] == "ts")
    assert ts["value"] is None
    assert ts["reason"]


def test_stereo_at_points_of_the_real_pair(work):
    outcome = rpx(work, "run", "--model", "stereo-sgbm-points", "--data", "motorcycle")
    got = numbers(outcome)
    assert 0.0140 <= got["depth.absrel@sample"] <= 0.0160
    assert 0.84 <= got["depth.coverage@sample"] <= 0.89
    # What is not answered counts fully.
    missed = 1 - got["depth.coverage@sample"]
    assert got["published.sparse_absrel@sample"] == pytest.approx(
        missed + got["depth.absrel@sample"] * got["depth.coverage@sample"]
    )
