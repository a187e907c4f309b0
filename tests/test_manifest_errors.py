"""Files that are no manifest: one ManifestError that names the place and what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpx_core.errors import ManifestError
from rpx_core.manifest import read_manifest
from tests.toys.manifests import SAMPLES, opened, problem, write


@pytest.mark.parametrize("phase", [3, -1, True, "Clutter", "0", 1.5, [0], {}])
def test_other_phases_are_refused(tmp_path: Path, phase: Any) -> None:
    error = problem(tmp_path, [{"id": "x", "scene": "s", "phase": phase}])
    assert "sample 0 (id 'x'): phase: " in error.message


def test_another_encoding_is_an_error_that_names_file_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    path.write_bytes(json.dumps({"task": "t", "samples": []}).encode("utf-16"))
    with pytest.raises(ManifestError, match=r"set\.json: is not UTF-8: byte 0xff at offset 0"):
        read_manifest(path)


def test_duplicate_ids_are_an_error_with_both_places(tmp_path: Path) -> None:
    # RW-123
    error = problem(tmp_path, [{"id": "a"}, {"id": "b"}, {"id": "a"}])
    assert "duplicate id 'a' (samples 0 and 2)" in error.message


def test_ids_that_differ_in_case_alone_are_a_warning(tmp_path: Path) -> None:
    manifest = opened(tmp_path, [{"id": "a"}, {"id": "A"}, {"id": "ß"}, {"id": "SS"}])
    (warning,) = manifest.warnings
    assert "'a' and 'A'" in warning
    assert "'ß' and 'SS'" in warning


def test_an_unknown_key_suggests_the_right_one(tmp_path: Path) -> None:
    error = problem(tmp_path, [{"id": "a", "dpeth": "x.png"}])
    assert "sample 0 (id 'a'): unknown key 'dpeth'" in error.message
    assert error.hint is not None
    assert "did you mean depth" in error.hint


def test_an_unknown_header_key_lists_the_known_ones(tmp_path: Path) -> None:
    error = problem(tmp_path, [], taks="x")
    assert "header: taks: " in error.message
    assert error.hint is not None
    assert "schema" in error.hint
    assert "tasks" in error.hint


@pytest.mark.parametrize("header", [{"task": None}, {"task": None, "tasks": []}])
def test_a_manifest_without_a_task_is_refused(tmp_path: Path, header: dict[str, Any]) -> None:
    assert "no task is named" in problem(tmp_path, SAMPLES, **header).message


@pytest.mark.parametrize("root", ["..", "/", "a/../..", "/etc", "a\0b", "loop"])
def test_a_manifest_cannot_widen_its_root(tmp_path: Path, root: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "loop").symlink_to("loop")
    error = problem(folder, SAMPLES, root=root)
    assert "root" in error.message


def test_the_user_may_widen_it(tmp_path: Path) -> None:
    path = write(tmp_path / "data", SAMPLES, root="..")
    assert read_manifest(path, root=tmp_path).root == tmp_path.resolve()


@pytest.mark.parametrize("name", ["set.json", "set.jsonl"])
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"null", b"\xff", b"{", b'{"task": "t"', b'"text"', b"\0" * 100]
)
def test_files_that_are_no_manifest_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ManifestError, match=name):
        read_manifest(path)


@pytest.mark.parametrize("samples", [None, {}, "x", 3])
def test_samples_must_be_a_list(tmp_path: Path, samples: Any) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"task": "t", "samples": samples}))
    with pytest.raises(ManifestError, match="`samples` must be a list"):
        read_manifest(path)


@pytest.mark.parametrize("sample", [None, [], "a", 3, True])
def test_a_sample_must_be_an_object(tmp_path: Path, sample: Any) -> None:
    assert "sample 1: an object was expected" in problem(tmp_path, [{"id": "a"}, sample]).message


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({}, "id"),
        ({"id": ""}, "id"),
        ({"id": 7}, "id"),
        ({"id": "x" * 201}, "id"),
        ({"id": "a\nb"}, "id"),
        ({"id": "a", "scene": "\x1b[2J"}, "scene"),
        ({"id": "a", "sequence": "s" * 250 + "\n"}, "sequence"),
        ({"id": "a", "difficulty": "extreme"}, "difficulty"),
        ({"id": "a", "frame": "one"}, "frame"),
        ({"id": "a", "frame": 1.5}, "frame"),
        ({"id": "a", "metadata": []}, "metadata"),
        ({"id": "a", "rgb": 3}, "rgb"),
        ({"id": "a", "checksums": {"x": 3}}, "checksums.x"),
        ({"id": "a", "pose_convention": "T265"}, "pose_convention"),
    ],
)
def test_a_bad_field_is_named(tmp_path: Path, record: dict[str, Any], field: str) -> None:
    assert f": {field}: " in problem(tmp_path, [record]).message


def test_a_missing_manifest_says_how_to_get_one(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path, tmp_path / ("x" * 3000), Path("a\0b.json")):
        with pytest.raises(ManifestError, match="no such manifest"):
            read_manifest(path)


def test_a_manifest_that_changes_under_a_run_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": "aaa"}, {"id": "bbb"}], "set.jsonl")
    manifest = read_manifest(path)
    path.write_text(path.read_text().replace("bbb", "ccc"))
    with pytest.raises(ManifestError, match="record 'bbb' is now 'ccc'"):
        manifest.records(manifest.entries)
    path.write_text("")
    with pytest.raises(ManifestError):
        manifest.records(manifest.entries)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
core_keys = st.sampled_from(
    [
        "id",
        "scene",
        "phase",
        "difficulty",
        "sequence",
        "frame",
        "metadata",
        "rgb",
        "intrinsics",
        "pose",
        "pose_convention",
        "checksums",
        "depth",
        "assets",
        "samples",
        "bogus",
    ]
)
header_keys = st.sampled_from(
    [
        "schema",
        "name",
        "task",
        "tasks",
        "root",
        "pose_convention",
        "vocabulary",
        "defaults",
        "version",
        "split",
        "bogus",
    ]
)
wild_records = st.lists(
    st.dictionaries(core_keys, json_values, max_size=6) | json_values, max_size=4
)
wild_headers = st.dictionaries(header_keys, json_values, max_size=4)


def survives(path: Path) -> None:
    try:
        manifest = read_manifest(path)
        manifest.records(manifest.entries)
        manifest.sequences()
    except ManifestError:
        return


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=200)
@given(wild_headers, wild_records, st.sampled_from([".json", ".jsonl"]), st.booleans())
def test_any_json_is_a_manifest_or_a_manifest_error(
    tmp_path_factory: pytest.TempPathFactory,
    header: Mapping[str, Any],
    samples: Sequence[Any],
    suffix: str,
    has_task: bool,
) -> None:
    folder = tmp_path_factory.getbasetemp() / "wild"
    folder.mkdir(exist_ok=True)
    path = folder / f"set{suffix}"
    document = {**header, **({"task": "monocular_depth"} if has_task else {})}
    if suffix == ".json":
        path.write_text(json.dumps({**document, "samples": samples}))
    else:
        path.write_text("\n".join(json.dumps(line) for line in [document, *samples]))
    survives(path)


@given(st.binary(max_size=300), st.sampled_from([".json", ".jsonl"]))
def test_any_bytes_are_a_manifest_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"bytes{suffix}"
    path.write_bytes(content)
    with pytest.raises(ManifestError):
        read_manifest(path)


@given(st.data())
def test_a_damaged_manifest_is_a_manifest_or_a_manifest_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    path = write(folder, SAMPLES, data.draw(st.sampled_from(["set.json", "set.jsonl"])))
    content = bytearray(path.read_bytes())
    where = data.draw(st.integers(0, len(content) - 1))
    content[where : where + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    path.write_bytes(bytes(content))
    survives(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_manifest_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES)
    path.chmod(0)
    with pytest.raises(ManifestError, match="cannot be read"):
        read_manifest(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="asks Linux for such a file")
def test_a_manifest_whose_reading_breaks_off_is_refused(tmp_path: Path) -> None:
    # The first page of a process is not there: reading it fails, for root too.
    path = tmp_path / "set.json"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(ManifestError, match=r"set\.json cannot be read"):
        read_manifest(path)
