"""However the work is spread, ordered, interrupted or stored, the numbers are the same bits."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rpx_core.run import Request
from tests.toys.bench import QUIET, Bench, facts
from tests.toys.lab import Lab, toy_samples

EVERY_METRIC = {
    "error": "toy-error",
    "trace": "toy-trace",
    "run": "toy-run",
    "stability": "toy-stability",
    "quality": "toy-quality",
}


def all_facts(bench: Bench, runs: str, **layer: Any) -> dict[str, Any]:
    return facts(bench.run(runs=runs, metrics=EVERY_METRIC, **layer).report)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_a_manifest_does_not_matter(bench: Bench, seed: int) -> None:
    whole = all_facts(bench, "a")
    samples = toy_samples()
    random.Random(seed).shuffle(samples)
    bench.write_set(samples)
    assert all_facts(bench, "b") == whole


def test_frames_that_sort_alike_keep_one_order(bench: Bench) -> None:
    # "1" and "01" are one number: where their order came from the file, so did recurrent results.
    samples = [
        {"id": f"s_{name}", "scene": "s", "phase": "clean", "level": level}
        for level, name in enumerate(["1", "01", "001", "0001"])
    ]
    layer = {"model": "toy-memory", "data": {"name": str(bench.folder / "set.json"), "limit": 3}}
    bench.write_set(samples)
    whole = all_facts(bench, "a", **layer)
    bench.write_set(samples[::-1])
    assert all_facts(bench, "b", **layer) == whole


def test_json_and_json_lines_hold_the_same_dataset(bench: Bench) -> None:
    lines = bench.folder / "set.jsonl"
    records = [json.dumps(sample) for sample in toy_samples()]
    lines.write_bytes("\r\n".join([json.dumps({"task": "toy_level"}), *records]).encode())
    assert all_facts(bench, "b", data=str(lines)) == all_facts(bench, "a")


@pytest.mark.parametrize("model", ["toy-noise", "toy-memory", "toy-clip"])
@pytest.mark.parametrize("size", [3, 8, 1000])
def test_the_batch_size_does_not_matter(bench: Bench, model: str, size: int) -> None:
    whole = all_facts(bench, "a", model=model)
    assert all_facts(bench, "b", model=model, execution={"batch_size": size}) == whole


@pytest.mark.parametrize("model", ["toy-noise", "toy-memory", "toy-clip"])
@pytest.mark.parametrize("align", ["shift", "shift:sequence"])
def test_workers_and_batches_do_not_matter(bench: Bench, model: str, align: str) -> None:
    whole = all_facts(bench, "a", model=model, align=align)
    execution = {"workers": 2, "batch_size": 4}
    assert all_facts(bench, "b", model=model, align=align, execution=execution) == whole


def numbers(bench: Bench, runs: str, metric: str, **layer: Any) -> list[dict[str, Any]]:
    """The numbers of a run with one metric."""
    report = bench.run(runs=runs, metrics={"error": metric}, **layer).report
    return [number.model_dump(mode="json") for number in report.numbers]


@pytest.mark.parametrize("align", ["none", "shift:sequence"])
def test_samples_of_a_batch_are_measured_at_once_where_a_metric_can(
    bench: Bench, align: str
) -> None:
    # Each sequence has five frames; this metric of blocks cannot measure one alone.
    layer = {"model": "toy-noise", "align": align, "execution": {"batch_size": 5}}
    blocks = numbers(bench, "b", "toy-blocks", **layer)
    assert blocks == numbers(bench, "a", "toy-error", **layer)
    assert {number["failed"] for number in blocks} == {0}


@pytest.mark.parametrize("size", [4, 1000])
def test_a_sample_that_breaks_a_block_fails_alone(bench: Bench, size: int) -> None:
    single = numbers(bench, "a", "toy-block-breaker")
    blocks = numbers(bench, "b", "toy-block-breaker", execution={"batch_size": size})
    assert blocks == single
    assert 0 < single[0]["failed"] < 45


def test_a_block_without_an_answer_for_each_sample_is_not_used_and_told_once(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    short = numbers(bench, "b", "toy-short-block", execution={"batch_size": 5})
    (told,) = capsys.readouterr().err.splitlines()
    assert "measure_block() of metric error failed 9 times" in told
    assert "returned 4 states for 5 samples" in told
    assert short == numbers(bench, "a", "toy-error")


def test_one_worker_process_does_what_this_process_does(bench: Bench) -> None:
    execution = {"executor": "process"}
    assert all_facts(bench, "b", execution=execution) == all_facts(bench, "a")


def test_shards_merged_by_copying_are_the_whole_run(lab: Lab) -> None:
    whole = lab.rpx(runs="whole")
    assert whole.returncode == 0, whole.stderr
    for index in (1, 2, 3):
        shard = lab.rpx("--shard", f"{index}/3", runs=f"shard{index}")
        assert shard.returncode == 0, shard.stderr
        assert f"partial: shard {index} of 3" in shard.stdout
    records = {(lab.run_directory(f"shard{i}") / "run.json").read_bytes() for i in (1, 2, 3)}
    assert records == {(lab.run_directory("whole") / "run.json").read_bytes()}
    target = lab.run_directory("shard1")
    for index in (2, 3):
        for file in (lab.run_directory(f"shard{index}") / "journal").iterdir():
            shutil.copy(file, target / "journal")
    assert lab.rpx(str(target), verb="report").returncode == 0
    merged = without_pictures(lab.report("shard1"))
    assert merged == without_pictures(lab.report("whole"))
    assert merged["status"]["complete"] is True


def without_pictures(report: dict[str, Any]) -> dict[str, Any]:
    """Pictures of the worst samples stay with the shard that saw them."""
    worst = [{**sample, "pictures": None} for sample in report["worst"]]
    return {**report, "worst": worst}


def test_a_shard_says_how_far_the_whole_run_is(bench: Bench) -> None:
    outcome = bench.run(Request(shard=(2, 3), reporters=()))
    status = outcome.report.status
    assert outcome.exit_code == 0
    assert (status.complete, status.evaluated_samples, status.selected_samples) == (False, 15, 45)
    assert status.partial == ("shard 2 of 3", "3 of 9 sequences are finished")


def test_shards_are_disjoint_and_together_whole(bench: Bench) -> None:
    for index in (1, 2, 3, 4):
        outcome = bench.run(Request(shard=(index, 4), reporters=()))
    assert outcome.report.status.complete
    assert facts(outcome.report) == facts(bench.run(runs="whole").report)
    with_rows = [row.id for row in outcome.results.rows if row.unit == "sample"]
    assert len(with_rows) == len(set(with_rows)) == 45


def test_more_shards_than_sequences_leave_some_empty(bench: Bench) -> None:
    outcome = bench.run(Request(shard=(20, 20), reporters=()))
    assert outcome.exit_code == 0
    assert outcome.report.status.evaluated_samples == 0
    reasons = {number.reason for number in outcome.report.numbers}
    assert reasons == {"there is no evidence"}


def test_a_limited_run_says_so_everywhere(lab: Lab) -> None:
    # RW-132: a run of a few samples must not pass for a whole one.
    ran = lab.rpx("--limit", "10")
    assert ran.returncode == 0, ran.stderr
    status = lab.report()["status"]
    assert status["complete"] is False
    assert status["partial"] == ["a limit selects 10 of 45 samples"]
    assert (status["evaluated_samples"], status["dataset_samples"]) == (10, 45)
    assert "10 of 45 samples" in ran.stdout
    summary = (lab.run_directory() / "report" / "summary.md").read_text(encoding="utf-8")
    assert "a limit selects 10 of 45 samples" in summary


def test_a_limit_takes_the_first_samples_in_id_order(bench: Bench) -> None:
    samples = [{"id": f"f_{number}", "level": number} for number in (10, 9, 2, 11, 100)]
    bench.write_set(samples)
    data = {"name": str(bench.folder / "set.json"), "limit": 3}
    outcome = bench.run(data=data)
    assert {row.id for row in outcome.results.rows if row.unit == "sample"} == {
        "f_2",
        "f_9",
        "f_10",
    }


def test_a_limit_beyond_the_data_is_no_limit(bench: Bench) -> None:
    data = {"name": str(bench.folder / "set.json"), "limit": 1000}
    assert bench.run(data=data).report.status.complete


def test_fresh_forgets_and_finds_the_same(bench: Bench) -> None:
    first = bench.run()
    (first.directory / "journal" / "stray.jsonl").write_text("{}\n")
    again = bench.run(Request(fresh=True, reporters=()))
    assert facts(again.report) == facts(first.report)
    assert first.report.writers[0].writer not in [w.writer for w in again.report.writers]


@pytest.mark.parametrize(
    "execution",
    [
        {"batch_size": 5, "max_failed": 3},
        {"workers": 2},
        {"executor": "process"},
        {"devices": ["cpu", "cpu"], "previews": 2},
    ],
)
def test_a_run_is_resumed_whatever_its_execution(bench: Bench, execution: dict[str, Any]) -> None:
    whole = facts(bench.run(runs="whole").report, "worst")
    first = bench.run(Request(shard=(1, 2), reporters=()))
    second = bench.run(execution=execution)
    assert second.directory == first.directory
    assert facts(second.report, "worst") == whole


def test_a_finished_run_is_not_predicted_again(bench: Bench) -> None:
    bench.run(model={"name": "toy-noise", "options": {"kill_after": 46}})
    again = bench.run(model={"name": "toy-noise", "options": {"kill_after": 46}})
    assert again.report.status.complete
    assert len(again.report.writers) == 1


def test_two_commands_at_once_on_one_run_are_both_right(lab: Lab) -> None:
    whole = lab.rpx(runs="whole")
    assert whole.returncode == 0
    both = [
        subprocess.Popen(
            lab.command(*more),
            cwd=lab.folder,
            env=lab.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for more in ((), ("--workers", "2"))
    ]
    output = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], output
    assert lab.report()["numbers"] == lab.report("whole")["numbers"]
    assert lab.report()["status"] == lab.report("whole")["status"]


def test_failed_samples_are_tried_again_and_replaced(bench: Bench) -> None:
    broken = bench.folder / "broken"
    broken.touch()
    raises = ["scene1_clean_2", "scene0_clutter_0"]
    layer = {"model": {"name": "toy-noise", "options": {"raises": raises}}}
    layer["model"]["options"]["raises_while"] = str(broken)
    first = bench.run(**layer)
    assert (first.exit_code, first.report.status.failed_samples) == (3, 2)
    again = bench.run(**layer)
    assert again.report.status.failed_samples == 2
    broken.unlink()
    last = bench.run(**layer)
    assert (last.exit_code, last.report.status.failed_samples) == (0, 0)
    assert facts(last.report)["numbers"] == facts(bench.run(runs="b").report)["numbers"]


def test_a_run_that_is_a_file_of_another_says_so(bench: Bench) -> None:
    outcome = bench.run()
    path: Path = outcome.directory / "run.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(Exception, match="describes another run"):
        bench.run(QUIET)
