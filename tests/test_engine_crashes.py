"""Samples that kill a worker cost themselves alone; a worker that cannot work is one error."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ConfigError, ModelError
from rpx_core.executors import process
from rpx_core.report import Report
from rpx_core.run import Outcome
from tests.toys.bench import QUIET, Bench, facts, failures, in_scene, value
from tests.toys.lab import toy_samples

PROCESS = {"executor": "process", "previews": 0}


def model(name: str = "toy-noise", **options: Any) -> dict[str, Any]:
    return {"model": {"name": name, "options": options}}


def run_in_process(bench: Bench, workers: int = 1, batch_size: int = 1, **layer: Any) -> Outcome:
    execution = {**PROCESS, "workers": workers, "batch_size": batch_size}
    return bench.run(**layer, execution=execution)


def sample_values(report_of: Outcome) -> dict[str, float | None]:
    """The primary value of every sample that has one."""
    return {
        row.id: row.metrics["error"].values["abs"]
        for row in report_of.results.rows
        if row.unit == "sample" and row.failure is None
    }


@pytest.mark.parametrize("batch_size", [1, 4])
def test_a_sample_that_kills_costs_itself_alone(bench: Bench, batch_size: int) -> None:
    whole = bench.run(runs="whole")
    killer = "scene1_clean_2"
    outcome = run_in_process(bench, 2, batch_size, **model(kills=[killer]))
    assert outcome.exit_code == 3
    assert failures(outcome.report) == {
        killer: ("crash", "the worker died on this sample: SIGKILL, out of memory?")
    }
    values = sample_values(whole)
    del values[killer]
    assert sample_values(outcome) == values
    assert outcome.report.status.complete


def test_pairs_that_touch_a_crashed_frame_are_undefined(bench: Bench) -> None:
    outcome = run_in_process(bench, **model(kills=["scene1_clean_2"]))
    number = outcome.report.number("stability.ts@sample")
    assert (number.n, number.undefined) == (34, 2)
    assert outcome.report.number("run.length@sample").undefined == 1


def test_each_of_two_killers_in_one_sequence_is_found(bench: Bench) -> None:
    killers = in_scene(0, "clutter", [1, 3])
    outcome = run_in_process(bench, 2, 8, **model(kills=killers))
    assert set(failures(outcome.report)) == set(killers)
    assert len(sample_values(outcome)) == 43


def test_a_whole_sequence_of_killers_ends(bench: Bench) -> None:
    killers = in_scene(0, "clutter", range(5))
    outcome = run_in_process(bench, **model(kills=killers))
    assert set(failures(outcome.report)) == set(killers)
    assert len(sample_values(outcome)) == 40


def test_a_crash_is_put_down_to_its_sample_only_if_it_comes_again(
    bench: Bench, tmp_path: Path
) -> None:
    # Once each: a machine out of memory, not these samples.
    notes = tmp_path / "notes"
    notes.mkdir()
    killers = [*in_scene(0, "clutter", [1, 3]), "scene2_clean_0"]
    outcome = run_in_process(bench, 2, 4, **model(kills=killers, kills_once=str(notes)))
    assert outcome.exit_code == 0
    assert outcome.report.failures == ()
    assert len(list(notes.iterdir())) == 3
    assert facts(outcome.report)["numbers"] == facts(bench.run(runs="whole").report)["numbers"]


@pytest.mark.parametrize("batch_size", [1, 8])
def test_memory_is_built_again_without_the_frame_that_kills(bench: Bench, batch_size: int) -> None:
    killer = "scene1_clean_2"
    samples = [sample for sample in toy_samples() if sample["id"] != killer]
    outcome = run_in_process(bench, 1, batch_size, **model("toy-memory", kills=[killer]))
    bench.write_set(samples)
    without = bench.run(runs="without", model="toy-memory")
    assert sample_values(outcome) == sample_values(without)
    assert set(failures(outcome.report)) == {killer}


def test_a_model_of_whole_sequences_loses_the_sequence(bench: Bench) -> None:
    outcome = run_in_process(bench, **model("toy-clip", kills=["scene1_clean_2"]))
    assert set(failures(outcome.report)) == set(in_scene(1, "clean", range(5)))
    assert len(sample_values(outcome)) == 40


def test_a_file_whose_loading_kills_costs_itself_alone(bench: Bench) -> None:
    outcome = run_in_process(bench, 2, 4, options={"kills": ["scene2_clean_4"]})
    assert {name: stage for name, (stage, _) in failures(outcome.report).items()} == {
        "scene2_clean_4": "crash"
    }
    assert len(sample_values(outcome)) == 44


def test_a_crashed_sample_is_tried_again_by_the_next_run(bench: Bench, tmp_path: Path) -> None:
    poison = tmp_path / "poison"
    poison.touch()
    layer = model(kills=["scene1_clean_2"], kills_while=str(poison))
    assert run_in_process(bench, **layer).report.status.failed_samples == 1
    poison.unlink()
    again = run_in_process(bench, **layer).report
    assert (again.status.failed_samples, again.failures) == (0, ())


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("setup dies", r"a worker died while it set up toy-engine/toy-breaks \(SIGKILL"),
        ("setup raises", "toy-breaks cannot be set up: OSError: weights are gone"),
        ("setup exits", "toy-breaks cannot be set up: SystemExit: bye"),
        ("load raises", "toy-breaks cannot be set up: LookupError: no such architecture"),
        ("setup raises its own", "no licence"),
        ("describe raises", "toy-breaks cannot be set up: ValueError: speechless"),
    ],
)
def test_a_model_that_cannot_be_set_up_is_one_clear_error(
    bench: Bench, how: str, says: str
) -> None:
    for execution in ({"workers": 2}, {"workers": 1}):
        if execution == {"workers": 1} and how == "setup dies":
            continue
        with pytest.raises(ModelError, match=says) as caught:
            bench.run(**model("toy-breaks", how=how), execution=execution)
        assert not (bench.folder / "runs").exists()
        assert caught.value.hint


def test_an_error_of_a_plugin_comes_whole_from_a_worker(bench: Bench) -> None:
    with pytest.raises(ModelError, match="no licence") as caught:
        bench.run(**model("toy-breaks", how="setup raises its own"), execution={"workers": 2})
    assert caught.value.hint == "buy one"


def test_threads_of_a_model_cannot_hold_the_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.1)
    outcome = run_in_process(bench, 2, **model("toy-breaks", how="hangs"))
    assert outcome.exit_code == 0
    assert multiprocessing.active_children() == []


def test_workers_take_the_devices_in_turn(bench: Bench) -> None:
    execution = {**PROCESS, "workers": 2, "devices": ["cpu", "cuda:1"]}
    outcome = bench.run(**model(kills=["scene0_clutter_0", "scene2_clean_4"]), execution=execution)
    assert {writer.device for writer in outcome.report.writers} == {"cpu", "cuda:1"}


def cannot_start(*arguments: object) -> None:
    raise ModelError("no GPU")


def test_what_was_done_before_a_worker_could_not_start_is_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = bench.run(replace(QUIET, shard=(1, 2)))
    before = sorted(half.directory.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr("rpx_core.worker.set_up", cannot_start)
        with pytest.raises(ModelError, match="no GPU"):
            bench.run()
    assert sorted(half.directory.rglob("*")) == before
    assert bench.run().report.status.complete


@pytest.mark.parametrize("how", [{}, {"fresh": True}, {"shard": (1, 2)}])
def test_a_run_that_could_not_start_leaves_nothing_that_was_not_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    monkeypatch.setattr("rpx_core.worker.set_up", cannot_start)
    mine = bench.folder / "runs" / "notes.txt"
    mine.parent.mkdir()
    mine.touch()
    with pytest.raises(ModelError, match="no GPU"):
        bench.run(replace(QUIET, **how))
    assert list(mine.parent.iterdir()) == [mine]


def test_a_shard_without_work_has_a_folder_to_merge(bench: Bench) -> None:
    outcome = bench.run(replace(QUIET, shard=(40, 40)))
    assert (outcome.samples_done, outcome.report.status.complete) == (0, False)
    assert {path.name for path in outcome.directory.iterdir()} >= {"run.json", "journal"}


def test_an_unknown_report_format_leaves_no_run(bench: Bench) -> None:
    with pytest.raises(ConfigError):
        bench.run(replace(QUIET, reporters=("nosuch",)))
    assert not (bench.folder / "runs").exists()


def test_a_model_that_exits_cannot_end_the_run_as_a_success(bench: Bench) -> None:
    for execution in ({"workers": 1}, {"workers": 2}):
        outcome = bench.run(**model("toy-breaks", how="exits"), execution=execution)
        assert outcome.exit_code == 3
        assert set(failures(outcome.report).values()) == {("predict", "0")}


def test_a_metric_that_exits_is_a_failed_sample(bench: Bench) -> None:
    outcome = bench.run(metrics={"error": "toy-exit"})
    assert {stage for stage, _ in failures(outcome.report).values()} == {"measure"}


def test_a_report_after_crashes_has_every_number(bench: Bench) -> None:
    whole: Report = bench.run(runs="whole").report
    outcome = run_in_process(bench, **model(kills=["scene1_clean_2"]))
    assert [number.address for number in outcome.report.numbers] == [
        number.address for number in whole.numbers
    ]
    assert value(outcome.report, "error.abs@sample") is not None
