"""The published suite and runner: the numbers of a run, from predictions in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rpx_core as rpx
from rpx_core.config import Data
from rpx_core.contracts import withhold
from rpx_core.datasets import open_dataset
from rpx_core.host import Host

from .published_samples import (
    BOX,
    CHEATS,
    POINTS,
    RGB,
    RUNS,
    TASKS,
    TRUTHS,
    Model,
    depth_samples,
    one_sample,
)

DEPTH = rpx.TaskType.MONOCULAR_DEPTH
FEW = 7
"""Samples of the demo per task: a sequence of six, and the start of another."""


def flat(depth: float = 2.0) -> Model:
    return Model(DEPTH, lambda sample: np.full(sample.rgb.shape[:2], depth, np.float32))


def depth_set(*scenes: str, batch_size: int = 1, frames: int = 2) -> rpx.RPXDataset:
    samples = depth_samples(scenes or ("desk",), frames)
    return rpx.RPXDataset(samples, DEPTH, batch_size=batch_size)


@pytest.fixture(scope="module")
def demo() -> Path:
    """The manifest of the embedded data, which is generated once per machine."""
    manifest = open_dataset(Host.discover(), Data(name="demo"))
    return manifest.root / "demo.json"


def baseline(task: rpx.TaskType) -> Any:
    offer = Host.discover().find("task", task)
    model: Any = rpx.resolve(f"{offer.distribution}/{offer.spec.baseline}", device="cpu")
    # One that serves several tasks names the first of them.
    model.task = task
    return model


# The numbers of a run.


@pytest.mark.parametrize("task", TASKS)
def test_numbers_are_those_of_a_run_to_the_bit(
    task: rpx.TaskType, demo: Path, tmp_path: Path
) -> None:
    config, run = RUNS[task]
    name = Host.discover().find("task", task).spec.baseline
    stored, stored_readiness, _ = run(
        config(model_name=name, manifest_path=demo, max_samples=FEW, output_dir=tmp_path)
    )
    dataset = rpx.RPXDataset.from_name("demo", batch_size=3, task=task, limit=FEW)
    runner = rpx.BenchmarkRunner(baseline(task), dataset)
    result, readiness = runner.run_with_deployment_readiness(runner.metric_suite.primary)
    assert result.numbers == stored.numbers
    assert list(result.aggregated.items()) == list(stored.aggregated.items())
    assert by_id(result) == by_id(stored)
    assert readiness.readiness == stored_readiness.readiness
    assert readiness.temporal_stability == stored_readiness.temporal_stability
    assert any(value is not None for value in result.aggregated.values())


def by_id(result: rpx.BenchmarkResult) -> dict[str, dict[str, Any]]:
    return {row["id"]: dict(row) for row in result.per_sample}


@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_numbers_do_not_depend_on_batches(batch_size: int) -> None:
    model = Model(DEPTH, lambda sample: sample.rgb[..., 0] / 9 + 1.0)
    one = rpx.BenchmarkRunner(model, depth_set(frames=3)).run()
    many = rpx.BenchmarkRunner(model, depth_set(frames=3, batch_size=batch_size)).run()
    assert one.numbers == many.numbers


def test_aggregates_of_the_rows_of_a_result_are_those_of_the_result() -> None:
    task = rpx.TaskType.OBJECT_TRACKING
    truth = TRUTHS[task]
    samples = [
        rpx.Sample(f"{scene}_clean_{n}", RGB, truth, phase=rpx.Phase.CLEAN)
        for scene in "ab"
        for n in range(3)
    ]
    model = Model(task, lambda sample: [{"track_id": int(sample.id[-1]) // 2, "box": BOX[0]}])
    runner = rpx.BenchmarkRunner(model, rpx.RPXDataset(samples, task, batch_size=4))
    result = runner.run()
    assert result.aggregated["idsw"] == 2.0
    shuffled = [result.per_sample[place] for place in (4, 1, 5, 0, 2, 3)]
    assert runner.metric_suite.aggregate(shuffled) == result.aggregated


# Truth, tasks, and models that break their contract.


@pytest.mark.parametrize("make", CHEATS)
@pytest.mark.parametrize("task", TASKS)
def test_a_model_or_adapter_that_looks_at_the_truth_is_stopped(
    task: rpx.TaskType, make: Callable[[rpx.TaskType], Any]
) -> None:
    runner = rpx.BenchmarkRunner(make(task), rpx.RPXDataset([one_sample(task)], task))
    with pytest.raises(rpx.TruthWithheldError, match="desk_clutter_00001"):
        runner.run()
    with pytest.raises(rpx.TruthWithheldError):
        runner.run_with_deployment_readiness(runner.metric_suite.primary)


@pytest.mark.parametrize("answers", [0, 2])
def test_a_wrong_number_of_predictions_is_a_model_error(answers: int) -> None:
    class Miscount(Model):
        def predict(self, batch: Sequence[rpx.Sample]) -> list[Any]:
            return super().predict(batch) * answers

    model = Miscount(DEPTH, flat().answer)
    with pytest.raises(rpx.ModelError, match=f"{answers * 3} predictions for 3 samples"):
        rpx.BenchmarkRunner(model, depth_set(batch_size=3)).run()


def test_model_dataset_and_suite_must_be_for_one_task() -> None:
    masks = Model(rpx.TaskType.OBJECT_SEGMENTATION, None)
    with pytest.raises(rpx.ModelError, match="does object_segmentation, the dataset is for mono"):
        rpx.BenchmarkRunner(masks, depth_set())
    suite = rpx.MetricSuite.for_task("object_segmentation")
    with pytest.raises(rpx.ModelError, match="suite is for object_segmentation"):
        rpx.BenchmarkRunner(flat(), depth_set(), suite)
    with pytest.raises(rpx.ModelError, match="not say which task"):
        rpx.BenchmarkRunner(object(), depth_set())  # type: ignore[arg-type]  # that is tested


def test_results_warn_of_what_is_odd_about_their_data(demo: Path) -> None:
    (sample, *_) = json.loads(demo.read_text())["samples"]
    samples = [{**sample, "sequence": "one"}, {**sample, "id": sample["id"].upper()}]
    data = rpx.RPXDataset(samples, DEPTH, root=demo.parent)
    (warning,) = data.warnings
    assert "in case alone" in warning
    assert rpx.BenchmarkRunner(flat(), data).run().warnings[0] == warning


def test_a_list_of_samples_is_no_dataset() -> None:
    with pytest.raises(rpx.ConfigError, match="is a list; an RPXDataset was expected"):
        rpx.BenchmarkRunner(flat(), depth_samples())  # type: ignore[arg-type]  # that is tested


def test_a_prediction_of_the_wrong_shape_names_its_sample() -> None:
    model = Model(DEPTH, lambda sample: np.ones((2, 2), np.float32))
    with pytest.raises(rpx.ModelError, match=r"desk-easy_clean_00000.*\(2, 2\)"):
        rpx.BenchmarkRunner(model, depth_set()).run()


def test_what_a_model_raises_comes_out_as_it_is() -> None:
    def fail(sample: rpx.Sample) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        rpx.BenchmarkRunner(Model(DEPTH, fail), depth_set()).run()


# How a model is driven.


def test_models_without_memory_are_batched_across_sequences() -> None:
    model = flat()
    rpx.BenchmarkRunner(model, depth_set(batch_size=4)).run()
    assert {len(batch) for batch in model.batches[:-1]} == {4}
    assert [i for batch in model.batches for i in batch][:3] == [
        "desk-easy_clean_00000",
        "desk-easy_clean_00001",
        "desk-easy_clutter_00000",
    ]


def test_a_model_that_remembers_is_reset_and_its_batches_stay_in_a_sequence() -> None:
    class Remembers(Model):
        def reset(self) -> None:
            self.batches.append([])

    model = Remembers(DEPTH, flat().answer)
    rpx.BenchmarkRunner(model, depth_set(batch_size=4, frames=3)).run()
    assert [len(batch) for batch in model.batches] == [0, 3] * 9


def test_a_model_may_want_whole_sequences() -> None:
    model = flat()
    model.batch = "sequence"  # type: ignore[attr-defined]  # an optional member
    rpx.BenchmarkRunner(model, depth_set(frames=3)).run()
    assert [len(batch) for batch in model.batches] == [3] * 9


def test_setup_is_called_once_and_can_be_left_to_the_caller() -> None:
    model = flat()
    rpx.BenchmarkRunner(model, depth_set()).run()
    rpx.BenchmarkRunner(model, depth_set(), call_setup=False).run()
    assert model.setups == 1


def test_progress_counts_samples_of_all() -> None:
    told: list[tuple[int, int | None, str]] = []
    rpx.BenchmarkRunner(flat(), depth_set(batch_size=8)).run(lambda *now: told.append(now))
    assert told == [(done, 18, "predict") for done in (0, 8, 16, 18)]


# Rows and aggregates.


def test_rows_say_who_they_are_of_and_have_numbers() -> None:
    result = rpx.BenchmarkRunner(flat(), depth_set()).run()
    row = result.per_sample[0]
    assert (row["id"], row["scene"]) == ("desk-easy_clean_00000", "desk-easy")
    assert (row["phase"], row["difficulty"]) == (rpx.Phase.CLEAN, rpx.Difficulty.EASY)
    assert row["absrel"] == 1.0
    assert result.num_samples == len(result.per_sample) == 18
    assert result.task is DEPTH


def test_an_undefined_number_is_none_and_counted() -> None:
    nothing = rpx.DepthGroundTruth(np.zeros((4, 6), np.float32))
    samples = depth_samples(frames=1)
    samples[0] = replace(samples[0], ground_truth=nothing)
    result = rpx.BenchmarkRunner(flat(), rpx.RPXDataset(samples, DEPTH)).run()
    number = result.numbers["absrel"]
    assert (number.value, number.n, number.undefined) == (1.0, 8, 1)
    assert [row["absrel"] for row in result.per_sample].count(None) == 1
    assert result.numbers["absrel_far"].value is None
    assert result.numbers["absrel_far"].undefined == 9


def test_aggregates_are_folds_and_not_means_of_rows() -> None:
    task = rpx.TaskType.OBJECT_DETECTION
    suite = rpx.MetricSuite.for_task(task)
    far = BOX + 100
    rows = [
        suite.evaluate(rpx.DetectionPrediction(boxes, scores, ["cup"] * len(boxes)), TRUTHS[task])
        for boxes, scores in ((BOX, np.array([0.9])), (np.vstack([far, far]), np.array([0.3, 0.2])))
    ]
    found = suite.aggregate(rows)
    assert [row["precision"] for row in rows] == [1.0, 0.0]
    assert found["precision"] == pytest.approx(1 / 3)
    assert found.numbers["precision"].aggregate == "pooled"
    with pytest.raises(rpx.MetricError, match="no evidence to fold"):
        suite.aggregate([dict(row) for row in rows])
    with pytest.raises(rpx.MetricError, match="1 of 2 rows have their evidence"):
        suite.aggregate([rows[0], dict(rows[1])])


@given(order=st.permutations(range(4)))
@settings(max_examples=10, deadline=None)
def test_aggregates_do_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    suite, rows = detection_rows()
    assert (
        suite.aggregate([rows[place] for place in order]).numbers == suite.aggregate(rows).numbers
    )


@cache
def detection_rows() -> tuple[rpx.MetricSuite, list[Any]]:
    """Four images with scores that tie, so that the order of a naive ranking would show."""
    task = rpx.TaskType.OBJECT_DETECTION
    suite = rpx.MetricSuite.for_task(task)
    rows = [
        suite.evaluate(
            rpx.DetectionPrediction(BOX + shift, np.full(1, score), ["cup"]),
            TRUTHS[task],
            rpx.Sample(f"s{number}"),
        )
        for number, (shift, score) in enumerate([(0, 0.5), (90, 0.5), (0, 0.1), (90, 0.9)])
    ]
    return suite, rows


def test_plain_rows_are_averaged_without_nan_and_by_all_their_keys() -> None:
    suite = rpx.MetricSuite.for_task(DEPTH)
    found = suite.aggregate(
        [
            {"id": "a", "absrel": 0.1, "ok": True},
            {"id": "b", "absrel": float("nan"), "mine": 2, "note": "x"},
            {"id": "c", "absrel": 0.3, "mine": float("inf"), "rmse": None},
        ]
    )
    assert dict(found) == {"absrel": pytest.approx(0.2), "mine": 2.0}
    assert (found.numbers["absrel"].n, found.numbers["absrel"].undefined) == (2, 1)
    assert (found.numbers["mine"].undefined, found.numbers["mine"].infinite) == (1, 1)
    assert found.numbers["absrel"].better == "lower"


def test_no_rows_have_no_numbers() -> None:
    found = rpx.MetricSuite.for_task(DEPTH).aggregate([])
    assert set(found.values()) == {None}
    assert found.numbers["absrel"].reason == "there is no evidence"
    assert rpx.MetricSuite.for_task(DEPTH).build_result([]).num_samples == 0


def test_a_suite_may_have_other_metrics_and_an_alignment() -> None:
    published = rpx.MetricSuite.for_task(
        "object_detection", metrics={"p": "detection-f1-published"}
    )
    truth = TRUTHS[rpx.TaskType.OBJECT_DETECTION]
    row = published.evaluate(rpx.DetectionPrediction(BOX, np.ones(1), ["cup"]), truth)
    assert row["f1"] == 1.0
    aligned = rpx.MetricSuite.for_task(DEPTH, align="median")
    result = rpx.BenchmarkRunner(flat(7.0), depth_set(), aligned).run()
    assert result.aggregated["absrel"] == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(rpx.ConfigError, match="does not know 'mean'"):
        rpx.MetricSuite.for_task(DEPTH, align="mean")
    with pytest.raises(rpx.ConfigError, match="did you mean monocular_depth"):
        rpx.MetricSuite.for_task("monocular_dept")


def test_outputs_of_one_name_are_told_apart_by_their_labels() -> None:
    suite = rpx.MetricSuite.for_task("trajectory")
    assert suite.primary == "rmse_m"
    assert {"rmse_m", "ate_sim3.rmse_m", "rpe.rmse_m"} <= set(suite.keys.values())
    assert len(set(suite.keys.values())) == len(suite.keys)


def test_a_truth_that_is_not_the_tasks_is_a_metric_error() -> None:
    with pytest.raises(rpx.MetricError, match="is a ndarray; a DepthGroundTruth was expected"):
        rpx.compute_metrics(DEPTH, np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(rpx.MetricError, match="missing"):
        rpx.compute_metrics(DEPTH, np.ones((2, 2)), None)


@pytest.mark.parametrize(
    ("truth", "field"),
    [
        (rpx.DepthGroundTruth([[1.0]]), "depth_map"),
        (rpx.SegmentationGroundTruth([[1]]), "mask"),
        (rpx.SegmentationGroundTruth(np.ones((1, 1), int), depth=[[1.0]]), "depth"),
        (rpx.KeypointCorrespondenceGroundTruth([[1, 1]], POINTS), "points0"),
        (rpx.NovelViewSynthesisGroundTruth([[[0, 0, 0]]]), "rgb"),
        (rpx.RelativePoseGroundTruth(np.eye(3), [0, 0, 1]), "translation"),
    ],
)
def test_a_truth_of_lists_names_the_field_that_must_be_an_array(truth: Any, field: str) -> None:
    task = next(task for task, one in TRUTHS.items() if type(one) is type(truth))
    with pytest.raises(rpx.MetricError, match=f"`{field}` of its ground truth is a list"):
        rpx.compute_metrics(task, None, truth)


def test_a_sequence_metric_takes_a_single_frame_for_a_sequence() -> None:
    task = rpx.TaskType.OBJECT_TRACKING
    row = rpx.compute_metrics(task, rpx.TrackletPrediction([rpx.Tracklet("1", BOX)]), TRUTHS[task])
    assert (row["mota"], row["hota"]) == (1.0, 1.0)


# Published numbers: section 10 of the RPX specification, computed by hand.

ROTATED = np.array(
    [
        [np.cos(np.pi / 18), -np.sin(np.pi / 18), 0],
        [np.sin(np.pi / 18), np.cos(np.pi / 18), 0],
        [0, 0, 1.0],
    ]
)
CUPS = np.array([[0.0, 0, 10, 10], [20, 20, 30, 30]])
FOUND = np.array([[0.0, 0, 10, 10], [20, 20, 30, 26], [0, 0, 10, 10]])
GOLDEN: dict[str, tuple[str, Any, Any, dict[str, float]]] = {
    "depth": (
        "monocular_depth",
        np.array([[1.1, 1.5], [9, 5]]),
        rpx.DepthGroundTruth(np.array([[1, 2], [0, 4]], np.float32)),
        {"absrel": 0.2, "rmse": 0.6481, "delta1": 1 / 3, "delta2": 1, "silog100": 21.704},
    ),
    "detection": (
        "object_detection",
        rpx.DetectionPrediction(FOUND, np.array([0.9, 0.8, 0.7]), ["cup"] * 3),
        rpx.DetectionGroundTruth(CUPS, ["cup", "cup"]),
        {"precision": 0.6667, "recall": 1, "f1": 0.8},
    ),
    "masks": (
        "object_segmentation",
        np.array([[0, 1], [1, 1]]),
        rpx.SegmentationGroundTruth(np.array([[0, 0], [1, 1]])),
        {"miou_raw_id": 0.5833},
    ),
    "swapped": (
        "object_segmentation",
        np.array([[1, 1], [0, 0]]),
        rpx.SegmentationGroundTruth(np.array([[0, 0], [1, 1]])),
        {"miou_raw_id": 0},
    ),
    "pose": (
        "relative_camera_pose",
        rpx.RelativePosePrediction(np.eye(3), np.array([0.0, 1, 0])),
        rpx.RelativePoseGroundTruth(ROTATED, np.array([1.0, 0, 0])),
        {
            "rotation_error_deg": 10,
            "translation_error_m": 1.4142,
            "translation_angular_deg": 90,
            "pose_error_max_deg": 90,
        },
    ),
    "sparse": (
        "sparse_depth",
        rpx.SparseDepthPrediction(np.array([[11.0, 10]]), np.array([2.2])),
        rpx.SparseDepthGroundTruth(np.array([[10.0, 10], [50, 50]]), np.array([2.0, 4.0])),
        {"sparse_absrel": 0.55, "sparse_rmse": 2.832},
    ),
    "keypoints": (
        "keypoint_matching",
        rpx.KeypointCorrespondencePrediction(
            np.array([[10.0, 10], [100, 100]]), np.array([[21.0, 20], [40, 40]])
        ),
        rpx.KeypointCorrespondenceGroundTruth(
            np.array([[10.0, 10], [30, 30]]), np.array([[20.0, 20], [40, 40]])
        ),
        {"keypoint_acc": 0.5, "mean_match_error": 14.2931},
    ),
    "views": (
        "novel_view_synthesis",
        np.repeat(np.uint8([[[100], [100]], [[200], [200]]]), 3, axis=2),
        rpx.NovelViewSynthesisGroundTruth(
            np.repeat(np.uint8([[[110], [90]], [[210], [190]]]), 3, axis=2)
        ),
        {"psnr": 28.131},
    ),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_published_numbers_come_out(case: str) -> None:
    task, prediction, truth, expected = GOLDEN[case]
    row = rpx.compute_metrics(task, prediction, truth)
    assert {key: row[key] for key in expected} == pytest.approx(expected, abs=5e-4)


def test_the_published_view_metrics_come_out() -> None:
    _, prediction, truth, _ = GOLDEN["views"]
    suite = rpx.MetricSuite.for_task("novel_view_synthesis", metrics={"p": "nvs-published"})
    assert pytest.approx(suite.evaluate(prediction, truth)["ssim_global"], abs=5e-6) == 0.98061


# Readiness.


def test_readiness_has_every_score_where_all_phases_and_difficulties_are_there() -> None:
    runner = rpx.BenchmarkRunner(flat(), depth_set(batch_size=5))
    result, report = runner.run_with_deployment_readiness("absrel", model_name="flat")
    by_hand = rpx.compute_weighted_phase_score(
        result.per_sample,
        [row["phase"] for row in result.per_sample],
        [row["difficulty"] for row in result.per_sample],
        "absrel",
    )
    assert report.weighted_phase_score == by_hand
    assert report.state_transition is not None
    assert report.state_transition.metric_clutter == by_hand.s_clutter
    assert (report.model_name, report.task) == ("flat", DEPTH)
    assert report.readiness is not None
    scores = {score.name: score.value for score in report.readiness.scores}
    assert scores["s_overall"] == by_hand.s_overall


def test_a_missing_phase_is_null_with_its_coverage_and_never_zero() -> None:
    samples = [one for one in depth_samples() if one.phase is not rpx.Phase.INTERACTION]
    runner = rpx.BenchmarkRunner(flat(), rpx.RPXDataset(samples, DEPTH))
    _, report = runner.run_with_deployment_readiness("absrel")
    assert report.weighted_phase_score is None
    assert report.state_transition is None
    assert report.readiness is not None
    scores = {score.name: score for score in report.readiness.scores}
    assert (scores["s_clutter"].value, scores["s_clutter"].coverage) == (0.5, 1.0)
    assert (scores["s_interaction"].value, scores["s_interaction"].coverage) == (None, 0.0)
    assert (scores["s_overall"].value, scores["delta_int"].value) == (None, None)


def moving(sample: rpx.Sample) -> Any:
    return np.full((4, 6), 2.0 + 0.01 * int(sample.id[-1]), np.float32)


def posed(samples: Sequence[rpx.Sample]) -> list[rpx.Sample]:
    """A wall that moves away from a camera that stands still."""
    camera = np.array([[6.0, 0, 2.5], [0, 6, 1.5], [0, 0, 1]])
    return [
        replace(
            one,
            camera_pose=np.eye(4),
            intrinsics=camera,
            ground_truth=rpx.DepthGroundTruth(moving(one)),
        )
        for one in samples
    ]


def test_temporal_stability_is_that_of_adjacent_frames_and_can_be_left_out() -> None:
    dataset = rpx.RPXDataset(posed(depth_samples(frames=3)), DEPTH, batch_size=2)
    runner = rpx.BenchmarkRunner(Model(DEPTH, moving), dataset)
    result, report = runner.run_with_deployment_readiness("absrel")
    assert report.temporal_stability is not None
    assert report.temporal_stability.ts_score == result.aggregated["ts"]
    assert report.temporal_stability.num_pairs == len(report.temporal_stability.per_pair) == 18
    result, report = runner.run_with_deployment_readiness("absrel", compute_ts=False)
    assert report.temporal_stability is None
    assert "ts" not in result.aggregated
    assert result.aggregated["absrel"] == 0.0


def test_masks_are_compared_with_the_depth_of_their_samples() -> None:
    task = rpx.TaskType.OBJECT_SEGMENTATION
    mask = TRUTHS[task].mask
    jumps = np.where(mask == 1, 1.0, 3.0)
    sample = replace(one_sample(task), metadata={"depth_map": jumps})
    runner = rpx.BenchmarkRunner(Model(task, lambda _: mask), rpx.RPXDataset([sample], task))
    _, report = runner.run_with_deployment_readiness("miou")
    assert report.geometric_coherence == rpx.StackGeometricCoherenceResult(1.0, 1.0, 1.0, 1)
    _, report = runner.run_with_deployment_readiness("miou", compute_sgc_flag=False)
    assert report.geometric_coherence is None
    bare = rpx.RPXDataset([one_sample(task)], task)
    _, report = rpx.BenchmarkRunner(
        Model(task, lambda _: mask), bare
    ).run_with_deployment_readiness("miou")
    assert report.geometric_coherence is None


def test_masks_are_measured_without_a_depth_plugin_too(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = Host.offers

    def without_depth(self: Host, kind: Any) -> Any:
        return {k: v for k, v in offers(self, kind).items() if not k.startswith("rpx-depth/")}

    monkeypatch.setattr(Host, "offers", without_depth)
    task = rpx.TaskType.OBJECT_SEGMENTATION
    mask = TRUTHS[task].mask
    dataset = rpx.RPXDataset([one_sample(task)], task)
    runner = rpx.BenchmarkRunner(Model(task, lambda _: mask), dataset)
    _, report = runner.run_with_deployment_readiness("miou")
    assert report.geometric_coherence is None


def test_efficiency_is_passed_on() -> None:
    class Cost:
        params_m = 1.5
        flops_g = None
        actmem_gb_fp16 = 0.25
        latency_ms_per_sample = 12.0

    runner = rpx.BenchmarkRunner(flat(), depth_set())
    _, report = runner.run_with_deployment_readiness("absrel", efficiency=Cost())
    assert (report.params_m, report.flops_g) == (1.5, None)
    assert (report.actmem_gb_fp16, report.latency_ms_per_sample) == (0.25, 12.0)


def test_an_unknown_primary_metric_is_refused_before_anything_runs() -> None:
    model = flat()
    with pytest.raises(rpx.MetricError, match="no metric 'abs_rel'") as caught:
        rpx.BenchmarkRunner(model, depth_set()).run_with_deployment_readiness("abs_rel")
    assert "absrel" in str(caught.value.hint)
    assert model.setups == 0


def test_a_primary_metric_may_be_named_by_its_address_or_as_published() -> None:
    suite = rpx.MetricSuite.for_task("visual_grounding")
    assert suite.scoring.find_key("grounding_acc") == ("grounding", "acc50")
    assert suite.scoring.find_key("grounding.iou") == ("grounding", "iou")
    assert suite.scoring.find_key("acc50") == ("grounding", "acc50")


def test_numbers_of_grounding_have_their_published_keys() -> None:
    task = rpx.TaskType.VISUAL_GROUNDING
    truth = rpx.VisualGroundingGroundTruth("the cup", np.array([[0.0, 0.0, 2.0, 2.0]]))
    prediction = rpx.VisualGroundingPrediction(np.array([[0.0, 0.0, 2.0, 1.0]]), np.ones(1))
    row = rpx.compute_metrics(task, prediction, truth)
    assert (row["grounding_iou"], row["grounding_acc"]) == (0.5, 1.0)


def test_samples_of_a_trajectory_in_memory_are_asked_for_their_timestamps() -> None:
    poses, stamps = np.tile(np.eye(4), (5, 1, 1)), np.linspace(10, 12, 5)
    poses[:, 0, 3] = stamps
    truth, asked = rpx.Trajectory(poses, stamps), []

    def follow(timestamps: Any) -> Any:
        asked.append(timestamps)
        return poses

    data = rpx.RPXDataset([rpx.Sample("hall_clean_0", ground_truth=truth)], "trajectory")
    model = rpx.make_numpy_trajectory_model(follow, name="exact")
    assert rpx.BenchmarkRunner(model, data).run().aggregated["coverage"] == 1.0
    np.testing.assert_array_equal(asked, [stamps])
    with pytest.raises(rpx.ManifestError, match="a Trajectory was expected"):
        rpx.RPXDataset([rpx.Sample("hall_clean_0", ground_truth=poses)], "trajectory")


def test_samples_of_classes_in_memory_name_them_to_the_model() -> None:
    truth = rpx.SemanticGroundTruth(np.zeros((4, 6), int), {0: "floor", 3: "cup"})
    sample = rpx.Sample("hall_clean_0", np.zeros((4, 6, 3), np.uint8), truth)
    ((whole,),) = rpx.RPXDataset([sample], "semantic_segmentation")
    assert whole.query.classes == {0: "floor", 3: "cup"}


# What a model or a metric does to arrays stays with it.


def test_what_a_model_writes_to_a_sample_reaches_no_metric() -> None:
    def scribble(sample: rpx.Sample) -> Any:
        assert sample.rgb is not None
        assert sample.intrinsics is not None
        for array in (sample.rgb, sample.intrinsics):
            array.flags.writeable = True
            array[:] = 0
        return np.full(sample.rgb.shape[:2], 2.0, np.float32)

    samples = [
        replace(sample, rgb=sample.rgb + 1, intrinsics=np.eye(3)) for sample in depth_samples()
    ]
    rpx.BenchmarkRunner(Model(DEPTH, scribble), rpx.RPXDataset(samples, DEPTH)).run()
    for sample in samples:
        assert sample.rgb.all()
        np.testing.assert_array_equal(sample.intrinsics, np.eye(3))


def test_a_function_may_answer_in_one_array_for_all_samples() -> None:
    buffer, count = np.zeros((4, 6), np.float32), iter(range(1, 100))

    def answer(rgb: Any) -> Any:
        buffer[:] = next(count)
        return buffer

    model = rpx.make_numpy_depth_model(answer, name="buffer")
    batch = [withhold(sample) for sample in depth_samples()[:3]]
    assert [found.depth_map[0, 0] for found in model.predict(batch)] == [1, 2, 3]


def test_a_batch_cannot_be_sorted_under_the_feet_of_the_runner() -> None:
    class Sorts(Model):
        def predict(self, batch: Any) -> Any:
            batch.sort(key=lambda sample: sample.id)
            return super().predict(batch)

    data = rpx.RPXDataset(depth_samples(), DEPTH, batch_size=3)
    with pytest.raises(AttributeError, match="'tuple' object has no attribute 'sort'"):
        rpx.BenchmarkRunner(Sorts(DEPTH, lambda sample: None), data).run()


@pytest.mark.parametrize("masked", ["a whole prediction", "an array in one"])
def test_a_masked_array_is_refused_for_nothing_would_look_at_its_mask(masked: str) -> None:
    array = np.ma.masked_all((4, 6), np.float32)
    answer = array if masked == "a whole prediction" else rpx.DepthPrediction(array)
    data = rpx.RPXDataset(depth_samples(), DEPTH)
    with pytest.raises(rpx.ModelError, match="masked array") as caught:
        rpx.BenchmarkRunner(Model(DEPTH, lambda sample: answer), data).run()
    assert "filled(np.nan)" in str(caught.value)
    model = rpx.make_numpy_depth_model(lambda rgb: array, name="masked")
    with pytest.raises(rpx.AdapterError, match="masked array"):
        rpx.BenchmarkRunner(model, data).run()


@pytest.mark.parametrize("side", ["truth", "prediction"])
def test_a_metric_cannot_write_what_the_next_one_reads(
    side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scribble(self: Any, sample: Any, truth: Any, prediction: Any) -> Any:
        {"truth": truth, "prediction": prediction}[side].depth_map[:] = 1

    runner = rpx.BenchmarkRunner(flat(), depth_set())
    first = runner.metric_suite.scoring.scoring.metrics[0].metric
    monkeypatch.setattr(type(first), "measure", scribble)
    with pytest.raises(ValueError, match="read-only"):
        runner.run()


def test_one_prediction_where_a_list_is_expected_is_a_model_error() -> None:
    class Alone(Model):
        def predict(self, batch: Any) -> Any:
            return rpx.DepthPrediction(np.ones((4, 6), np.float32))

    data = rpx.RPXDataset(depth_samples(), DEPTH)
    with pytest.raises(rpx.ModelError, match="a list of predictions was expected"):
        rpx.BenchmarkRunner(Alone(DEPTH, lambda sample: None), data).run()


@pytest.mark.parametrize(
    ("rgb", "found"),
    [
        (np.zeros((4, 6, 3)), r"float64\[4, 6, 3\]"),
        (np.zeros((4, 6), np.uint8), r"uint8\[4, 6\]"),
        (np.zeros((3, 4, 6), np.uint8), r"uint8\[3, 4, 6\]"),
        ([[0]], "a list"),
    ],
)
def test_an_image_that_is_none_is_refused_when_the_dataset_is_made(rgb: Any, found: str) -> None:
    sample = replace(depth_samples()[0], rgb=rgb)
    with pytest.raises(rpx.ManifestError, match=rf"its `rgb` is {found}; uint8\[H, W, 3\]"):
        rpx.RPXDataset([sample], DEPTH)


def test_a_perfect_picture_is_not_said_to_lack_a_value() -> None:
    task = rpx.TaskType.NOVEL_VIEW_SYNTHESIS
    view = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    truth = rpx.NovelViewSynthesisGroundTruth(view, np.eye(4))
    model = rpx.make_numpy_nvs_model(lambda rgb, pose: view, name="same")
    data = rpx.RPXDataset([rpx.Sample("hall", view, truth)], task)
    result = rpx.BenchmarkRunner(model, data).run()
    assert not [said for said in result.warnings if said.startswith("psnr ")]
