"""What is said of samples whose ground truth is none of the task's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.sample_list import truth_problem
from tests.toys.truths import Truth, Truths

VALUES = np.zeros(2)


@pytest.fixture
def task() -> Any:
    class Built(Truths):
        load = validate = read_prediction = write_prediction = None  # type: ignore[assignment]

    return Built()


@pytest.mark.parametrize("name", ["values", "bare", "old"])
def test_a_field_that_should_hold_an_array_is_named(task: Any, name: str) -> None:
    truth = Truth(**{"values": VALUES, name: [0.0, 1.0]})
    problem = truth_problem(task, Sample(id="a", ground_truth=truth))
    assert problem == f"`{name}` of its ground truth is a list; a numpy array was expected"


def test_fields_that_may_hold_something_else_are_left_alone(task: Any) -> None:
    truth = Truth(VALUES, share=1 / 2, either=[1.0, 2.0])  # type: ignore[arg-type]  # unchecked
    assert truth_problem(task, Sample(id="a", ground_truth=truth)) is None
