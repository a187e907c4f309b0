"""What networks answer with is a depth map of the right shape, or an error that says what it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from rpx_core.errors import AdapterError
from rpx_depth.models.hf import read_depth
from rpx_depth.models.maps import Expected

SHAPE = (48, 64)


@pytest.mark.parametrize("shape", [(2, 48, 64), (2, 1, 48, 64), (2, 24, 32), (2, 46, 70)])
def test_maps_of_the_right_proportions_are_read(shape: tuple[int, ...]) -> None:
    found = Expected(2, SHAPE).read(torch.ones(shape, dtype=torch.float16), "net")
    assert [tuple(one.shape) for one in found] == [shape[-2:]] * 2
    assert found[0].dtype == torch.float32


@pytest.mark.parametrize(
    "shape",
    [
        (),
        (2,),
        (2 * 48 * 64,),
        (48, 64),
        (1, 48, 64),
        (3, 48, 64),
        (2, 2, 48, 64),
        (2, 48, 64, 1),
        (2, 64, 48),
        (2, 1, 1),
        (2, 0, 0),
        (2, 1, 1, 48, 64),
    ],
)
@pytest.mark.parametrize("fit", ["exact", "proportions"])
def test_any_other_shape_is_an_error_that_names_both(shape: tuple[int, ...], fit: Any) -> None:
    with pytest.raises(AdapterError) as caught:
        Expected(2, SHAPE, fit).read(torch.ones(shape), "Net.infer()")
    assert caught.value.message.startswith(f"Net.infer() returned depth of shape {shape} (float32)")
    assert "(2, 48, 64) or (2, 1, 48, 64)" in caught.value.message


def test_an_exact_map_is_of_no_other_size() -> None:
    with pytest.raises(AdapterError, match=r"shape \(1, 24, 32\)"):
        Expected(1, SHAPE, "exact").read(torch.ones(1, 24, 32), "net")


@pytest.mark.parametrize("found", [None, np.ones((1, 48, 64)), "x", [torch.ones(48, 64)]])
def test_what_is_no_tensor_is_an_error(found: Any) -> None:
    with pytest.raises(AdapterError, match=r"net returned .*; a tensor of \(1, 48, 64\)"):
        Expected(1, SHAPE).read(found, "net")


def test_whole_numbers_are_no_metres() -> None:
    with pytest.raises(AdapterError, match=r"\(int64\)"):
        Expected(1, SHAPE).read(torch.ones(1, 48, 64, dtype=torch.int64), "net")


class Plain:
    """A processor without post-processing."""


class Answering:
    """A processor whose post-processing gives what it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def post_process_depth_estimation(self, outputs: Any, target_sizes: Any = None) -> Any:
        return self.answer


def read(processor: Any, depth: Any, grid: tuple[int, int] | None = SHAPE) -> Any:
    (found,) = read_depth(processor, SimpleNamespace(predicted_depth=depth), [SHAPE], grid)
    return found


def test_a_map_with_a_channel_axis_needs_no_post_processing() -> None:
    assert read(Plain(), torch.ones(1, 1, 24, 32)).shape == SHAPE


@pytest.mark.parametrize("shape", [(1, 32, 24), (2, 24, 32), (24, 32), (1, 1, 1)])
def test_a_raw_map_that_does_not_fit_is_not_resized(shape: tuple[int, ...]) -> None:
    with pytest.raises(AdapterError, match=r"SimpleNamespace\.predicted_depth returned depth"):
        read(Plain(), torch.ones(shape))


def test_proportions_are_those_of_what_the_network_saw_where_that_is_known() -> None:
    square = torch.ones(1, 32, 32)
    assert read(Plain(), square, (384, 384)).shape == SHAPE
    assert read(Plain(), square, None).shape == SHAPE
    with pytest.raises(AdapterError, match="of these proportions"):
        read(Plain(), square)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([{"predicted_depth": torch.ones(1, 8, 8)}], r"shape \(1, 1, 8, 8\)"),
        ([{"predicted_depth": torch.ones(24, 32)}], r"shape \(1, 24, 32\)"),
        ([{"predicted_depth": None}], "returned None"),
        ([{"depth": torch.ones(SHAPE)}], "a dict of depth, without `predicted_depth`"),
        ([torch.ones(SHAPE)], "a dict with `predicted_depth` was expected"),
        ([], "returned 0 answers; a list of 1"),
        ([{}, {}], "returned 2 answers; a list of 1"),
        (None, "returned None; a list of 1"),
    ],
)
def test_another_answer_of_post_processing_is_an_error(answer: Any, says: str) -> None:
    whole = rf"Answering\.post_process_depth_estimation\(\) .*{says}"
    with pytest.raises(AdapterError, match=whole):
        read(Answering(answer), torch.ones(1, 24, 32))
