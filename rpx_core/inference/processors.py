"""What processors of the `transformers` library make of a network's outputs, checked.

Whoever loaded processor and network, the same code reads them: a model of a run, or an adapter
between which a user puts a network of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

from rpx_core.errors import AdapterError, first_few, kind_of


def post_process(
    processor: Any, name: str, outputs: Any, arguments: Mapping[str, Any]
) -> Sequence[Any]:
    """The processor's own interpretation of outputs, one for each of `target_sizes`.

    Of the arguments its method gets those that it knows. Raises AdapterError where the processor
    has no such method, or gives another number of answers.
    """
    who = f"{type(processor).__name__}.{name}()"
    method = _method(processor, name)
    if method is None:
        raise AdapterError(
            f"{type(processor).__name__} has no {name}(); this checkpoint is for another task",
            hint="`rpx list models` shows what there is for the task",
        )
    try:
        found = method(outputs, **known_arguments(method, arguments))
    except NameError as error:
        # What transformers raises for a library that it imports only if it is there.
        raise AdapterError(
            f"{who} needs a library that is not installed: {error}",
            hint="pip install torchvision, of the version that fits your torch",
        ) from error
    count = len(arguments["target_sizes"])
    if not isinstance(found, list | tuple) or len(found) != count:
        got = f"{len(found)} answers" if isinstance(found, list | tuple) else kind_of(found)
        raise AdapterError(f"{who} returned {got}; a list of {count} was expected")
    return found


def find_part(found: Any, key: str, who: str) -> Any:
    """One part of an answer by its name; raises AdapterError where the answer has no such part."""
    if not isinstance(found, Mapping):
        raise AdapterError(f"{who} returned {kind_of(found)}; a dict with `{key}` was expected")
    if key not in found:
        parts = first_few([str(name) for name in found]) or "nothing"
        raise AdapterError(f"{who} returned a dict of {parts}, without `{key}`")
    return found[key]


def check_tensor(value: Any, who: str, wanted: str) -> Any:
    """A tensor of torch; raises AdapterError for anything else, saying what was `wanted`."""
    import torch

    if not isinstance(value, torch.Tensor):
        raise AdapterError(f"{who} returned {kind_of(value)}; a tensor of {wanted} was expected")
    return value


def grid_of(inputs: Mapping[str, Any]) -> tuple[int, int] | None:
    """Height and width of the images that a processor gives to the network, where it gives any."""
    pixels: Any = inputs.get("pixel_values")
    if not hasattr(pixels, "shape"):
        return None
    height, width = pixels.shape[-2:]
    return int(height), int(width)


def in_full_precision(outputs: Any) -> Any:
    """Outputs of a network with float32 for shorter floats.

    Processors threshold and interpolate; some of that is not made for short formats.
    """
    import torch

    if isinstance(outputs, MutableMapping):
        for name, value in outputs.items():
            if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16):
                outputs[name] = value.float()
    return outputs


def known_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the arguments that a function's signature names."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in arguments.items() if name in names}


def _method(processor: Any, name: str) -> Callable[..., Any] | None:
    """The processor's method; of those that only pass everything on, the one of its image part."""
    found = [getattr(one, name, None) for one in (processor, _image_part(processor))]
    methods = [method for method in found if callable(method)]
    explicit = [
        method
        for method in methods
        if all(
            one.kind is not one.VAR_KEYWORD for one in inspect.signature(method).parameters.values()
        )
    ]
    return next(iter((*explicit, *methods)), None)


def _image_part(processor: Any) -> Any:
    return getattr(processor, "image_processor", None)
