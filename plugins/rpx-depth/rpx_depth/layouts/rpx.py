"""Layout `rpx`: the RPX release with its archives unpacked, `scenes/<scene>/<phase>/...`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rpx_core.contracts import Difficulty, Phase
from rpx_core.errors import ManifestError, count_of
from rpx_core.folders import IMAGES, files_by_stem, list_folder, list_folders, open_root, read_lines
from rpx_core.manifest import Manifest
from rpx_depth.layouts.matching import DEPTHS, Findings, Pinhole, RawRecord, pinhole

_POSES = (".npz", ".npy")


class RpxOptions(BaseModel):
    """`root` holds `scenes`; `intrinsics` are fx, fy, cx, cy of the colour camera in pixels.

    By default the nominal ones of the release, at 640x480: it carries no calibration per scene.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    intrinsics: Pinhole = (615.0, 615.0, 320.0, 240.0)


def open_rpx(options: RpxOptions, cache: Path) -> Manifest:
    """Index `rgb`, `depth` and, where there, `cam_pose` of every scene and phase.

    Difficulties come from `splits/<difficulty>.txt`, a scene per line, where there. Poses keep
    the T265 axes of the release.
    """
    findings = Findings(
        open_root(options.root), "scenes/<scene>/<0|1|2>/rgb/<frame>.webp beside depth/<frame>.png"
    )
    scenes = list_folders(findings.root / "scenes")
    if not scenes:
        raise ManifestError(
            f"{findings.root}: holds no scenes; scenes/<scene>/<0|1|2>/rgb was expected"
        )
    tiers = _read_tiers(findings.root)
    unposed: list[str] = []
    for scene in scenes:
        for number, phase in enumerate(Phase):
            core: RawRecord = {"scene": scene.name, "phase": phase.value}
            if scene.name in tiers:
                core["difficulty"] = tiers[scene.name].value
            unposed += _index_phase(findings, scene / str(number), core)
    if unposed and len(unposed) < len(findings.records):
        findings.notes.append(
            f"{count_of(len(unposed), 'frame')} without pose, which temporal stability needs: "
            f"{unposed[0]} is the first"
        )
    _refuse_packed(findings, scenes)
    defaults = {"intrinsics": pinhole(options.intrinsics)}
    return findings.manifest({"name": "rpx", "pose_convention": "t265", "defaults": defaults})


def _index_phase(findings: Findings, folder: Path, core: RawRecord) -> list[str]:
    """Add the frames of one phase; return the ids of those without a pose."""
    colour = files_by_stem(folder / "rgb", IMAGES)
    depth = files_by_stem(folder / "depth", DEPTHS)
    poses = files_by_stem(folder / "cam_pose", _POSES)
    frames = findings.match(colour, depth)
    sequence = f"{core['scene']}_{core['phase']}"
    unposed = []
    for frame in frames:
        record = {
            **core,
            "id": f"{sequence}_{frame}",
            "rgb": findings.name(colour[frame]),
            "depth": findings.name(depth[frame]),
        }
        if frame in poses:
            record["pose"] = findings.name(poses[frame])
        else:
            unposed.append(record["id"])
        findings.records.append(record)
    findings.note_gaps(sequence, frames)
    return unposed


def _read_tiers(root: Path) -> dict[str, Difficulty]:
    tiers: dict[str, Difficulty] = {}
    for tier in Difficulty:
        path = root / "splits" / f"{tier.value}.txt"
        if path.is_file():
            tiers |= {words[0]: tier for words in read_lines(path)}
    return tiers


def _refuse_packed(findings: Findings, scenes: list[Path]) -> None:
    """Say what to do when the archives were never unpacked, instead of just finding nothing."""
    if findings.records:
        return
    for scene in scenes:
        for phase in list_folders(scene):
            if any(path.suffix == ".tar" for path in list_folder(phase)):
                raise ManifestError(
                    f"{phase}: its files are still packed",
                    hint="unpack rgb.tar and depth.tar where they lie, and the pose archive beside",
                )
