"""How much memory a process used at most while something ran."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path

from rpx_core.profiling.modules import loaded_torch
from rpx_core.profiling.record import Memory, Quantity

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


class MemoryMeter:
    """Remembers the resident set at its start, and tells the peak since then."""

    def __init__(self) -> None:
        # Without this the peak may lie before our time; not every container allows it.
        with suppress(OSError):
            _RESET.write_text(_RESET_PEAK)
        self._start = _read_status("VmRSS") or _peak_so_far()

    def read(self) -> Memory:
        """The peaks so far."""
        peak = _read_status("VmHWM") or _peak_so_far()
        if peak is None or self._start is None:
            process = Quantity(reason=f"not measured on {sys.platform}")
        else:
            process = Quantity(value=max(0, peak - self._start))
        return Memory(process_bytes=process, accelerator_bytes=_read_cuda())


def _read_status(key: str) -> int | None:
    """One size of this process as Linux tells it, in bytes."""
    try:
        text = _STATUS.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(rf"^{key}:\s+(\d+) kB$", text, re.MULTILINE)
    return 1024 * int(found[1]) if found else None


def _peak_so_far() -> int | None:
    """The largest resident set since the process began, where there is no /proc."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _read_cuda() -> Quantity:
    torch = loaded_torch()
    if torch is None or not torch.cuda.is_initialized():
        return Quantity(reason="no GPU was used")
    devices = range(torch.cuda.device_count())
    return Quantity(value=sum(torch.cuda.max_memory_allocated(device) for device in devices))
