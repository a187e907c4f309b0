"""Metric3D V2's interface, on a small real network behind torch.hub's own loader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ModelError
from rpx_depth.models.metric3d import Metric3d, load
from rpx_depth.models.slate import Metric3dSmall
from tests.workshop import Workshop, runtime

HUBCONF = '''
"""A stand-in: canonical depth is 5 plus the column, in canvas coordinates."""

dependencies = ["torch"]

import math

import torch


class Head(torch.nn.Module):
    """Makes its table of depths 1, 10, 100 as its authors' decoder does: late, and on cuda."""

    min_val, max_val, num_depth_regressor_anchor = 1.0, 100.0, 3

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(1))
        self.shift = torch.nn.Parameter(torch.zeros(1))

    def register_depth_expectation_anchor(self, bins, batch):
        lowest, highest = math.log(self.min_val), math.log(self.max_val)
        depths = torch.exp(torch.linspace(lowest, highest, bins, device="cuda"))
        self.register_buffer("depth_expectation_anchor", depths[None].repeat(batch, 1), False)

    def forward(self, canvas):
        if "depth_expectation_anchor" not in self._buffers:
            self.register_depth_expectation_anchor(3, len(canvas))
        table = self.depth_expectation_anchor[: len(canvas), ...].view(-1, 3, 1, 1)
        depth = (table * torch.ones_like(canvas)).mean(dim=1, keepdim=True)
        return self.scale * depth + self.shift


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = torch.nn.Parameter(torch.zeros(1))
        self.head = Head()
        self.answer = "tuple"
        self.seen = []

    def inference(self, data):
        canvas = data["input"]
        self.seen.append(canvas)
        columns = torch.arange(canvas.shape[-1], dtype=canvas.dtype).expand(canvas[:, :1].shape)
        depth = self.offset + columns / 1000 + self.head(canvas) - 37
        answers = {
            "tuple": (depth, depth, {}),
            "bare": depth,
            "small": (depth[..., :9], None, {}),
            "turned": (depth.transpose(2, 3), None, {}),
            "flat": (depth.flatten(), None, {}),
            "text": ("x",),
        }
        return answers[self.answer]


def metric3d_vit_small(pretrain=False, **kwargs):
    assert not pretrain, "weights are loaded by whoever asks"
    return Tiny()
