"""A run directory may come from anyone: whatever lies in it, it is told in one sentence."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rpx_core.errors import ConfigError, JournalError
from rpx_core.identity import digest, run_name
from rpx_core.journal import Journal
from rpx_core.previews import find_pictures
from rpx_core.report import Results
from rpx_core.reporters.html import render
from rpx_core.reporters.pictures import embed
from rpx_core.results import collect, collect_from, stored_metrics
from rpx_core.run_json import read_record, write_record
from rpx_core.stack.sources import open_source
from tests.toys.bench import Bench
from tests.toys.journals import forge
from tests.toys.lab import toy_samples

Edit = Callable[[dict[str, Any]], None]

SHAPES: Mapping[str, Edit] = {
    "no inputs": lambda d: d.update(inputs={}),
    "inputs a list": lambda d: d.update(inputs=[]),
    "metrics a list": lambda d: d["inputs"].update(metrics=[1]),
    "metrics none": lambda d: d["inputs"].update(metrics={}),
    "a metric a text": lambda d: d["inputs"].update(metrics={"error": "x"}),
    "a metric without options": lambda d: d["inputs"]["metrics"]["error"].pop("options"),
    "options a text": lambda d: d["inputs"]["metrics"]["error"].update(options="zz"),
    "a version a number": lambda d: d["inputs"]["metrics"]["error"].update(metric=1),
    "files a list": lambda d: d["inputs"]["metrics"]["error"].update(files=["x"]),
    "readiness unknown": lambda d: d["inputs"].update(readiness="zz"),
    "no readiness": lambda d: d["inputs"].pop("readiness"),
    "align a text": lambda d: d["inputs"].update(align="none"),
    "an extent unknown": lambda d: d["inputs"]["align"].update(scope="all"),
    "no task": lambda d: d["inputs"].pop("task"),
    "a model a list": lambda d: d["inputs"].update(model=[]),
    "distributions a list": lambda d: d["inputs"].update(distributions=["numpy"]),
    "runs of nothing": lambda d: d.update(inputs={"runs": {}}),
    "a negative count": lambda d: d.update(dataset_samples=-5),
    "a name that is a path": lambda d: d.update(name="../../etc"),
    "a name of another run": lambda d: d.update(name=f"{d['name'][:-8]}00000000"),
    "a name of two lines": lambda d: d.update(name=f"a\n{d['name']}"),
    "an endless name": lambda d: d.update(name=f"{'a' * 300}{d['name']}"),
    "no name": lambda d: d.update(name=""),
    "a name a number": lambda d: d.update(name=7),
    "an endless model": lambda d: d.update(model="m" * 10**6),
    "no model": lambda d: d.update(model=""),
    "a model that steers the terminal": lambda d: d.update(model="\x1b[2Jm"),
    "a model of two lines": lambda d: d.update(model="m\nerror: none"),
    "endless data": lambda d: d.update(data="d" * 10**6),
    "a task that steers the terminal": lambda d: d.update(task="\x9b2J"),
    "an endless protocol": lambda d: d.update(protocol="p" * 10**6),
    "another key": lambda d: d.update(more=1),
    "no headline": lambda d: d.update(primary=""),
    "a headline of no metric": lambda d: d.update(primary="nope.x@y"),
    "a headline of no output": lambda d: d.update(primary="error.bogus@sample"),
    "a headline of no aggregate": lambda d: d.update(primary="error.abs@mean"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, toy_host: Any) -> tuple[Bench, Path]:
    """A finished run with pictures, to be copied."""
    bench = Bench(tmp_path_factory.mktemp("finished"), toy_host)
    bench.write_set(toy_samples(scenes=1, frames=2))
    outcome = bench.run(options={"pictures": True}, execution={"previews": 2})
    return bench, outcome.directory


@pytest.fixture
def directory(finished: tuple[Bench, Path], tmp_path: Path) -> Path:
    """A run directory of one's own."""
    return shutil.copytree(finished[1], tmp_path / "run")


def rendered(bench: Bench, directory: Path) -> Results:
    """What `rpx report` does."""
    record = read_record(directory)
    results = collect(directory, record, stored_metrics(record, bench.host))
    render(results)
    return results


def edit(path: Path, change: Edit) -> None:
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_record_of_another_shape_is_refused(
    finished: tuple[Bench, Path], directory: Path, shape: str
) -> None:
    edit(directory / "run.json", SHAPES[shape])
    with pytest.raises(ConfigError, match=r"run\.json") as caught:
        rendered(finished[0], directory)
    assert caught.value.hint is not None
    assert len(caught.value.message) < 600
    assert caught.value.message.isprintable()
    with pytest.raises(ConfigError):
        open_source(directory, finished[0].host)


def test_an_untouched_record_is_read(finished: tuple[Bench, Path], directory: Path) -> None:
    assert rendered(finished[0], directory).report.status.complete


IRREGULAR: Mapping[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
    "endless nesting": lambda path: path.write_text("[" * 100_000) and None,
    "an endless integer": lambda path: path.write_text("1" * 10_000) and None,
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00") and None,
    "nothing": lambda path: path.write_bytes(b"") and None,
    "a huge file": lambda path: os.truncate(_touched(path), 2**40),
}


def _touched(path: Path) -> Path:
    path.touch()
    return path


