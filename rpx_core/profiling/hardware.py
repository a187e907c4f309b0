"""What the machine is: enough to know whether two latencies may be compared, and no more."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from rpx_core.profiling.modules import loaded_torch
from rpx_core.profiling.record import Hardware

_PROCESSORS = Path("/proc/cpuinfo")
_NAMES = ("model name", "Model", "Hardware", "cpu model")


def describe_hardware(device: str, precision: str | None) -> Hardware:
    """The machine that this process runs on; never its name or address."""
    torch = loaded_torch()
    on_gpu = torch is not None and torch.cuda.is_initialized()
    properties = torch.cuda.get_device_properties(_cuda_index(device)) if on_gpu and torch else None
    return Hardware(
        device=device,
        processor=_read_processor(),
        cores=_count_cores(),
        memory_bytes=_read_memory(),
        accelerator=properties.name if properties else None,
        accelerator_memory_bytes=int(properties.total_memory) if properties else None,
        torch=str(torch.__version__) if torch else None,
        threads=int(torch.get_num_threads()) if torch else None,
        precision=precision,
    )


def _cuda_index(device: str) -> int:
    found = re.fullmatch(r"cuda:(\d+)", device)
    return int(found[1]) if found else 0


def _read_processor() -> str:
    try:
        text = _PROCESSORS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for name in _NAMES:
        found = re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE)
        if found:
            return " ".join(found[1].split())
    return platform.processor() or platform.machine()


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
