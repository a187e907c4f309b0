"""Counting what torch does: operations by formula, activations by hand, parameters once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rpx_core as rpx
from rpx_core.contracts import Sample
from rpx_core.profiling.modules import find_modules
from rpx_core.profiling.operations import count_operations
from rpx_core.profiling.parameters import count_parameters
from tests.commands import rpx as command
from tests.models.networks import (
    ResNet,
    Sizes,
    VisionTransformer,
    count_resnet,
    count_transformer,
)

NET = nn.Linear(3, 5)


@contextmanager
def grad_mode(name: str) -> Iterator[None]:
    modes: dict[str, Callable[[], Any]] = {
        "inference": torch.inference_mode,
        "no_grad": torch.no_grad,
        "grad": torch.enable_grad,
    }
    with modes[name]():
        yield


def flops(module: nn.Module, *shapes: Sequence[int]) -> int | None:
    """Operations of one call without gradients."""
    inputs = [torch.rand(tuple(shape)) for shape in shapes]
    with torch.no_grad():
        return count_operations(lambda: module.eval()(*inputs)).flops


def test_a_resnet_50_has_the_operations_of_its_formula() -> None:
    counted = flops(ResNet(), (1, 3, 224, 224))
    assert counted == count_resnet(224)
    # What papers print: 4.1 G multiply-adds.
    assert counted == pytest.approx(2 * 4.1e9, rel=0.01)


@pytest.mark.parametrize("mode", ["inference", "no_grad", "grad"])
def test_a_vision_transformer_has_the_operations_of_its_formula(mode: str) -> None:
    sizes = Sizes()
    model, image = VisionTransformer(sizes).eval(), torch.rand(1, 3, 96, 160)
    with grad_mode(mode):
        counted = count_operations(lambda: model(image)).flops
    assert counted == count_transformer(6 * 10, sizes)


def test_attention_on_a_cpu_counts() -> None:
    query, key = torch.rand(2, 4, 10, 8), torch.rand(2, 4, 14, 8)
    attend = nn.functional.scaled_dot_product_attention
    counted = count_operations(lambda: attend(query, key, key)).flops
    assert counted == 2 * 2 * (2 * 4 * 10 * 14 * 8)


def test_a_transformer_layer_of_torch_counts_also_where_torch_would_fuse_it() -> None:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    tokens, width, hidden = 10, 32, 64
    products = tokens * (4 * width * width + 2 * width * hidden)
    attention = 2 * tokens * tokens * width
    assert flops(layer, (1, tokens, width)) == 2 * (products + attention)
    assert torch.backends.mha.get_fastpath_enabled()


def test_a_recurrent_layer_counts() -> None:
    steps, size, hidden = 7, 5, 11
    gates = 4 * hidden * (size + hidden)
    assert flops(nn.LSTM(size, hidden), (steps, 3, size)) == 2 * steps * 3 * gates


def test_an_operation_without_a_formula_is_named() -> None:
    counted = count_operations(lambda: torch.fft.fft2(torch.rand(8, 8)))
    assert counted.uncounted == ("aten._fft_c2c",)


def test_a_call_without_torch_operations_has_no_count() -> None:
    counted = count_operations(lambda: np.ones(3))
    assert (counted.flops, counted.reason) == (None, "no torch operation ran in the call")


def test_activations_are_the_largest_total_that_is_alive_at_one_time() -> None:
    a, b, c = 4 * 8 * 30 * 30, 4 * 8 * 28 * 28, 4 * 2 * 28 * 28
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 2, 1)).eval()
    image = torch.rand(1, 3, 32, 32)
    with torch.no_grad():
        counted = count_operations(lambda: net(image))
    # Input and parameters were there before; the first map is gone when the third is made.
    assert counted.activations_bytes == max(a + b, b + c)
    assert counted.activations_bytes_fp16 == max(a + b, b + c) // 2


def test_in_place_operations_and_views_need_no_memory() -> None:
    image = torch.rand(1, 3, 32, 32)

    def call() -> torch.Tensor:
        return (image * 2).relu_().flatten(1).unsqueeze(0)

    assert count_operations(call).activations_bytes == image.numel() * 4


def test_only_floating_point_numbers_shrink_to_two_bytes() -> None:
    indices = torch.arange(100)
    counted = count_operations(lambda: indices + 1)
    assert counted.activations_bytes_fp16 == counted.activations_bytes == 800
    doubles = torch.rand(100, dtype=torch.float64)
    assert count_operations(lambda: doubles + 1).activations_bytes_fp16 == 200


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(6, 4)
        self.same = self.inner
        self.outer = nn.Linear(6, 4, bias=False)
        # Two parameters made of one tensor, as in language models.
        self.outer.weight = nn.Parameter(self.inner.weight.detach())
        self.norm = nn.BatchNorm1d(4)
        self.inner.bias.requires_grad_(requires_grad=False)


def test_parameters_that_share_memory_count_once_and_buffers_do_not() -> None:
    found = count_parameters([Tied()])
    assert found.total.value == 6 * 4 + 4 + 2 * 4
    assert found.trainable.value == 6 * 4 + 2 * 4
    assert found.precision == "float32"


def test_a_module_that_two_parts_of_a_model_hold_counts_once() -> None:
    shared = nn.Linear(3, 2)
    assert count_parameters([nn.Sequential(shared), nn.Sequential(shared)]).total.value == 8


def test_a_lazy_module_has_no_parameters_yet() -> None:
    found = count_parameters([nn.LazyLinear(4)])
    assert (found.total.value, found.total.reason) == (
        None,
        "a lazy module has not seen its first input",
    )


class Holder:
    """As a user's model or an adapter of ours would hold it."""

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