@pytest.mark.parametrize("kind", IRREGULAR)
def test_a_record_that_is_no_file_of_ours_is_refused(
    finished: tuple[Bench, Path], directory: Path, kind: str
) -> None:
    record = read_record(directory)
    (directory / "run.json").unlink()
    IRREGULAR[kind](directory / "run.json")
    with pytest.raises(ConfigError, match=r"run\.json"):
        read_record(directory)
    with pytest.raises(JournalError, match=r"run\.json"):
        write_record(directory, record)


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("name", ["pictures.json", "0-level.png"])
def test_pictures_that_are_no_files_of_ours_are_left_out(
    finished: tuple[Bench, Path], directory: Path, name: str, kind: str
) -> None:
    folder = sorted((directory / "previews").iterdir())[0]
    victim = folder / name if name == "pictures.json" else sorted(folder.glob("*.png"))[0]
    victim.unlink()
    IRREGULAR[kind](victim)
    assert rendered(finished[0], directory).report.status.complete


@pytest.mark.parametrize(
    "index",
    [
        "[1]",
        "{}",
        '[{"caption": [], "file": "x.png"}]',
        '[{"caption": "a", "file": ".."}]',
        '[{"caption": "a", "file": "../../run.json"}]',
        '[{"caption": "\\ud800", "file": "0-a.png"}]',
        json.dumps([{"caption": "a", "file": "0-a.png"}] * 1000),
        json.dumps([{"caption": "a" * 1000, "file": "0-a.png"}]),
    ],
)
def test_an_index_that_is_not_ours_lists_no_pictures(tmp_path: Path, index: str) -> None:
    folder = tmp_path / "previews" / "x"
    folder.mkdir(parents=True)
    (folder / "pictures.json").write_text(index, encoding="utf-8")
    assert find_pictures(tmp_path, "x") == ()


def test_a_link_out_of_the_directory_is_not_embedded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.png").symlink_to(secret)
    found = embed("a", "a.png", tmp_path / "run")
    assert found.note
    assert base64.b64encode(b"secret").decode() not in found.uri


@pytest.mark.parametrize("kind", ["a pipe", "a device", "a folder"])
def test_a_run_goes_on_beside_what_is_no_journal(
    finished: tuple[Bench, Path], directory: Path, kind: str
) -> None:
    IRREGULAR[kind](directory / "journal" / "aaa.jsonl")
    report = rendered(finished[0], directory).report
    assert report.status.complete
    assert any(warning.startswith("aaa.jsonl: is not read") for warning in report.warnings)


def test_damage_makes_a_run_partial(finished: tuple[Bench, Path], directory: Path) -> None:
    (path,) = (directory / "journal").glob("*.bin")
    path.write_bytes(b"\x01" + path.read_bytes()[1:])
    status = rendered(finished[0], directory).report.status
    assert not status.complete
    assert status.partial == ("2 of 3 sequences are finished",)


def test_a_sequence_that_the_run_does_not_have_makes_it_partial(
    finished: tuple[Bench, Path], directory: Path
) -> None:
    """Every selected sequence must be in the fold, and nothing else."""
    (path,) = (directory / "journal").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith(b'{"kind": "sequence"'))
    extra = path.with_name("extra.jsonl")
    extra.write_bytes(b"".join(lines[: first + 1]).replace(b"scene0_", b"scene9_"))
    shutil.copy(path.with_suffix(".bin"), extra.with_suffix(".bin"))
    forge(extra)
    status = rendered(finished[0], directory).report.status
    assert not status.complete
    assert status.partial == ("4 of 3 sequences are finished",)
    record = read_record(directory)
    plan = finished[0].plan(options={"pictures": True}, execution={"previews": 2})
    with Journal(directory / "journal", record.identity, plan.samples) as journal:
        report = collect_from(journal, record, plan.metrics).report
    assert report.status.complete
    assert any("other samples than the run" in text for text in report.warnings)


def test_a_record_that_could_not_be_read_is_not_written(
    finished: tuple[Bench, Path], directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = read_record(directory)
    monkeypatch.setattr("rpx_core.run_json.RECORD_LIMIT", 100)
    with pytest.raises(ConfigError, match=r"the record of this run: has .* MiB"):
        write_record(directory, record)


@pytest.mark.parametrize("value", [10**25, {"a": {"b": 2**70}}, "\ud800"])
def test_inputs_that_could_not_be_read_are_refused_before_any_work(
    tmp_path: Path, finished: tuple[Bench, Path], value: object
) -> None:
    record = read_record(finished[1])
    inputs = {**record.inputs, "more": value}
    changed = record.model_copy(update={"inputs": inputs, "identity": digest(inputs)})
    with pytest.raises(ConfigError, match="the record of this run"):
        write_record(tmp_path, changed)
    assert not (tmp_path / "run.json").exists()


def test_inputs_that_were_edited_are_refused(directory: Path) -> None:
    edit(directory / "run.json", lambda d: d["inputs"].update(seed=7))
    with pytest.raises(ConfigError, match=r"run\.json was edited"):
        read_record(directory)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("v1 / big", "v1-big"),
        ("rpx-depth/ground-plane", "ground-plane"),
        ("rpx-depth/hf:owner/net", "net"),
    ],
)
def test_the_folder_of_a_run_has_all_of_a_title_and_no_owner(model: str, named: str) -> None:
    assert run_name(model, "rpx-depth/monocular_depth", "demo") == f"{named}_monocular-depth_demo"
