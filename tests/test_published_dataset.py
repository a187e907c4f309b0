"""The published dataset: three ways to open it, what it gives, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.contracts import Difficulty, Phase, TaskType
from rpx_core.errors import ConfigError, ManifestError

from .image_files import encode
from .toys.site import ToySite, toy_site

# The full name, which no other plugin can make ambiguous.
MASKS = "rpx-toy-published/object_segmentation"
TASKS = """
from rpx_core.arrays import load_array
from rpx_core.contracts import Sample, Task
from rpx_core.frames import load_sample


class Masks(Task):
    version = "1"
    suffix = ".npy"

    def load(self, record, files):
        sample = load_sample(record, files, ground_truth=load_array(
            files.read(record.assets["mask"]), name=record.assets["mask"]))
        # Hands its record out on purpose: a careless task must not hurt the manifest.
        return Sample(**{**vars(sample), "metadata": record.metadata})

    def validate(self, prediction, sample):
        return prediction

    def write_prediction(self, prediction):
        return b""

    def read_prediction(self, data, name):
        return None


class Pairs(Masks):
    def arrange(self, records, files):
        return [
            a.model_copy(update={"id": f"{a.id}..{b.id}"})
            for a, b in zip(records, records[1:], strict=False)
        ]
"""
PLUGIN = """
from rpx_core.specs import TaskSpec


def task(name, target):
    return TaskSpec(
        name=name, summary="A toy.", target=target, metrics={"m": "toy-mean"}, primary="m.mean",
        baseline="toy-zero", requires=("mask",), assets=("note",),
    )


@hookimpl
def rpx_tasks():
    return [
        task("object_segmentation", "toy_published_tasks:Masks"),
        task("toy_pairs", "toy_published_tasks:Pairs"),
    ]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ToySite]:
    folder = tmp_path / "site"
    folder.mkdir()
    with toy_site(folder) as site:
        site.plugin("rpx-toy-published", PLUGIN)
        site.module("toy_published_tasks", TASKS)
        yield site


@pytest.fixture
def root(tmp_path: Path, site: ToySite) -> Path:
    """A folder with five frames of one scene, as `write_manifest` and `manifest` describe them."""
    root = tmp_path / "data"
    (root / "frames").mkdir(parents=True)
    for number in range(5):
        rgb = np.full((2, 3, 3), 10 * number, np.uint8)
        (root / "frames" / f"{number}.png").write_bytes(encode(rgb, "PNG"))
        np.save(root / "frames" / f"{number}.npy", np.full((2, 3), number))
    return root


def make_records() -> list[dict[str, Any]]:
    # Not in natural order: the order of the manifest is the published one.
    return [
        {
            "id": f"desk_clutter_{number}",
            "scene": "desk",
            "phase": "clutter",
            "difficulty": "hard",
            "rgb": f"frames/{number}.png",
            "mask": f"frames/{number}.npy",
            "note": "seen at 3.5 m and/or less",
            "metadata": {"note": [number]},
        }
        for number in (3, 0, 4, 1, 2)
    ]


def make_manifest(**fields: Any) -> dict[str, Any]:
    return {"task": MASKS, "samples": make_records(), **fields}


def write_manifest(root: Path, document: object) -> Path:
    path = root / "set.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read_all(dataset: rpx.RPXDataset) -> list[tuple[Any, ...]]:
    return [
        (sample.id, sample.rgb.tolist(), sample.ground_truth.tolist(), deepcopy(sample.metadata))
        for batch in dataset
        for sample in batch
    ]


def test_dataset_gives_lists_of_samples_with_their_truth_in_the_order_given(root: Path) -> None:
    dataset = rpx.RPXDataset.from_manifest(write_manifest(root, make_manifest()), batch_size=2)
    batches = list(dataset)
    assert [len(batch) for batch in batches] == [2, 2, 1]
    assert len(dataset) == 5
    assert dataset.task is TaskType.OBJECT_SEGMENTATION
    assert (dataset.root, dataset.batch_size) == (root.resolve(), 2)
    first = batches[0][0]
    assert first.id == "desk_clutter_3"
    assert (first.phase, first.difficulty) == (Phase.CLUTTER, Difficulty.HARD)
    assert first.rgb.shape == (2, 3, 3)
    assert first.ground_truth.tolist() == [[3] * 3] * 2


def test_the_three_ways_to_open_a_dataset_agree(root: Path) -> None:
    manifest = make_manifest()
    by_list = rpx.RPXDataset(manifest["samples"], MASKS, root)
    by_dict = rpx.RPXDataset.from_dict(manifest, default_root=root)
    by_file = rpx.RPXDataset.from_manifest(str(write_manifest(root, manifest)))
    assert read_all(by_list) == read_all(by_dict) == read_all(by_file)


def test_reading_never_changes_the_manifest_nor_the_next_reading(root: Path) -> None:
    manifest = make_manifest(root=str(root))
    before = deepcopy(manifest)
    dataset = rpx.RPXDataset.from_dict(manifest)
    first = read_all(dataset)
    for batch in dataset:
        for sample in batch:
            sample.metadata["note"].append("mine")
    assert read_all(dataset) == first
    assert manifest == before
    manifest["samples"][0]["metadata"]["note"].append("theirs")
    assert read_all(dataset) == first


