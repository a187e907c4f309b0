"""Which weights a run used: folders by their content, hub repositories by their commit."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpx_core.checkpoint_places import refuse_missing
from rpx_core.checkpoints import CheckpointOptions, architectures, local_config, resolve_commit
from rpx_core.errors import ConfigError, DownloadError, ModelError
from rpx_core.offers import Offer
from rpx_core.parts import Part, check_options, resolve_part
from rpx_core.specs import ModelSpec

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "someone/depth-net"
OFFER = Offer(
    ModelSpec(
        name="net",
        summary="A net.",
        target="rpx_core.checkpoints:CheckpointOptions",
        options="rpx_core.checkpoints:CheckpointOptions",
        tasks=("monocular_depth",),
    ),
    "rpx-toy",
    "1.0",
    False,
)


class _Hub(http.server.BaseHTTPRequestHandler):
    """Knows one repository and one branch of it."""

    def do_GET(self) -> None:
        known = self.path.partition("?")[0] == f"/api/models/{REPOSITORY}/revision/main"
        reason = "RevisionNotFound" if f"/{REPOSITORY}/" in self.path else "RepoNotFound"
        body = json.dumps(
            {"id": REPOSITORY, "sha": COMMIT} if known else {"error": reason}
        ).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if not known:
            self.send_header("X-Error-Code", reason)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The client of the hub asks a server on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    use_hub(monkeypatch, tmp_path, f"http://127.0.0.1:{server.server_port}")
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nobody answers; the folder is the cache of the client."""
    use_hub(monkeypatch, tmp_path, "http://127.0.0.1:9")
    return tmp_path / "hub"


def use_hub(monkeypatch: pytest.MonkeyPatch, folder: Path, endpoint: str) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub"))


def weights(folder: Path, content: str = "one") -> Path:
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_text(content)
    (folder / "config.json").write_text(json.dumps({"architectures": ["DPTForDepthEstimation"]}))
    return folder


def resolve(**options: Any) -> Part:
    return resolve_part(OFFER, options, field_name="model.options")


def test_a_folder_counts_by_content_and_never_by_place(tmp_path: Path) -> None:
    here = resolve(checkpoint=str(weights(tmp_path / "here"))).identity()
    there = resolve(checkpoint=str(weights(tmp_path / "far" / "there"))).identity()
    other = resolve(checkpoint=str(weights(tmp_path / "other", "two"))).identity()
    assert here == there != other
    assert str(tmp_path) not in json.dumps(here)


def test_a_relative_folder_is_the_same_as_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights(tmp_path / "net")
    monkeypatch.chdir(tmp_path)
    relative = resolve(checkpoint="net")
    monkeypatch.chdir("/")
    # A worker may stand elsewhere.
    assert relative.load_options() == CheckpointOptions(checkpoint=tmp_path / "net")


@pytest.mark.parametrize("text", ["/no/such/folder", "../net", "a/b/c", "net name"])
def test_what_is_neither_folder_nor_repository_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"there is no folder .*no repository of the hub"):
        resolve(checkpoint=text)


def test_a_folder_has_no_revision(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder: it has no revision"):
        resolve(checkpoint=str(weights(tmp_path / "net")), revision="main")


@pytest.mark.usefixtures("hub")
def test_a_branch_of_the_hub_becomes_its_commit() -> None:
    part = resolve(checkpoint=REPOSITORY)
    assert part.identity()["options"] == {"checkpoint": REPOSITORY, "revision": COMMIT}
    assert part == resolve(checkpoint=REPOSITORY, revision="main")


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("repository", "revision", "says"),
    [
        (REPOSITORY, "nope", "has no revision 'nope'"),
        ("someone/else", None, "the hub shows no model repository someone/else, and no folder"),
    ],
)
def test_what_the_hub_does_not_have_is_named(
    repository: str, revision: str | None, says: str
) -> None:
    with pytest.raises(DownloadError, match=says):
        resolve_commit(repository, revision)


@pytest.mark.usefixtures("offline")
def test_a_commit_needs_no_hub() -> None:
    assert resolve_commit(REPOSITORY, COMMIT) == COMMIT


@pytest.mark.usefixtures("offline")
def test_offline_an_unknown_branch_is_an_error_with_a_way_out() -> None:
    with pytest.raises(DownloadError, match="the hub does not answer") as caught:
        resolve_commit(REPOSITORY, None)
    assert "model.options.revision=<40 hex digits>" in str(caught.value.hint)


def test_offline_the_cache_knows_the_commit(offline: Path) -> None:
    refs = offline / "models--someone--depth-net" / "refs"
    refs.mkdir(parents=True)
    (refs / "main").write_text(COMMIT)
    assert resolve_commit(REPOSITORY, None) == COMMIT


def test_the_configuration_of_a_cached_checkpoint_is_read_without_the_hub(offline: Path) -> None:
    folder = offline / "models--someone--depth-net"
    weights(folder / "snapshots" / COMMIT)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(COMMIT)
    for options in ({}, {"revision": COMMIT}):
        found = architectures({"checkpoint": REPOSITORY, **options})
        assert found == ("DPTForDepthEstimation",)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("options", [{}, {"checkpoint": REPOSITORY}, {"checkpoint": 3}])
def test_nothing_is_known_of_what_is_not_here(options: dict[str, Any]) -> None:
    assert architectures(options) is None


def test_weights_that_changed_since_the_plan_are_noticed(tmp_path: Path) -> None:
    folder = weights(tmp_path / "net")
    part = resolve(checkpoint=str(folder))
    part.identity()
    part.check_files()
    (folder / "model.safetensors").write_text("another")
    with pytest.raises(ModelError, match="what the options checkpoint lead to changed"):
        part.check_files()


def test_wrong_options_name_the_field_and_the_owner() -> None:
    with pytest.raises(ConfigError, match=r"made.checkpoint: .*no folder") as caught:
        check_options(CheckpointOptions, {"checkpoint": "/x"}, "the net", field_name="made")
    assert caught.value.hint == "options of the net: checkpoint, revision"


def test_the_home_of_a_user_who_does_not_exist_is_no_folder() -> None:
    with pytest.raises(ConfigError, match="there is no folder '~nobody"):
        resolve_part(OFFER, {"checkpoint": "~nobody-of-this-name/net"}, field_name="model.options")
    assert local_config({"checkpoint": "~nobody-of-this-name/net"}) is None


@pytest.mark.parametrize(
    ("checkpoint", "problem", "hint"),
    [
        (
            "weights/dert",
            "there is no folder 'weights/dert'",
            "did you mean detr?; if it is a repo",
        ),
        (
            "./weights/none",
            "there is no folder './weights/none', and no",
            "weights holds detr, dpt",
        ),
        (
            "weihgts/a/b",
            "there is no folder 'weihgts/a/b': weihgts is not",
            "did you mean weights?",
        ),
        ("weights/file", "weights/file is a file", "name the folder that holds it: weights"),
    ],
)
def test_a_folder_that_is_not_there_is_no_repository_that_could_do_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str, problem: str, hint: str
) -> None:
    for name in ("detr", "dpt"):
        (tmp_path / "weights" / name).mkdir(parents=True)
    (tmp_path / "weights" / "file").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        refuse_missing({"checkpoint": checkpoint})
    assert caught.value.message.startswith(problem)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("checkpoint", ["someone/depth-net", "depth-net", None, ""])
def test_what_may_be_a_repository_is_not_taken_for_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    refuse_missing({"checkpoint": checkpoint})
