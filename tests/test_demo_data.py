"""The drawn demo dataset and the converted stereo pair, checked from their files alone."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from rpx_core.demo import write_motorcycle
from rpx_core.demo.actors import Member
from rpx_core.demo.camera import Camera, quaternion_xyzw
from rpx_core.demo.catalogue import Thing
from rpx_core.demo.generator import write_dataset
from rpx_core.demo.labels import Sighting, refer
from rpx_core.demo.layout import plan_scene
from rpx_core.demo.motorcycle import depth_of, visible_in_right
from rpx_core.demo.raycast import PixelGrid, PixelList, cast
from rpx_core.demo.recording import record
from rpx_core.demo.shapes import Box, Frustum, Shape, Sphere
from rpx_core.errors import ConfigError
from rpx_core.manifest import read_manifest

EASY, HARD = 2, 9
PER_SCENE = 18


@dataclass(frozen=True)
class Frame:
    """One record and its files, read without the code that wrote them."""

    root: Path
    record: dict[str, Any]

    def image(self, key: str) -> np.ndarray:
        with Image.open(self.root / self.record[key]) as image:
            return np.asarray(image)

    def listing(self, key: str) -> Any:
        return json.loads((self.root / self.record[key]).read_text(encoding="utf-8"))

    @cached_property
    def depth(self) -> np.ndarray:
        return self.image("depth") / 1000

    @cached_property
    def mask(self) -> np.ndarray:
        return self.image("mask").astype(int)

    @cached_property
    def intrinsics(self) -> np.ndarray:
        k = self.record["intrinsics"]
        return np.array([[k["fx"], 0, k["cx"]], [0, k["fy"], k["cy"]], [0, 0, 1]])

    @cached_property
    def pose(self) -> np.ndarray:
        with np.load(self.root / self.record["pose"]) as file:
            x, y, z, w = file["orientation"]
            position = file["position"]
        pose = np.eye(4)
        pose[:3, 3] = position
        pose[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        return pose

    @cached_property
    def objects(self) -> dict[int, dict[str, Any]]:
        path = self.root / "scenes" / self.record["scene"] / "objects.json"
        return {entry["id"]: entry for entry in json.loads(path.read_text(encoding="utf-8"))}

    def tight_box(self, instance: int) -> list[int]:
        rows, columns = np.nonzero(self.mask == instance)
        return [int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1]


@dataclass(frozen=True)
class Demo:
    manifest: Path
    document: dict[str, Any]
    frames: list[Frame]

    def steps(self) -> Iterator[tuple[Frame, Frame]]:
        """Every frame with the next one of its sequence."""
        for one, other in zip(self.frames, self.frames[1:], strict=False):
            if one.record["id"][:-5] == other.record["id"][:-5]:
                yield one, other


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """An easy and a hard scene of the dataset."""
    manifest = write_dataset(tmp_path_factory.mktemp("demo"), [EASY, HARD])
    document = json.loads(manifest.read_text(encoding="utf-8"))
    frames = [Frame(manifest.parent, record) for record in document["samples"]]
    return Demo(manifest, document, frames)


def transfer(frame: Frame, other: Frame, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (n, 2) and depths of this frame's readings in the other, if nothing moved."""
    columns, rows = pixels.astype(int).T
    points = np.linalg.inv(frame.intrinsics) @ np.stack([columns, rows, np.ones(len(columns))])
    points = frame.pose[:3, :3] @ (points * frame.depth[rows, columns]) + frame.pose[:3, 3:]
    points = other.pose[:3, :3].T @ (points - other.pose[:3, 3:])
    projected = other.intrinsics @ points
    return (projected[:2] / projected[2]).T, points[2]


def test_manifest_is_readable_and_groups_frames_into_sequences(demo: Demo) -> None:
    manifest = read_manifest(demo.manifest)
    sequences = manifest.sequences()
    assert len(sequences) == 6
    assert all([entry.frame for entry in frames] == list(range(6)) for frames in sequences.values())
    assert manifest.header.pose_convention == "opencv"
    assert len(manifest.header.served()) == 12


def test_every_listed_file_exists_and_nothing_else_lies_beside_the_manifest(demo: Demo) -> None:
    root = demo.manifest.parent
    for frame in demo.frames:
        listed = [value for value in frame.record.values() if str(value).startswith("scenes/")]
        assert len(listed) >= 9
        assert all((root / path).is_file() for path in listed)
    assert [path.name for path in root.glob("*.json")] == ["demo.json"]