def test_records_of_a_program_may_hold_arrays_and_paths(root: Path) -> None:
    record = make_records()[0] | {"rgb": Path("frames/3.png"), "pose": np.eye(4)}
    record["pose_convention"] = "opencv"
    ((sample,),) = rpx.RPXDataset([record], MASKS, root)
    assert sample.camera_pose.tolist() == np.eye(4).tolist()


def test_frames_that_a_task_pairs_are_counted_and_given_as_pairs(root: Path) -> None:
    dataset = rpx.RPXDataset(make_records(), "toy_pairs", root, batch_size=3)
    assert dataset.task == "toy_pairs"
    assert len(dataset) == 4
    ids = [sample.id for batch in dataset for sample in batch]
    assert ids[0] == "desk_clutter_0..desk_clutter_1"
    assert len(ids) == 4


def test_root_of_a_manifest_in_memory_is_relative_to_the_default_root(root: Path) -> None:
    dataset = rpx.RPXDataset.from_dict(make_manifest(root="data"), default_root=root.parent)
    assert dataset.root == root.resolve()
    assert len(read_all(dataset)) == 5


def test_without_a_default_root_the_manifest_says_where_its_files_are(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    assert len(rpx.RPXDataset.from_dict(make_manifest(root="data"))) == 5
    monkeypatch.chdir(root)
    assert len(rpx.RPXDataset.from_dict(make_manifest())) == 5


def test_a_manifest_of_several_tasks_is_read_as_the_one_that_is_named(root: Path) -> None:
    manifest = make_manifest(task=None, tasks=[MASKS, "toy_pairs"])
    opened = rpx.RPXDataset.from_dict(manifest, default_root=root, task="toy_pairs")
    assert len(opened) == 4
    path = write_manifest(root, manifest)
    assert len(rpx.RPXDataset.from_manifest(path, task=MASKS)) == 5
    with pytest.raises(ManifestError, match=r"several tasks: rpx-toy.*, toy_pairs"):
        rpx.RPXDataset.from_manifest(path)
    with pytest.raises(ManifestError, match="not sparse_depth"):
        rpx.RPXDataset.from_manifest(path, task="sparse_depth")


def test_a_task_of_another_distribution_than_the_manifest_lists_is_refused(root: Path) -> None:
    manifest = make_manifest(task=None, tasks=[f"rpx-toys/{MASKS}"])
    with pytest.raises(ManifestError, match=f"it serves rpx-toys/{MASKS}, not elsewhere/{MASKS}"):
        rpx.RPXDataset.from_dict(manifest, default_root=root, task=f"elsewhere/{MASKS}")


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"samples": []}, "no task is named"),
        (make_manifest(task="toy_pears"), "did you mean toy_pairs"),
        ({"task": MASKS}, "`samples` must be a list"),
        (make_manifest(samples={"a": 1}), "`samples` must be a list"),
        (make_manifest(samples=["a"]), "an object was expected, not str"),
        ([], "an object with `task` and `samples` was expected"),
    ],
)
def test_a_bad_manifest_file_is_one_clear_error(root: Path, document: object, says: str) -> None:
    path = write_manifest(root, document)
    with pytest.raises(ManifestError) as caught:
        rpx.RPXDataset.from_manifest(path)
    assert says in str(caught.value)


