"""What every task shares of a record: poses, cameras and images, from all that declares them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.frames import (
    check_size,
    image_of,
    load_intrinsics,
    load_pose,
    load_rgb,
    load_sample,
)
from rpx_core.geometry import pose_matrix, rotation_from_xyzw
from rpx_core.records import WELL_KNOWN_ASSETS, Record, parse_record

XYZW = [0.1, 0.2, 0.3, 0.9]
POSITION = [1.0, 2.0, 3.0]
POSE = pose_matrix(rotation_from_xyzw(np.array(XYZW), name="q"), np.array(POSITION))
CAMERA = [[500.0, 0.0, 320.0], [0.0, 510.0, 240.0], [0.0, 0.0, 1.0]]


def record(**raw: Any) -> Record:
    return parse_record(
        {"id": "f_1", "pose_convention": "opencv", **raw},
        where="here",
        defaults={},
        known=WELL_KNOWN_ASSETS,
    )


def put(folder: Path, name: str, value: Any) -> str:
    path = folder / name
    if isinstance(value, bytes):
        path.write_bytes(value)
    elif name.endswith(".json"):
        path.write_text(json.dumps(value))
    else:
        with path.open("wb") as file:
            if name.lower().endswith(".npz"):
                np.savez(file, **value)
            else:
                np.save(file, value)
    return name


def png(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pose.npz", {"position": POSITION, "orientation": XYZW}),
        ("pose.npz", {"position": [POSITION], "orientation": [XYZW], "confidence": [3]}),
        ("pose.npy", np.array([*POSITION, *XYZW])),
        ("pose.npy", POSE),
        ("pose.npy", POSE.astype(np.float32)),
        ("POSE.NPZ", {"position": POSITION, "orientation": XYZW}),
        (None, POSE.tolist()),
        (None, {"position": POSITION, "orientation": XYZW}),
    ],
)
def test_every_form_of_a_pose_is_the_same_pose(tmp_path: Path, name: str, value: Any) -> None:
    files = Files(tmp_path)
    given = put(tmp_path, name, value) if name else value
    np.testing.assert_allclose(load_pose(given, record(), files), POSE, atol=1e-6)
    # T265 axes: y and z are turned round, on both sides.
    flip = np.diag([1, -1, -1, 1])
    turned = load_pose(given, record(pose_convention="t265"), files)
    np.testing.assert_allclose(turned, flip @ POSE @ flip, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("p.npz", {"position": POSITION}, "p.npz: `position` .* and `orientation`"),
        ("p.npz", {"position": [1.0], "orientation": XYZW}, "p.npz: a position has 3 numbers"),
        ("p.npz", {"position": POSITION, "orientation": [0, 0, 0, 0]}, "p.npz: not a rotation"),
        ("p.npy", np.zeros((3, 4)), "p.npy: a finite 4x4 pose was expected"),
        ("p.npy", np.zeros(7), "p.npy: not a rotation quaternion"),
        ("p.npy", np.full((4, 4), np.nan), "p.npy: a finite 4x4 pose"),
        ("p.npy", b"no array", "p.npy"),
        ("p.npz", b"PK\x03\x04 damaged", "p.npz: the .npz archive is damaged"),
    ],
)
def test_a_pose_file_that_is_none_is_named(
    tmp_path: Path, name: str, value: Any, says: str
) -> None:
    given = put(tmp_path, name, value)
    with pytest.raises(ManifestError, match=says):
        load_pose(given, record(), Files(tmp_path))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"position": POSITION}, "sample f_1: pose: `position` .* and `orientation`"),
        ({"position": [1, 2], "orientation": XYZW}, "sample f_1: pose: a position has 3 numbers"),
        ({"position": POSITION, "orientation": [0] * 4}, "sample f_1: pose: not a rotation"),
        ({"position": POSITION, "orientation": XYZW[:3]}, "sample f_1: pose: not a rotation"),
        ({"position": POSITION, "orientation": "up"}, "sample f_1: pose: numbers were expected"),
    ],
)
def test_an_inline_pose_in_parts_that_is_none_is_named(
    tmp_path: Path, value: Any, says: str
) -> None:
    with pytest.raises(ManifestError, match=says):
        load_pose(value, record(), Files(tmp_path))


def test_an_error_says_which_pose_of_a_sample_it_is(tmp_path: Path) -> None:
    scaled = (np.eye(4) * [2, 2, 2, 1]).tolist()
    name = put(tmp_path, "b.npy", np.array(scaled))
    for value, says in ((scaled, "sample f_1: pose_b: "), (name, r"sample f_1: pose_b: b\.npy: ")):
        with pytest.raises(ManifestError, match=f"{says}the rotation of the pose is not ortho"):
            load_pose(value, record(), Files(tmp_path), key="pose_b")


@pytest.mark.parametrize("value", [[[1, 2], [3]], "nowhere.npy", {"x": 1}, 5, [["a"] * 4] * 4])
def test_an_inline_pose_that_is_none_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ManifestError):
        load_pose(value, record(), Files(tmp_path))


FOCAL = {"fx": 500.0, "fy": 510.0, "cx": 320.0, "cy": 240.0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (None, CAMERA),
        (None, FOCAL),
        ("k.npy", np.array(CAMERA)),
        ("k.npz", {"K": np.array(CAMERA)}),
        ("k.npz", {key: np.float64(value) for key, value in FOCAL.items()}),
        ("k.json", CAMERA),
        ("k.json", {**FOCAL, "width": 640}),
    ],
)
def test_every_form_of_a_camera_is_the_same_camera(
    tmp_path: Path, name: str | None, value: Any
) -> None:
    given = put(tmp_path, name, value) if name else value
    np.testing.assert_array_equal(load_intrinsics(given, record(), Files(tmp_path)), CAMERA)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        (None, {"fx": 1, "fy": 1, "cx": 0}, "sample f_1: intrinsics: numbers fx, fy, cx, cy"),
        (None, {**FOCAL, "fx": "wide"}, "sample f_1: intrinsics: numbers fx, fy, cx, cy"),
        (None, {**FOCAL, "fx": 0}, "sample f_1: intrinsics: a finite 3x3"),
        (None, {**FOCAL, "fx": [1, 2]}, "sample f_1: intrinsics: numbers fx, fy, cx, cy"),
        (None, [1, 2, 3], "sample f_1: intrinsics: a finite 3x3"),
        (None, [["a"]], "sample f_1: intrinsics: numbers were expected"),
        ("k.json", "text", "k.json"),
        ("k.json", b"{", "k.json: is not JSON"),
        ("k.npz", {"a": np.eye(3), "b": np.eye(3)}, "k.npz: numbers fx, fy, cx, cy"),
        ("k.npy", np.eye(4), "k.npy: a finite 3x3"),
    ],
)
def test_a_camera_that_is_none_is_named(
    tmp_path: Path, name: str | None, value: Any, says: str
) -> None:
    given = put(tmp_path, name, value) if name else value
    with pytest.raises(ManifestError, match=says):
        load_intrinsics(given, record(), Files(tmp_path))


def test_an_image_is_bytes_of_red_green_blue(tmp_path: Path) -> None:
    image = np.zeros((2, 3, 3), np.uint8)
    image[0, 1] = [255, 10, 20]
    put(tmp_path, "a.png", png(image))
    loaded = load_rgb("a.png", Files(tmp_path))
    assert (loaded.dtype, loaded.shape) == (np.uint8, (2, 3, 3))
    assert loaded[0, 1].tolist() == [255, 10, 20]


def test_a_transparent_image_takes_the_background_that_is_declared(tmp_path: Path) -> None:
    put(tmp_path, "a.png", png(np.full((2, 3, 4), (0, 0, 0, 0), np.uint8)))
    files = Files(tmp_path)
    with pytest.raises(ManifestError, match=r"a\.png: has transparent pixels"):
        load_rgb("a.png", files)
    assert (load_rgb("a.png", files, background=(9, 8, 7)) == (9, 8, 7)).all()
    sample = load_sample(record(rgb="a.png"), files, ground_truth=None, background=(9, 8, 7))
    assert sample.rgb is not None
    assert (sample.rgb == (9, 8, 7)).all()


def test_a_sample_carries_all_that_its_record_says(tmp_path: Path) -> None:
    put(tmp_path, "a.png", png(np.zeros((2, 3, 3), np.uint8)))
    raw = record(
        rgb="a.png",
        scene="s",
        phase=2,
        difficulty="easy",
        intrinsics=CAMERA,
        pose=POSE.tolist(),
        metadata={"note": [1]},
    )
    sample = load_sample(raw, Files(tmp_path), ground_truth="truth", query="query")
    assert (sample.id, sample.scene, sample.phase, sample.difficulty) == (
        "f_1",
        "s",
        "clean",
        "easy",
    )
    assert (sample.sequence, sample.frame) == ("s_clean", 1)
    assert (sample.ground_truth, sample.query) == ("truth", "query")
    np.testing.assert_array_equal(sample.camera_pose, POSE)
    np.testing.assert_array_equal(sample.intrinsics, CAMERA)
    sample.metadata["note"].append(2)
    assert raw.metadata == {"note": [1]}


def test_a_record_of_nothing_but_an_id_is_a_sample_of_nones(tmp_path: Path) -> None:
    sample = load_sample(record(), Files(tmp_path), ground_truth=None)
    assert (sample.rgb, sample.camera_pose, sample.intrinsics) == (None, None, None)


def test_a_task_that_needs_an_image_says_which_sample_has_none(tmp_path: Path) -> None:
    sample = load_sample(record(), Files(tmp_path), ground_truth=None)
    with pytest.raises(ManifestError, match="sample f_1: no `rgb` is listed; depth needs an image"):
        image_of(sample, "depth")


def test_a_map_of_another_size_than_its_image_is_named_with_both_sizes() -> None:
    image = np.zeros((4, 6, 3), np.uint8)
    check_size("depth d.npy", (4, 6), image)
    with pytest.raises(ManifestError, match=r"d\.npy is 6x4, but rgb r\.png is 4x6 \(height x"):
        check_size("depth d.npy", (6, 4), image, "rgb r.png")
