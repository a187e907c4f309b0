"""Where networks run, and in which number format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rpx_core.errors import ModelError

if TYPE_CHECKING:
    import torch

AUTO = "auto"
Precision = Literal["float32", "float16", "bfloat16"]
"""Number formats that a network may compute in."""


def choose_device(requested: str, *, uses_torch: bool) -> str:
    """The device that a setting means: `auto` is cuda where torch finds it, else cpu.

    A model without torch runs on the cpu. Any other setting is taken as it is.
    """
    if requested != AUTO:
        return requested
    if not uses_torch:
        return "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True)
class Placement:
    """A device and a number format; checked by `place`."""

    device: str
    dtype: Precision = "float32"

    @property
    def torch_dtype(self) -> torch.dtype:
        """The number format as torch has it."""
        import torch

        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype

    def move(self, values: Any) -> Any:
        """A tensor, or a mapping of them, on the device; only floats take the number format."""
        if hasattr(values, "items"):
            return {name: self.move(value) for name, value in values.items()}
        if not hasattr(values, "to"):
            return values
        if values.is_floating_point():
            return values.to(self.device, self.torch_dtype)
        return values.to(self.device)

    def synchronize(self) -> None:
        """Wait for everything that was queued on the device."""
        import torch

        if self.device.startswith("cuda"):
            torch.cuda.synchronize(self.device)
        elif self.device.startswith("mps"):
            torch.mps.synchronize()

    def free(self) -> None:
        """Give memory that no tensor uses back to the device."""
        import torch

        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        elif self.device.startswith("mps"):
            torch.mps.empty_cache()

    def describe(self) -> dict[str, str]:
        """The device with the name of its hardware, the number format, and torch's version."""
        import torch

        hardware = ""
        if self.device.startswith("cuda"):
            hardware = f" ({torch.cuda.get_device_name(self.device)})"
        return {
            "device": f"{self.device}{hardware}",
            "dtype": self.dtype,
            "torch": str(torch.__version__),
        }


def describe_module(module: Any) -> dict[str, str]:
    """Where the weights of a `torch.nn.Module` are, as `Placement.describe` has it."""
    weight = next(module.parameters(), None)
    if weight is None:
        return {}
    dtype = str(weight.dtype).removeprefix("torch.")
    return Placement(str(weight.device)).describe() | {"dtype": dtype}


def place(device: str, dtype: Precision) -> Placement:
    """A placement that works here; raises ModelError where torch does not find the device.

    The first value on a device starts it up, so that no sample is charged for that.
    """
    import torch

    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        found = ["cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count()))]
        raise ModelError(
            f"device {device!r}: torch {torch.__version__} cannot use it here",
            hint=f"it finds {', '.join(found)}; --device auto takes the best of them",
        ) from error
    return Placement(device, dtype)
