"""The published profiler: what a model costs, apart from how good it is.

Two things differ from the tool that these names come from. Attention on a CPU counts, which torch
by itself counts as nothing. And latency is the median of calls after whole warm-up calls, none of
which counts operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, RPXError
from rpx_core.inference.devices import choose_device, place
from rpx_core.profiling.modules import find_modules, loaded_torch
from rpx_core.profiling.operations import Operations, count_operations
from rpx_core.profiling.parameters import count_parameters as _count
from rpx_core.profiling.record import Profile
from rpx_core.profiling.timing import Budget, Stopwatch, make_synchronize, time_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EfficiencyMetadata", "count_flops_torch", "count_parameters", "profile_model"]

API = "N/A (API)"
UNKNOWN = "N/A"


@dataclass(frozen=True)
class EfficiencyMetadata:
    """What a model costs; None where it could not be measured.

    `params_m` is in millions, `flops_g` in 10^9 operations per sample (a multiplication with an
    addition is two), `actmem_gb_fp16` in 10^9 bytes (see `profile_model`).
    """

    params_m: float | None
    flops_g: float | None
    actmem_gb_fp16: float | None
    latency_ms_per_sample: float | None
    model_type: str = "local"
    notes: str = ""

    @classmethod
    def from_profile(cls, profile: Profile) -> EfficiencyMetadata:
        """What `rpx run --profile` measured; activations are those of a whole batch."""
        return cls(
            params_m=profile.parameters.scaled(1e6),
            flops_g=profile.flops.scaled(1e9),
            actmem_gb_fp16=profile.activations_bytes_fp16.scaled(1e9),
            latency_ms_per_sample=profile.latency.per_sample_ms,
            notes="; ".join(profile.notes),
        )

    def to_table_row(self) -> dict[str, str]:
        """The numbers as text by column; a model behind an API has none that are its own."""
        cells = {
            "Params (M)": self.params_m,
            "FLOPs (G)": self.flops_g,
            "ActMem (GB, fp16)": self.actmem_gb_fp16,
            "Latency (ms/sample)": self.latency_ms_per_sample,
        }
        missing = API if self.model_type == "api" else UNKNOWN
        is_api = self.model_type == "api"
        row = {
            name: missing if is_api or value is None else f"{value:.4g}"
            for name, value in cells.items()
        }
        return {**row, "Notes": self.notes}


def profile_model(
    model: Any,
    input_shape: tuple[int, int, int] = (3, 480, 640),
    device: str = "cpu",
    model_type: str = "local",
    notes: str = "",
) -> EfficiencyMetadata:
    """What one sample of the shape (channels, height, width) costs on this machine.

    A torch module is moved to the device and called with a float tensor (1, C, H, W), in evaluation
    mode and without gradients. A model with `predict()`, which must be set up, gets a list of one
    sample with an image of that size; any other callable gets the image, `uint8[H, W, 3]`.

    `actmem_gb_fp16` is the largest total of tensors that the call made and that were alive at one
    time, with two bytes for each floating-point number: no parameters, no input. Latency is the
    median call. The module is left in the modes and on the device that it had.
    For `model_type="api"` nothing runs, and nothing is measured. Raises ConfigError
    for what can be called in none of these ways, and for a model that needs more than an image;
    ModelError for a device that torch does not find.
    """
    if model_type == "api":
        return EfficiencyMetadata(None, None, None, None, model_type, notes)
    with _callable_on(model, input_shape, device) as call:
        stopwatch = Stopwatch(make_synchronize(model))
        latency = time_calls(lambda _: (1, call), stopwatch, Budget())
        operations = count_operations(call)
    return EfficiencyMetadata(
        params_m=_in(1e6, count_parameters(model)),
        flops_g=_in(1e9, operations.flops),
        actmem_gb_fp16=_in(1e9, operations.activations_bytes_fp16),
        latency_ms_per_sample=latency.per_sample_ms,
        model_type=model_type,
        notes="; ".join(filter(None, [notes, _lower_bound(operations)])),
    )


def count_parameters(model: Any) -> int | None:
    """The parameters of a torch module, or of the modules that a model holds; None without any.

    All of them, trainable or not; a tensor that is used twice counts once.
    """
    value = _count(find_modules(model)).total.value
    return None if value is None else int(value)


def count_flops_torch(
    model: Any, input_shape: tuple[int, int, int] = (3, 480, 640), device: str = "cpu"
) -> int | None:
    """Operations for one sample, called as by `profile_model`; None where torch has no part in it.

    Counted are products, convolutions, attention and recurrent layers.
    """
    with _callable_on(model, input_shape, device) as call:
        return count_operations(call).flops


@contextmanager
def _callable_on(
    model: Any, input_shape: Sequence[int], device: str
) -> Iterator[Callable[[], object]]:
    """The call to profile; a torch module is put back afterwards as it was."""
    channels, height, width = _check_shape(input_shape)
    torch = loaded_torch()
    if torch is not None and isinstance(model, torch.nn.Module):
        where = place(choose_device(device, uses_torch=True), "float32").device
        generator = torch.Generator().manual_seed(0)
        images = torch.rand((1, channels, height, width), generator=generator).to(where)
        with _visiting(model, where), torch.no_grad():
            yield lambda: model(images)
        return
    image = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    if callable(getattr(model, "predict", None)):
        yield lambda: _predict(model, Sample(id="profile_clean_0", rgb=image))
    elif callable(model):
        yield lambda: model(image)
    else:
        raise ConfigError(
            f"a {type(model).__name__} cannot be profiled",
            hint="pass a torch module, a model with predict(), or a function of an image",
        )


@contextmanager
def _visiting(module: Any, device: str) -> Iterator[None]:
    """A torch module in evaluation mode on a device; then each part in its mode and place again."""
    modes = [(part, part.training) for part in module.modules()]
    tensors = [*module.parameters(), *module.buffers()]
    homes = {tensor.device for tensor in tensors}
    module.to(device).eval()
    try:
        yield
    finally:
        for part, is_training in modes:
            part.training = is_training
        if len(homes) == 1:
            module.to(homes.pop())


def _predict(model: Any, sample: Sample) -> list[Any]:
    try:
        return list(model.predict([sample]))
    except RPXError as error:
        raise ConfigError(
            f"the model cannot be profiled on an image alone: {error.message}",
            hint="`rpx run --profile` profiles a model on samples of its task",
        ) from error


def _check_shape(input_shape: Sequence[int]) -> tuple[int, int, int]:
    shape = tuple(input_shape)
    if len(shape) != 3 or any(not isinstance(n, int) or n < 1 for n in shape):
        raise ConfigError(
            f"input_shape is {input_shape}; (channels, height, width) was expected",
            hint="such as (3, 480, 640)",
        )
    return shape


def _in(unit: float, value: int | None) -> float | None:
    return None if value is None else value / unit


def _lower_bound(operations: Operations) -> str:
    names = ", ".join(operations.uncounted)
    return f"FLOPs are a lower bound: no formula for {names}" if names else ""