'''


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Path]:
    """A folder with the authors' entry points, and a file of weights."""
    (tmp_path / "Metric3D").mkdir()
    (tmp_path / "Metric3D" / "hubconf.py").write_text(HUBCONF)
    state = {"offset": torch.tensor([5.0]), "head.scale": torch.ones(1)}
    state["head.shift"] = torch.zeros(1)
    torch.save({"model_state_dict": state}, tmp_path / "tiny.pth")
    return {"code": tmp_path / "Metric3D", "weights": tmp_path / "tiny.pth"}


def build(options: dict[str, Any], **more: Any) -> Any:
    model = load(Metric3dSmall(**{**options, **more}), runtime("monocular_depth"))
    model.setup()
    return model


def sample(focal: float | None = 605.0, shape: tuple[int, int] = (480, 640)) -> Sample:
    camera = None if focal is None else np.array([[focal, 0, 320], [0, focal, 240], [0, 0, 1.0]])
    rng = np.random.default_rng(0)
    rgb = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    return Sample(id="s", rgb=rgb, intrinsics=camera)


def test_canonical_depth_becomes_metres_by_the_published_factor(options: dict[str, Path]) -> None:
    (found,) = build(options).predict([sample()])
    assert found.depth_map.shape == (480, 640)
    assert found.depth_map.dtype == np.float32
    # In the middle of the image is the middle of the canvas: column 532.
    middle = found.depth_map[:, 319:321].mean()
    # The canvas has whole columns: 821 for 821.3.
    assert middle / 5.5315 == pytest.approx(0.7764, abs=1e-4)
    # The frame around the image was cut off: 121 columns on each side.
    assert found.depth_map.min() > (5 + 0.12) * 0.7764 - 1e-3


def test_a_later_batch_may_be_larger_and_needs_no_cuda(options: dict[str, Path]) -> None:
    model = build(options)
    (first,) = model.predict([sample()])
    for one in model.predict([sample()] * 3):
        np.testing.assert_allclose(one.depth_map, first.depth_map, rtol=1e-5)


def test_cameras_of_one_batch_keep_their_own_focal_lengths(options: dict[str, Path]) -> None:
    first, second = build(options).predict([sample(605.0), sample(1210.0)])
    np.testing.assert_allclose(second.depth_map, 2 * first.depth_map, rtol=1e-6)


def test_the_network_sees_a_centred_image_in_a_frame_of_the_mean(options: dict[str, Path]) -> None:
    model = build(options)
    model.predict([sample()])
    (canvas,) = model.module.seen
    assert canvas.shape == (1, 3, 616, 1064)
    assert not canvas[..., :121].any()
    assert not canvas[..., -121:].any()
    assert canvas[..., 122:-122].std() > 0.5


def test_a_focal_length_is_needed_and_can_be_set(options: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match="sample s: has no intrinsics; without a focal length"):
        build(options).predict([sample(None)])
    (found,) = build(options, focal_px=605).predict([sample(None)])
    np.testing.assert_array_equal(found.depth_map, build(options).predict([sample()])[0].depth_map)


def test_a_model_that_is_not_set_up_says_what_to_do_first(options: dict[str, Path]) -> None:
    model = load(Metric3dSmall(**options), runtime("monocular_depth"))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"call setup\(\) first"):
        model.predict([sample()])
    network = Metric3d(Metric3dSmall(**options))  # type: ignore[arg-type]
    with pytest.raises(AdapterError, match=r"is not loaded\n.*call setup\(\) first"):
        network.answer([sample()])


def test_depth_is_cut_off_where_its_authors_do(options: dict[str, Path]) -> None:
    (found,) = build(options, focal_px=1e6).predict([sample(None)])
    assert found.depth_map.max() == 300


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("bare", r"Tiny\.inference\(\) returned a Tensor"),
        ("small", r"depth of shape \(1, 1, 616, 9\)"),
        ("turned", r"depth of shape \(1, 1, 1064, 616\) .*\(1, 616, 1064\)"),
        ("flat", r"depth of shape \(655424,\)"),
        ("text", "returned a str; a tensor of"),
    ],
)
def test_another_answer_is_an_adapter_error(
    options: dict[str, Path], answer: str, says: str
) -> None:
    model = build(options)
    model.module.answer = answer
    with pytest.raises(AdapterError, match=says):
        model.predict([sample()])


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"encoder": torch.ones(3)}, r"other\.pth lacks 3 of the weights of Tiny, such as head\."),
        (
            {"offset": torch.ones(1), "head.scale": torch.ones(1)},
            r"other\.pth lacks 1 of the weights of Tiny, such as head\.shift: random numbers",
        ),
        (
            {"offset": torch.ones(4), "head.scale": torch.ones(1), "head.shift": torch.ones(1)},
            r"other\.pth holds 1 of the weights of Tiny in another shape .* "
            r"offset: \(4,\) instead of \(1,\)",
        ),
    ],
)
def test_a_network_without_all_its_weights_is_refused(
    options: dict[str, Path], tmp_path: Path, state: dict[str, Any], says: str
) -> None:
    torch.save(state, tmp_path / "other.pth")
    with pytest.raises(ModelError, match=says):
        build(options, weights=tmp_path / "other.pth")


def test_what_the_code_computes_and_what_training_left_is_not_asked_for(
    options: dict[str, Path], tmp_path: Path
) -> None:
    made = "self.register_buffer('depth_expectation_anchor', torch.ones(1, 3)); self.shift ="
    (options["code"] / "hubconf.py").write_text(HUBCONF.replace("self.shift =", made))
    state = torch.load(options["weights"], weights_only=True)["model_state_dict"]
    torch.save({**state, "training.step": torch.ones(1)}, tmp_path / "more.pth")
    (found,) = build(options, weights=tmp_path / "more.pth").predict([sample()])
    assert np.isfinite(found.depth_map).all()


def test_a_run_counts_code_and_weights_by_content(
    workshop: Workshop, options: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        # The authors' libraries: the stand-in does without them.
        lambda name, package=None: (
            object() if name in {"mmengine", "timm", "torchvision"} else real(name, package)
        ),
    )
    named = {name: str(path) for name, path in options.items()}
    model = {"name": "metric3d_v2_vit_small", "options": named}
    identity = workshop.plan(model).record.inputs["model"]
    assert identity["files"].keys() == {"code", "weights"}
    assert workshop.run(model).report.status.failed_samples == 0
    points = {**model, "name": "metric3d_v2_vit_small-points"}
    assert workshop.run(points).report.status.failed_samples == 0
