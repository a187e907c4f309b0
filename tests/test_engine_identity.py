"""A run is what can move its numbers, and nothing else: that names its folder and guards it."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ConfigError
from rpx_core.layers import Layers, make_plans
from rpx_core.models import files_model
from rpx_core.results import stored_metrics
from rpx_core.run_json import read_record
from tests.toys.bench import Bench, facts
from tests.toys.lab import toy_samples

FUNCTION = "def guess(sample_id):\n    return float(len(sample_id))\n"


def identity(bench: Bench, **layer: Any) -> str:
    return bench.plan(**layer).record.identity


def data(bench: Bench, **more: Any) -> dict[str, Any]:
    return {"name": str(bench.folder / "set.json"), **more}


def test_everything_that_can_move_a_number_changes_the_identity(bench: Bench) -> None:
    layers: list[dict[str, Any]] = [
        {},
        {"model": "toy-memory"},
        {"model": {"name": "toy-noise", "options": {"bias": 1.0}}},
        {"options": {"offset": 1.0}},
        {"seed": 1},
        {"readiness": "rpx-1"},
        {"align": "shift"},
        {"align": "shift:sequence"},
        {"metrics": {"error": "toy-error"}},
        {"metrics": {"fault": "toy-error"}},
        {"metrics": {"error": {"name": "toy-error", "options": {"scale": 2.0}}}},
        {"metrics": {"error": "toy-error", "trace": "toy-trace"}},
        {"data": data(bench, limit=5)},
        {"data": data(bench, limit=6)},
        {"data": data(bench, split="easy")},
        {"data": data(bench, split="hard")},
        {"protocol": "toy-fixed"},
        {"protocol": "toy-fixed", "align": "none"},
    ]
    found = [bench.plan(**layer) for layer in layers]
    assert len({plan.record.identity for plan in found}) == len(layers)
    assert len({plan.directory for plan in found}) == len(layers)


@pytest.mark.parametrize(
    "change", [{"level": 7.5}, {"scene": "x"}, {"metadata": {"site": "x"}}, {"frame": 99}]
)
def test_another_record_is_another_run(bench: Bench, change: dict[str, Any]) -> None:
    before = identity(bench)
    first, *rest = toy_samples()
    bench.write_set([{**first, **change}, *rest])
    assert identity(bench) != before


@pytest.mark.parametrize(
    "execution",
    [
        {"workers": 3},
        {"executor": "process"},
        {"batch_size": 9},
        {"devices": ["cuda:0"]},
        {"save_predictions": True},
        {"max_failed": 5},
        {"previews": 0},
    ],
)
def test_how_the_work_is_done_does_not_change_the_identity(
    bench: Bench, execution: dict[str, Any]
) -> None:
    assert identity(bench, execution=execution) == identity(bench)


def test_where_the_data_lies_does_not_change_the_identity(bench: Bench) -> None:
    before = bench.plan()
    shuffled = toy_samples()
    random.Random(3).shuffle(shuffled)
    elsewhere = bench.folder / "else" / "where" / "renamed.json"
    elsewhere.parent.mkdir(parents=True)
    shutil.move(bench.write_set(shuffled), elsewhere)
    assert identity(bench, data=str(elsewhere)) == before.record.identity
    widened = {"name": str(elsewhere), "options": {"root": str(bench.folder)}}
    assert identity(bench, data=widened) == before.record.identity


def test_naming_what_is_the_default_does_not_change_the_identity(bench: Bench) -> None:
    named = {
        "model": "toy-engine/toy-noise",
        "task": "toy-engine/toy_level",
        "align": "none:sample",
        "seed": 0,
        "readiness": "rpx-2",
        "options": {"offset": 0.0},
    }
    assert identity(bench, **named) == identity(bench)


def test_the_version_of_a_metric_is_part_of_the_identity(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = bench.run()
    import toy_engine_metrics
    import toy_engine_task

    monkeypatch.setattr(toy_engine_metrics.Error, "version", "2")
    moved = bench.plan()
    assert moved.record.identity != finished.report.run.identity
    with pytest.raises(ConfigError, match="measured with version 1 of toy-engine/toy-error"):
        stored_metrics(read_record(finished.directory), bench.host)
    monkeypatch.setattr(toy_engine_task.ToyTask, "version", "2")
    assert bench.plan().record.identity != moved.record.identity


def test_the_content_of_a_model_file_is_part_of_the_identity_and_its_path_is_not(
    bench: Bench,
) -> None:
    one, other = bench.folder / "one.py", bench.folder / "two" / "other.py"
    other.parent.mkdir()
    one.write_text(FUNCTION)
    other.write_text(FUNCTION)
    before = identity(bench, model=f"{one}:guess")
    assert identity(bench, model=f"{other}:guess") == before
    changed = bench.folder / "changed.py"
    changed.write_text(FUNCTION.replace("float(", "0.5 + float("))
    assert identity(bench, model=f"{changed}:guess") != before


def test_the_content_of_a_file_that_an_option_names_counts_and_its_path_does_not(
    bench: Bench,
) -> None:
    def of(path: Path) -> str:
        return identity(bench, model={"name": "toy-noise", "options": {"weights": str(path)}})

    one, other = bench.folder / "one.bin", bench.folder / "other.bin"
    one.write_bytes(b"weights")
    other.write_bytes(b"weights")
    before = of(one)
    assert of(other) == before
    one.write_bytes(b"better weights")
    assert of(one) != before


def test_another_function_of_the_same_file_is_another_model(bench: Bench) -> None:
    path = bench.folder / "both.py"
    path.write_text(FUNCTION + FUNCTION.replace("guess", "other"))
    assert identity(bench, model=f"{path}:guess") != identity(bench, model=f"{path}:other")


def test_the_content_of_predictions_is_their_identity_and_their_folder_is_not(
    bench: Bench,
) -> None:
    outcome = bench.run(execution={"save_predictions": True})
    saved = outcome.directory / "predictions"
    moved = Path(shutil.copytree(saved, bench.folder / "elsewhere"))

    def scored(folder: Path) -> str:
        layers = Layers({"task": "toy_level", "data": str(bench.folder / "set.json")}, {})
        (plan,) = make_plans(bench.host, layers, bench.folder, model=files_model(folder))
        return plan.record.identity

    before = scored(saved)
    assert scored(moved) == before
    (moved / "scene0_clean_0.json").write_text("3.5")
    assert scored(moved) != before
    renamed = Path(shutil.copytree(saved, bench.folder / "renamed"))
    (renamed / "scene0_clean_0.json").rename(renamed / "scene0_clean_x.json")
    assert scored(renamed) != before


def test_a_run_of_other_settings_has_a_folder_of_its_own(bench: Bench) -> None:
    # RW-112: resumed with another setting, nothing of the first run is reused or lost.
    first = bench.run()
    other = bench.run(model={"name": "toy-noise", "options": {"bias": 1.0}})
    assert other.directory != first.directory
    assert facts(bench.run().report) == facts(first.report)
    assert len(other.report.writers) == 1


def test_a_protocol_sets_what_nothing_stronger_does(bench: Bench) -> None:
    report = bench.run(protocol="toy-fixed").report
    assert report.run.protocol == "toy-engine/toy-fixed"
    assert report.warnings == ()
    assert report.run.inputs["align"] == {"method": "shift", "scope": "sequence"}
    assert report.run.inputs["metrics"]["error"]["options"] == {"scale": 2.0}
    assert report.run.inputs["task"]["options"]["offset"] == 0.5
    departing = bench.run(protocol="toy-fixed", align="none").report
    assert departing.warnings == ("departs from protocol toy-engine/toy-fixed in align",)


def test_the_record_of_a_run_says_nothing_of_the_machine(bench: Bench) -> None:
    outcome = bench.run(execution={"devices": ["cpu"], "workers": 1})
    text = (outcome.directory / "run.json").read_text(encoding="utf-8")
    assert str(bench.folder) not in text
    assert "workers" not in text
    record = json.loads(text)
    assert record["inputs"]["distributions"].keys() == {"numpy", "rpx-core", "toy-engine"}


def test_the_headline_is_the_tasks_own_under_whatever_label(bench: Bench) -> None:
    metrics = {"a": "toy-trace", "quality": "toy-quality", "z": "toy-error"}
    assert bench.run(metrics=metrics).report.primary == "z.abs@sample"


def test_a_label_of_the_tasks_own_may_stand_for_another_metric(bench: Bench) -> None:
    report = bench.run(metrics={"error": "toy-quality"}).report
    assert report.primary.startswith("error.")


def test_without_the_tasks_own_metric_a_number_with_a_better_end_is_the_headline(
    bench: Bench,
) -> None:
    report = bench.run(metrics={"a": "toy-trace", "z": "toy-quality"}).report
    label, output = report.primary.partition("@")[0].split(".")
    number = report.number(report.primary)
    assert (label, number.better is None) == ("z", False), output


def test_a_configuration_names_its_headline_which_is_part_of_the_run(bench: Bench) -> None:
    plain = bench.run(metrics={"error": "toy-error", "quality": "toy-quality"})
    named = bench.run(
        metrics={"error": "toy-error", "quality": "toy-quality"}, primary="quality.db"
    )
    assert named.report.primary.startswith("quality.db@")
    assert named.report.readiness.address == named.report.primary
    assert named.report.run.identity != plain.report.run.identity


def test_a_headline_that_no_metric_has_is_refused_with_those_there_are(bench: Bench) -> None:
    with pytest.raises(ConfigError, match=r"no metric of this run has the output 'error\.none'"):
        bench.run(primary="error.none")
