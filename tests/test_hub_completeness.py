"""RW-121: a split of which a file is missing is never evaluated as if it were the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rpx_core as rpx
from rpx_core.errors import DownloadError, ManifestError
from tests.commands import rpx as run_rpx
from tests.hub_sets import draw_frames, early_layout
from tests.local_hub import Fault, LocalHub

REPO = "me/five"
MANIFEST = "manifests/monocular_depth/hard.json"
RUN = ("run", "--task", "monocular_depth", "--data", f"hub:{REPO}", "--split", "hard")
# Refused as often as it is asked for, without a wait in between.
BUSY = [Fault(503, headers={"Retry-After": "0"})] * 5


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A repository whose split lists five frames: ten files."""
    folder = tmp_path_factory.mktemp("drawn")
    whole = early_layout(folder, draw_frames(folder, [8]))
    document = json.loads(whole[MANIFEST])
    document["samples"] = document["samples"][:5]
    wanted = {sample[key] for sample in document["samples"] for key in ("rgb", "depth")}
    found = {path: whole[path] for path in wanted}
    return found | {MANIFEST: json.dumps(document).encode()}


@pytest.fixture
def missing(files: dict[str, bytes]) -> str:
    """The path of the last frame's depth."""
    last: dict[str, Any] = json.loads(files[MANIFEST])["samples"][-1]
    return str(last["depth"])


def check_nothing_made(folder: Path, told: dict[str, Any], missing: str) -> None:
    assert missing in told["error"]["message"] + str(told["error"]["hint"])
    assert "runs" not in told
    assert not list(folder.glob("runs/*"))
    assert not list(folder.glob("cache/hub/*/commits/*/monocular_depth-*.json"))


def test_offline_a_run_without_one_of_its_files_names_it_and_measures_nothing(
    hub: LocalHub,
    tmp_path: Path,
    files: dict[str, bytes],
    missing: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub.push(REPO, files)
    rpx.download_split("monocular_depth", "hard", REPO).unlink()
    (lost,) = tmp_path.glob(f"cache/hub/*/commits/*/{missing}")
    lost.unlink()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    check_nothing_made(tmp_path, run_rpx(tmp_path, *RUN, expect=2), missing)
    with pytest.raises(DownloadError, match=missing):
        rpx.load("monocular_depth", "hard", REPO)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert evaluated(run_rpx(tmp_path, *RUN)) == (5, 5)


def test_a_run_that_the_hub_refuses_one_file_measures_nothing_and_completes_when_run_again(
    hub: LocalHub, tmp_path: Path, files: dict[str, bytes], missing: str
) -> None:
    hub.push(REPO, files)
    hub.fail(missing, *BUSY)
    told = run_rpx(tmp_path, *RUN, expect=2)
    check_nothing_made(tmp_path, told, missing)
    assert "HTTP 503" in told["error"]["message"]
    hub.asked.clear()
    assert evaluated(run_rpx(tmp_path, *RUN)) == (5, 5)
    assert [path for path in hub.fetched() if path.startswith("scenes/")] == [missing]


def test_a_file_that_the_commit_does_not_have_is_an_error_before_anything_is_fetched(
    hub: LocalHub, tmp_path: Path, files: dict[str, bytes], missing: str
) -> None:
    hub.push(REPO, {path: content for path, content in files.items() if path != missing})
    check_nothing_made(tmp_path, run_rpx(tmp_path, *RUN, expect=2), missing)
    with pytest.raises(ManifestError, match=missing):
        rpx.load("monocular_depth", "hard", REPO)
    assert not [path for path in hub.fetched() if path.startswith("scenes/")]


def evaluated(told: dict[str, Any]) -> tuple[int, int]:
    """How many samples a run evaluated, and how many its dataset has."""
    (run,) = told["runs"]
    return run["status"]["evaluated_samples"], run["status"]["dataset_samples"]
