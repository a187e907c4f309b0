"""Whole runs from the command line: the demo's first scene, the real stereo pair, trajectories."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.demo.generator import write_dataset

TASKS = ("relative_camera_pose", "keypoint_matching")
MODELS = """
import numpy as np

def bare_quaternion(rgb_a, rgb_b):
    return [0, 0, 0, 1], [0, 0, 1]

def sometimes(rgb_a, rgb_b):
    if rgb_a.sum() % 2:
        return None
    return np.eye(3), [0, 0, 1]
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    """A folder with one scene of the demo, two models, and a truth to compare with."""
    root = tmp_path_factory.mktemp("work")
    write_dataset(root / "data", [0])
    (root / "models.py").write_text(MODELS)
    return root


def numbers(outcome: dict) -> dict[str, float | None]:
    return {number["address"]: number["value"] for number in outcome["runs"][0]["numbers"]}


def write_truth(folder: Path, task: str, work: Path) -> Path:
    """The truth of the demo scene as prediction files of another program."""
    document = json.loads((work / "data/demo.json").read_text())
    folder.mkdir()
    for first, second in zip(document["samples"], document["samples"][1:], strict=False):
        if first["scene"] != second["scene"] or first["phase"] != second["phase"]:
            continue
        stem = folder / f"{first['id']}..{second['id']}"
        if task == "keypoint_matching":
            with np.load(work / "data" / first["correspondences"]) as arrays:
                seen = arrays["visibility"]
                np.savez(
                    stem.with_name(f"{stem.name}.npz"),
                    points0=arrays["points0"][seen],
                    points1=arrays["points1"][seen],
                )
            continue
        poses = [matrix(work / "data" / frame["pose"]) for frame in (first, second)]
        np.save(stem.with_name(f"{stem.name}.npy"), np.linalg.inv(poses[0]) @ poses[1])
    return folder


def matrix(path: Path) -> np.ndarray:
    with np.load(path) as arrays:
        x, y, z, w = arrays["orientation"]
        pose = np.eye(4)
        pose[:3, 3] = arrays["position"]
    pose[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return pose


def test_true_poses_as_prediction_files_are_perfect(rpx, work):
    write_truth(work / "poses", "relative_camera_pose", work)
    got = numbers(
        rpx(
            work, "score", "--task", "relative_camera_pose", "--data", "data/demo.json",
            "--predictions", "poses", "--output", "perfect",
        )
    )  # fmt: skip
    assert got["pose.rotation_error_deg@sample"] == pytest.approx(0, abs=1e-9)
    assert got["pose.pose_error_max_deg@sample"] == pytest.approx(0, abs=1e-6)
    assert got["pose.translation_error_m@sample"] == pytest.approx(0, abs=1e-9)
    assert got["auc.auc5_exact@pooled"] == pytest.approx(1, abs=1e-6)
    assert got["auc.auc5_grid@pooled"] == pytest.approx(1, abs=1e-6)
    assert got["auc.maa10@pooled"] == 1


def test_true_matches_as_prediction_files_are_perfect(rpx, work):
    write_truth(work / "matches", "keypoint_matching", work)
    got = numbers(
        rpx(
            work, "score", "--task", "keypoint_matching", "--data", "data/demo.json",
            "--predictions", "matches", "--output", "perfect",
        )
    )  # fmt: skip
    for output in ("pck_1px", "precision_1px", "matched"):
        assert got[f"matches.{output}@sample"] == got[f"matches.{output}@pooled"] == 1
    assert got["matches.mean_error_px@sample"] == 0
    assert got["published.keypoint_acc@sample"] == 1


@pytest.mark.parametrize("task", TASKS)
def test_saved_predictions_score_like_the_run_that_saved_them(rpx, work, task):
    arguments = ("--task", task, "--data", "data/demo.json", "--limit", "3")
    run = rpx(work, "run", *arguments, "--save-predictions", "--output", "saved")
    predictions = f"{run['runs'][0]['run']}/predictions"
    score = rpx(work, "score", *arguments, "--predictions", predictions, "--output", "scored")
    assert numbers(score) == numbers(run)
    assert run["runs"][0]["status"]["evaluated_samples"] == 3


def test_baselines_are_right_on_the_demo(rpx, work):
    poses, matches = (
        numbers(rpx(work, "run", "--task", task, "--data", "data/demo.json", "--output", "base"))
        for task in TASKS
    )
    assert poses["pose.rotation_error_deg@sample_median"] < 0.5
    assert poses["auc.auc20_trapezoid@pooled"] > 0.7
    assert matches["matches.pck_3px@sample"] > 0.7
    assert matches["epipolar.epipolar_3px@sample"] > 0.9
    captions = [
        picture["caption"]
        for index in sorted(work.glob("base/*keypoint*/previews/*/pictures.json"))[:1]
        for picture in json.loads(index.read_text())
    ]
    assert captions == ["both images", "true matches", "predicted matches"]


def test_no_pose_is_counted_and_fails_nothing(rpx, work):
    outcome = rpx(
        work, "run", "--task", "relative_camera_pose", "--data", "data/demo.json",
        "--model", "models.py:sometimes", "--output", "shy",
    )  # fmt: skip
    (run,), got = outcome["runs"], numbers(outcome)
    assert run["status"]["failed_samples"] == 0
    assert 0 < got["auc.no_pose@pooled"] < 15
    assert got["pose.coverage@sample"] == pytest.approx(1 - got["auc.no_pose@pooled"] / 15)


def test_bare_quaternion_fails_every_sample_and_says_why(rpx, work):
    outcome = rpx(
        work, "run", "--task", "relative_camera_pose", "--data", "data/demo.json",
        "--model", "models.py:bare_quaternion", "--output", "bare", expect=3,
    )  # fmt: skip
    assert outcome["runs"][0]["status"]["failed_samples"] == 15
    rows = (work / outcome["runs"][0]["run"] / "report" / "per_sample.csv").read_text()
    assert "which order" in rows


def test_protocol_pairs_frames_five_apart(rpx, work):
    outcome = rpx(
        work, "run", "--data", "data/demo.json", "--protocol", "rpx-pose-1", "--output", "protocol",
        "--model", "identity-pose",
    )  # fmt: skip
    assert outcome["runs"][0]["status"]["evaluated_samples"] == 3


def test_trajectories_are_indexed_and_measured(rpx, work):
    folder = work / "paths"
    folder.mkdir()
    lines = [f"{k / 10} {k * 0.1:.6f} {(k % 3) * 0.02} 0 0 0 0 1" for k in range(40)]
    (folder / "a_gt.txt").write_text("\n".join(lines))
    (folder / "a_estimate.txt").write_text("\n".join(lines[5:30]))
    rpx(work, "data", "index", "trajectories", "paths", "-o", "paths/set.json")
    run = rpx(
        work, "run", "--task", "trajectory", "--data", "paths/set.json",
        "--model", "listed-estimate", "--output", "moved",
    )  # fmt: skip
    got = numbers(run)
    assert got["ate_se3.rmse_m@sample"] == pytest.approx(0, abs=1e-9)
    assert got["ate_se3.associated@sample"] == 1
    assert got["ate_se3.coverage@sample"] == pytest.approx(27 / 40)
    assert got["rpe.max_m@sample"] == pytest.approx(0, abs=1e-9)
    still = rpx(
        work, "run", "--task", "trajectory", "--data", "paths/set.json", "--output", "still"
    )
    assert numbers(still)["ate_se3.rmse_m@sample"] > 0.5
    assert numbers(still)["ate_sim3.rmse_m@sample"] is None
    (rmse,) = [n for n in still["runs"][0]["numbers"] if n["address"] == "ate_sim3.rmse_m@sample"]
    assert rmse["reason"] == ("undefined for all 1: no scale can be fitted: one side does not move")
    assert any("read `coverage`" in warning for warning in run["runs"][0]["warnings"])


def test_frames_of_the_demo_make_trajectories(rpx, work):
    outcome = rpx(work, "data", "check", "data/demo.json", "--task", "trajectory")
    assert outcome["samples"] == 3
    assert outcome["problems"] == []


@pytest.mark.parametrize(
    ("model", "limits"),
    [("sift-pose", (0.5, 2)), ("sift-poselib", (0.1, 0.5)), ("lucas-kanade-pose", (0.5, 2))],
)
def test_pose_of_the_real_stereo_pair(rpx, work, model, limits):
    outcome = rpx(
        work, "run", "--task", "relative_camera_pose", "--data", "motorcycle", "--model", model,
        "--output", "real",
    )  # fmt: skip
    got = numbers(outcome)
    assert got["pose.rotation_error_deg@sample"] < limits[0]
    assert got["pose.translation_angular_deg@sample"] < limits[1]
    assert got["pose.translation_error_m@sample"] is None


def test_matches_of_the_real_stereo_pair(rpx, work):
    outcome = rpx(
        work, "run", "--task", "keypoint_matching", "--data", "motorcycle", "--model", "sift",
        "--output", "real",
    )  # fmt: skip
    got = numbers(outcome)
    assert got["matches.precision_3px@sample"] > 0.8
    assert got["epipolar.epipolar_3px@sample"] > 0.95
    assert got["matches.judged_matches@sample"] > 50
