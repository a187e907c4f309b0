"""What all depth layouts do: match images with depth, say what does not match."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from rpx_core.errors import ManifestError, first_few
from rpx_core.folders import warn_of_lonely
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import natural_key

DEPTHS = (".png", ".npy", ".npz", ".tif", ".tiff")
TASK = "monocular_depth"

RawRecord = dict[str, Any]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Pinhole = tuple[Positive, Positive, float, float]
"""fx, fy, cx, cy in pixels."""


@dataclass
class Findings:
    """Records as they are found, and the files and frames that have no place in them."""

    root: Path
    expected: str
    """What a frame looks like in this layout, for the error when there is none."""
    records: list[RawRecord] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    """Names, relative to the root, of files without the counterpart that a record needs."""
    gaps: list[str] = field(default_factory=list)
    """Places where the frame numbers of a sequence jump."""
    notes: list[str] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """A path as the manifest lists it."""
        return path.relative_to(self.root).as_posix()

    def match(self, images: Mapping[str, Path], depths: Mapping[str, Path]) -> list[str]:
        """The keys that both have, in natural order; files of the others are noted as alone."""
        for paths, others in ((images, depths), (depths, images)):
            self.alone += [self.name(paths[key]) for key in paths if key not in others]
        return sorted(images.keys() & depths.keys(), key=natural_key)

    def note_gaps(self, sequence: str, frames: Sequence[str]) -> None:
        """Note where the numbers that these frames end in jump by more than their usual step."""
        numbers = [int(match[0]) for frame in frames if (match := re.search(r"\d+$", frame))]
        steps = [after - before for before, after in pairwise(numbers)]
        if len(numbers) < len(frames) or not steps:
            return
        usual = min(Counter(steps).most_common(), key=lambda item: (-item[1], item[0]))[0]
        self.gaps += [
            f"{sequence} after {frame}"
            for frame, step in zip(frames, steps, strict=False)
            if step > usual
        ]

    def keep_listed(self, listed: Sequence[str], key: str) -> None:
        """Keep the records whose `key` a file list names; raise ManifestError when some lack."""
        wanted = set(listed)
        self.records = [record for record in self.records if record[key] in wanted]
        self.alone.clear()
        self.gaps.clear()
        missing = sorted(wanted - {record[key] for record in self.records}, key=natural_key)
        if missing:
            raise ManifestError(
                f"{len(missing)} of {len(wanted)} listed frames are not below {self.root}, or have "
                f"no depth: {first_few(missing)}",
                hint="a frame counts when both its image and its depth are there",
            )

    def manifest(self, header: Mapping[str, Any]) -> Manifest:
        """The manifest of what was found; raises ManifestError when that is nothing."""
        if not self.records:
            lost = f"; files that match nothing: {first_few(self.alone)}" if self.alone else ""
            raise ManifestError(
                f"{self.root}: holds no frame of this layout; {self.expected} was expected{lost}"
            )
        found = build_manifest({"task": TASK, **header}, self.records, root=self.root)
        return replace(found, warnings=(*found.warnings, *self._warnings()))

    def _warnings(self) -> list[str]:
        warnings = list(self.notes)
        warnings += warn_of_lonely(self.alone)
        if self.gaps:
            warnings.append(f"{len(self.gaps)} gaps in frame numbers: {first_few(self.gaps)}")
        return warnings


def pinhole(camera: Sequence[float]) -> RawRecord:
    """Intrinsics as a record lists them, from fx, fy, cx, cy."""
    return dict(zip(("fx", "fy", "cx", "cy"), camera, strict=True))
