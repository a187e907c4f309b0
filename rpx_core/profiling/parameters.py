"""Counting parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rpx_core.profiling.modules import NO_MODULE, NO_TORCH, loaded_torch
from rpx_core.profiling.record import Quantity


@dataclass(frozen=True)
class Parameters:
    """How many numbers a model has learnt, how many of them can still move, and of what type."""

    total: Quantity
    trainable: Quantity
    precision: str | None = None


def count_parameters(modules: Sequence[Any]) -> Parameters:
    """The parameters of torch modules; tensors that share their memory count once.

    Buffers (the statistics of a batch normalisation) are no parameters.
    """
    if not modules:
        reason = NO_TORCH if loaded_torch() is None else NO_MODULE
        return Parameters(Quantity(reason=reason), Quantity(reason=reason))
    found = list(_distinct(modules))
    if any(not hasattr(parameter, "numel") or _is_lazy(parameter) for parameter in found):
        reason = "a lazy module has not seen its first input"
        return Parameters(Quantity(reason=reason), Quantity(reason=reason))
    sizes: dict[str, int] = {}
    for parameter in found:
        name = str(parameter.dtype).removeprefix("torch.")
        sizes[name] = sizes.get(name, 0) + parameter.numel()
    trainable = sum(parameter.numel() for parameter in found if parameter.requires_grad)
    return Parameters(
        total=Quantity(value=sum(sizes.values())),
        trainable=Quantity(value=trainable),
        precision=max(sizes, key=lambda name: sizes[name]) if sizes else None,
    )


def _distinct(modules: Sequence[Any]) -> Iterator[Any]:
    seen: set[object] = set()
    for module in modules:
        for parameter in module.parameters():
            key = _place(parameter)
            if key not in seen:
                seen.add(key)
                yield parameter


def _place(parameter: Any) -> object:
    """Where a parameter's numbers lie: equal for two parameters that are made of one tensor."""
    if _is_lazy(parameter) or parameter.is_meta or not parameter.numel():
        return id(parameter)
    try:
        start = parameter.data_ptr()
    except RuntimeError:
        return id(parameter)  # a wrapper without storage of its own
    if not start:
        return id(parameter)
    return parameter.device, start, tuple(parameter.shape), parameter.stride()


def _is_lazy(parameter: Any) -> bool:
    from torch.nn.parameter import is_lazy

    return bool(is_lazy(parameter))