def test_correspondences_are_absent_on_the_last_frames_only(demo: Demo) -> None:
    lacking = [frame.record["id"] for frame in demo.frames if "correspondences" not in frame.record]
    assert len(lacking) == 6
    assert all(identifier.endswith("_00005") for identifier in lacking)


def test_one_scene_comes_out_equal_to_the_byte_whatever_is_written_with_it(
    demo: Demo, tmp_path: Path
) -> None:
    again = write_dataset(tmp_path, [HARD])
    first = demo.manifest.parent
    paths = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("scene010/**/*.*"))
    assert len(paths) > 9 * PER_SCENE
    for path in paths:
        digests = {
            hashlib.sha256((root / path).read_bytes()).digest() for root in (first, tmp_path)
        }
        assert len(digests) == 1, path
    assert json.loads(again.read_text())["samples"] == demo.document["samples"][PER_SCENE:]


def test_static_pixels_reproject_onto_the_next_depth_image(demo: Demo) -> None:
    for frame, other in demo.steps():
        still = (frame.depth > 0) & (frame.image("semantic") > 0)
        still &= ~np.isin(frame.mask, frame.record["metadata"]["moving"])
        rows, columns = np.nonzero(still)
        pixels, depth = transfer(frame, other, np.stack([columns, rows], axis=1))
        u, v = np.rint(pixels).astype(int).T
        inside = (u >= 0) & (v >= 0) & (u < 320) & (v < 240)
        u, v, depth = u[inside], v[inside], depth[inside]
        there = other.depth[v, u]
        change = (there - depth)[there > 0] / depth[there > 0]
        # Half a pixel of rounding on a slanted surface is about two per cent of its depth.
        assert np.mean(np.abs(change) < 0.02) > 0.9
        assert abs(np.median(change)) < 0.001
        # Nearer is an occlusion; farther would be a hole in the geometry.
        assert np.mean(change > 0.05) < 0.01


def test_correspondences_follow_camera_and_object_motion(demo: Demo) -> None:
    moved = []
    for frame, other in demo.steps():
        with np.load(frame.root / frame.record["correspondences"]) as file:
            start, end = file["points0"], file["points1"]
        columns, rows = start.astype(int).T
        read = (frame.depth[rows, columns] > 0) & (frame.image("semantic")[rows, columns] > 0)
        moving = np.isin(frame.mask[rows, columns], frame.record["metadata"]["moving"])
        expected, _ = transfer(frame, other, start)
        error = np.linalg.norm(expected - end, axis=1)
        assert error[read & ~moving].max() < 0.2
        moved += list(error[read & moving])
    assert np.median(moved) > 2


def test_visible_correspondences_end_on_the_same_object_and_hidden_ones_behind_another(
    demo: Demo,
) -> None:
    same, hidden, shares = [], [], []
    for frame, other in demo.steps():
        with np.load(frame.root / frame.record["correspondences"]) as file:
            start, end, visible = file["points0"], file["points1"], file["visibility"]
        shares.append(visible.mean())
        columns, rows = start.astype(int).T
        u, v = np.rint(end).astype(int).T
        inside = (u >= 0) & (v >= 0) & (u < 320) & (v < 240)
        assert not visible[~inside].any()
        same += list(frame.mask[rows, columns][visible] == other.mask[v[visible], u[visible]])
        covered = inside & ~visible & (frame.depth[rows, columns] > 0)
        _, depth = transfer(frame, other, start)
        there = other.depth[v[covered], u[covered]]
        hidden += list((there < depth[covered] - 0.004) | (there == 0))
    # Rounding to a pixel can step over an outline.
    assert np.mean(same) > 0.97
    assert np.mean(hidden) > 0.9
    assert 0.7 < min(shares) < max(shares) <= 1


def test_depth_has_the_holes_of_a_sensor(demo: Demo) -> None:
    shares = []
    for frame in demo.frames:
        assert frame.image("depth").dtype == np.uint16
        assert not frame.depth[:, :4].any()
        assert 0.3 < frame.depth[frame.depth > 0].min() < frame.depth.max() <= 5
        shares.append(np.mean(frame.depth == 0))
    assert 0.03 < np.mean(shares) < 0.1
    assert max(shares) < 0.15


