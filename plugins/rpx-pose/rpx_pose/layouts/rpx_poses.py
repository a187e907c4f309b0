"""Layout `rpx-poses`: images and camera poses of the unpacked RPX release, without its depth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Phase
from rpx_core.errors import ManifestError
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import natural_key

_FAILED: Mapping[int, tuple[Phase, ...]] = {
    58: tuple(Phase),
    83: (Phase.CLUTTER,),
    98: (Phase.CLUTTER,),
    100: (Phase.CLUTTER,),
    50: (Phase.CLEAN,),
    72: (Phase.CLEAN,),
}
"""Captures of the release whose tracking failed, by scene number."""
_NUMBER = re.compile(r"(\d+)\D*$")
_POSES = (".npz", ".npy")
_IMAGES = (".webp", ".png", ".jpg", ".jpeg")

Number = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class RpxPosesOptions(BaseModel):
    """`root` holds `scenes/<scene>/<0|1|2>/{rgb,cam_pose}`; only the `phases` named are indexed.

    Nothing moves but the camera in the phases named by default. `intrinsics` are fx, fy, cx, cy in
    pixels, nominal: the release carries no calibration.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    phases: tuple[Phase, ...] = (Phase.CLUTTER, Phase.CLEAN)
    intrinsics: tuple[Number, Number, float, float] = (615.0, 615.0, 320.0, 240.0)


def open_rpx_poses(options: RpxPosesOptions, cache: Path) -> Manifest:
    """Index every image that has a pose, except in captures whose tracking failed."""
    root = options.root.expanduser().resolve()
    if not root.is_dir():
        raise ManifestError(f"{options.root}: no such folder")
    records: list[dict[str, Any]] = []
    for scene in _list(root / "scenes"):
        for number, phase in enumerate(Phase):
            if phase in options.phases and phase not in _failed(scene.name):
                core = {"scene": scene.name, "phase": phase.value}
                records += _capture(root, scene / str(number), core)
    if not records:
        raise ManifestError(
            f"{root}: holds no image with a pose; scenes/<scene>/<0|1|2>/rgb and cam_pose were "
            "expected",
            hint="unpack rgb.tar and the pose archive where they lie",
        )
    camera = dict(zip(("fx", "fy", "cx", "cy"), options.intrinsics, strict=True))
    header = {
        "name": "rpx-poses",
        "tasks": ["relative_camera_pose", "trajectory"],
        "pose_convention": "t265",
        "defaults": {"intrinsics": camera},
    }
    return build_manifest(header, records, root=root)


def _capture(root: Path, folder: Path, core: dict[str, Any]) -> Iterable[dict[str, Any]]:
    poses = {path.stem: path for path in _list(folder / "cam_pose") if path.suffix in _POSES}
    for image in _list(folder / "rgb"):
        if image.suffix in _IMAGES and image.stem in poses:
            yield {
                **core,
                "id": f"{core['scene']}_{core['phase']}_{image.stem}",
                "rgb": image.relative_to(root).as_posix(),
                "pose": poses[image.stem].relative_to(root).as_posix(),
            }


def _failed(scene: str) -> tuple[Phase, ...]:
    match = _NUMBER.search(scene)
    return _FAILED.get(int(match[1]), ()) if match else ()


def _list(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return sorted(visible, key=lambda path: natural_key(path.name))
