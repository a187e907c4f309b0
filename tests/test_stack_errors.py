"""What a stack cannot be made of, and what users are told to do about it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rpx_core.config import build_config
from rpx_core.errors import ConfigError, PluginError, RPXError
from rpx_core.identity import digest
from rpx_core.journal import Journal
from rpx_core.journal_writer import JournalWriter
from rpx_core.plan import make_plan
from rpx_core.run_json import read_record
from rpx_core.specs import MetricSpec
from tests.toys.stack_bench import DEPTH, MASKS, StackBench

FLAT = "toy-stack/toy_flat"


def make_other(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Turn a run directory into that of a run with other inputs."""
    record = json.loads((directory / "run.json").read_bytes())
    change(record["inputs"])
    before, after = record["identity"], digest(record["inputs"])
    record["identity"] = after
    record["name"] = record["name"].replace(before[:8], after[:8])
    (directory / "run.json").write_text(json.dumps(record))
    for path in (directory / "journal").glob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(before.encode(), after.encode()))


def refuse(shelf: StackBench, *runs: Path, kind: type[RPXError] = ConfigError, **layer: Any) -> str:
    """Message and hint of the refusal."""
    with pytest.raises(kind) as caught:
        shelf.plan(*runs, **layer)
    return str(caught.value)


def test_a_run_without_saved_predictions_says_how_to_save_them(
    shelf: StackBench, masks: Path, depth: Path, tmp_path: Path
) -> None:
    bare = shutil.copytree(depth, tmp_path / "bare")
    shutil.rmtree(bare / "predictions")
    told = refuse(shelf, masks, bare)
    assert f"{bare} has no saved predictions" in told
    assert "run it again with `--save-predictions`" in told


def test_a_scored_folder_says_how_to_save_what_was_read(
    shelf: StackBench, masks: Path, depth: Path, tmp_path: Path
) -> None:
    scored = shutil.copytree(depth, tmp_path / "scored")
    shutil.rmtree(scored / "predictions")
    make_other(scored, lambda inputs: inputs["model"].update(kind="files"))
    assert "--set execution.save_predictions=true" in refuse(shelf, masks, scored)


def test_two_runs_of_one_task_are_no_stack(shelf: StackBench, masks: Path) -> None:
    other = shelf.run(MASKS, data=shelf.data(limit=2))
    told = refuse(shelf, masks, other)
    assert "are both runs of object_segmentation; a stack takes one run of each task" in told


def test_a_task_without_boundaries_is_no_part_of_a_stack(shelf: StackBench, masks: Path) -> None:
    told = refuse(shelf, masks, shelf.run(FLAT))
    assert "a run of toy-stack/toy_flat, whose predictions have no boundary" in told


@pytest.mark.parametrize("metric", ["sgc", "toy-sum"])
def test_a_metric_says_which_runs_it_takes(shelf: StackBench, masks: Path, metric: str) -> None:
    told = refuse(shelf, masks, metrics={"x": metric})
    assert "takes runs of 2 tasks, one of object_segmentation" in told
    assert "and one of monocular_depth; given: object_segmentation" in told


def test_a_metric_of_more_tasks_needs_a_run_of_each(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    told = refuse(shelf, masks, depth, metrics={"x": "toy-three"})
    assert "takes runs of 3 tasks" in told


def test_a_metric_of_one_task_is_none_of_a_stack(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    told = refuse(shelf, masks, depth, metrics={"x": "toy-differences"})
    assert "toy-stack/toy-differences measures runs of" in told
    assert "such as" in told
    assert "sgc" in told


def test_a_metric_of_another_unit_is_a_broken_plugin(
    shelf: StackBench, masks: Path, depth: Path
) -> None:
    told = refuse(shelf, masks, depth, kind=PluginError, metrics={"x": "toy-unit"})
    assert "toy-stack/toy-unit combines tasks, but its unit is sample" in told


def test_a_stack_metric_is_none_of_a_run(shelf: StackBench) -> None:
    layer = {"task": DEPTH, "data": shelf.data(), "metrics": {"x": "sgc"}}
    with pytest.raises(ConfigError, match="rpx-core/sgc combines runs of several tasks") as caught:
        make_plan(build_config(layer, source="test"), shelf.host, shelf.folder / "runs")
    assert "rpx stack" in (caught.value.hint or "")


def test_a_metric_is_for_tasks_or_for_stacks_of_them() -> None:
    both = {"tasks": ("toy_flat",), "combines": (("toy_flat",),)}
    with pytest.raises(PluginError, match="MetricSpec x: it is either for runs of `tasks`"):
        MetricSpec(name="x", summary="A toy.", target="toy:X", **both)


def test_options_of_a_metric_are_checked(shelf: StackBench, masks: Path, depth: Path) -> None:
    wrong = {"metrics": {"sgc": {"name": "sgc", "options": {"tolerance_px": -1}}}}
    assert "metrics.sgc.options.tolerance_px" in refuse(shelf, masks, depth, **wrong)


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        ({"task": "monocular_depth", "seed": 3}, "seed, task"),
        ({"data": {"name": "demo", "limit": 3}}, "data.limit"),
        ({"execution": {"workers": 2, "previews": 1}}, "execution.workers"),
    ],
)
def test_settings_that_belong_to_the_runs_are_refused(
    shelf: StackBench, masks: Path, depth: Path, layer: dict[str, Any], names: str
) -> None:
    assert f"a stack has no setting {names}: " in refuse(shelf, masks, depth, **layer)


