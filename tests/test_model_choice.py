"""`--model NAME:TEXT`: which model is meant, which task, and what is missing."""

from __future__ import annotations

import importlib.util
import json
import sysconfig
from pathlib import Path
from typing import Any

import click
import pytest

import rpx_core as rpx
from rpx_core.cli.names import complete
from rpx_core.config import RunConfig
from rpx_core.errors import ConfigError
from rpx_core.host import Host
from rpx_core.models import ModelPart, resolve_model
from rpx_core.tasks import tasks_meant
from rpx_core.testing import heavy_imports
from tests.toys.site import ToySite, toy_site

HEAVY = ("torch", "transformers", "timm")
find_spec = importlib.util.find_spec


@pytest.fixture(scope="module")
def host() -> Host:
    """The plugins that are installed; those that other tests put beside them are left out."""
    return Host.discover(path=[sysconfig.get_path("purelib")])


def pretend_libraries(monkeypatch: pytest.MonkeyPatch, *, there: bool) -> None:
    def look(name: str, package: str | None = None) -> Any:
        if name in HEAVY:
            return object() if there else None
        return find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", look)


def checkpoint(folder: Path, *architectures: str, **config: Any) -> Path:
    folder.mkdir()
    config = {"architectures": architectures, **config}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def tasks_of(host: Host, model: str, **layer: Any) -> list[str]:
    return tasks_meant(RunConfig.model_validate({"model": model, **layer}), host)


def resolve(host: Host, task: str, model: str | dict[str, Any]) -> ModelPart:
    named = RunConfig.model_validate({"model": model}).model
    return resolve_model(host, host.find("task", task), named, None)


@pytest.mark.parametrize(
    ("architecture", "kind", "task"),
    [
        ("DPTForDepthEstimation", "dpt", "rpx-depth/monocular_depth"),
        ("SegformerForSemanticSegmentation", "segformer", "rpx-seg/semantic_segmentation"),
        ("DetrForSegmentation", "detr", "rpx-seg/object_segmentation"),
        ("RTDetrForObjectDetection", "rt_detr", "rpx-detection/object_detection"),
    ],
)
def test_a_checkpoint_says_for_which_task_it_is(
    tmp_path: Path, host: Host, architecture: str, kind: str, task: str
) -> None:
    folder = checkpoint(tmp_path / "net", architecture, model_type=kind)
    assert tasks_of(host, f"hf:{folder}") == [task]


@pytest.mark.parametrize(
    ("architecture", "kind", "could"),
    [
        (
            "Mask2FormerForUniversalSegmentation",
            "mask2former",
            "rpx-seg/object_segmentation, rpx-seg/semantic_segmentation",
        ),
        (
            "Owlv2ForObjectDetection",
            "owlv2",
            "rpx-detection/open_vocab_detection, rpx-detection/visual_grounding",
        ),
    ],
)
def test_a_checkpoint_of_several_tasks_must_be_told_which(
    tmp_path: Path, host: Host, architecture: str, kind: str, could: str
) -> None:
    folder = checkpoint(tmp_path / "net", architecture, model_type=kind)
    with pytest.raises(ConfigError, match=rf"could do {could}\n") as caught:
        tasks_of(host, f"hf:{folder}")
    assert caught.value.hint == "say which one with --task"


def test_a_checkpoint_that_is_not_here_could_be_anything_of_that_name(host: Host) -> None:
    with pytest.raises(ConfigError, match="cannot be read on this machine") as caught:
        tasks_of(host, "hf:nobody/has-this")
    for task in ("rpx-depth/monocular_depth", "rpx-seg/object_segmentation"):
        assert task in caught.value.message
    assert "trajectory" not in caught.value.message


def test_a_checkpoint_for_no_task_says_so(tmp_path: Path, host: Host) -> None:
    folder = checkpoint(tmp_path / "net", "BertForMaskedLM")
    with pytest.raises(ConfigError, match="does no task that is installed"):
        tasks_of(host, f"hf:{folder}")


@pytest.mark.parametrize("model", ["file.py:function", "module:function"])
def test_other_colons_still_mean_a_function(host: Host, model: str) -> None:
    with pytest.raises(ConfigError, match=f"the model {model} could do .*rpx-depth"):
        tasks_of(host, model)


