"""Writes the demo: 12 scenes x 3 phases x 6 frames of a camera going round a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from rpx_core.demo import DEMO_VERSION
from rpx_core.demo.actors import FRAMES
from rpx_core.demo.camera import Floats, quaternion_xyzw
from rpx_core.demo.catalogue import CATEGORIES
from rpx_core.demo.files import write_json, write_manifest, write_png
from rpx_core.demo.labels import MINIMUM_PIXELS, find_sightings, refer
from rpx_core.demo.layout import PHASES, SEED, ScenePlan, plan_scene, random_stream
from rpx_core.demo.recording import INTRINSICS, Images, Recording, cast_light, develop, record
from rpx_core.demo.room import CLASSES
from rpx_core.demo.shading import Picture
from rpx_core.demo.textures import Atlas, build_atlas
from rpx_core.demo.tracks import choose_pixels, follow

TASKS = (
    "monocular_depth",
    "object_detection",
    "object_segmentation",
    "object_tracking",
    "relative_camera_pose",
    "open_vocab_detection",
    "visual_grounding",
    "sparse_depth",
    "novel_view_synthesis",
    "keypoint_matching",
    "trajectory",
    "semantic_segmentation",
)
_KINDS = (
    "rgb",
    "depth",
    "masks",
    "semantic",
    "boxes",
    "cam_pose",
    "expressions",
    "sparse",
    "correspondences",
)
_SPARSE_POINTS = 100
_CORRESPONDENCES = 200

Record = dict[str, object]


def write_dataset(directory: Path, scenes: Iterable[int]) -> Path:
    """Write the scenes with these 0-based indices; return the manifest's path."""
    atlas = build_atlas(SEED)
    directory.mkdir(parents=True, exist_ok=True)
    records: list[Record] = []
    for index in scenes:
        plan = plan_scene(index)
        _write_cast(directory / "scenes" / plan.name, plan)
        for phase in range(len(PHASES)):
            records += _write_recording(directory, record(plan, phase), atlas)
    write_json(
        directory / "scenes" / "classes.json", {str(i): name for i, name in enumerate(CLASSES)}
    )
    header = {
        "schema": "rpx-manifest-1",
        "name": "demo",
        "version": DEMO_VERSION,
        "tasks": TASKS,
        "root": ".",
        "pose_convention": "opencv",
        "vocabulary": list(CATEGORIES),
    }
    manifest = directory / "demo.json"
    write_manifest(manifest, header, records)
    return manifest


@dataclass(frozen=True)
class _Folder:
    """Where one frame's files go, as paths relative to the dataset's root."""

    root: Path
    sequence: str
    frame: int

    def path(self, kind: str, ending: str) -> str:
        return f"{self.sequence}/{kind}/{self.frame:05d}{ending}"

    def file(self, relative: str) -> Path:
        return self.root / relative


def _write_cast(folder: Path, plan: ScenePlan) -> None:
    """The objects of a scene with the ids they keep in every phase."""
    folder.mkdir(parents=True, exist_ok=True)
    members = [
        {
            "id": member.instance,
            "track_id": member.track_id,
            "label": member.thing.category,
            "colour": member.thing.colour,
        }
        for member in plan.members
    ]
    write_json(folder / "objects.json", members)


def _write_recording(directory: Path, recording: Recording, atlas: Atlas) -> list[Record]:
    plan, phase = recording.plan, recording.phase
    sequence = f"scenes/{plan.name}/{phase}"
    for kind in _KINDS:
        (directory / sequence / kind).mkdir(parents=True, exist_ok=True)
    rng = random_stream(plan.index, 10 + phase)
    shadows = cast_light(recording)
    records = []
    for frame, view in enumerate(recording.views):
        picture = Picture(view.surfaces, atlas, plan.lighting, shadows[frame])
        images = develop(view, picture, rng)
        folder = _Folder(directory, sequence, frame)
        assets = _write_images(folder, images)
        assets |= _write_pose(folder, view.camera.pose)
        assets |= _write_labels(folder, recording, images, rng)
        assets |= _write_sparse_depth(folder, images, rng)
        assets |= _write_correspondences(folder, recording, rng)
        records.append(_core(recording, frame) | assets)
    return records


