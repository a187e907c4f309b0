"""Whether what a run was measured from is still what the dataset holds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rpx_core.blocks import Block, open_rows, read_stamps
from rpx_core.errors import DatasetError, ManifestError, first_few
from rpx_core.files import Files, Stamp


def check_unchanged(files: Files, journal: Path, blocks: Iterable[Block]) -> None:
    """Raise DatasetError where a file holds something else than when its sample was measured.

    A file that is gone is no contradiction: a finished run is still good without its data.
    """
    changed: dict[str, str] = {}
    samples = 0
    for block in blocks:
        with open_rows(journal, block.writer) as rows:
            for sample, stamps in read_stamps(rows, block):
                found = [name for name, was in stamps.items() if _has_changed(files, name, was)]
                samples += bool(found)
                changed |= dict.fromkeys(found, sample)
    if changed:
        raise DatasetError(
            f"{first_few(list(changed), 3)} changed since this run measured {samples} of its "
            f"samples ({first_few(list(dict.fromkeys(changed.values())), 3)})",
            hint="--fresh measures everything again; or put the files back",
        )


def _has_changed(files: Files, name: str, was: Stamp) -> bool:
    try:
        return files.has_changed(name, was)
    except (ManifestError, OSError):
        return False
