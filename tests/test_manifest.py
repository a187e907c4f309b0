"""Manifests: the same dataset however it is written, wherever it lies, whoever reads it."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ConfigError, ManifestError
from rpx_core.manifest import build_manifest, manifest_document, read_manifest
from tests.toys.manifests import SAMPLES, ids, opened, write


def test_records_are_grouped_into_sequences_in_natural_order(tmp_path: Path) -> None:
    assert ids(opened(tmp_path, SAMPLES)) == {
        "a_clean": ["a_9", "a_10"],
        "b_clutter": ["b_0"],
        "lone": ["lone"],
    }


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["10", "2", "1"], ["1", "2", "10"]),
        (["frame_10000", "frame_9999"], ["frame_9999", "frame_10000"]),
        (["f_1", "f_01", "f_001"], ["f_001", "f_01", "f_1"]),
        (["x", "y"], ["x", "y"]),
    ],
)
def test_frames_are_in_the_order_of_their_numbers(
    tmp_path: Path, names: list[str], ordered: list[str]
) -> None:
    # RW-122, and names that are the same number keep one order whatever the file's.
    samples = [{"id": name, "scene": "s", "phase": 0} for name in names]
    assert ids(opened(tmp_path, samples)) == {"s_clutter": ordered}
    assert ids(opened(tmp_path, samples[::-1])) == {"s_clutter": ordered}


def test_an_explicit_frame_beats_the_number_in_the_id(tmp_path: Path) -> None:
    samples = [{"id": f"f{9 - frame}", "sequence": "s", "frame": frame} for frame in range(3)]
    assert ids(opened(tmp_path, samples)) == {"s": ["f9", "f8", "f7"]}


def test_sequences_are_in_natural_order(tmp_path: Path) -> None:
    samples = [{"id": name, "sequence": f"s{name}"} for name in ("10", "9", "010")]
    assert list(opened(tmp_path, samples).sequences()) == ["s9", "s010", "s10"]


@pytest.mark.parametrize(
    ("phase", "expected"), [(0, "clutter"), (1, "interaction"), (2, "clean"), ("clean", "clean")]
)
def test_phases_have_names_and_numbers(tmp_path: Path, phase: Any, expected: str) -> None:
    manifest = opened(tmp_path, [{"id": "x", "scene": "s", "phase": phase}])
    (record,) = manifest.records(manifest.entries)
    assert (record.phase, record.sequence) == (expected, f"s_{expected}")


def test_null_stands_for_a_key_that_is_left_out(tmp_path: Path) -> None:
    nulls = {"scene": None, "phase": None, "sequence": None, "frame": None, "rgb": None}
    manifest = opened(tmp_path, [{"id": "f_7", **nulls}])
    assert manifest.dataset_id == opened(tmp_path, [{"id": "f_7"}]).dataset_id
    assert manifest.entries[0].frame == 7


def test_the_dataset_does_not_depend_on_order_format_or_place(tmp_path: Path) -> None:
    shuffled = list(SAMPLES)
    random.Random(1).shuffle(shuffled)
    found = [
        opened(tmp_path, SAMPLES),
        opened(tmp_path, shuffled),
        opened(tmp_path / "elsewhere", shuffled, "other.jsonl"),
        opened(tmp_path, SAMPLES, "with-root.json", root="a"),
        build_manifest({"task": "monocular_depth"}, SAMPLES, root=tmp_path),
    ]
    assert len({manifest.dataset_id for manifest in found}) == 1
    assert len({json.dumps(ids(manifest)) for manifest in found}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"id": "c"},
        {"rgb": "a/11.png"},
        {"depth": "a/11.npy"},
        {"metadata": {"note": 2}},
        {"scene": "c"},
        {"phase": 1},
        {"difficulty": "easy"},
        {"frame": 3},
        {"sequence": "z"},
        {"pose_convention": "opencv"},
        {"checksums": {"a/10.png": "sha256:" + "0" * 64}},
        {"intrinsics": {"fx": 1, "fy": 1, "cx": 0, "cy": 0}},
    ],
)
def test_whatever_a_record_says_is_part_of_the_dataset(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    before = opened(tmp_path, SAMPLES).dataset_id
    assert opened(tmp_path, [{**SAMPLES[0], **change}, *SAMPLES[1:]]).dataset_id != before


def test_the_vocabulary_and_a_missing_record_change_the_dataset(tmp_path: Path) -> None:
    found = {
        opened(tmp_path, SAMPLES).dataset_id,
        opened(tmp_path, SAMPLES, vocabulary=["cup"]).dataset_id,
        opened(tmp_path, SAMPLES[1:]).dataset_id,
        opened(tmp_path, SAMPLES, pose_convention="opencv").dataset_id,
    }
    assert len(found) == 4


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    # RW-125
    plain = opened(tmp_path, SAMPLES)
    for name in ("dos.json", "dos.jsonl"):
        path = write(tmp_path, SAMPLES, name)
        text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        manifest = read_manifest(path)
        assert manifest.dataset_id == plain.dataset_id
        assert [r.id for r in manifest.records(manifest.entries)] == [s["id"] for s in SAMPLES]


def test_keys_that_a_task_knows_are_taken(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": "a", "level": 1}])
    with pytest.raises(ManifestError, match="unknown key 'level'"):
        read_manifest(path)
    (record,) = read_manifest(path, known=["level"]).records(
        read_manifest(path, known=["level"]).entries
    )
    assert record.assets == {"level": 1}


def test_a_manifest_may_serve_several_tasks(tmp_path: Path) -> None:
    manifest = opened(tmp_path, SAMPLES, tasks=["object_detection", "monocular_depth"])
    assert manifest.header.served() == ("monocular_depth", "object_detection")


def test_reading_does_not_change_what_is_read(tmp_path: Path) -> None:
    # RW-130: a task that writes into its record must not reach the next reader.
    samples = [{"id": "a", "metadata": {"note": [1]}, "boxes": [{"label": "cup"}]}]
    for manifest in (
        opened(tmp_path, samples),
        build_manifest({"task": "t"}, samples, root=tmp_path),
        opened(tmp_path, samples, "lines.jsonl"),
    ):
        before = [record.model_dump() for record in manifest.records(manifest.entries)]
        (record,) = manifest.records(manifest.entries)
        record.metadata["image"] = "pixels"
        record.metadata["note"].append(2)
        record.assets["boxes"][0]["label"] = "dog"
        assert [record.model_dump() for record in manifest.records(manifest.entries)] == before
    assert samples == [{"id": "a", "metadata": {"note": [1]}, "boxes": [{"label": "cup"}]}]


def test_header_defaults_hold_for_records_that_say_nothing_else(tmp_path: Path) -> None:
    manifest = opened(tmp_path, [{"id": "a"}, {"id": "b", "scene": "y"}], defaults={"scene": "x"})
    assert [record.scene for record in manifest.records(manifest.entries)] == ["x", "y"]


def test_the_index_of_a_streamed_manifest_is_small(tmp_path: Path) -> None:
    count = 5_000
    samples = (
        {
            "id": f"scene{i // 500:04}_clutter_{i:06}",
            "scene": f"scene{i // 500:04}",
            "phase": 0,
            "rgb": f"images/{i:06}.png",
            "depth": f"depth/{i:06}.png",
            "metadata": {"long": "x" * 100},
        }
        for i in range(count)
    )
    path = write(tmp_path, list(samples), "set.jsonl")
    tracemalloc.start()
    try:
        manifest = read_manifest(path)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(manifest.entries) == count
    assert held / count < 300
    assert peak / count < 600
    assert path.stat().st_size / count > 250


def test_written_again_a_manifest_is_the_same_dataset(tmp_path: Path) -> None:
    manifest = opened(tmp_path / "sub", SAMPLES, pose_convention="opencv", vocabulary=["cup"])
    target = tmp_path / "again.json"
    target.write_text(json.dumps(manifest_document(manifest, beside=target)))
    again = read_manifest(target)
    assert (again.dataset_id, again.root) == (manifest.dataset_id, manifest.root)
    with pytest.raises(ConfigError, match="not below the manifest's folder"):
        manifest_document(manifest, beside=tmp_path / "other" / "set.json")


def test_of_one_dataset_the_digest_does_not_move(tmp_path: Path) -> None:
    # If this changes, every finished run is evaluated again: say so in the changelog.
    assert opened(tmp_path, SAMPLES).dataset_id == (
        "sha256:f44a889285e65cd8dd74e9fe2575ed505bace6cb900d78b24a15116252a492ec"
    )
