"""What goes wrong with one sample is a failed row with its stage, and nothing else is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpx_core.failures import group_failures
from rpx_core.predictions import file_stem
from rpx_core.report import FailedSample, Failure
from tests.toys.bench import Bench, facts, failures, in_scene, value
from tests.toys.lab import toy_samples

ALL = 45


def model(name: str = "toy-noise", **options: Any) -> dict[str, Any]:
    return {"model": {"name": name, "options": options}}


def stages(report: Any) -> set[tuple[str, str]]:
    """Stage and error of all failures."""
    return {(failed.failure.stage, failed.failure.error) for failed in report.failures}


@pytest.mark.parametrize("batch_size", [1, 8, 100])
def test_a_sample_at_which_the_model_raises_costs_itself_alone(
    bench: Bench, batch_size: int
) -> None:
    raises = ["scene1_clean_2"]
    outcome = bench.run(**model(raises=raises), execution={"batch_size": batch_size})
    assert outcome.exit_code == 3
    assert failures(outcome.report) == {raises[0]: ("predict", "cannot do scene1_clean_2")}
    assert outcome.report.status.evaluated_samples == ALL - 1


@pytest.mark.parametrize("batch_size", [2, 3, 8])
def test_a_recurrent_model_that_raises_gives_the_numbers_of_single_frames(
    bench: Bench, batch_size: int
) -> None:
    layer = model("toy-memory", raises=in_scene(1, "clean", [1, 2]))
    single = bench.run(runs="single", **layer)
    batched = bench.run(runs="batched", **layer, execution={"batch_size": batch_size})
    assert single.report.status.failed_samples == 2
    assert facts(batched.report) == facts(single.report)


def test_a_model_that_cannot_forget_loses_its_samples_and_ends(bench: Bench) -> None:
    outcome = bench.run(**model("toy-memory", how="reset"))
    assert outcome.report.status.failed_samples == ALL
    assert set(failures(outcome.report).values()) == {("predict", "cannot forget")}


def test_failures_are_counted_beside_what_succeeded(bench: Bench) -> None:
    # RW-110: 4 of 10 crashed; the score of the 6 is shown with both counts, never alone.
    samples = [{"id": f"s{number}", "level": 1.0 + number} for number in range(10)]
    bench.write_set(samples)
    outcome = bench.run(**model(raises=[f"s{number}" for number in range(4)]))
    for aggregate in ("sample", "pooled", "sample_median"):
        number = outcome.report.number(f"error.abs@{aggregate}")
        assert (number.n, number.failed, number.undefined) == (6, 4, 0)
    status = outcome.report.status
    assert (status.evaluated_samples, status.failed_samples, status.dataset_samples) == (6, 4, 10)
    assert outcome.exit_code == 3


@pytest.mark.parametrize(("allowed", "code"), [(1, 3), (2, 0), (3, 0)])
def test_as_many_samples_may_fail_as_was_said(bench: Bench, allowed: int, code: int) -> None:
    raises = in_scene(1, "clean", [1, 2])
    outcome = bench.run(**model(raises=raises), execution={"max_failed": allowed})
    assert outcome.exit_code == code


def test_a_run_in_which_all_fails_has_a_complete_report_of_nulls(bench: Bench) -> None:
    raises = [sample["id"] for sample in toy_samples()]
    report = bench.run(**model(raises=raises)).report
    number = report.number("error.abs@sample")
    assert (number.value, number.reason, number.failed) == (None, "all 45 failed", 45)
    assert report.number("error.abs@group").reason == "all 45 failed"
    because = "a frame of the pair failed or is not aligned"
    assert report.number("stability.ts@sample").reason == f"undefined for all 36: {because}"
    assert all(score.value is None for score in report.readiness.scores)


def test_predictions_belong_to_samples_not_to_calls(bench: Bench) -> None:
    # RW-113: a call more before the loop shifts what is matched by position.
    samples = [{"id": f"s{number}", "level": 0.0} for number in range(3)]
    bench.write_set(samples)
    outcome = bench.run(model="toy-calls", execution={"batch_size": 2, "save_predictions": True})
    saved = outcome.directory / "predictions"
    found = {path.stem: float(path.read_text()) for path in saved.iterdir()}
    assert found == {"s0": 1.0, "s1": 2.0, "s2": 3.0}


@pytest.mark.parametrize("how", ["", "replace", "copy", "pickle", "asdict", "super"])
def test_a_model_that_reads_the_truth_is_told_that_it_may_not(bench: Bench, how: str) -> None:
    outcome = bench.run(**model("toy-cheat", how=how))
    assert stages(outcome.report) == {("predict", "TruthWithheldError")}
    assert outcome.report.status.failed_samples == ALL
    (_, message), *_ = failures(outcome.report).values()
    assert "read `ground_truth`, which is withheld" in message


def test_a_model_that_looks_behind_the_sample_finds_no_truth(bench: Bench) -> None:
    outcome = bench.run(**model("toy-cheat", how="vars"))
    assert stages(outcome.report) == {("predict", "KeyError")}


METRIC_BREAKERS = {
    "toy-nan": ("MetricError", "metric error: abs is nan"),
    "toy-nan-state": ("MetricError", "state field ErrorState.absolute is NaN"),
    "toy-wrong-keys": (
        "MetricError",
        "metric error: result() gave abs, rmse; its outputs are abs, largest, rms",
    ),
    "toy-wrong-state": (
        "MetricError",
        "metric error: measure() returned a dict; ErrorState or None was expected",
    ),
    "toy-raise": ("ZeroDivisionError", "no such thing"),
}


@pytest.mark.parametrize("metric", METRIC_BREAKERS)
def test_a_metric_that_breaks_its_contract_fails_its_samples(bench: Bench, metric: str) -> None:
    error, message = METRIC_BREAKERS[metric]
    outcome = bench.run(metrics={"error": metric, "other": "toy-trace"})
    assert outcome.exit_code == 3
    assert stages(outcome.report) == {("measure", error)}
    assert {told for _, told in failures(outcome.report).values()} == {message}
    for failed in outcome.report.failures:
        assert failed.failure.text.count("metric error: ") == 1, "a message names its metric once"
    addresses = [number.address for number in outcome.report.numbers]
    assert "error.rms@pooled" in addresses
    assert "other.weighted@pooled" in addresses
    assert value(outcome.report, "error.rms@pooled") is None


@pytest.mark.parametrize(("metric", "failed"), [("toy-pair-raise", 36), ("toy-sequence-raise", 9)])
def test_a_metric_of_pairs_or_sequences_that_raises_fails_these(
    bench: Bench, metric: str, failed: int
) -> None:
    outcome = bench.run(metrics={"error": "toy-error", "other": metric})
    assert outcome.exit_code == 3
    assert len(outcome.report.failures) == failed
    assert stages(outcome.report) == {("measure", "ZeroDivisionError")}
    assert outcome.report.number("error.abs@sample").n == ALL


def test_a_metric_that_fails_on_the_fold_alone_costs_its_own_numbers(bench: Bench) -> None:
    outcome = bench.run(metrics={"bad": "toy-pooled-nan", "error": "toy-error"})
    number = outcome.report.number("bad.rms@pooled")
    assert (number.value, number.reason) == (None, "MetricError: metric bad: rms is nan")
    assert value(outcome.report, "bad.abs@sample") == 1.0
    assert value(outcome.report, "error.rms@pooled") is not None
    (warning,) = outcome.report.warnings
    assert warning.startswith("metric bad failed on folded states: MetricError")
    assert outcome.exit_code == 4


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("short", "align() returned 0 results for 1 frame"),
        ("bare", "align() returned a float; Aligned or None was expected"),
        (
            "infinite",
            "align() says that scale is inf; return None where the fit is undefined",
        ),
        ("raise", "no fit"),
    ],
)
def test_an_alignment_that_breaks_its_contract_fails_its_samples(
    bench: Bench, method: str, says: str
) -> None:
    outcome = bench.run(align=method)
    assert outcome.exit_code == 3
    assert len(outcome.report.failures) == ALL
    assert set(failures(outcome.report).values()) == {("align", says)}


@pytest.mark.parametrize("method", ["short", "bare", "infinite", "raise"])
def test_an_alignment_of_a_sequence_that_fails_costs_that_sequence(
    bench: Bench, method: str
) -> None:
    outcome = bench.run(align=f"{method}:sequence")
    assert {stage for stage, _ in failures(outcome.report).values()} == {"align"}
    assert len(outcome.report.failures) == ALL


def test_an_undefined_alignment_is_undefined_not_failed(bench: Bench) -> None:
    report = bench.run(align="undefined").report
    above = sum(sample["level"] > 20 for sample in toy_samples())
    number = report.number("error.abs@sample")
    assert (number.n, number.undefined, number.failed) == (ALL - above, above, 0)
    assert report.failures == ()


def test_what_was_fitted_stands_in_the_row(bench: Bench) -> None:
    rows = bench.run(align="shift").results.rows
    assert all("shift" in row.alignment for row in rows if row.unit == "sample")


@pytest.mark.parametrize(
    ("layer", "stage", "says"),
    [
        (model("toy-short"), "predict", "predict() returned 0 predictions for 1 samples"),
        (
            model("toy-breaks", how="none"),
            "predict",
            "predict() returned None; a list of predictions was expected",
        ),
        (model("toy-breaks", how="text"), "validate", "sample SAMPLE: a float was expected"),
        (model("toy-breaks", how="surrogate"), "predict", "cannot open a\\udcff"),
        (model("toy-breaks", how="mute"), "predict", "<exception str() failed>"),
    ],
)
def test_a_model_that_breaks_its_contract_fails_its_samples(
    bench: Bench, layer: dict[str, Any], stage: str, says: str
) -> None:
    for batch_size in (1, 8):
        outcome = bench.run(runs=str(batch_size), **layer, execution={"batch_size": batch_size})
        assert outcome.exit_code == 3
        assert failures(outcome.report) == {
            sample["id"]: (stage, says.replace("SAMPLE", sample["id"])) for sample in toy_samples()
        }


def test_a_record_that_cannot_be_loaded_fails_alone(bench: Bench) -> None:
    samples = toy_samples()
    samples[7]["level"] = "high"
    del samples[8]["level"]
    bench.write_set(samples)
    outcome = bench.run(execution={"batch_size": 8})
    assert {name: stage for name, (stage, _) in failures(outcome.report).items()} == {
        samples[7]["id"]: "load",
        samples[8]["id"]: "load",
    }


def test_a_sample_that_is_not_its_record_is_refused(bench: Bench) -> None:
    outcome = bench.run(options={"stray": ["scene0_clean_1"]}, execution={"batch_size": 3})
    assert failures(outcome.report) == {
        "scene0_clean_1": ("load", "load() of record scene0_clean_1 did not return its sample")
    }


@pytest.mark.parametrize("preview", ["raise", "bad"])
def test_a_preview_that_fails_costs_no_number(bench: Bench, preview: str) -> None:
    layer = {"options": {"preview": preview}, "execution": {"previews": 3}}
    outcome = bench.run(**layer)
    assert outcome.exit_code == 0
    assert outcome.report.status.evaluated_samples == ALL
    assert all(worst.pictures == () for worst in outcome.report.worst)


def test_metrics_of_sequences_get_no_images(bench: Bench) -> None:
    # With pair metrics beside them, the last frame used to keep its image.
    assert bench.run(options={"pictures": True}).report.failures == ()
    assert bench.run(options={"pictures": True}, align="shift:sequence").report.failures == ()


def test_an_undefined_metric_is_in_the_report_with_a_reason(bench: Bench) -> None:
    # RW-115: what was asked for has a value or a reason, and never vanishes.
    report = bench.run(metrics={"error": "toy-error", "extra": "toy-undefined"}).report
    for aggregate in ("sample", "pooled", "sample_median", "group"):
        number = report.number(f"extra.abs@{aggregate}")
        assert number.value is None
        assert number.reason is not None
        assert number.reason.startswith("undefined for all")
    assert report.number("extra.abs@sample").undefined == ALL


def test_previews_are_kept_of_the_worst_samples_even_when_a_sequence_starts_again(
    bench: Bench,
) -> None:
    execution = {"previews": 3, "batch_size": 5}
    layer = model("toy-memory", raises=in_scene(0, "clean", [4]) + in_scene(2, "clutter", [4]))
    outcome = bench.run(**layer, execution=execution)
    kept = sorted(path.name for path in (outcome.directory / "previews").iterdir())
    assert kept == sorted(worst.id for worst in outcome.report.worst[:3])
    assert all(len(worst.pictures) == 2 for worst in outcome.report.worst[:3])


def test_predictions_asked_for_later_are_saved_without_changing_a_number(bench: Bench) -> None:
    first = bench.run()
    again = bench.run(execution={"save_predictions": True})
    assert len(list((again.directory / "predictions").iterdir())) == ALL
    assert facts(again.report) == facts(first.report)
    third = bench.run(execution={"save_predictions": True})
    assert len(third.report.writers) == len(again.report.writers)


def test_a_failure_says_in_which_line_of_whose_file(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def guess(x):\n    return {}[x]\n")
    report = bench.run(model=f"{tmp_path / 'mine.py'}:guess").report
    assert {failed.failure.where for failed in report.failures} == {"mine.py:2"}


def test_failures_that_differ_in_their_sample_alone_are_of_one_kind(bench: Bench) -> None:
    raises = in_scene(1, "clean", [1, 2])
    report = bench.run(**model(raises=raises)).report
    (kind,) = group_failures(report.failures)
    assert kind.ids == tuple(raises)


@pytest.mark.parametrize("ids", [("a", "b"), ("1", "10"), ("hall/1", "hall/2"), ("s 1", "s%1")])
def test_samples_are_named_in_texts_by_their_ids_or_their_files(ids: tuple[str, str]) -> None:
    failed = [
        FailedSample(
            id=one,
            sequence="hall",
            failure=Failure(
                stage="predict",
                error="ModelError",
                message=f"sample {one}: no prediction file in /data/all",
                hint=f"expected {file_stem(one)}.png or {file_stem(one)}.npz",
            ),
        )
        for one in ids
    ]
    (kind,) = group_failures(failed)
    assert kind.ids == ids
    assert kind.failure.hint == failed[0].failure.hint


def test_a_number_without_any_value_is_warned_of(bench: Bench) -> None:
    report = bench.run(metrics={"error": "toy-undefined"}).report
    assert any("error has no value: " in warning for warning in report.warnings)
