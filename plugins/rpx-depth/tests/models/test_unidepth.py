"""UniDepth V2's interface, on a small real network with the same class, loader and `infer`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ConfigError, ModelError
from rpx_depth.models.slate import UniDepthLarge
from rpx_depth.models.unidepth import load
from tests.workshop import Workshop, runtime

PACKAGE = '''
"""A stand-in: depth is what the brightness says, on half the grid, scaled by the focal length."""

import torch
from huggingface_hub import PyTorchModelHubMixin
from torch.nn.functional import avg_pool2d


class UniDepthV2(torch.nn.Module, PyTorchModelHubMixin):
    def __init__(self, config):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor(float(config["gain"])))
        self.config = config
        self.calls = []

    def infer(self, rgb, camera=None, normalize=True):
        self.calls.append((tuple(rgb.shape), rgb.dtype, float(rgb.max()), camera, normalize))
        if self.config.get("broken"):
            return rgb
        shape = self.config.get("shape")
        if shape:
            return {"depth": torch.ones(shape)}
        grey = avg_pool2d(rgb.mean(dim=1, keepdim=True) / 255, 2) * self.gain + 1
        if camera is not None:
            grey = grey * camera[:, :1, :1, None] / 100
        return {"depth": grey, "confidence": grey}
'''


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Any]:
    """The package `unidepth`, as its authors' one is laid out."""
    folder = tmp_path / "site" / "unidepth" / "models"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text(PACKAGE)
    sys.path.insert(0, str(tmp_path / "site"))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module("unidepth.models").UniDepthV2
    finally:
        sys.path.remove(str(tmp_path / "site"))
        for name in [name for name in sys.modules if name.partition(".")[0] == "unidepth"]:
            del sys.modules[name]


@pytest.fixture
def folder(package: Any, tmp_path: Path) -> Path:
    """A checkpoint of it, as `from_pretrained` finds one."""
    package({"gain": 2.0}).save_pretrained(tmp_path / "tiny", config={"config": {"gain": 2.0}})
    return tmp_path / "tiny"


def sample(level: int, focal: float | None = None) -> Sample:
    camera = None if focal is None else np.array([[focal, 0, 4], [0, focal, 3], [0, 0, 1.0]])
    return Sample(id=f"s{level}", rgb=np.full((6, 8, 3), level, np.uint8), intrinsics=camera)


def build(folder: Path, **options: Any) -> Any:
    model = load(UniDepthLarge(checkpoint=folder, **options), runtime("monocular_depth"))
    model.setup()
    return model


def test_a_batch_is_one_call_with_whole_colours_and_no_camera(folder: Path) -> None:
    model = build(folder)
    first, second = model.predict([sample(0), sample(255)])
    assert model.module.calls == [((2, 3, 6, 8), torch.float32, 255.0, None, True)]
    np.testing.assert_allclose(first.depth_map, 1)
    np.testing.assert_allclose(second.depth_map, 3)
    assert first.depth_map.shape == (6, 8)
    assert first.depth_map.dtype == np.float32


def test_the_camera_is_given_where_the_options_say_so(folder: Path) -> None:
    model = build(folder, camera="given")
    first, second = model.predict([sample(0, 100.0), sample(0, 200.0)])
    np.testing.assert_allclose(first.depth_map, 1)
    np.testing.assert_allclose(second.depth_map, 2)
    with pytest.raises(ModelError, match="sample s0: has no intrinsics to give"):
        model.predict([sample(0)])


def test_another_answer_is_an_adapter_error(package: Any, tmp_path: Path) -> None:
    config = {"gain": 1.0, "broken": True}
    package(config).save_pretrained(tmp_path / "broken", config={"config": config})
    with pytest.raises(
        AdapterError, match=r"UniDepthV2.infer\(\) returned a Tensor; a dict with `depth`"
    ):
        build(tmp_path / "broken").predict([sample(1)])


@pytest.mark.parametrize("name", ["unidepth_v2_vitl", "unidepth_v2_vitl-points"])
def test_a_run_from_the_listed_name(workshop: Workshop, folder: Path, name: str) -> None:
    outcome = workshop.run({"name": name, "options": {"checkpoint": str(folder)}})
    assert outcome.report.status.failed_samples == 0
    (writer,) = outcome.report.writers
    assert writer.model["checkpoint"] == "tiny"
    assert writer.model["camera"] == "predicted"


def test_without_the_authors_package_its_command_is_shown(workshop: Workshop) -> None:
    with pytest.raises(ConfigError, match="needs unidepth, which is not installed") as caught:
        workshop.run("unidepth_v2_vitb")
    assert caught.value.hint == (
        "pip install 'unidepth @ git+https://github.com/lpiccinelli-eth/UniDepth'"
    )


@pytest.mark.parametrize("shape", [(1, 2, 6, 8), (1, 1, 8, 6), (2, 1, 6, 8), (1, 1, 1, 1), (48,)])
def test_a_map_of_another_shape_is_an_adapter_error(
    package: Any, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    config = {"gain": 1.0, "shape": list(shape)}
    package(config).save_pretrained(tmp_path / "odd", config={"config": config})
    with pytest.raises(AdapterError) as caught:
        build(tmp_path / "odd").predict([sample(1)])
    assert str(shape) in caught.value.message
    assert "(1, 6, 8) or (1, 1, 6, 8), or of these proportions" in caught.value.message
