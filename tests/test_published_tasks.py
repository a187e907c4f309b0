"""The published run configurations and functions: what they set, what they run, what they raise."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.config import Data
from rpx_core.datasets import open_dataset
from rpx_core.host import Host
from rpx_core.names import OFFICIAL_TASKS
from rpx_core.published.tasks import Run
from rpx_core.run_json import read_record

from .published_samples import CHEATS, RUNS, Model

DEPTH = rpx.TaskType.MONOCULAR_DEPTH
Config = rpx.MonocularDepthRunConfig


@pytest.fixture(scope="module")
def demo() -> Path:
    """The manifest of the embedded data, which is generated once per machine."""
    return open_dataset(Host.discover(), Data(name="demo")).root / "demo.json"


def flat(sample: rpx.Sample) -> Any:
    assert sample.rgb is not None
    return np.full(sample.rgb.shape[:2], 2.0, np.float32)


def run_flat(demo: Path, folder: Path, **fields: Any) -> Run:
    model = fields.pop("model", None) or Model(DEPTH, flat)
    cfg = Config(model=model, manifest_path=demo, max_samples=2, output_dir=folder, **fields)
    return rpx.run_monocular_depth(cfg)


# What a configuration sets.


def test_every_task_that_our_plugins_offer_has_a_configuration_and_a_function() -> None:
    offered = {offer.spec.name for offer in Host.discover().offers("task").values()}
    assert offered & set(OFFICIAL_TASKS) == set(OFFICIAL_TASKS) == set(RUNS)


@pytest.mark.parametrize("task", RUNS)
def test_each_configuration_is_of_its_task(task: str) -> None:
    kind, _ = RUNS[task]
    config = kind(model_name="some-model").to_config()
    assert config.task == task
    assert config.model is not None
    assert config.model.name == "some-model"


def test_the_data_is_the_hard_split_of_the_release_unless_said_otherwise() -> None:
    cfg = Config(model_name="m")
    assert cfg.split == "hard"
    assert cfg.to_config().data == Data(name="hub", split="hard")


def test_every_field_reaches_the_engine() -> None:
    cfg = Config(
        model_name="m",
        split="easy",
        repo_id="me/set",
        cache_dir="cache",
        revision="v2",
        batch_size=4,
        device="cuda:1",
        model_kwargs={"size": 3},
        max_samples=9,
    )
    config = cfg.to_config()
    options = {"repo_id": "me/set", "revision": "v2", "cache_dir": "cache", "max_samples": 9}
    assert config.data == Data(name="hub", split="easy", options=options)
    assert config.model is not None
    assert config.model.options == {"size": 3}
    assert (config.execution.batch_size, config.execution.devices) == (4, ("cuda:1",))


def test_a_manifest_is_taken_whole_or_one_split_of_it() -> None:
    whole = Config(model_name="m", manifest_path="set.json")
    assert whole.to_config().data == Data(name="set.json")
    hard = Config(model_name="m", manifest_path="set.json", split="hard")
    assert hard.to_config().data == Data(name="set.json", split="hard")


def test_a_checkpoint_is_an_option_of_the_model_that_loads_checkpoints() -> None:
    config = Config(hf_checkpoint="org/net", model_kwargs={"dtype": "float16"}).to_config()
    assert config.model is not None
    assert config.model.name == "hf"
    assert config.model.options == {"checkpoint": "org/net", "dtype": "float16"}


def test_a_model_object_is_named_in_the_configuration() -> None:
    config = Config(model=Model(DEPTH, flat)).to_config()
    assert config.model is not None
    assert config.model.name == "Model"


def test_a_configuration_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config(model_name="m").split = "easy"  # type: ignore[misc]  # that is tested


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "no model given"),
        ({"model_name": "m", "hf_checkpoint": "c"}, "model_name and hf_checkpoint given"),
        ({"model": object(), "model_name": "m"}, "model and model_name given"),
        ({"model": object(), "model_kwargs": {"a": 1}}, "model_kwargs are options"),
        ({"hf_checkpoint": "c", "model_kwargs": {"checkpoint": "d"}}, "given twice"),
        ({"model_name": "m", "model_version": "1"}, "model_version is of a model object"),
        ({"model": object(), "model_version": ""}, "model_version is"),
        ({"model": object(), "model_version": 2}, "model_version is"),
        ({"model_name": "m", "split": "hrad"}, "no split 'hrad'"),
        ({"model_name": "m", "batch_size": 0}, "batch_size is 0"),
        ({"model_name": "m", "max_samples": True}, "max_samples is True"),
        ({"model_name": "m", "progress": True}, "progress is a bool; a function was expected"),
        ({"model_name": "m", "batch_size": "4"}, "batch_size is '4'"),
        ({"model_name": "m", "max_samples": 0}, "max_samples is 0"),
        ({"model_name": "m", "manifest_path": "set.yaml"}, "manifest_path is set.yaml"),
        ({"model_name": "m", "manifest_path": "a.json", "repo_id": "x/y"}, "repo_id mean nothing"),
    ],
)
def test_what_does_not_fit_together_is_a_configuration_error(
    fields: dict[str, Any], says: str
) -> None:
    with pytest.raises(rpx.ConfigError) as caught:
        Config(**fields)
    assert says in str(caught.value)
    assert caught.value.hint or "from 1 on was expected" in caught.value.message


def test_the_base_of_configurations_is_for_no_task() -> None:
    with pytest.raises(rpx.ConfigError, match="TaskRunConfig is for no task"):
        rpx.TaskRunConfig(model_name="m")


def test_a_function_wants_the_configuration_of_its_task() -> None:
    with pytest.raises(rpx.ConfigError, match="a MonocularDepthRunConfig was expected"):
        rpx.run_monocular_depth(rpx.SegmentationRunConfig(model_name="m"))  # type: ignore[arg-type]


# What a run gives.


def test_a_run_gives_result_readiness_and_both_reports(demo: Path, tmp_path: Path) -> None:
    result, readiness, paths = run_flat(demo, tmp_path)
    assert result.num_samples == len(result.per_sample) == 2
    assert result.aggregated["absrel"] is not None
    assert readiness.model_name == "Model"
    stored = json.loads(paths["json"].read_text())
    assert stored["aggregated"]["absrel"] == result.aggregated["absrel"]
    assert stored["split"] == "all"
    assert stored["repo_id"] == "demo"
    assert stored["ran_on"] == ["cpu"]
    text = paths["markdown"].read_text()
    assert text.startswith("# `Model` on `monocular_depth`")
    assert "2 samples, on cpu\n" in text


@pytest.mark.parametrize(
    ("task", "model"),
    [("semantic_segmentation", "threshold-semantic"), ("trajectory", "static-trajectory")],
)
def test_tasks_beside_the_well_known_ones_run_too(
    task: str, model: str, demo: Path, tmp_path: Path
) -> None:
    config, run = RUNS[task]
    cfg = config(model_name=model, manifest_path=demo, max_samples=2, output_dir=tmp_path)
    result, readiness, _ = run(cfg)
    assert (result.task, readiness.task) == (task, task)
    assert any(value is not None for value in result.aggregated.values())


def test_a_function_is_a_model_of_classes(demo: Path, tmp_path: Path) -> None:
    model = rpx.make_numpy_semantic_model(lambda rgb: np.zeros(rgb.shape[:2], int), name="none")
    cfg = rpx.SemanticSegmentationRunConfig(
        model=model, manifest_path=demo, max_samples=1, output_dir=tmp_path
    )
    result, *_ = rpx.run_semantic_segmentation(cfg)
    assert result.num_samples == 1


@pytest.mark.parametrize(
    ("task", "make", "says"),
    [
        (
            "monocular_depth",
            lambda: rpx.make_numpy_depth_model(lambda rgb: np.full((2, 2), 2e3), name="mm"),
            "outside 0.1 to 10: check units",
        ),
        (
            "trajectory",
            lambda: rpx.make_numpy_trajectory_model(
                lambda times: np.tile(np.eye(4), (len(times), 1, 1)), name="still"
            ),
            "the rotation of an alignment is not unique (1 samples)",
        ),
    ],
)
def test_warnings_are_those_of_the_report_on_disk_and_in_memory(
    task: str, make: Callable[[], Any], says: str, demo: Path, tmp_path: Path
) -> None:
    config, run = RUNS[task]
    cfg = config(model=make(), manifest_path=demo, split="easy", max_samples=1, output_dir=tmp_path)
    result, _, paths = run(cfg)
    assert any(says in warning for warning in result.warnings)
    report = json.loads((paths["json"].parent / "result.json").read_text())
    assert list(result.warnings) == report["warnings"]
    assert json.loads(paths["json"].read_text())["warnings"] == report["warnings"]
    data = rpx.RPXDataset.from_name(str(demo), task=task, split="easy", limit=1)
    assert list(rpx.BenchmarkRunner(make(), data).run().warnings) == report["warnings"]


def test_a_run_is_a_run_of_the_engine(demo: Path, tmp_path: Path) -> None:
    _, _, paths = run_flat(demo, tmp_path)
    run = paths["json"].parents[1]
    assert run.parent == tmp_path
    assert read_record(run).task == "rpx-depth/monocular_depth"
    assert (run / "report" / "report.html").is_file()


def test_a_model_object_is_evaluated_anew_and_a_named_model_resumes(
    demo: Path, tmp_path: Path
) -> None:
    model = Model(DEPTH, flat)
    for _ in range(2):
        run_flat(demo, tmp_path, model=model)
    assert len(model.batches) == 4
    told: list[tuple[int, int | None, str]] = []
    cfg = Config(
        model_name="mean-depth",
        manifest_path=demo,
        max_samples=2,
        output_dir=tmp_path,
        progress=lambda *now: told.append(now),
    )
    first, *_ = rpx.run_monocular_depth(cfg)
    assert told == [(0, 2, "predict"), (2, 2, "predict")]
    told.clear()
    again, *_ = rpx.run_monocular_depth(cfg)
    assert told == []
    assert again.numbers == first.numbers


def test_two_objects_of_one_name_are_two_runs_and_both_are_kept(demo: Path, tmp_path: Path) -> None:
    def deep(sample: rpx.Sample) -> Any:
        return flat(sample) * 2

    first, _, one = run_flat(demo, tmp_path)
    second, _, two = run_flat(demo, tmp_path, model=Model(DEPTH, deep))
    assert first.aggregated["absrel"] != second.aggregated["absrel"]
    assert one["json"] != two["json"]
    for result, paths in ((first, one), (second, two)):
        stored = json.loads(paths["json"].read_text())
        assert stored["aggregated"]["absrel"] == result.aggregated["absrel"]


def test_two_functions_of_one_name_and_one_source_are_two_runs(demo: Path, tmp_path: Path) -> None:
    def wall(metres: float) -> Any:
        return rpx.make_numpy_depth_model(lambda rgb: np.full((2, 2), metres), name="wall")

    near, *_ = run_flat(demo, tmp_path, model=wall(1.0))
    far, *_ = run_flat(demo, tmp_path, model=wall(2.0))
    assert near.aggregated["absrel"] != far.aggregated["absrel"]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_named_version_of_an_object_resumes_and_another_does_not(
    demo: Path, tmp_path: Path
) -> None:
    model = Model(DEPTH, flat)
    first, _, paths = run_flat(demo, tmp_path, model=model, model_version="1")
    again, _, same = run_flat(demo, tmp_path, model=model, model_version="1")
    assert (len(model.batches), again.numbers, same) == (2, first.numbers, paths)
    run_flat(demo, tmp_path, model=model, model_version="2")
    assert len(model.batches) == 4
    assert len(list(tmp_path.iterdir())) == 2


def test_a_model_object_may_be_called_anything(demo: Path, tmp_path: Path) -> None:
    model = Model(DEPTH, flat)
    model.name = f"a\x1b[2J\n{'b' * 1000}"  # type: ignore[attr-defined]  # as users do
    _, readiness, paths = run_flat(demo, tmp_path, model=model)
    assert read_record(paths["json"].parents[1]).model == readiness.model_name
    assert readiness.model_name.startswith("a\\x1b[2J\\nbbb")


# What a run raises.


@pytest.mark.parametrize("make", CHEATS)
@pytest.mark.parametrize("task", RUNS)
def test_a_model_or_adapter_that_looks_at_the_truth_is_stopped(
    task: str, make: Callable[[str], Any], demo: Path, tmp_path: Path
) -> None:
    config, run = RUNS[task]
    cfg = config(model=make(task), manifest_path=demo, max_samples=1, output_dir=tmp_path)
    with pytest.raises(rpx.TruthWithheldError, match=r"1 of 1 samples failed"):
        run(cfg)


def test_failed_samples_are_raised_once_the_run_is_finished_and_reported(
    demo: Path, tmp_path: Path
) -> None:
    def fail(sample: rpx.Sample) -> Any:
        if sample.frame == 0:
            raise ZeroDivisionError("mine")
        return flat(sample)

    with pytest.raises(rpx.ModelError) as caught:
        run_flat(demo, tmp_path, model=Model(DEPTH, fail))
    assert "1 of 2 samples failed, such as scene001_clean_00000, at predict" in str(caught.value)
    assert "ZeroDivisionError: mine" in str(caught.value)
    assert caught.value.details["failed"] == ["scene001_clean_00000"]
    stored = json.loads(
        (Path(str(caught.value.details["run"])) / "report/benchmark.json").read_text()
    )
    assert stored["num_samples"] == 1


def test_a_model_that_looks_at_the_truth_of_one_sample_is_told_before_other_failures(
    demo: Path, tmp_path: Path
) -> None:
    def peek_later(sample: rpx.Sample) -> Any:
        return 1 / 0 if sample.frame == 0 else sample.ground_truth

    with pytest.raises(rpx.TruthWithheldError, match=r"2 of 2 samples failed, such as .*_00001"):
        run_flat(demo, tmp_path, model=Model(DEPTH, peek_later))


def test_data_that_cannot_be_read_is_a_dataset_error(demo: Path, tmp_path: Path) -> None:
    document = json.loads(demo.read_text())
    document["samples"] = document["samples"][:1]
    document["root"] = "."
    broken = tmp_path / "set.json"
    broken.write_text(json.dumps(document))
    with pytest.raises(rpx.DatasetError, match="at load"):
        run_flat(broken, tmp_path / "runs")


def test_a_model_object_for_another_task_is_a_model_error(demo: Path, tmp_path: Path) -> None:
    says = "does sparse_depth, the run is for monocular_depth"
    with pytest.raises(rpx.ModelError, match=says) as caught:
        run_flat(demo, tmp_path, model=Model(rpx.TaskType.SPARSE_DEPTH, flat))
    assert "`task`" in str(caught.value.hint)


def test_a_split_of_a_manifest_is_evaluated_alone(demo: Path, tmp_path: Path) -> None:
    result, *_ = run_flat(demo, tmp_path, split="hard")
    assert {row["difficulty"] for row in result.per_sample} == {rpx.Difficulty.HARD}


def test_an_unknown_model_is_a_configuration_error(demo: Path, tmp_path: Path) -> None:
    cfg = Config(model_name="mean-dpeth", manifest_path=demo, output_dir=tmp_path)
    with pytest.raises(rpx.ConfigError, match="did you mean mean-depth"):
        rpx.run_monocular_depth(cfg)


def test_open_vocabulary_also_runs_from_the_configuration_of_detection(
    demo: Path, tmp_path: Path
) -> None:
    given = {"model_name": "blobs", "manifest_path": demo, "max_samples": 2}
    for kind in (rpx.ObjectDetectionRunConfig, rpx.OpenVocabDetectionRunConfig):
        result, _, _ = rpx.run_open_vocab_detection(kind(output_dir=tmp_path, **given))
        assert (result.task, result.num_samples) == (rpx.TaskType.OPEN_VOCAB_DETECTION, 2)
    assert len(list(tmp_path.iterdir())) == 1