def test_the_task_chooses_among_models_of_one_name(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_libraries(monkeypatch, there=True)
    folder = checkpoint(tmp_path / "net", "Any")
    named = {
        task: resolve(host, task, f"hf:{folder}").part
        for task in ("monocular_depth", "semantic_segmentation", "visual_grounding")
    }
    owners = [part.name for part in named.values() if part is not None]
    assert owners == ["rpx-depth/hf", "rpx-seg/hf", "rpx-detection/hf"]


def test_a_missing_extra_prints_its_install_command(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_libraries(monkeypatch, there=False)
    folder = checkpoint(tmp_path / "net", "DPTForDepthEstimation")
    for task, model, command in (
        ("monocular_depth", f"hf:{folder}", "pip install 'rpx-depth[hf]'"),
        ("object_detection", f"hf:{folder}", "pip install 'rpx-detection[hf]'"),
        ("keypoint_matching", "timm:resnet18", "pip install 'rpx-pose[timm]'"),
        ("monocular_depth", "depth_pro", "pip install 'rpx-depth[hf-torchvision]'"),
        ("monocular_depth", "unidepth_v2_vitl", "pip install 'unidepth @ git+https://"),
    ):
        with pytest.raises(ConfigError, match="needs torch") as caught:
            resolve(host, task, model)
        assert str(caught.value.hint).startswith(command)


def test_what_a_model_is_called_never_holds_a_path(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_libraries(monkeypatch, there=True)
    folder = checkpoint(tmp_path / "my-net", "DPTForDepthEstimation")
    short = resolve(host, "monocular_depth", f"hf:{folder}")
    full = resolve(host, "monocular_depth", f"rpx-depth/hf:{folder}")
    spelled = {"name": "hf", "options": {"checkpoint": str(folder)}}
    assert short == full == resolve(host, "monocular_depth", spelled)
    assert short.name == "rpx-depth/hf:my-net"
    assert str(tmp_path) not in json.dumps(short.identity())
    assert short.identity()["name"] == "rpx-depth/hf"


def test_the_options_of_learned_models_need_no_library() -> None:
    names = (
        "rpx_depth.models.slate",
        "rpx_depth.models.at_points",
        "rpx_seg.models.hf",
        "rpx_detection.models.hf",
        "rpx_pose.models.timm_dense",
        "rpx_core.inference.pretrained",
    )
    assert "torch" not in heavy_imports("import " + ", ".join(names))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("hf:", "nothing stands behind the colon"),
        ({"name": "hf:a/b", "options": {"checkpoint": "a/c"}}, "which is set as well"),
        ("hf", "model.options.checkpoint: Field required"),
        ("depth_anything_3", "is not available: its weights come with its authors' code"),
    ],
)
def test_what_makes_no_model_is_explained(
    host: Host, monkeypatch: pytest.MonkeyPatch, model: Any, says: str
) -> None:
    pretend_libraries(monkeypatch, there=True)
    with pytest.raises(ConfigError, match=says):
        resolve(host, "monocular_depth", model)


def test_completion_shows_a_name_of_several_plugins_once_and_goes_on_behind_it() -> None:
    names = complete("model")(click.Context(click.Command("run")), click.Option(["--model"]), "h")
    (found,) = (item for item in names if item.value == "hf:")
    assert "depth estimator" in str(found.help)
    assert "segmenter" in str(found.help)
    assert {item.value for item in names} >= {"hog-people"}


CHOOSY = """
TARGETS = {"target": "toy_choice:load", "options": "toy_choice:Options"}


@hookimpl
def rpx_models():
    return [
        ModelSpec(name="net", summary="A net.", tasks=("one", "two"), does="toy_choice:does",
                  argument="kind", **TARGETS)
    ]
"""


def choosy(site: ToySite, body: str) -> Host:
    site.plugin("rpx-choosy", CHOOSY)
    site.module("toy_choice", f"def does(options):\n    {body}\n")
    return site.host()


def test_a_plugin_decides_by_the_options_what_a_model_does(tmp_path: Path) -> None:
    from rpx_core.config import Named
    from rpx_core.models import tasks_of_model

    with toy_site(tmp_path) as site:
        host = choosy(site, "return {'a': ('two', 'three'), 'b': None}[options['kind']]")
        assert tasks_of_model(host, Named(name="net:a")) == {"rpx-choosy/net": ("two",)}
        assert tasks_of_model(host, Named(name="net:b")) == {"rpx-choosy/net": None}


def test_a_plugin_that_fails_to_decide_is_named(tmp_path: Path) -> None:
    from rpx_core.config import Named
    from rpx_core.errors import PluginError
    from rpx_core.models import tasks_of_model

    with toy_site(tmp_path) as site:
        host = choosy(site, "raise RuntimeError('no idea')")
        with pytest.raises(PluginError, match=r"toy_choice:does of rpx-choosy/net.*no idea"):
            tasks_of_model(host, Named(name="net:a"))


def test_a_folder_that_is_not_there_is_told_before_any_task(tmp_path: Path, host: Host) -> None:
    missing = tmp_path / "none"
    with pytest.raises(ConfigError, match=f"there is no folder '{missing}'"):
        tasks_of(host, f"hf:{missing}")
    with pytest.raises(ConfigError, match=f"there is no folder '{missing}'"):
        rpx.resolve(f"hf:{missing}", device="cpu")