def test_boxes_are_tight_round_the_visible_pixels_and_labelled(demo: Demo) -> None:
    for frame in demo.frames:
        sizes = {i: int(np.sum(frame.mask == i)) for i in frame.objects}
        expected = [
            {
                "bbox": frame.tight_box(instance),
                "label": frame.objects[instance]["label"],
                "track_id": frame.objects[instance]["track_id"],
            }
            for instance, size in sizes.items()
            if size >= 40
        ]
        assert frame.listing("boxes") == expected


def test_ids_are_persistent_and_one_does_not_fit_eight_bits(demo: Demo) -> None:
    counts: dict[tuple[str, str], set[int]] = defaultdict(set)
    for frame in demo.frames:
        seen = set(np.unique(frame.mask).tolist()) - {0}
        assert seen <= set(frame.objects)
        counts[frame.record["scene"], frame.record["phase"]] |= seen
    for scene in ("scene003", "scene010"):
        clutter, interaction, clean = (
            counts[scene, phase] for phase in ("clutter", "interaction", "clean")
        )
        assert clean < clutter
        assert clean <= interaction <= clutter
        assert max(clean) > 255


def test_track_ids_are_unique_over_all_scenes() -> None:
    tracks = [member.track_id for index in range(12) for member in plan_scene(index).members]
    assert len(set(tracks)) == len(tracks) == 4 * (4 + 6 + 9)


def test_semantic_classes_agree_with_the_objects(demo: Demo) -> None:
    path = demo.manifest.parent / "scenes" / "classes.json"
    classes = {int(key): name for key, name in json.loads(path.read_text()).items()}
    background = {"unlabelled", "wall", "floor", "table", "cabinet"}
    assert set(classes.values()) - background == set(demo.document["vocabulary"])
    for frame in demo.frames:
        semantic = frame.image("semantic")
        for instance, entry in frame.objects.items():
            assert {classes[i] for i in np.unique(semantic[frame.mask == instance])} <= {
                entry["label"]
            }
        assert {classes[i] for i in np.unique(semantic[frame.mask == 0])} <= background


def test_objects_move_in_the_interaction_phase_only(demo: Demo) -> None:
    for frame in demo.frames:
        expected = 0
        if frame.record["phase"] == "interaction":
            expected = {"easy": 1, "hard": 2}[frame.record["difficulty"]]
        assert len(frame.record["metadata"]["moving"]) == expected


def test_cameras_step_with_a_baseline_and_a_large_overlap(demo: Demo) -> None:
    for frame, other in demo.steps():
        motion = np.linalg.inv(frame.pose) @ other.pose
        angle = np.degrees(np.arccos((np.trace(motion[:3, :3]) - 1) / 2))
        assert 0.02 < np.linalg.norm(motion[:3, 3]) < 0.1
        assert 1 < angle < 8


def test_sparse_depths_are_readings_of_the_depth_image(demo: Demo) -> None:
    for frame in demo.frames:
        coordinates = np.load(frame.root / frame.record["coordinates"])
        depths = np.load(frame.root / frame.record["depths"])
        assert len(np.unique(coordinates, axis=0)) == len(depths) == 100
        columns, rows = coordinates.astype(int).T
        assert np.array_equal(depths, frame.depth[rows, columns])
        assert depths.min() > 0


def meant(frame: Frame, text: str) -> list[list[int]]:
    """The boxes of what a text means, from the masks and the list of objects alone."""
    seen = [frame.objects[i] for i in frame.objects if np.any(frame.mask == i)]
    words = text.removesuffix(" closest to the camera").split()
    kind = words[-1] if words[0] != "all" else words[-1].removesuffix("s")
    kind = {"boxe": "box"}.get(kind, kind)
    fitting = [entry for entry in seen if kind in ("object", entry["label"])]
    fitting = [
        entry
        for entry in fitting
        if not {entry["colour"]}.isdisjoint(words) or words[-2] in NO_COLOUR
    ]
    boxes = {entry["id"]: frame.tight_box(entry["id"]) for entry in fitting}
    if "closest" in text:
        distances = {
            i: np.median(frame.depth[(frame.mask == i) & (frame.depth > 0)]) for i in boxes
        }
        return [boxes[min(distances, key=lambda i: distances[i])]]
    if "leftmost" in words:
        return [min(boxes.values(), key=lambda box: box[0] + box[2])]
    if "rightmost" in words:
        return [max(boxes.values(), key=lambda box: box[0] + box[2])]
    return list(boxes.values())