def _core(recording: Recording, frame: int) -> Record:
    plan, phase = recording.plan, PHASES[recording.phase]
    moving = [actor.member.instance for actor in recording.actors if actor.is_moving]
    return {
        "id": f"{plan.name}_{phase}_{frame:05d}",
        "scene": plan.name,
        "phase": phase,
        "difficulty": plan.level.name,
        "metadata": {"generator": f"demo-{DEMO_VERSION}", "moving": moving},
        "intrinsics": asdict(INTRINSICS),
    }


def _write_images(folder: _Folder, images: Images) -> Record:
    paths = {
        "rgb": folder.path("rgb", ".png"),
        "depth": folder.path("depth", ".png"),
        "mask": folder.path("masks", ".png"),
        "semantic": folder.path("semantic", ".png"),
    }
    write_png(folder.file(paths["rgb"]), images.rgb)
    write_png(folder.file(paths["depth"]), images.depth)
    write_png(folder.file(paths["mask"]), images.instances)
    write_png(folder.file(paths["semantic"]), images.semantic)
    return {**paths}


def _write_pose(folder: _Folder, pose: Floats) -> Record:
    path = folder.path("cam_pose", ".npz")
    np.savez(folder.file(path), position=pose[:3, 3], orientation=quaternion_xyzw(pose[:3, :3]))
    return {"pose": path}


def _write_labels(
    folder: _Folder, recording: Recording, images: Images, rng: np.random.Generator
) -> Record:
    members = [actor.member for actor in recording.actors]
    depth = recording.views[folder.frame].hits.depth.reshape(images.depth.shape)
    sightings = find_sightings(members, images.instances, depth)
    boxes = [
        {
            "bbox": sighting.box,
            "label": sighting.member.thing.category,
            "track_id": sighting.member.track_id,
        }
        for sighting in sightings
        if sighting.pixels >= MINIMUM_PIXELS
    ]
    expressions = [
        {"text": expression.text, "boxes": [target.box for target in expression.targets]}
        for expression in refer(sightings, members, rng)
    ]
    paths = {
        "boxes": folder.path("boxes", ".json"),
        "expressions": folder.path("expressions", ".json"),
    }
    write_json(folder.file(paths["boxes"]), boxes)
    write_json(folder.file(paths["expressions"]), expressions)
    return {**paths}


def _write_sparse_depth(folder: _Folder, images: Images, rng: np.random.Generator) -> Record:
    """Seeded pixels that have a reading, and the reading as the depth image stores it."""
    chosen = np.sort(rng.choice(np.flatnonzero(images.depth), _SPARSE_POINTS, replace=False))
    rows, columns = np.divmod(chosen, images.depth.shape[1])
    paths = {
        "coordinates": folder.path("sparse", "_coordinates.npy"),
        "depths": folder.path("sparse", "_depths.npy"),
    }
    coordinates = np.stack([columns, rows], axis=1).astype(np.float64)
    np.save(folder.file(paths["coordinates"]), coordinates)
    np.save(folder.file(paths["depths"]), images.depth[rows, columns] / 1000)
    return {**paths}


def _write_correspondences(
    folder: _Folder, recording: Recording, rng: np.random.Generator
) -> Record:
    """Points from this frame to the next; the last frame has none."""
    if folder.frame == FRAMES - 1:
        return {}
    view, following = recording.views[folder.frame : folder.frame + 2]
    tracks = follow(view, following, choose_pixels(view, _CORRESPONDENCES, rng))
    path = folder.path("correspondences", ".npz")
    np.savez(
        folder.file(path),
        points0=tracks.points0,
        points1=tracks.points1,
        visibility=tracks.visibility,
    )
    return {"correspondences": path}
