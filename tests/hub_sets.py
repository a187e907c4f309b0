"""Small datasets for a local hub, of demo frames, in both layouts of RPX."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rpx_core.demo.generator import write_dataset

Files = dict[str, bytes]
Records = list[dict[str, Any]]

PHASES = ("clutter", "interaction", "clean")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "monocular_depth": ("rgb", "depth"),
    "sparse_depth": ("rgb", "coordinates", "depths"),
    "object_segmentation": ("rgb", "mask"),
    "object_tracking": ("rgb", "mask"),
    "object_detection": ("rgb", "boxes"),
    "relative_camera_pose": ("rgb", "pose"),
    "novel_view_synthesis": ("rgb", "depth", "pose"),
}


def draw_frames(folder: Path, scenes: Iterable[int]) -> Records:
    """Demo scenes in a folder; the records of their frames."""
    manifest = json.loads(write_dataset(folder, scenes).read_bytes())
    return list(manifest["samples"])


def early_layout(folder: Path, records: Records) -> Files:
    """Plain files, and manifests by task and split that list those that the task needs."""
    files: Files = {"README.md": b"early"}
    for task, keys in _KEYS.items():
        for split, entries in _by_split(records).items():
            samples = [_early_entry(entry, keys) for entry in entries]
            document = {"task": task, "pose_convention": "opencv", "samples": samples}
            files[f"manifests/{task}/{split}.json"] = _json(document)
            for sample in samples:
                files |= {sample[key]: (folder / sample[key]).read_bytes() for key in keys}
    return files


def released_layout(folder: Path, records: Records) -> Files:
    """Archives by scene, phase and modality; manifests by recipe; checksums of both."""
    files: Files = {"README.md": b"released"}
    members: dict[str, Files] = {}
    for record in records:
        phase = f"scenes/{record['scene']}/{PHASES.index(record['phase'])}"
        for archive, name, content in _packed(folder, record):
            members.setdefault(f"{phase}/{archive}", {})[name] = content
    files |= {path: make_tar(content) for path, content in members.items()}
    for split, entries in _by_split(records).items():
        for recipe, samples in _recipes(entries).items():
            document = {"task": recipe, "split": split, "root": None, "samples": samples}
            document["pose_convention"] = "opencv"
            files[f"manifests/{recipe}/{split}.json"] = _json(document)
    files["manifest/current.json"] = _json({"label_versions": {"masks": "v1", "cam_pose": "v1"}})
    tars = {path: _sha256(files[path]) for path in members}
    files["manifest/checksums.json"] = _json({"algorithm": "sha256", "sha256": tars})
    unpacked = {
        f"extracted/{'/'.join(path.split('/')[:3])}/{name}": _sha256(content)
        for path, found in members.items()
        for name, content in found.items()
    }
    files["manifest/file_checksums.json"] = _json({"algorithm": "sha256", "sha256": unpacked})
    return files


def make_tar(members: Mapping[str, bytes]) -> bytes:
    """A plain USTAR archive of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _by_split(records: Records) -> dict[str, Records]:
    found: dict[str, Records] = {}
    for record in records:
        found.setdefault(record["difficulty"], []).append(record)
    return found


def _early_entry(record: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    core = ("scene", "difficulty", "intrinsics")
    phase = PHASES.index(record["phase"])
    # Named as in the release, so that the first samples of both are the same.
    name = f"{record['scene']}__{phase}__{Path(record['rgb']).stem}"
    return {**{key: record[key] for key in (*core, *keys)}, "id": name, "phase": phase}


def _packed(folder: Path, record: dict[str, Any]) -> Iterable[tuple[str, str, bytes]]:
    """Archive, name in it, and content of each modality of a frame."""
    from PIL import Image

    stem = Path(record["rgb"]).stem
    webp = io.BytesIO()
    Image.open(folder / record["rgb"]).save(webp, "WEBP", lossless=True)
    pose = np.load(folder / record["pose"])
    seven = io.BytesIO()
    np.save(seven, np.concatenate([pose["position"], pose["orientation"]]))
    yield "rgb.tar", f"rgb/{stem}.webp", webp.getvalue()
    yield "depth.tar", f"depth/{stem}.png", (folder / record["depth"]).read_bytes()
    yield "labels/masks/v1.tar", f"sam2/masks/{stem}.png", (folder / record["mask"]).read_bytes()
    yield "labels/cam_pose/v1.tar", f"cam_pose/{stem}.npy", seven.getvalue()
    yield "fisheye.tar", f"fisheye/left/{stem}.webp", webp.getvalue()
    yield "fisheye.tar", f"fisheye/right/{stem}.webp", webp.getvalue()


def _recipes(records: Records) -> dict[str, Records]:
    frames = [(record, *_released_entry(record)) for record in records]
    paired = []
    for entry, after in zip(frames, frames[5:], strict=False):
        (first, core, at), (second, _, then) = entry, after
        if (first["scene"], first["phase"]) == (second["scene"], second["phase"]):
            pose = {"pose_a": at["cam_pose"], "pose_b": then["cam_pose"]}
            images = {"rgb": at["rgb"], "rgb_b": then["rgb"]}
            name = f"{core['id']}__{Path(then['rgb']).stem}"
            paired.append({**core, "id": name, "frame_idx_b": 5, **images, **pose})
    return {
        "monocular_depth": [
            {**core, "rgb": at["rgb"], "depth": at["depth"]} for _, core, at in frames
        ],
        "segmentation": [{**core, "rgb": at["rgb"], "mask": at["mask"]} for _, core, at in frames],
        "object_tracking": [
            {**core, "rgb": at["rgb"], "mask": at["mask"], "tracks": at["tracks"]}
            for _, core, at in frames
        ],
        "relative_pose": paired,
    }


def _released_entry(record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """What the release says of a frame, and where its files are once unpacked."""
    scene, phase, stem = record["scene"], PHASES.index(record["phase"]), Path(record["rgb"]).stem
    core = {
        "id": f"{scene}__{phase}__{stem}",
        "scene_id": scene,
        "phase": phase,
        "frame_idx": int(stem),
        "difficulty": record["difficulty"],
        "metadata": {"scene_id": scene, "phase_idx": phase, "frame": stem},
    }
    where = f"extracted/scenes/{scene}/{phase}"
    return core, {
        "rgb": f"{where}/rgb/{stem}.webp",
        "depth": f"{where}/depth/{stem}.png",
        "mask": f"{where}/sam2/masks/{stem}.png",
        "cam_pose": f"{where}/cam_pose/{stem}.npy",
        "tracks": f"{where}/tracklets/v1.json",
    }


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