def test_a_missing_or_broken_manifest_file_is_one_clear_error(root: Path) -> None:
    path = root / "set.json"
    with pytest.raises(ManifestError, match="no such manifest"):
        rpx.RPXDataset.from_manifest(path)
    path.write_text('{"task": ', encoding="utf-8")
    with pytest.raises(ManifestError, match=r"set\.json"):
        rpx.RPXDataset.from_manifest(path)


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({"samples": []}, "no task is named"),
        ({"task": MASKS}, "`samples` must be a list of records, not NoneType"),
        (make_manifest(samples="abc"), "`samples` must be a list of records, not str"),
        (make_manifest(samples=[{"id": object()}]), "sample 0: a value of type object"),
        (make_manifest(root=5), "root must be a path, not int"),
        (make_manifest(root="/etc"), "root '/etc' lies outside the default root"),
        (make_manifest(root="../.."), "lies outside the default root"),
        ("set.json", "from_manifest(path) reads a file"),
    ],
)
def test_a_bad_manifest_in_memory_is_one_clear_error(root: Path, manifest: Any, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        rpx.RPXDataset.from_dict(manifest, default_root=root)
    assert says in str(caught.value)


@pytest.mark.parametrize("key", ["rgb", "mask", "pose", "intrinsics"])
def test_a_listed_file_that_is_missing_is_found_on_opening(root: Path, key: str) -> None:
    records = make_records()
    records[4][key] = "frames/lost.npz"
    with pytest.raises(ManifestError, match=r"sample desk_clutter_2: .*lost\.npz.* is missing"):
        rpx.RPXDataset.from_manifest(write_manifest(root, make_manifest(samples=records)))


def test_files_of_other_tasks_need_not_be_there(root: Path) -> None:
    records = [record | {"depth": "never/fetched.png"} for record in make_records()]
    assert len(rpx.RPXDataset(records, MASKS, root)) == 5


def test_a_listed_file_outside_the_root_is_refused_on_opening(root: Path) -> None:
    records = [make_records()[0] | {"mask": "../site/secret.npy"}]
    with pytest.raises(ManifestError, match="climbs with"):
        rpx.RPXDataset(records, MASKS, root)


def test_declared_checksums_are_verified_on_reading(root: Path) -> None:
    record = make_records()[0]
    record["checksums"] = {record["mask"]: "sha256:" + "0" * 64}
    dataset = rpx.RPXDataset([record], MASKS, root)
    with pytest.raises(ManifestError, match="differs from its declared checksum"):
        list(dataset)


def test_a_batch_holds_at_least_one_sample(root: Path) -> None:
    with pytest.raises(ConfigError, match="batch_size is 0"):
        rpx.RPXDataset(make_records(), MASKS, root, batch_size=0)


DEPTH = rpx.TaskType.MONOCULAR_DEPTH
WALL = rpx.DepthGroundTruth(np.ones((4, 6), np.float32))


def make_samples(*ids: str, **fields: Any) -> list[rpx.Sample]:
    rgb = np.zeros((4, 6, 3), np.uint8)
    return [rpx.Sample(identifier, rgb, WALL, **fields) for identifier in ids]


def test_samples_of_a_program_are_given_as_they_are_in_the_order_given() -> None:
    samples = make_samples("b_clean_2", "a_clean_10", "a_clean_9", phase=Phase.CLEAN)
    dataset = rpx.RPXDataset(samples, DEPTH, batch_size=2)
    assert [[sample.id for sample in batch] for batch in dataset] == [
        ["b_clean_2", "a_clean_10"],
        ["a_clean_9"],
    ]
    assert (len(dataset), dataset.task) == (3, DEPTH)
    assert next(iter(dataset))[0].rgb is samples[0].rgb


def test_samples_of_a_program_form_sequences_by_their_published_ids() -> None:
    samples = make_samples("b_clean_2", "a_clean_10", "a_clean_9", phase=Phase.CLEAN)
    stretches = list(rpx.RPXDataset(samples, DEPTH).stretches())
    assert [(one.span.sequence, [r.id for r in one.span.records]) for one in stretches] == [
        ("a_clean", ["a_clean_9", "a_clean_10"]),
        ("b_clean", ["b_clean_2"]),
    ]
    assert [record.scene for record in stretches[0].span.records] == ["a", "a"]


def test_a_sample_of_no_phase_or_another_stands_alone() -> None:
    samples = [*make_samples("a_clean_1"), *make_samples("a_clean_2", phase=Phase.CLUTTER)]
    stretches = rpx.RPXDataset(samples, DEPTH).stretches()
    assert [one.span.sequence for one in stretches] == ["a_clean_1", "a_clean_2"]


def test_a_query_that_is_there_stays() -> None:
    (sample,) = make_samples("a", query="mine")
    assert next(iter(rpx.RPXDataset([sample], DEPTH)))[0].query == "mine"


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (make_samples("a", "a"), "sample a: 2 samples have this id"),
        ([*make_samples("a"), {"id": "b"}], "both records and Sample objects"),
        ([rpx.Sample("a", None, np.ones((4, 6)))], "its ground truth is a ndarray; a DepthGr"),
        ([rpx.Sample("a")], "its ground truth is missing"),
        ([rpx.Sample("", None, WALL)], "String should have at least 1 character"),
    ],
)
def test_samples_that_cannot_be_evaluated_are_one_clear_error(samples: Any, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        rpx.RPXDataset(samples, DEPTH)
    assert says in str(caught.value)


def test_samples_of_an_unknown_task_are_refused() -> None:
    with pytest.raises(ManifestError, match="did you mean monocular_depth"):
        rpx.RPXDataset(make_samples("a"), "monocular_depht")


def test_an_installed_dataset_opens_by_its_name_as_in_a_run() -> None:
    dataset = rpx.RPXDataset.from_name("demo", task=DEPTH, split="hard", limit=3)
    (first, *_), *_ = batches = list(dataset)
    assert (len(dataset), len(batches)) == (3, 3)
    assert first.difficulty is Difficulty.HARD
    pairs = rpx.RPXDataset.from_name("demo", 2, task="relative_camera_pose", limit=5)
    assert [len(batch) for batch in pairs] == [2, 2, 1]
    with pytest.raises(ConfigError, match="no dataset is named 'domo'"):
        rpx.RPXDataset.from_name("domo", task=DEPTH)
    with pytest.raises(ConfigError, match="no task is named 'lip_reading'"):
        rpx.RPXDataset.from_name("demo", task="lip_reading")
    with pytest.raises(ManifestError, match="not object_tracking"):
        rpx.RPXDataset.from_name("motorcycle", task="object_tracking")
