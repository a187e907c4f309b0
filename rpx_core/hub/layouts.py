"""Where a file that a manifest lists is in its repository.

In the early layout it lies there as it is listed. In the release it is packed:
`scenes/<scene>/<0|1|2|ego>/rgb.tar` holds `rgb/00113.webp`, and labels are versioned,
`labels/masks/v1.tar`. An archive is unpacked into a folder of its own name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from rpx_core.hub.listing import HubFile, Listing

CURRENT = "manifest/current.json"

_UNPACKED = "extracted/"
_PHASE = re.compile(r"((?:scenes|objects|ego)/[^/]+/[^/]+)/(.+)")
# The longer folder first: masks lie inside the folder of the rest that SAM2 wrote.
_ARCHIVES = (
    ("rgb/", "rgb.tar"),
    ("depth/", "depth.tar"),
    ("fisheye/", "fisheye.tar"),
    ("cam_pose/", "labels/cam_pose/{version}.tar"),
    ("sam2/masks/", "labels/masks/{version}.tar"),
    ("masks/", "labels/masks/{version}.tar"),
    ("sam2/", "labels/sam2_meta/{version}.tar"),
)
_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "pose": ("cam_pose", "pose"),
    "mask": ("sam2/masks", "masks", "mask"),
    "depth": ("depth",),
    "fisheye_left": ("fisheye/left", "fisheye_left"),
    "fisheye_right": ("fisheye/right", "fisheye_right"),
}


@dataclass(frozen=True)
class Place:
    """A listed file: the hub file that is it or holds it, and its name inside an archive."""

    file: HubFile
    member: str | None = None

    @property
    def folder(self) -> str:
        """Where the archive is unpacked."""
        return self.file.path.removesuffix(".tar")


@dataclass(frozen=True)
class Layout:
    """The files of a commit as its manifests name them; `versions` are those of labels."""

    listing: Listing
    versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def is_packed(self) -> bool:
        """Whether this is the layout of the release."""
        return any(path.endswith("/rgb.tar") for path in self.listing.files)

    def find(self, listed: str) -> Place | None:
        """The place of a path as a manifest lists it; None when the repository has no such."""
        path = listed.removeprefix("./").removeprefix(_UNPACKED)
        file = self.listing.files.get(path)
        if file is not None:
            return Place(file)
        match = _PHASE.fullmatch(path)
        if match is None:
            return None
        for folder, archive in _ARCHIVES:
            if match[2].startswith(folder):
                return self._packed(match[1], archive, match[2])
        return None

    def beside(self, rgb: str, key: str) -> Place | None:
        """The file of another modality of the same frame as this image, by folder and stem."""
        match = _PHASE.fullmatch(rgb.removeprefix("./").removeprefix(_UNPACKED))
        if match is None:
            return None
        stem = PurePosixPath(match[2]).stem
        for folder in _FOLDERS.get(key, ()):
            plain = self._stems.get(f"{match[1]}/{folder}/{stem}")
            # An archive tells its endings when it is unpacked; members are found by stem.
            found = Place(plain) if plain else self.find(f"{match[1]}/{folder}/{stem}")
            if found is not None:
                return found
        return None

    def _packed(self, phase: str, archive: str, member: str) -> Place | None:
        label = archive.split("/")[1] if archive.startswith("labels/") else ""
        path = f"{phase}/{archive.format(version=self.versions.get(label, 'v1'))}"
        file = self.listing.files.get(path)
        return Place(file, member) if file is not None else None

    @cached_property
    def _stems(self) -> dict[str, HubFile]:
        """The plain files by path without ending."""
        return {path.rpartition(".")[0]: file for path, file in self.listing.files.items()}


def label_versions(document: object) -> dict[str, str]:
    """The versions of labels that `manifest/current.json` names, where it does."""
    table = document.get("label_versions") if isinstance(document, Mapping) else None
    if not isinstance(table, Mapping):
        return {}
    return {str(k): str(v) for k, v in table.items() if re.fullmatch(r"[\w.-]{1,40}", str(v))}
