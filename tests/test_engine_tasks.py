"""Tasks that make their own samples of a sequence, and plugins that listen to a run."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from rpx_core.check import check_dataset
from rpx_core.config import Data
from rpx_core.contracts import BlindSample, Sample, withhold
from rpx_core.errors import ConfigError, PluginError, TruthWithheldError
from rpx_core.published.datasets import RPXDataset
from rpx_core.run import Request
from tests.toys.bench import Bench, facts
from tests.toys.lab import Lab, toy_samples
from tests.toys.site import ToySite

STEP = {"task": "toy_step"}


@pytest.fixture
def steps(bench: Bench) -> Bench:
    bench.write_set(task="toy_step")
    return bench


def sample_ids(outcome: Any) -> list[str]:
    return [row.id for row in outcome.results.rows if row.unit == "sample"]


def test_a_task_may_make_a_sample_of_every_two_frames(steps: Bench) -> None:
    outcome = steps.run(**STEP)
    expected = {
        f"{before['id']}--{after['id']}"
        for before, after in itertools.pairwise(toy_samples())
        if before["id"].rpartition("_")[0] == after["id"].rpartition("_")[0]
    }
    assert set(sample_ids(outcome)) == expected
    assert outcome.report.status.dataset_samples == len(expected) == 36


def test_a_limit_counts_the_samples_that_a_task_makes(steps: Bench) -> None:
    data = {"name": str(steps.folder / "set.json"), "limit": 5}
    outcome = steps.run(**STEP, data=data)
    assert len(sample_ids(outcome)) == 5
    assert outcome.report.status.partial == ("a limit selects 5 of 36 samples",)


def test_made_samples_have_the_same_numbers_in_shards_and_workers(steps: Bench) -> None:
    whole = facts(steps.run(**STEP, runs="whole").report)
    assert facts(steps.run(**STEP, runs="two", execution={"workers": 2}).report) == whole
    steps.run(Request(shard=(1, 2), reporters=()), **STEP)
    assert facts(steps.run(Request(shard=(2, 2), reporters=()), **STEP).report) == whole


def test_a_task_that_makes_an_id_twice_is_refused(
    steps: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toy_engine_task

    def arrange(self: Any, records: Any, files: Any) -> Any:
        return [record.model_copy(update={"id": "same"}) for record in records]

    monkeypatch.setattr(toy_engine_task.StepTask, "arrange", arrange)
    with pytest.raises(PluginError, match=r"StepTask.arrange\(\) gave the id 'same' twice"):
        steps.plan(**STEP)


@pytest.mark.parametrize(
    ("arrange", "says"),
    [
        (lambda self, records, files: 1 // 0, r"StepTask.arrange failed: ZeroDivisionError"),
        (lambda self, records, files: ["a"], r"StepTask.arrange gave a str; records were expected"),
    ],
    ids=["raises", "no records"],
)
def test_a_task_that_cannot_arrange_is_one_error_wherever_it_is_asked(
    steps: Bench, monkeypatch: pytest.MonkeyPatch, arrange: Any, says: str
) -> None:
    import toy_engine_task

    monkeypatch.setattr(toy_engine_task.StepTask, "arrange", arrange)
    data = Data(name=str(steps.folder / "set.json"))
    with pytest.raises(PluginError, match=says):
        steps.plan(**STEP)
    with pytest.raises(PluginError, match=says):
        check_dataset(steps.host, data, "toy_step")
    with pytest.raises(PluginError, match=says):
        list(RPXDataset.from_manifest(data.name))


def test_records_that_make_no_sample_are_an_error(bench: Bench) -> None:
    bench.write_set([{"id": "a", "level": 1.0}, {"id": "b", "level": 2.0}], task="toy_step")
    with pytest.raises(ConfigError, match="no samples selected: set has 2 records"):
        bench.plan(**STEP)


def test_an_empty_set_is_an_error_before_a_model_is_loaded(bench: Bench) -> None:
    # RW-116
    (bench.folder / "set.json").write_text(json.dumps({"task": "toy_level", "samples": []}))
    with pytest.raises(ConfigError, match="set has no samples"):
        bench.run(model={"name": "toy-breaks", "options": {"how": "load raises"}})


def test_data_without_what_the_task_needs_is_refused_before_the_run(bench: Bench) -> None:
    bench.write_set([{"id": "a"}, {"id": "b"}])
    with pytest.raises(ConfigError, match="task toy-engine/toy_level needs level, which the rec"):
        bench.plan()


LISTENER = """
import json
from pathlib import Path

NOTES = Path({notes!r})


def note(*what):
    with NOTES.open("a") as file:
        file.write(json.dumps(what) + "\\n")


@hookimpl
def rpx_run_started(record):
    note("started", record.selected_samples)


@hookimpl
def rpx_sample_scored(record, row):
    note("scored", row.id, row.failure is None)


@hookimpl
def rpx_run_finished(record, report):
    note("finished", report.status.evaluated_samples)
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_plugins_hear_of_every_sample_once(lab: Lab, workers: str) -> None:
    notes = lab.folder / "notes"
    site = ToySite(lab.folder / "site", core=None)
    site.plugin("toy-listener", LISTENER.format(notes=str(notes)))
    broken = "scene1_clean_2"
    ran = lab.rpx(
        "--model", "toy-noise", "--workers", workers, "--set", f'model.options.raises=["{broken}"]'
    )
    assert ran.returncode == 3, ran.stderr
    heard = [json.loads(line) for line in notes.read_text().splitlines()]
    assert heard[0] == ["started", 45]
    assert heard[-1] == ["finished", 44]
    scored = {name: fine for what, name, fine in heard[1:-1]}
    assert len(heard) == 47
    assert scored == {sample["id"]: sample["id"] != broken for sample in toy_samples()}


def test_a_blind_sample_is_all_but_its_truth() -> None:
    sample = Sample(id="a", ground_truth="secret", query="given", metadata={"k": 1})
    blind = withhold(sample)
    assert isinstance(blind, BlindSample)
    assert (blind.id, blind.query, blind.metadata) == ("a", "given", {"k": 1})
    assert "secret" not in repr(blind)
    assert "secret" not in str(vars(blind))
    with pytest.raises(TruthWithheldError, match="sample a: "):
        blind.ground_truth  # noqa: B018  # reading is what must fail
    assert sample.ground_truth == "secret"


def test_a_run_directory_is_made_where_it_was_asked_for(bench: Bench) -> None:
    outcome = bench.run(runs="deep/er")
    assert outcome.directory.parent == bench.folder / "deep" / "er"
    assert {path.name for path in outcome.directory.iterdir()} >= {"run.json", "journal"}