def with_global(image: Any) -> Any:
    return NET(image)


def make_closure() -> Callable[[Any], Any]:
    net = NET

    def predict(image: Any) -> Any:
        return net(image)

    return predict


@pytest.mark.parametrize(
    "model",
    [
        NET,
        Holder(model=NET),
        Holder(module=NET, other=nn.Linear(9, 9)),
        Holder(module={"first": NET}),
        Holder(parts=[Holder(net=NET)]),
        Holder(_function=with_global),
        Holder(_function=make_closure()),
        Holder(_function=partial(lambda net, image: net(image), NET)),
        Holder(_function=NET.forward),
    ],
    ids=[
        "module",
        "model",
        "declared",
        "several",
        "nested",
        "global",
        "closure",
        "partial",
        "bound",
    ],
)
def test_the_torch_module_of_a_model_is_found(model: object) -> None:
    assert [id(module) for module in find_modules(model)] == [id(NET)]


def test_a_model_may_hold_itself() -> None:
    holder = Holder(net=NET)
    vars(holder)["self"] = holder
    assert find_modules(holder) == (NET,)


def test_the_published_functions_agree_with_the_formulas() -> None:
    model = ResNet((1, 1), base=8).train()
    found = rpx.profile_model(model, (3, 64, 64), notes="tiny")
    assert rpx.count_flops_torch(model, (3, 64, 64)) == count_resnet(64, (1, 1), 8)
    assert found.flops_g == count_resnet(64, (1, 1), 8) / 1e9
    assert found.params_m == sum(p.numel() for p in model.parameters()) / 1e6
    assert found.latency_ms_per_sample is not None
    assert found.notes == "tiny"
    assert model.training


def test_a_module_is_left_in_the_modes_that_it_had() -> None:
    model = ResNet((1, 1), 8).train()
    frozen = model.stem[1].eval()
    rpx.profile_model(model, (3, 64, 64))
    assert [part for part in model.modules() if not part.training] == [frozen]


def test_a_device_that_is_not_there_is_a_model_error() -> None:
    with pytest.raises(rpx.ModelError, match="cannot use it here"):
        rpx.count_flops_torch(NET, (3, 10, 10), device="cuda:99")


def test_a_model_with_predict_is_counted_through_its_calls() -> None:
    class Model(Holder):
        def predict(self, batch: Sequence[Sample]) -> list[Any]:
            with torch.inference_mode():
                images = [torch.from_numpy(sample.rgb).float() for sample in batch]
                return [self.net(image).numpy() for image in images]

    model = Model(net=NET)
    found = rpx.profile_model(model, (3, 10, 10))
    assert rpx.count_parameters(model) == 20
    assert found.flops_g == 2 * 100 * 3 * 5 / 1e9


USER_FILE = """
import torch

net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Conv2d(4, 1, 1)).eval()


@torch.inference_mode()
def predict(rgb):
    image = torch.from_numpy(rgb).permute(2, 0, 1)[None].float() / 255
    return net(image)[0, 0].numpy() ** 2 + 1
"""


def test_a_users_file_is_profiled_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(USER_FILE)
    arguments = ("--task", "monocular_depth", "--model", "mine.py:predict", "--limit", "3")
    outcome = command(tmp_path, "run", *arguments, "--profile", "--set", "execution.batch_size=2")
    (run,) = outcome["runs"]
    efficiency = run["efficiency"]
    stored = json.loads((tmp_path / run["run"] / "profile.json").read_bytes())
    assert stored == efficiency
    assert efficiency["parameters"]["value"] == 3 * 4 * 9 + 4 + 4 + 1
    assert efficiency["batch_size"] == 2
    width, height = 320, 240
    assert efficiency["flops"]["value"] == 2 * width * height * (27 * 4 + 4)
    assert efficiency["hardware"]["precision"] == "float32"
    assert efficiency["memory"]["process_bytes"]["value"] > 0
