"""`rpx run --profile` and reports of several runs, as a user meets them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ExitCode
from rpx_core.models import object_model
from rpx_core.profiling.storage import NAME
from rpx_core.run import run
from tests.toys.bench import QUIET, Bench, facts
from tests.toys.lab import Lab, toy_samples

PROFILED = replace(QUIET, profile=True)


def read_profile(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / NAME).read_bytes())
    return found


def test_a_profile_changes_no_number_and_no_identity(bench: Bench) -> None:
    plain = bench.run(runs="plain")
    profiled = bench.run(PROFILED, runs="profiled")
    assert plain.report.efficiency is None
    assert profiled.report.efficiency is not None
    assert facts(profiled.report, "efficiency") == facts(plain.report, "efficiency")
    journals = [
        sorted(
            line
            for file in (outcome.directory / "journal").glob("*.jsonl")
            for line in file.read_text().splitlines()[1:]
        )
        for outcome in (plain, profiled)
    ]
    assert len(journals[0]) == len(journals[1])
    assert not [line for line in journals[1] if "latency" in line]


def test_the_same_command_without_the_flag_keeps_the_profile(bench: Bench) -> None:
    first = bench.run(PROFILED)
    stored = read_profile(first.directory)
    again = bench.run()
    assert read_profile(first.directory) == stored
    assert again.report.efficiency == first.report.efficiency
    assert again.samples_done == 0


def test_a_finished_run_can_be_profiled_later(bench: Bench) -> None:
    assert bench.run().report.efficiency is None
    later = bench.run(PROFILED)
    assert later.samples_done == 0
    assert later.report.efficiency is not None


def test_a_fresh_run_forgets_the_profile_too(bench: Bench) -> None:
    directory = bench.run(PROFILED).directory
    bench.run(replace(QUIET, fresh=True))
    assert not (directory / NAME).exists()


def test_a_damaged_profile_is_a_warning_of_the_report(bench: Bench) -> None:
    directory = bench.run(PROFILED).directory
    (directory / NAME).write_text("{")
    report = bench.run().report
    assert report.efficiency is None
    assert report.warnings == ("profile.json cannot be read; --profile measures again",)


def test_a_model_that_dies_in_profiling_is_a_warning_and_no_failed_run(bench: Bench) -> None:
    # More calls than the run has samples: it dies in the profile alone.
    options = {"kill_after": len(toy_samples()) + 1}
    outcome = bench.run(PROFILED, model={"name": "toy-noise", "options": options})
    assert outcome.exit_code == ExitCode.OK
    assert outcome.report.efficiency is None
    (warning,) = outcome.report.warnings
    assert warning.startswith("the model could not be profiled: ProcessDied: the process that")
    assert not (outcome.directory / NAME).exists()


def test_a_model_that_raises_in_profiling_keeps_the_profile_of_before(
    bench: Bench, tmp_path: Path
) -> None:
    switch = tmp_path / "switch"
    options = {"raises": [toy_samples()[0]["id"]], "raises_while": str(switch)}
    model = {"name": "toy-noise", "options": options}
    stored = read_profile(bench.run(PROFILED, model=model).directory)
    switch.touch()
    again = bench.run(PROFILED, model=model)
    assert again.exit_code == ExitCode.OK
    (warning,) = [one for one in again.report.warnings if "profiled" in one]
    assert "could not be profiled: RuntimeError: cannot do scene0_clutter_0 at " in warning
    assert read_profile(again.directory) == stored


def test_samples_that_cannot_be_loaded_are_left_out_of_the_profile(bench: Bench) -> None:
    samples = toy_samples(scenes=1, frames=1)
    samples[0]["level"] = "high"
    bench.write_set(samples)
    outcome = bench.run(PROFILED)
    assert outcome.report.status.failed_samples == 1
    assert outcome.report.efficiency is not None
    assert outcome.report.efficiency.samples == len(samples) - 1


def test_batches_of_the_profile_are_those_of_the_run(bench: Bench) -> None:
    execution = {"previews": 0, "batch_size": 4}
    profile = bench.run(PROFILED, execution=execution).report.efficiency
    assert profile is not None
    assert profile.batch_size == 4
    memory = bench.run(PROFILED, model="toy-memory", execution=execution).report.efficiency
    assert memory is not None
    assert memory.samples % 4 == 0


def test_a_model_of_this_process_is_profiled_here(bench: Bench) -> None:
    class Here:
        task = "toy_level"
        calls = 0

        def setup(self) -> None:
            """Do nothing."""

        def predict(self, batch: Any) -> list[float]:
            self.calls += 1
            return [sample.query for sample in batch]

    model = Here()
    plan = bench.plan()
    part = object_model(model, "here")
    outcome = run(replace(plan, job=replace(plan.job, model=part)), bench.host, PROFILED)
    assert outcome.report.efficiency is not None
    assert model.calls > len(toy_samples())


def test_every_form_of_the_report_shows_the_profile(lab: Lab) -> None:
    ran = lab.rpx("--profile", "--as", "json,markdown,html")
    assert ran.returncode == ExitCode.OK
    directory = lab.run_directory()
    stored = read_profile(directory)
    result = json.loads((directory / "report" / "result.json").read_bytes())
    assert result["efficiency"] == stored
    assert stored["run"] == result["run"]["identity"]
    assert "Throughput" in ran.stdout
    assert "### Efficiency" in (directory / "report" / "summary.md").read_text()
    assert 'id="efficiency"' in (directory / "report" / "report.html").read_text()


def test_two_runs_stand_beside_each_other_and_a_third_is_told_apart(lab: Lab) -> None:
    lab.rpx("--profile", "--as", "json")
    lab.rpx(
        "--profile",
        "--as",
        "json",
        "--set",
        "model.name='toy-noise'",
        "--set",
        "model.options.bias=1",
    )
    lab.rpx("--as", "json", "--limit", "9")
    directories = sorted((lab.folder / "runs").iterdir())
    ran = lab.rpx(*map(str, directories), "--as", "json,html,markdown", verb="report")
    assert ran.returncode == ExitCode.OK
    assert ran.stdout.count("not beside each other: ") == 1
    assert "differ in data" in ran.stdout
    assert ran.stdout.count(" (other data than the first)\n") == 1, "tables say why they are apart"
    assert "Latency (ms)" in ran.stdout
    pages = [(path / "report" / "report.html").read_text() for path in directories]
    charts = [page.count('<figure class="panel pareto">') for page in pages]
    limited = [
        json.loads((d / "run.json").read_bytes())["selected_samples"] == 9 for d in directories
    ]
    # The toy uses no torch: only its latency can be drawn.
    assert charts == [0 if alone else 1 for alone in limited]
    assert ["Beside other runs" in page for page in pages] == [not alone for alone in limited]


def test_the_same_run_named_twice_is_one(lab: Lab) -> None:
    lab.rpx("--as", "json")
    directory = lab.run_directory()
    ran = lab.rpx(str(directory), f"{directory}/../{directory.name}", "--as", "html", verb="report")
    assert ran.returncode == ExitCode.OK
    assert "Beside other runs" not in (directory / "report" / "report.html").read_text()


def test_a_report_of_failed_samples_exits_as_the_run_did(lab: Lab) -> None:
    samples = toy_samples()
    samples[0]["level"] = "high"
    lab.write_manifest(samples)
    assert lab.rpx("--as", "json").returncode == ExitCode.INCOMPLETE
    report = (str(lab.run_directory()), "--as", "json")
    assert lab.rpx(*report, verb="report").returncode == ExitCode.INCOMPLETE
    assert lab.rpx(*report, "--max-failed", "1", verb="report").returncode == ExitCode.OK


def test_a_report_of_an_unfinished_run_exits_with_incomplete(lab: Lab) -> None:
    assert lab.rpx("--as", "json", "--shard", "1/2").returncode == ExitCode.OK
    ran = lab.rpx(str(lab.run_directory()), "--as", "json", verb="report")
    assert ran.returncode == ExitCode.INCOMPLETE


def test_slices_by_several_keys_are_printed(lab: Lab) -> None:
    ran = lab.rpx("--by", "phase, scene", "--by", "site", "--as", "json")
    assert ran.returncode == ExitCode.OK
    keys = [part["key"] for part in lab.report()["slices"]]
    assert list(dict.fromkeys(keys)) == ["phase", "scene", "site"]
    assert "phase = clutter" in ran.stdout
    assert "site = kitchen" in ran.stdout


@pytest.mark.parametrize("verb", ["run", "score", "report"])
def test_help_names_the_flags(lab: Lab, verb: str) -> None:
    text = lab.rpx("--help", verb=verb).stdout
    assert "comma-separated" in " ".join(text.split())
    assert ("--profile" in text) == (verb == "run")
