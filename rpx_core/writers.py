"""How a process introduces itself in the journal that it writes."""

from __future__ import annotations

import platform
import secrets
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rpx_core.journal_writer import JournalWriter
from rpx_core.report import RunRecord, Writer
from rpx_core.run_json import write_record


def join_run(
    directory: Path, record: RunRecord, *, device: str, model: Mapping[str, str]
) -> JournalWriter:
    """A place in the journal of a run; whoever comes first makes the directory and its run.json."""
    write_record(directory, record)
    writer = introduce_writer(record.identity, device=device, model=model)
    return JournalWriter(directory / "journal", writer)


def introduce_writer(run: str, *, device: str, model: Mapping[str, str]) -> Writer:
    """A writer with a new name that sorts by when it started; `run` is the run's identity."""
    started = datetime.now(UTC)
    host = socket.gethostname()
    packages = ("rpx-core", "numpy", "pillow")
    return Writer(
        run=run,
        writer=f"{started:%Y%m%dT%H%M%S}-{host[:40]}-{secrets.token_hex(4)}",
        started=started.isoformat(timespec="seconds"),
        host=host,
        device=device,
        versions={
            "python": platform.python_version(),
            "platform": platform.platform(),
            **{package: version(package) for package in packages},
        },
        model=model,
    )
