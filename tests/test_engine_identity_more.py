"""Less obvious ways in which code, files and options move a number, and so make another run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from rpx_core.arrays import encode_npy
from rpx_core.errors import ConfigError, ModelError
from rpx_core.identity import source_digest, sources_digest
from rpx_core.layers import Layers, make_plans
from rpx_core.manifest import build_manifest
from rpx_core.models import files_model
from rpx_core.option_files import plain_options
from rpx_core.parts import resolve_stored
from rpx_core.run import run
from tests.toys.bench import QUIET, Bench, failures, value
from tests.toys.site import ToySite
from tests.toys.stack_bench import DEPTH, MASKS, SHAPE, StackBench


def editable(folder: Path, name: str, **more: Any) -> None:
    info = ToySite(folder, core=None).distribution(name, **more)
    (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')


@pytest.mark.parametrize("file", ["__init__.py", "table.json", "tests/case.py"])
def test_every_file_of_an_editable_package_counts_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    package = tmp_path / "tests" / "toy_counted"
    (package / "tests").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    before = source_digest("toy_counted")
    (package / file).write_text("1\n")
    assert source_digest("toy_counted") != before


def test_an_editable_distribution_is_found_by_its_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "toy_other_name.py"
    module.write_text("A = 1\n")
    editable(tmp_path, "toy-differs", entry_points={"x": "toy_other_name"})
    monkeypatch.syspath_prepend(str(tmp_path))
    before = sources_digest("toy-differs")
    module.write_text("A = 2\n")
    assert sources_digest("toy-differs") != before


def test_an_editable_distribution_without_known_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editable(tmp_path, "toy-hidden")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="toy-hidden is installed editable"):
        sources_digest("toy-hidden")


def test_a_folder_that_an_option_names_counts_by_its_content(bench: Bench) -> None:
    def of(path: Path) -> Any:
        model = {"name": "toy-noise", "options": {"weights": str(path)}}
        return bench.plan(model=model).record

    one, other = bench.folder / "one", bench.folder / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / "w.bin").write_bytes(b"1")
    before = of(one)
    assert of(other).identity == before.identity
    assert str(bench.folder) not in json.dumps(dict(before.inputs))
    (one / "w.bin").write_bytes(b"2")
    assert of(one).identity != before.identity
    with pytest.raises(ConfigError, match=r"toy-noise\.weights: .*absent is no file or folder"):
        of(bench.folder / "absent")


class Inner(BaseModel):
    table: Path


class Nested(BaseModel):
    inner: Inner
    many: tuple[Path, ...]
    named: dict[str, Path]
    classes: frozenset[str]


def test_paths_count_by_content_at_any_depth_and_sets_in_order(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"a")
    names = [str(number) for number in range(30)]
    options = Nested(
        inner=Inner(table=file), many=(file, file), named={"x": file}, classes=frozenset(names)
    )
    plain = plain_options(options, "toy")
    assert plain.options == {
        "inner": {},
        "many": [None, None],
        "named": {},
        "classes": sorted(names),
    }
    assert plain.files.keys() == {"inner.table", "many.0", "many.1", "named.x"}


def test_a_path_that_passes_for_text_is_named(bench: Bench) -> None:
    scratch = bench.folder / "scratch"
    (warning,) = bench.plan(
        model={"name": "toy-noise", "options": {"kills_once": str(scratch)}}
    ).record.warnings
    assert warning.startswith("toy-engine/toy-noise.kills_once looks like the path of a file")
    assert str(scratch) not in warning
    assert bench.plan(model="toy-noise").record.warnings == ()


def test_what_read_a_file_is_not_rebuilt_from_a_record(bench: Bench) -> None:
    offer = bench.host.find("metric", "toy-error")
    stored = {"options": {}, "files": {"table": "sha256:0"}}
    with pytest.raises(ConfigError, match=r"does not keep: metrics\.m\.table"):
        resolve_stored(offer, stored, field_name="metrics.m")


def test_a_prediction_that_changes_after_planning_is_a_failed_sample(bench: Bench) -> None:
    saved = bench.run(execution={"save_predictions": True}).directory / "predictions"
    layers = Layers({"task": "toy_level", "data": str(bench.folder / "set.json")}, {})
    (plan,) = make_plans(bench.host, layers, bench.folder / "scores", model=files_model(saved))
    (saved / "scene0_clean_0.json").write_text("1000.0")
    found = failures(run(plan, bench.host, QUIET).report)
    assert found.keys() == {"scene0_clean_0"}
    assert "scene0_clean_0.json has changed since the run began" in found["scene0_clean_0"][1]


def test_a_module_beside_the_model_counts(bench: Bench) -> None:
    helper, model = bench.folder / "toy_beside.py", bench.folder / "toy_uses.py"
    helper.write_text("K = 1.0\n")
    model.write_text("from toy_beside import K\n\ndef guess(i):\n    return K\n")
    one = bench.run(model=f"{model}:guess")
    assert bench.plan(model=f"{model}:guess").record.identity == one.report.run.identity
    helper.write_text("K = 2.0\n")
    two = bench.run(model=f"{model}:guess")
    assert one.directory != two.directory
    assert value(one.report, "error.abs@sample") != value(two.report, "error.abs@sample")
    sys.modules.pop("toy_beside")


def test_a_model_file_that_is_edited_is_imported_again(bench: Bench) -> None:
    file = bench.folder / "toy_edited.py"
    file.write_text("def guess(i):\n    return 1.0\n")
    one = bench.run(model=f"{file}:guess")
    file.write_text("def guess(i):\n    return 9.0\n")
    two = bench.run(model=f"{file}:guess")
    assert value(one.report, "error.abs@sample") != value(two.report, "error.abs@sample")


@pytest.mark.parametrize("executor", ["serial", "process"])
def test_a_model_file_that_is_edited_after_planning_stops_the_run(
    bench: Bench, executor: str
) -> None:
    file = bench.folder / "toy_racy.py"
    file.write_text("def guess(i):\n    return 1.0\n")
    plan = bench.plan(model=f"{file}:guess", execution={"executor": executor, "previews": 0})
    file.write_text("def guess(i):\n    return 9.0\n")
    with pytest.raises(ModelError, match=r"toy_racy\.py changed since the run began"):
        run(plan, bench.host, QUIET)


def test_the_same_data_by_absolute_paths_in_two_folders_is_one_dataset(tmp_path: Path) -> None:
    found = set()
    for name in "ab":
        root = tmp_path / name
        root.mkdir()
        for path in (str(root / "x.png"), "x.png"):
            sample = {"id": "s", "rgb": path, "depth": path}
            found.add(build_manifest({"task": "t"}, [sample], root=root).dataset_id)
    assert len(found) == 1


def test_the_predictions_of_its_runs_are_part_of_a_stack(stack_bench: StackBench) -> None:
    masks, depth = stack_bench.run(MASKS), stack_bench.run(DEPTH)
    one = stack_bench.stack(masks, depth)
    assert stack_bench.stack(masks, depth).directory == one.directory
    changed = np.full(SHAPE, 3.0, np.float32)
    changed[:, :3] = 1.0
    for file in (depth / "predictions").iterdir():
        file.write_bytes(encode_npy(changed))
    two = stack_bench.stack(masks, depth)
    assert two.report.run.identity != one.report.run.identity
    assert value(two.report, "sgc.sgc@sample") != value(one.report, "sgc.sgc@sample")
