"""What functions return, as arrays, or one clear refusal."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from rpx_core.adapters import FunctionModel, as_array, refuse_swapped
from rpx_core.contracts import Sample
from rpx_core.errors import AdapterError, ConfigError


class Tensor:
    """Answers like a tensor that has a gradient and lies on a device."""

    def __init__(self, array: Any, steps: tuple[str, ...] = ("detach", "cpu", "numpy")) -> None:
        self._array = array
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        if name not in ("detach", "cpu", "numpy"):
            raise AttributeError(name)
        if name != self._steps[0]:
            raise RuntimeError(f"{self._steps[0]} first")
        rest = self._steps[1:]
        return (lambda: Tensor(self._array, rest)) if rest else (lambda: self._array)


@pytest.mark.parametrize(
    "answer",
    [
        [[1, 2]],
        ((1, 2),),
        np.array([[1, 2]]),
        Tensor(np.array([[1, 2]])),
        [Tensor(np.array([1, 2]))],
    ],
)
def test_arrays_lists_and_tensors_are_arrays(answer: Any) -> None:
    np.testing.assert_array_equal(as_array(answer, "an array"), [[1, 2]])


def test_a_picture_is_an_array() -> None:
    from PIL import Image

    picture = Image.fromarray(np.array([[1, 2]], np.uint8))
    np.testing.assert_array_equal(as_array(picture, "an array"), [[1, 2]])


@pytest.mark.parametrize(
    ("answer", "words", "hint"),
    [
        (None, "None; a mask was expected", "does every path end with `return`"),
        ({"depth": 1}, "a dict of depth; a mask was expected", r"as in answer\['depth'\]"),
        ({}, "a dict of nothing; a mask was expected", "return the array itself"),
        ([[1], [1, 2]], "a list that is no array", "rows of unequal length"),
        (np.array([None]), "a ndarray of dtype object; a mask was expected", "must be a number"),
        ("mask", "a str of dtype <U4", "must be a number"),
        (object(), "an object of dtype object", "must be a number"),
    ],
)
def test_what_is_no_array_is_refused_with_the_next_step(answer: Any, words: str, hint: str) -> None:
    with pytest.raises(AdapterError, match=words) as caught:
        as_array(answer, "a mask")
    assert re.search(hint, caught.value.hint or "")


class Lengths(FunctionModel[int]):
    task = "toy"

    def answer(self, sample: Sample) -> int:
        return int(self._function(sample.id))


def test_a_function_is_asked_once_for_each_sample_in_order() -> None:
    asked: list[str] = []

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    model = Lengths(length, "length")
    model.setup()
    assert model.predict([Sample("bb"), Sample("a"), Sample("bb")]) == [2, 1, 2]
    assert asked == ["bb", "a", "bb"]


def test_what_cannot_be_called_makes_no_model() -> None:
    with pytest.raises(ConfigError, match="a function was expected, not an int"):
        Lengths(3, "three")  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize(("shape", "hint"), [((6, 4), "answer.T"), ((6, 4, 3), "(1, 0, 2)")])
def test_an_answer_with_rows_and_columns_swapped_is_refused(shape, hint):
    with pytest.raises(
        AdapterError, match=r"s: odd returned .* rows and columns are swap"
    ) as caught:
        refuse_swapped(shape, (4, 6), "s: odd")
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("shape", [(4, 6), (8, 12), (12, 8), (6, 6)])
def test_answers_of_another_size_are_not_taken_for_swapped(shape):
    refuse_swapped(shape, (4, 6), "s: odd")
    refuse_swapped((5, 5), (5, 5), "s: odd")