NO_COLOUR = ("the", "all", "leftmost", "rightmost")


def test_expressions_mean_exactly_their_boxes(demo: Demo) -> None:
    texts = []
    for frame in demo.frames:
        expressions = frame.listing("expressions")
        assert 2 <= len(expressions) <= 4
        for expression in expressions:
            assert meant(frame, expression["text"]) == expression["boxes"], expression["text"]
            texts.append(expression)
    assert any(not expression["boxes"] for expression in texts)
    assert any(len(expression["boxes"]) > 1 for expression in texts)


def test_a_name_that_two_things_share_is_never_used_alone() -> None:
    twin = Thing("mug", "red", (), 0.1, 0.1)
    members = [Member(twin, instance, str(instance)) for instance in (1, 2)]
    sightings = [
        Sighting(members[0], (0, 0, 20, 20), 400, 1.0),
        Sighting(members[1], (60, 0, 80, 20), 400, 1.01),
    ]
    texts = {
        (expression.text, expression.targets)
        for seed in range(40)
        for expression in refer(sightings, members, np.random.default_rng(seed))
    }
    named = {text: targets for text, targets in texts if targets}
    assert "the red mug" not in named
    assert named["the leftmost red mug"] == (sightings[0],)
    assert not any("closest" in text for text in named)


def test_a_grid_of_pixels_sees_what_a_list_of_pixels_sees() -> None:
    view = record(plan_scene(HARD), 0).views[0]
    chosen = np.arange(7, view.rays.size, 1013)
    listed = PixelList(view.camera, *view.rays.pixels(chosen))
    hits = cast(view.surfaces, listed)
    assert np.array_equal(hits.surface, view.hits.surface[chosen])
    np.testing.assert_allclose(hits.depth, view.hits.depth[chosen], rtol=1e-12)


def test_a_camera_projects_back_to_the_pixels_its_rays_came_from() -> None:
    camera: Camera = record(plan_scene(EASY), 1).views[2].camera
    u, v = PixelGrid(camera).pixels(np.arange(0, 76_800, 997))
    depth = np.linspace(0.5, 4, u.size)
    rays = PixelList(camera, u, v)
    points = depth * rays.directions(camera.pose[:3, :3], np.arange(u.size))
    found = camera.project(points + camera.origin[:, None])
    np.testing.assert_allclose(np.stack(found), np.stack([u, v, depth]), atol=1e-9)


directions = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda way: np.linalg.norm(way) > 0.1)


@given(way=directions, target=st.tuples(*[st.floats(-0.9, 0.9)] * 3))
def test_rays_end_on_the_surface_they_hit(
    way: tuple[float, float, float], target: tuple[float, float, float]
) -> None:
    heights: list[tuple[Shape, Any]] = [
        (Sphere(1.0), lambda x, y, z: np.sqrt(x * x + y * y + z * z) - 1),
        (Sphere(1.0, rim=0.2), lambda x, y, z: np.sqrt(x * x + y * y + z * z) - 1),
        (Frustum(1.0, 0.5, 2.0), lambda x, y, z: np.hypot(x, y) - (1 - z / 4)),
        (Box((-1, -1, -1), (1, 1, 1)), lambda x, y, z: np.abs([x, y, z]).max() - 1),
    ]
    direction = np.array(way) / np.linalg.norm(way)
    origin = np.array(target) - 5 * direction
    for shape, height in heights:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            distance = shape.intersect(origin, direction[:, None])[0]
        if np.isfinite(distance):
            assert abs(height(*(origin + distance * direction))) < 1e-5
        elif isinstance(shape, Box):
            pytest.fail("the ray passes through a point inside the box, yet misses it")


@given(axis=directions, angle=st.floats(-3.2, 3.2))
def test_quaternions_rotate_like_their_matrices(
    axis: tuple[float, float, float], angle: float
) -> None:
    half = np.sin(angle / 2) * np.array(axis) / np.linalg.norm(axis)
    x, y, z, w = *half, np.cos(angle / 2)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    rotation = np.eye(3) + 2 * w * cross + 2 * cross @ cross
    found = quaternion_xyzw(rotation)
    assert found[3] >= 0
    assert abs(found @ np.array([x, y, z, w])) == pytest.approx(1, abs=1e-9)


