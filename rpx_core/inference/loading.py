"""What loading a checkpoint with transformers raises, prints and leaves to chance."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rpx_core.errors import ModelError


def list_errors() -> tuple[type[Exception], ...]:
    """What transformers and the libraries below it raise for settings and weights of any kind."""
    from huggingface_hub import errors
    from safetensors import SafetensorError

    known = (OSError, ValueError, ImportError, LookupError, RuntimeError, TypeError, AttributeError)
    strict = getattr(errors, "StrictDataclassError", None)
    return (*known, SafetensorError, *([strict] if strict else []))


@contextmanager
def silence_loading() -> Iterator[None]:
    """Loading without bars and reports: what is wrong is told once, by the error."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    before = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


def refuse_random_weights(
    source: str, network: str, report: Mapping[str, Any], *, hint: str | None = None
) -> None:
    """Raise ModelError where the library would put random numbers in the place of weights.

    `source` is where the weights are. `report` is what transformers says of loading: names of
    `missing_keys`, and `mismatched_keys` with the shape that each has and the one it should have.
    `hint` is for weights that come without a config.json.
    """
    other = sorted(
        (str(name), tuple(has), tuple(wants))
        for name, has, wants in report.get("mismatched_keys", ())
    )
    if other:
        name, has, wants = other[0]
        raise ModelError(
            f"{source} holds {len(other)} of the weights of {network} in another shape than the "
            f"network has, such as {name}: {has} instead of {wants}",
            hint=hint or "config.json and the weights are not of one checkpoint: copy both again",
        )
    missing = sorted(report["missing_keys"])
    if missing:
        raise ModelError(
            f"{source} lacks {len(missing)} of the weights of {network}, such as {missing[0]}: "
            "random numbers would stand there",
            hint=hint or "the checkpoint is for another task, or only a backbone",
        )


def first_line(error: Exception) -> str:
    """What an error of a library says first."""
    lines = str(error).strip().splitlines()
    # What ends with a colon says nothing yet.
    told = lines[:2] if lines and lines[0].endswith(":") else lines[:1]
    return " ".join(line.strip() for line in told) or type(error).__name__