def test_runs_of_other_samples_are_of_different_data(shelf: StackBench, masks: Path) -> None:
    shelf.write_set("renamed", prefix="kitchen_")
    other = shelf.run(DEPTH, data=shelf.data("renamed"))
    told = refuse(shelf, masks, other)
    assert "the runs are of different data: they share no sample" in told
    assert "object_segmentation on set has 8 samples, such as 'scene0_clean_0'" in told
    assert "'kitchen_scene0_clean_0'" in told


def test_runs_of_equal_ids_and_other_images_are_of_different_data(
    shelf: StackBench, masks: Path
) -> None:
    shelf.write_set("repainted", seed=1)
    told = refuse(shelf, masks, shelf.run(DEPTH, data=shelf.data("repainted")))
    assert "of 8 samples with equal ids none can be joined: the runs saw different images" in told


def test_samples_without_images_cannot_be_joined(
    shelf: StackBench, masks: Path, depth: Path, tmp_path: Path
) -> None:
    blind = shutil.copytree(depth, tmp_path / "blind")
    forget_images(blind)
    assert "nothing says that they saw the same" in refuse(shelf, masks, blind)


def forget_images(directory: Path) -> None:
    """Commit the rows of a run again, without the digests of their images."""
    identity = read_record(directory).identity
    with Journal(directory / "journal", identity) as journal:
        rows = [stored.row for stored in journal.rows()]
        (writer,) = journal.writers
    shutil.rmtree(directory / "journal")
    again = JournalWriter(directory / "journal", writer)
    for sequence in sorted({row.sequence for row in rows}):
        mine = [
            row.model_copy(update={"rgb_digest": None, "metrics": {}})
            for row in rows
            if row.sequence == sequence
        ]
        again.commit(sequence, mine, [{} for _ in mine])
    again.close()


def test_data_of_other_samples_is_refused(shelf: StackBench, masks: Path, depth: Path) -> None:
    shelf.write_set("elsewhere", prefix="garden_")
    told = refuse(shelf, masks, depth, data=shelf.data("elsewhere"))
    assert "--data: elsewhere has none of the samples of the runs" in told


def test_a_stack_of_a_stack_is_refused(shelf: StackBench, masks: Path, depth: Path) -> None:
    done = shelf.stack(masks, depth)
    assert f"{done.directory} is itself a stack" in refuse(shelf, done.directory, depth)


def test_a_folder_that_is_no_run_is_refused(shelf: StackBench, masks: Path, tmp_path: Path) -> None:
    assert "is not a run directory" in refuse(shelf, masks, tmp_path)


def test_a_run_without_a_finished_sequence_is_refused(
    shelf: StackBench, masks: Path, depth: Path, tmp_path: Path
) -> None:
    empty = shutil.copytree(depth, tmp_path / "empty")
    shutil.rmtree(empty / "journal")
    assert "has no finished sequence" in refuse(shelf, masks, empty)


def test_a_run_of_another_version_of_its_task_is_refused(
    shelf: StackBench, masks: Path, depth: Path, tmp_path: Path
) -> None:
    old = shutil.copytree(depth, tmp_path / "old")
    make_other(old, lambda inputs: inputs["task"].update(task="0"))
    told = refuse(shelf, masks, old)
    assert "was made by version 0 of toy-stack/monocular_depth, but version 1 is installed" in told


def test_nothing_is_written_by_a_refusal(shelf: StackBench, masks: Path, tmp_path: Path) -> None:
    before = sorted(shelf.folder.rglob("*"))
    refuse(shelf, masks, tmp_path)
    assert sorted(shelf.folder.rglob("*")) == before