def test_importing_the_package_loads_no_array_or_image_library() -> None:
    program = (
        "import sys, rpx_core.demo;"
        "print(sorted({'numpy', 'PIL', 'skimage', 'scipy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def motorcycle(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    manifest = write_motorcycle(tmp_path_factory.mktemp("motorcycle"))
    (record_,) = json.loads(manifest.read_text(encoding="utf-8"))["samples"]
    return Frame(manifest.parent, record_)


def test_motorcycle_depth_is_metric(motorcycle: Frame) -> None:
    depth = np.load(motorcycle.root / motorcycle.record["depth"])
    assert depth.shape == (500, 741)
    assert depth.dtype == np.float32
    assert np.mean(depth > 0) == pytest.approx(0.927, abs=0.001)
    assert depth[depth > 0].min() == pytest.approx(2.11, abs=0.005)
    assert depth.max() == pytest.approx(5.02, abs=0.005)


def test_motorcycle_poses_and_intrinsics_reproduce_its_correspondences(motorcycle: Frame) -> None:
    fields = motorcycle.record
    start, end = (np.load(motorcycle.root / fields[key]) for key in ("points0", "points1"))
    depth = np.load(motorcycle.root / fields["depth"]).astype(float)
    relative = np.linalg.inv(np.array(fields["pose_b"])) @ np.array(fields["pose_a"])
    assert relative[:3, 3].tolist() == [-0.193001, 0, 0]
    left, right = fields["intrinsics"], fields["intrinsics_b"]
    columns, rows = start.astype(int).T
    z = depth[rows, columns]
    x = (start[:, 0] - left["cx"]) * z / left["fx"] + relative[0, 3]
    y = (start[:, 1] - left["cy"]) * z / left["fy"]
    expected = np.stack([right["fx"] * x / z + right["cx"], right["fy"] * y / z + right["cy"]])
    np.testing.assert_allclose(end, expected.T, atol=1e-4)


def test_motorcycle_correspondences_join_like_colours_where_visible(motorcycle: Frame) -> None:
    fields = motorcycle.record
    start, end = (np.load(motorcycle.root / fields[key]) for key in ("points0", "points1"))
    visible = np.load(motorcycle.root / fields["visibility"])
    inside = (end[:, 0] >= 0) & (end[:, 0] <= 740)
    assert not visible[~inside].any()
    assert 0.85 < visible.mean() < 0.95
    left, right = (motorcycle.image(key).astype(float) for key in ("rgb", "rgb_right"))
    columns, rows = start.astype(int).T
    there = np.rint(end[:, 0]).astype(int).clip(0, 740)
    difference = np.abs(left[rows, columns] - right[rows, there]).mean(axis=1)
    assert np.median(difference[visible]) < 5
    assert np.median(difference[inside & ~visible]) > 15


def test_motorcycle_sparse_depths_are_readings_of_the_depth_map(motorcycle: Frame) -> None:
    coordinates = np.load(motorcycle.root / motorcycle.record["coordinates"]).astype(int)
    depths = np.load(motorcycle.root / motorcycle.record["depths"])
    depth = np.load(motorcycle.root / motorcycle.record["depth"])
    assert depths.shape == (500,)
    assert np.array_equal(depth[coordinates[:, 1], coordinates[:, 0]].astype(float), depths)


def test_unknown_disparity_has_no_depth_and_no_match() -> None:
    disparity = np.array([[np.nan, np.nan, 2.0, 1.0, 0.5]], np.float32)
    assert depth_of(disparity)[0, :2].tolist() == [0, 0]
    assert visible_in_right(disparity)[0].tolist() == [False, False, True, True, True]


def test_a_left_pixel_behind_a_nearer_one_is_hidden_in_the_right_image() -> None:
    disparity = np.array([[0, 0, 0, 3, 3]], np.float32)
    # The near pixels 3 and 4 land on columns 0 and 1 of the right image.
    assert visible_in_right(disparity)[0].tolist() == [False, False, True, True, True]


def test_missing_scikit_image_names_the_extra_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(ConfigError) as raised:
        write_motorcycle(tmp_path / "out")
    assert raised.value.hint == "pip install 'rpx-core[motorcycle]'"
    assert not (tmp_path / "out").exists()
