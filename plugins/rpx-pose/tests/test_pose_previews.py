"""The pictures: drawn for every kind of answer, without touching the images."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_pose.previews.canvas import RIGHT, UNKNOWN, WRONG, Canvas, hues, side_by_side
from rpx_pose.previews.epipolar_lines import COLUMNS, ROWS
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    PairQuery,
    RelativePoseGroundTruth,
    RelativePosePrediction,
    Trajectory,
    TrajectoryPrediction,
)

CAMERA = np.array([[100.0, 0, 40], [0, 100, 30], [0, 0, 1]])
GREY = np.full((60, 80, 3), 90, np.uint8)
SIDEWAYS = RelativePoseGroundTruth(np.eye(3), np.array([1.0, 0, 0]))


def sample(**more) -> Sample:
    keys = {"rgb": GREY, "intrinsics": CAMERA, "query": PairQuery(GREY, CAMERA)}
    return Sample("s", **{**keys, **more})


def has(picture, colour) -> bool:
    return bool((picture.image == np.array(colour)).all(axis=-1).any())


def test_epipolar_lines_of_a_sideways_camera_are_horizontal(make_task):
    answer = RelativePosePrediction(SIDEWAYS.rotation, SIDEWAYS.translation)
    pictures = make_task("relative_camera_pose").preview(Frame(sample(), SIDEWAYS, answer))
    assert [picture.caption for picture in pictures] == [
        "first image",
        "second image, true lines",
        "second image, predicted lines",
    ]
    np.testing.assert_array_equal(pictures[1].image, pictures[2].image)
    assert (GREY == 90).all()
    rows = []
    for colour in hues(COLUMNS * ROWS):
        coloured = (pictures[1].image == colour).all(axis=-1).sum(axis=1)
        assert coloured.max() > 60
        rows.append(int(coloured.argmax()))
    # Points of one row of the grid have lines of their own.
    assert np.diff(rows).min() >= 4


@pytest.mark.parametrize(
    "answer",
    [
        RelativePosePrediction.no_pose(),
        RelativePosePrediction(np.eye(3), np.zeros(3)),
        RelativePosePrediction(np.diag([-1.0, 1, -1]), np.array([0.0, 0, 1])),
    ],
)
def test_answers_without_lines_are_drawn_too(make_task, answer):
    pictures = make_task("relative_camera_pose").preview(Frame(sample(), SIDEWAYS, answer))
    assert all(picture.image.shape == (60, 80, 3) for picture in pictures)


def test_without_intrinsics_there_are_only_the_images(make_task):
    bare = sample(intrinsics=None)
    answer = RelativePosePrediction.no_pose()
    pictures = make_task("relative_camera_pose").preview(Frame(bare, SIDEWAYS, answer))
    assert [picture.caption for picture in pictures] == ["first image", "second image"]


def test_matches_are_coloured_by_what_they_are_worth(make_task):
    truth = KeypointCorrespondenceGroundTruth(
        np.array([[10.0, 10], [40, 40]]), np.array([[20.0, 10], [50, 40]])
    )
    starts = np.array([[10.0, 10], [40, 40], [70, 20]])
    shifts = np.array([[10, 0], [30, 5], [1, 1]])
    answer = KeypointCorrespondencePrediction(starts, starts + shifts)
    pictures = make_task("keypoint_matching").preview(Frame(sample(), truth, answer))
    assert [picture.caption for picture in pictures] == [
        "both images",
        "true matches",
        "predicted matches",
    ]
    assert all(has(pictures[2], colour) for colour in (RIGHT, WRONG, UNKNOWN))
    assert not has(pictures[0], RIGHT)
    nothing = KeypointCorrespondencePrediction(np.zeros((0, 2)), np.zeros((0, 2)))
    empty = make_task("keypoint_matching").preview(Frame(sample(), truth, nothing))
    np.testing.assert_array_equal(empty[2].image, empty[0].image)


@pytest.mark.parametrize("count", [1, 2, 30])
def test_paths_are_drawn_however_short(make_task, count):
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, 0, 3] = np.arange(count)
    poses[:, 1, 3] = np.sin(np.arange(count))
    every = np.arange(count)
    answer = TrajectoryPrediction(Trajectory(poses + 0.0), every, every)
    frame = Frame(Sample("s"), Trajectory(poses), answer)
    pictures = make_task("trajectory").preview(frame)
    assert [picture.caption for picture in pictures] == ["paths from above", "position error"]
    assert all(picture.image.dtype == np.uint8 for picture in pictures)


def test_large_images_are_drawn_smaller():
    canvas = Canvas(np.zeros((1000, 2000, 3), np.uint8))
    canvas.dot(1999, 999, RIGHT)
    canvas.line(np.array([[np.nan, 0], [1e30, 5]]), RIGHT)
    assert canvas.pixels().shape == (400, 800, 3)


def test_images_of_different_height_stand_side_by_side():
    picture, start = side_by_side(GREY, np.zeros((30, 20, 3), np.uint8))
    assert picture.shape == (60, 104, 3)
    assert start == 84
