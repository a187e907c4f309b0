"""Models by name from Python: which task is meant, and what is missing."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rpx_core as rpx

from .toys.site import toy_site

CHOOSY = """
@hookimpl
def rpx_models():
    return [
        ModelSpec(name="net", summary="By file.", target="toy_net:load", options="toy_net:Options",
                  tasks=("one", "two"), argument="kind", does="toy_net:does"),
        ModelSpec(name="both", summary="Any.", target="toy_net:Net", tasks=("one", "two")),
    ]
"""
OTHER = """
@hookimpl
def rpx_models():
    return [
        ModelSpec(name="net", summary="By file.", target="toy_net:load", options="toy_net:Options",
                  tasks=("three",), argument="kind", does="toy_net:does"),
    ]
"""
NET = """
from pydantic import BaseModel

class Options(BaseModel, frozen=True, extra="forbid"):
    kind: str

def does(options):
    known = {"a": ("one",), "b": ("one", "two"), "c": ("three",), "d": (), "e": None}
    return known[options["kind"]]

class Net:
    def __init__(self, options, runtime):
        self.task = runtime.task
    def setup(self): pass
    def predict(self, batch): return []

load = Net
"""


@pytest.fixture
def choosy(tmp_path: Path) -> Iterator[None]:
    """Two plugins with a model of one name, whose option says which task it is for."""
    with toy_site(tmp_path) as site:
        site.plugin("rpx-toy-choosy", CHOOSY)
        site.plugin("rpx-toy-further", OTHER)
        site.module("toy_net", NET)
        yield


@pytest.mark.usefixtures("choosy")
@pytest.mark.parametrize(
    ("name", "options", "task"),
    [
        ("net:a", {}, "one"),
        ("net", {"kind": "c"}, "three"),
        ("rpx-toy-choosy/net", {"kind": "a"}, "one"),
        ("net:b", {"task": "two"}, "two"),
        ("net:e", {"task": "three"}, "three"),
        ("rpx-toy-choosy/net:b", {"task": "rpx-toy/one"}, "one"),
        ("both", {}, ""),
        ("both", {"task": "two"}, "two"),
    ],
)
def test_a_model_by_name_says_which_task_it_does(
    name: str, options: dict[str, Any], task: str
) -> None:
    assert rpx.resolve(name, device="cpu", **options).task == task


@pytest.mark.usefixtures("choosy")
@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("net:b", {}, "net:b could do one, two\n  hint: say which one, as in task='one'"),
        ("net:e", {}, "could do one, three, two (what it was trained for cannot be read"),
        ("net:d", {}, "does no task that is installed"),
        ("net:a", {"task": "two"}, "net:a does one, not two"),
        ("both", {"task": "three"}, "both does one, two, not three"),
    ],
)
def test_a_task_that_stays_open_is_asked_for(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(rpx.ConfigError) as caught:
        rpx.resolve(name, device="cpu", **options)
    assert says in str(caught.value)


@pytest.mark.parametrize("task", [None, "object_detection", "open_vocab_detection"])
def test_a_detector_of_two_tasks_is_for_the_one_that_was_asked_for(task: str | None) -> None:
    model = rpx.resolve("blobs", device="cpu", task=task)
    assert model.task == (task or "object_detection")


@pytest.mark.parametrize(
    ("make", "architecture", "command"),
    [
        ("make_hf_depth_model", "DPTForDepthEstimation", "pip install 'rpx-depth[hf]'"),
        (
            "make_hf_instance_seg_model",
            "Mask2FormerForUniversalSegmentation",
            "pip install 'rpx-seg[hf]'",
        ),
    ],
)
def test_a_model_of_a_missing_library_says_how_to_install_it(
    make: str, architecture: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name in {"torch", "transformers"} else real(name, *more),
    )
    model = getattr(rpx, make)(str(tmp_path))
    with pytest.raises(rpx.ConfigError, match="needs torch, transformers, which is not") as caught:
        model.setup()
    assert caught.value.hint == command


def test_wrong_options_are_told_under_one_name_whoever_finds_them() -> None:
    with pytest.raises(rpx.ConfigError, match=r"model\.options"):
        rpx.resolve("mean-depth", device="cpu", nonsense=1)
    with pytest.raises(rpx.ConfigError, match=r"model\.options"):
        rpx.resolve("hf:here", device="cpu", checkpoint="there")
