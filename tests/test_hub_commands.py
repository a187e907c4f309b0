"""A hub as users meet it: commands in fresh processes, and the published functions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rpx_core as rpx
from rpx_core.check import check_dataset
from rpx_core.config import Data
from rpx_core.errors import ConfigError, DownloadError
from rpx_core.host import Host
from rpx_core.layers import Layers, make_plans
from rpx_core.plan import Plan
from tests.commands import numbers
from tests.commands import rpx as run_rpx
from tests.hub_desk import plain_files
from tests.hub_sets import Records, draw_frames, early_layout, released_layout
from tests.local_hub import LocalHub
from tests.toys.site import toy_site

EARLY, RELEASED = "me/early", "me/tiny"
CAMERA = "data.options.intrinsics=[308.2, 307.6, 161.3, 118.8]"
TASKS = {
    "monocular_depth": 18,
    "object_segmentation": 18,
    "object_tracking": 18,
    "relative_camera_pose": 3,
    "novel_view_synthesis": 15,
}
RGB = {f"{phase}/rgb.tar" for phase in range(3)}
DEPTH = {f"{phase}/depth.tar" for phase in range(3)}
MASKS = {f"{phase}/labels/masks/v1.tar" for phase in range(3)}
POSES = {f"{phase}/labels/cam_pose/v1.tar" for phase in range(3)}
ARCHIVES = {
    "monocular_depth": RGB | DEPTH,
    "object_segmentation": RGB | MASKS,
    "object_tracking": RGB | MASKS,
    "relative_camera_pose": RGB | POSES,
    "novel_view_synthesis": RGB | DEPTH | POSES,
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Records]:
    """One hard scene of the demo in its three phases."""
    folder = tmp_path_factory.mktemp("drawn")
    return folder, draw_frames(folder, [8])


@pytest.fixture(scope="module")
def sets(drawn: tuple[Path, Records]) -> dict[str, dict[str, bytes]]:
    """The scene in both layouts."""
    return {EARLY: early_layout(*drawn), RELEASED: released_layout(*drawn)}


@pytest.fixture
def stocked(hub: LocalHub, sets: dict[str, dict[str, bytes]]) -> LocalHub:
    """A hub with both."""
    for repo, files in sets.items():
        hub.push(repo, files)
    return hub


def plan(repo: str, task: str = "monocular_depth", split: str = "hard", **options: Any) -> Plan:
    """The plan of a run: everything is fetched and checked, nothing evaluated."""
    data = {"name": f"hub:{repo}", "split": split, "options": options}
    layers = Layers({"task": task, "data": data}, {})
    (made,) = make_plans(Host.discover(), layers, Path("runs"))
    return made


@pytest.mark.parametrize("task", TASKS)
def test_a_task_runs_on_both_layouts_alike_and_fetches_nothing_else(
    stocked: LocalHub, tmp_path: Path, task: str
) -> None:
    common = ("--task", task, "--split", "hard", "--limit", "3", "--as", "json")
    released = run_rpx(tmp_path, "run", *common, "--data", f"hub:{RELEASED}", "--set", CAMERA)
    status = released["runs"][0]["status"]
    assert (status["evaluated_samples"], status["failed_samples"]) == (3, 0)
    assert status["dataset_samples"] == TASKS[task]
    archives = {path.split("/", 2)[2] for path in stocked.fetched() if path.startswith("scenes/")}
    assert archives == ARCHIVES[task]
    if task != "relative_camera_pose":  # whose pairs the release lists at another distance
        early = run_rpx(tmp_path, "run", *common, "--data", f"hub:{EARLY}")
        assert numbers(early) == numbers(released)


def test_the_commit_is_recorded_and_the_dataset_is_identified_by_its_content(
    stocked: LocalHub,
) -> None:
    commit = stocked.branches[EARLY, "main"]
    first = plan(EARLY).record.inputs["data"]
    assert first["origin"] == {"repo_id": EARLY, "commit": commit}
    assert plan(EARLY).record.inputs["data"] == first
    files = dict(stocked.commits[EARLY, commit])
    stocked.push(EARLY, files | {"README.md": b"a word more"})
    reworded = plan(EARLY).record.inputs["data"]
    assert reworded["dataset_id"] == first["dataset_id"]
    assert reworded["origin"] != first["origin"]
    depth = next(path for path in files if path.endswith("/depth/00000.png"))
    stocked.push(EARLY, files | {depth: files[depth.replace("00000", "00001")]})
    assert plan(EARLY).record.inputs["data"]["dataset_id"] != first["dataset_id"]


def test_a_run_on_some_samples_is_marked_partial(stocked: LocalHub) -> None:
    record = plan(EARLY, max_samples=6).record
    assert record.selected_samples == 6
    assert record.partial == ("6 of 18 samples of the repository (max_samples)",)


def test_a_split_of_another_name_is_what_its_manifest_lists(stocked: LocalHub) -> None:
    files = dict(stocked.commits[EARLY, stocked.branches[EARLY, "main"]])
    files["manifests/monocular_depth/test.json"] = files["manifests/monocular_depth/hard.json"]
    stocked.push(EARLY, files)
    assert plan(EARLY, split="test").record.selected_samples == 18


def test_a_task_must_be_named(stocked: LocalHub, tmp_path: Path) -> None:
    told = run_rpx(tmp_path, "run", "--data", f"hub:{EARLY}", expect=2)
    assert "say which one with --task" in told["error"]["hint"]
    assert stocked.asked == []


def test_without_network_a_run_has_what_is_there_and_names_what_is_not(
    stocked: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    online = plan(RELEASED).record
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    stocked.asked.clear()
    assert plan(RELEASED).record == online
    with pytest.raises(DownloadError, match=r"segmentation/hard.json"):
        plan(RELEASED, "object_segmentation")
    assert stocked.asked == []


def test_data_download_writes_a_manifest_of_what_it_fetched(
    stocked: LocalHub, tmp_path: Path
) -> None:
    arguments = ("--task", "object_segmentation", "--repo", RELEASED, "--split", "hard")
    written = run_rpx(tmp_path, "data", "download", *arguments, "--max-samples", "9")
    assert (written["samples"], written["of_samples"]) == (9, 18)
    assert written["commit"] == stocked.branches[RELEASED, "main"]
    checked = check_dataset(Host.discover(), Data(name=written["manifest"]), "object_segmentation")
    assert (checked.samples, checked.problems) == (9, ())


BROKEN = {
    "no image": ("file", b"not a picture"),
    "unknown key": ("manifest", {"phase": [1]}),
    "same id": ("manifest", {"id": None}),
    "no depth": ("manifest", {"depth": None}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_the_check_refuses_is_refused_by_the_download_alike(
    hub: LocalHub, drawn: tuple[Path, Records], tmp_path: Path, name: str
) -> None:
    kind, change = BROKEN[name]
    files = early_layout(*drawn)
    path = "manifests/monocular_depth/hard.json"
    document = json.loads(files[path])
    first, second = document["samples"][:2]
    if kind == "file":
        files[first["depth"]] = change
    else:
        first |= {key: second["id"] if key == "id" else value for key, value in change.items()}
        files[path] = json.dumps(document).encode()
    hub.push(EARLY, files)
    arguments = ("--task", "monocular_depth", "--repo", EARLY, "--split", "hard")
    told = run_rpx(tmp_path, "data", "download", *arguments, expect=2)
    checked = run_rpx(
        tmp_path,
        "data",
        "check",
        f"hub:{EARLY}",
        "--task",
        "monocular_depth",
        "--set",
        'data.split="hard"',
        expect=2,
    )
    if "error" in told:
        assert told["error"] == checked["error"]
        assert not list((tmp_path / "cache").rglob("monocular_depth-hard.json"))
    else:
        assert told["problems"] == checked["problems"]
        assert told["problems"]
    hub.push(EARLY, early_layout(*drawn))
    assert run_rpx(tmp_path, "data", "download", *arguments)["problems"] == []


def test_a_download_with_problems_names_them_and_proposes_no_run(
    hub: LocalHub, drawn: tuple[Path, Records]
) -> None:
    files = early_layout(*drawn)
    path = json.loads(files["manifests/monocular_depth/hard.json"])["samples"][0]["depth"]
    hub.push(EARLY, files | {path: b"not a picture"})
    arguments = f"'--task', 'monocular_depth', '--repo', {EARLY!r}, '--split', 'hard'"
    shown = fresh(f"from rpx_core.cli import main; main(['data', 'download', {arguments}])")
    assert path in shown
    assert "1 problem" in shown
    assert "next:" not in shown


def test_a_repository_file_never_gives_way_to_the_manifest_of_a_download(
    hub: LocalHub, drawn: tuple[Path, Records], tmp_path: Path
) -> None:
    hub.push(EARLY, early_layout(*drawn) | {"monocular_depth-hard.json": b"[]"})
    arguments = ("--task", "monocular_depth", "--repo", EARLY, "--split", "hard")
    told = run_rpx(tmp_path, "data", "download", *arguments, expect=2)
    assert "monocular_depth-hard.json is where the manifest" in told["error"]["message"]


def test_a_file_that_is_damaged_in_the_cache_is_found_out_when_it_is_read(
    stocked: LocalHub,
) -> None:
    manifest = rpx.download_split("monocular_depth", "hard", EARLY)
    image = next(manifest.parent.glob("scenes/*/0/rgb/00000.png"))
    image.write_bytes(image.read_bytes()[:-1] + b"x")
    checked = check_dataset(Host.discover(), Data(name=str(manifest)), "monocular_depth")
    (problem,) = checked.problems
    assert "differs from its declared checksum" in problem


def test_help_of_the_download_shows_examples_and_imports_no_client() -> None:
    shown = fresh("from rpx_core.cli import main; main(['data', 'download', '--help'])")
    for flag in ("--task", "--split", "--repo", "--revision", "--max-samples", "--max-workers"):
        assert flag in shown
    assert "rpx data download --task monocular_depth --split hard" in shown


@pytest.mark.parametrize(
    "code",
    [
        "import rpx_core",
        "from rpx_core.cli import invoke; invoke(['--help'])",
        "from rpx_core.cli import invoke; invoke(['list', 'datasets'])",
        "from rpx_core.cli import invoke; invoke(['run', '--data', 'set.json', '--limit', '1'])",
        "import rpx_core; rpx_core.download_split",
    ],
)
def test_nothing_imports_the_hub_client_before_it_is_needed(
    code: str, tmp_path: Path, drawn: tuple[Path, Records]
) -> None:
    folder, records = drawn
    samples = [{"id": "a", "rgb": records[0]["rgb"], "depth": records[0]["depth"]}]
    (folder / "set.json").write_text(json.dumps({"task": "monocular_depth", "samples": samples}))
    shown = fresh(f"{code}\nimport sys; print(*sorted(sys.modules))", folder)
    loaded = set(shown.splitlines()[-1].split())
    assert "rpx_core" in loaded
    assert loaded.isdisjoint({"huggingface_hub", "filelock", "rpx_core.hub.client"})


def test_the_published_functions_fetch_and_load(hub: LocalHub, drawn: tuple[Path, Records]) -> None:
    hub.push(EARLY, early_layout(*drawn))
    manifest = rpx.fetch_manifest("monocular_depth", "hard", repo_id=EARLY)
    assert len(manifest["samples"]) == 18
    assert not [path for path in hub.fetched() if path.startswith("scenes/")]
    dataset = rpx.load(rpx.TaskType.MONOCULAR_DEPTH, rpx.Difficulty.HARD, EARLY, batch_size=4)
    first = next(iter(dataset))
    assert (len(dataset), len(first)) == (18, 4)
    assert first[0].ground_truth.depth_map.shape == first[0].rgb.shape[:2]
    path = rpx.download_split("monocular_depth", "hard", EARLY, extra_modalities=["pose"])
    assert json.loads(path.read_bytes())["samples"][0]["pose"].endswith(".npz")
    assert rpx.RPXDataset.from_manifest(path).root == path.parent


def test_the_published_runs_take_the_hub(
    hub: LocalHub, drawn: tuple[Path, Records], tmp_path: Path
) -> None:
    hub.push(EARLY, early_layout(*drawn))
    config = rpx.MonocularDepthRunConfig(
        model_name="ground-plane",
        repo_id=EARLY,
        cache_dir=tmp_path / "elsewhere",
        output_dir=tmp_path / "runs",
        max_samples=3,
    )
    result, _, _ = rpx.run_monocular_depth(config)
    assert result.num_samples == 3
    assert len([path for path in hub.fetched() if "/depth/" in path]) == 3
    assert (tmp_path / "elsewhere/hub/me%2Fearly").is_dir()
    assert not (tmp_path / "cache").exists()
    dataset = rpx.RPXDataset.from_name(f"hub:{EARLY}", task="monocular_depth", split="hard")
    assert len(dataset) == 18


def test_the_published_functions_raise_what_they_say(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.push(EARLY, plain_files())
    with pytest.raises(rpx.ManifestError, match="no manifest for monocular_depth, split easy"):
        rpx.fetch_manifest("monocular_depth", "easy", EARLY)
    with pytest.raises(DownloadError, match="no such dataset"):
        rpx.fetch_manifest("monocular_depth", "hard", "me/nothing")
    with pytest.raises(ConfigError, match="max_workers"):
        rpx.download_split("monocular_depth", "hard", EARLY, max_workers=0)
    with pytest.raises(ConfigError, match="max_samples"):
        rpx.download_split("monocular_depth", "hard", EARLY, max_samples=0)


NAMES = [
    ({"task": "foo", "split": "hard"}, "foo"),
    ({"task": "monocular_deph", "split": "hard"}, "monocular_depth"),
    ({"task": "monocular_depth", "split": "foo"}, "it has easy, medium, hard, and all"),
    ({"task": "monocular_depth", "split": "../hard", "repo_id": EARLY}, "no name of a split"),
]


@pytest.mark.parametrize(("names", "words"), NAMES)
@pytest.mark.parametrize("call", [rpx.fetch_manifest, rpx.download_split, rpx.load])
def test_names_that_nobody_knows_are_refused_before_the_hub_is_asked(
    hub: LocalHub, call: Callable[..., Any], names: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        call(**names)
    assert hub.asked == []


@pytest.mark.parametrize(("names", "words"), NAMES)
def test_the_download_command_refuses_unknown_names_before_it_asks(
    hub: LocalHub, tmp_path: Path, names: dict[str, str], words: str
) -> None:
    flags = [f"--{key.removesuffix('_id')}={value}" for key, value in names.items()]
    told = run_rpx(tmp_path, "data", "download", *flags, expect=2)["error"]
    assert words in f"{told['message']} {told['hint']}"
    assert hub.asked == []


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[str]:
    """The full name of a task that another distribution calls as ours."""
    with toy_site(tmp_path) as site:
        site.plugin(
            "acme-x",
            "from rpx_depth import plugin as depth\n\n"
            "@hookimpl\ndef rpx_tasks():\n"
            "    return [one for one in depth.rpx_tasks() if one.name == 'monocular_depth']\n",
        )
        yield "acme-x/monocular_depth"


def test_a_full_name_means_the_task_of_that_distribution(hub: LocalHub, acme: str) -> None:
    hub.push(EARLY, plain_files())
    assert rpx.fetch_manifest(acme, "hard", EARLY)["samples"]
    dataset = rpx.load(acme, "hard", EARLY)
    assert dataset._reader.offer.full_name == acme
    with pytest.raises(ConfigError, match=r"it may be acme-x/monocular_depth, rpx-depth/monocular"):
        rpx.download_split("monocular_depth", "hard", EARLY)


@pytest.mark.parametrize("call", [rpx.fetch_manifest, rpx.download_split, rpx.load])
def test_a_task_of_a_distribution_that_is_not_there_is_refused(
    hub: LocalHub, call: Callable[..., Any]
) -> None:
    with pytest.raises(ConfigError, match="no plugin distribution 'acme-y' is installed"):
        call("acme-y/monocular_depth", "hard", EARLY)
    assert hub.asked == []


def test_a_repository_that_nobody_can_have_is_not_mounted(hub: LocalHub) -> None:
    with pytest.raises(ConfigError, match="no repository of datasets"):
        rpx.mount("foo")
    assert hub.asked == []


def test_a_mounted_repository_can_be_looked_at(hub: LocalHub) -> None:
    commit = hub.push(EARLY, plain_files())
    system, prefix = rpx.mount(EARLY)
    assert prefix == f"datasets/{EARLY}@{commit}"
    assert system.endpoint == hub.url


def fresh(code: str, folder: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout
