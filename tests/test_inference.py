"""Devices and batches, without any network: what does not fit is halved, and order is kept."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpx_core.contracts import Sample
from rpx_core.errors import ModelError, RPXError
from rpx_core.inference.devices import choose_device
from rpx_core.inference.memory import Batches, is_out_of_memory
from rpx_core.inference.pretrained import copy_images, list_sizes


class Memory:
    """Squares numbers, as many at once as fit."""

    def __init__(self, room: int, error: type[BaseException] = MemoryError) -> None:
        self.room = room
        self.error = error
        self.tried: list[int] = []
        self.freed = 0

    def square(self, numbers: Sequence[int]) -> list[int]:
        self.tried.append(len(numbers))
        if len(numbers) > self.room:
            raise self.error("CUDA out of memory. Tried to allocate 2 GiB")
        return [number**2 for number in numbers]

    def free(self) -> None:
        self.freed += 1


@given(numbers=st.lists(st.integers()), room=st.integers(1, 9))
def test_results_keep_their_order_whatever_fits(numbers: list[int], room: int) -> None:
    memory = Memory(room)
    assert Batches(memory.free).run(numbers, memory.square) == [number**2 for number in numbers]


@pytest.mark.parametrize("error", [MemoryError, RuntimeError])
def test_a_batch_that_does_not_fit_is_halved_and_what_fits_is_said(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(2, error)
    batches = Batches(memory.free)
    with caplog.at_level(logging.WARNING):
        batches.run(range(8), memory.square)
        batches.run(range(4), memory.square)
    assert memory.tried == [8, 4, 2, 2, 2, 2, 2, 2]
    assert memory.freed == 2
    assert len(caplog.records) == 1
    assert "a batch of 8 does not fit into memory; going on with 2 at a time" in caplog.text
    assert batches.describe() == {"largest_batch": "2"}


def test_a_batch_that_fits_says_nothing() -> None:
    batches = Batches(lambda: None)
    batches.run(range(8), Memory(8).square)
    assert batches.describe() == {}


def test_a_sample_that_does_not_fit_alone_is_an_error_with_a_way_out() -> None:
    memory = Memory(0)
    with pytest.raises(ModelError, match="one sample alone does not fit") as caught:
        Batches(memory.free).run([1, 2], memory.square)
    assert "float16" in str(caught.value.hint)


def test_other_errors_pass() -> None:
    def broken(numbers: Sequence[int]) -> list[int]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        Batches(lambda: None).run([1], broken)


def test_a_network_must_answer_every_sample() -> None:
    with pytest.raises(ModelError, match="gave 1 answer for 2 samples"):
        Batches(lambda: None).run([1, 2], lambda numbers: [0])


def test_only_lack_of_memory_counts_as_such() -> None:
    assert is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"))
    assert not is_out_of_memory(ValueError("out of range"))


def test_a_device_that_is_named_is_taken_and_auto_needs_no_torch() -> None:
    assert choose_device("cuda:3", uses_torch=False) == "cuda:3"
    assert choose_device("auto", uses_torch=False) == "cpu"


def test_what_fits_less_later_is_said_again(caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory(4)
    batches = Batches(memory.free)
    with caplog.at_level(logging.WARNING):
        batches.run(range(8), memory.square)
        memory.room = 1
        batches.run(range(8), memory.square)
    assert [record.getMessage().partition("; ")[2] for record in caplog.records] == [
        "going on with 4 at a time",
        "going on with 1 at a time",
    ]
    assert batches.describe() == {"largest_batch": "1"}


@pytest.mark.parametrize("read", [copy_images, list_sizes])
def test_a_sample_without_an_image_does_not_shift_those_of_the_others(read: Any) -> None:
    seen = Sample(id="seen", rgb=np.zeros((4, 6, 3), np.uint8))
    with pytest.raises(RPXError, match="sample blind: has no image"):
        read([Sample(id="blind", rgb=None), seen])
