"""What models, and adapters that make models of functions, need of samples and functions."""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Sample, map_arrays
from rpx_core.errors import AdapterError, ConfigError, ModelError, first_few, kind_of

Answer = TypeVar("Answer")

FORGOTTEN = "does every path end with `return`?"
"""What to ask where None came back."""


class FunctionModel(ABC, Generic[Answer]):
    """A model that asks a function about one sample at a time, as adapters make them."""

    task: str

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name = name
        self._function = check_function(function)

    def setup(self) -> None:
        """Nothing to load: the function is there."""

    def predict(self, batch: Sequence[Sample]) -> list[Answer]:
        """The answer to each sample; raises AdapterError when the function returns others.

        Each is copied: functions may write their next answer into the same array.
        """
        try:
            return [map_arrays(self.answer(sample), np.copy) for sample in batch]
        except (TypeError, AttributeError) as error:
            if not is_torch_module(self._function):
                raise
            raise AdapterError(
                f"{function_name(self._function)} is a torch module, which was called with a "
                f"numpy array: {type(error).__name__}: {error}",
                hint="write a function around it that makes a tensor of the image and an array of "
                "the answer; or use adapters (BenchmarkableModel) or TorchModel: docs/models.md",
            ) from error

    @abstractmethod
    def answer(self, sample: Sample) -> Answer:
        """What the function says of one sample, as the task wants it."""


def image_size(sample: Sample) -> tuple[int, int]:
    """Height and width of a sample's image; raises ModelError when it has none."""
    if sample.rgb is None:
        raise ModelError(
            f"sample {sample.id}: has no image",
            hint="list `rgb` in the manifest, or give the sample an `rgb`",
        )
    return sample.rgb.shape[0], sample.rgb.shape[1]


def refuse_swapped(shape: tuple[int, ...], size: tuple[int, int], who: str) -> None:
    """Raise AdapterError where an answer is as wide as the image is high, and the reverse.

    An answer of another size may be resized; scaling a transposed one would garble it unnoticed.
    `who` begins the message: the sample and what answered.
    """
    height, width = size
    if shape[:2] == (width, height) and height != width:
        raise AdapterError(
            f"{who} returned shape {shape} for an image of ({height}, {width}): rows and columns "
            "are swapped",
            hint="transpose the result: "
            + ("answer.T" if len(shape) == 2 else "answer.transpose(1, 0, 2)"),
        )


def image_copy(sample: Sample) -> NDArray[np.uint8]:
    """A sample's image for a function to have; raises AdapterError when it has none.

    What the function scribbles on it does not reach the report.
    """
    if sample.rgb is None:
        raise AdapterError(
            f"sample {sample.id}: has no image",
            hint="list `rgb` in the manifest, or give the sample an `rgb`",
        )
    return np.array(sample.rgb)


def check_function(function: Any) -> Any:
    """A function or an object to call; raises ConfigError for a class or anything else."""
    if inspect.isclass(function):
        name = function.__name__
        raise ConfigError(f"{name} is a class", hint=f"pass an object of it: {name}()")
    if not callable(function):
        raise ConfigError(
            f"a function was expected, not {kind_of(function)}",
            hint="give a function, or an object that can be called",
        )
    return function


def is_torch_module(value: object) -> bool:
    """Whether a value is a network of torch; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def function_name(function: Callable[..., Any]) -> str:
    """What a function is called; an object that is called, by its class."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


def array_hint(value: object, tensors: str = ".cpu().numpy()") -> str:
    """What to do about a value that stands where a numpy array was expected.

    `tensors` is what makes an array of a tensor.
    """
    if value is None:
        return FORGOTTEN
    if callable(getattr(value, "detach", None)):
        return f"convert the tensor with {tensors}"
    return "make it one: numpy.asarray(...)"


def as_array(answer: Any, expected: str) -> NDArray[Any]:
    """What a model or function answered, as an array of numbers or truth values.

    Arrays, lists, pictures of Pillow, and tensors wherever they are. Raises AdapterError for all
    else, its message to follow "returned", naming what was `expected`.
    """
    if answer is None or isinstance(answer, Mapping):
        raise _not_an_array(answer, expected)
    if isinstance(answer, np.ma.MaskedArray):
        raise AdapterError(
            f"a masked array, whose mask nothing would look at; {expected} was expected",
            hint="fill it: array.filled(np.nan) for depth, .filled(0) for labels",
        )
    try:
        array = np.asarray(_to_host(answer))
    except (TypeError, ValueError, RuntimeError) as error:
        raise AdapterError(
            f"{kind_of(answer)} that is no array ({error}); {expected} was expected",
            hint="rows of unequal length, or a tensor of a type that numpy lacks: try .float()",
        ) from error
    if array.dtype.kind not in "biuf":
        raise AdapterError(
            f"{kind_of(answer)} of dtype {array.dtype}; {expected} was expected",
            hint="every element must be a number; drop None, texts and objects",
        )
    return array


def _to_host(answer: Any) -> Any:
    """A tensor as the array that it holds, without a gradient and in the memory of the host."""
    if isinstance(answer, np.ndarray):
        return answer
    for step in ("detach", "cpu", "numpy"):
        act = getattr(answer, step, None)
        answer = act() if callable(act) else answer
    if isinstance(answer, list | tuple):
        return [_to_host(part) for part in answer]
    return answer


def _not_an_array(answer: Any, expected: str) -> AdapterError:
    if answer is None:
        return AdapterError(f"None; {expected} was expected", hint=FORGOTTEN)
    keys = [str(key) for key in answer]
    return AdapterError(
        f"a dict of {first_few(keys) or 'nothing'}; {expected} was expected",
        hint="return the array itself" + (f", as in answer[{keys[0]!r}]" if keys else ""),
    )
