"""What is asked of a model once it is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Model, Sample, map_arrays
from rpx_core.errors import ModelError, kind_of


def set_up(model: Model) -> None:
    """Let a model load what it needs; one without `setup()` needs nothing."""
    setup = getattr(model, "setup", None)
    if callable(setup):
        setup()


def describe(model: Model) -> dict[str, str]:
    """What a model says of itself, as text; empty where it says nothing."""
    speak = getattr(model, "describe", None)
    return {str(key): str(value) for key, value in speak().items()} if callable(speak) else {}


def has_memory(model: Model) -> bool:
    """Whether the model carries state from frame to frame: it has `reset()`."""
    return callable(getattr(model, "reset", None))


def predict_checked(model: Model, batch: Sequence[Sample]) -> list[Any]:
    """Predictions of a batch; raises ModelError when their number is not the batch's.

    The model gets a tuple: one that sorted its batch would answer for the wrong samples.
    """
    answer = model.predict(tuple(batch))
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
        raise ModelError(
            f"predict() returned {kind_of(answer)}; a list of predictions was expected",
            hint="return one prediction per sample, in order: [prediction] for a batch of one",
        )
    predictions = list(answer)
    for prediction in predictions:
        map_arrays(prediction, _refuse_mask)
    if len(predictions) != len(batch):
        raise ModelError(
            f"predict() returned {len(predictions)} predictions for {len(batch)} samples",
            hint="return one prediction per sample, in order",
        )
    return predictions


def _refuse_mask(array: NDArray[Any]) -> NDArray[Any]:
    if isinstance(array, np.ma.MaskedArray):
        raise ModelError(
            "the prediction is a masked array, whose mask nothing would look at",
            hint="fill it: array.filled(np.nan) for depth, .filled(0) for labels",
        )
    return array
