"""The models and the adapter, on made-up cameras and on the real stereo pair of scikit-image."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Runtime, Sample, withhold
from rpx_core.errors import AdapterError, ModelError
from rpx_core.testing import values_of
from rpx_depth import adapters
from rpx_depth.metrics.errors import DepthErrors
from rpx_depth.models import ground_plane, mean_depth, stereo_sgbm
from rpx_depth.published import make_numpy_depth_model
from rpx_depth.types import DepthGroundTruth, DepthQuery

RUNTIME = Runtime(device="cpu", seed=0, cache=None)
ERRORS = DepthErrors()


def image(height=6, width=8, **fields) -> Sample:
    return Sample("s1", rgb=np.full((height, width, 3), 90, np.uint8), **fields)


def predict(model, *samples: Sample) -> list[np.ndarray]:
    model.setup()
    return [prediction.depth_map for prediction in model.predict([withhold(s) for s in samples])]


@pytest.fixture(scope="module")
def real_pair(motorcycle, task) -> Sample:
    return task().load(*motorcycle)


def errors_on(sample: Sample, task, depth: np.ndarray) -> dict:
    prediction = task().validate(depth, sample)
    (aligned,) = task().align("none", [Frame(sample, sample.ground_truth, prediction)])
    state = ERRORS.measure(sample, sample.ground_truth, aligned.prediction)
    return dict(values_of(ERRORS, state))


# 0.0147 and 0.871 with OpenCV 4.14.
def test_stereo_on_the_real_pair(real_pair, task):
    options = stereo_sgbm.StereoSgbmOptions()
    (depth,) = predict(stereo_sgbm.load(options, RUNTIME), real_pair)
    got = errors_on(real_pair, task, depth)
    assert 0.0140 <= got["absrel"] <= 0.0155
    assert 0.85 <= got["coverage"] <= 0.89
    assert got["scale_ratio"] == pytest.approx(1, abs=0.02)


def test_stereo_leaves_the_columns_without_search_range_unanswered(real_pair):
    options = stereo_sgbm.StereoSgbmOptions(num_disparities=64)
    (depth,) = predict(stereo_sgbm.load(options, RUNTIME), real_pair)
    assert not depth[:, :64].any()
    assert depth[:, 64:].any()


def test_stereo_of_a_shifted_pattern_has_the_depth_of_the_shift():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 255, (60, 120, 3), dtype=np.uint8)
    right = np.roll(left, -8, axis=1)
    left_camera = np.array([[200.0, 0, 60], [0, 200, 30], [0, 0, 1]])
    right_camera = np.array([[200.0, 0, 62], [0, 200, 30], [0, 0, 1]])
    options = stereo_sgbm.StereoSgbmOptions(num_disparities=16)
    sample = Sample(
        "s", rgb=left, intrinsics=left_camera, query=DepthQuery(right, right_camera, 0.1)
    )
    (depth,) = predict(stereo_sgbm.load(options, RUNTIME), sample)
    assert np.median(depth[depth > 0]) == pytest.approx(200 * 0.1 / (8 + 2), rel=1e-3)
    assert np.count_nonzero(depth) > 0.7 * depth.size
    alone = Sample("s", rgb=left, intrinsics=left_camera, query=DepthQuery(right, None, 0.1))
    (without,) = predict(stereo_sgbm.load(options, RUNTIME), alone)
    assert np.median(without[without > 0]) == pytest.approx(200 * 0.1 / 8, rel=1e-3)


@pytest.mark.parametrize(
    "fields",
    [
        {"query": DepthQuery()},
        {"query": None},
        {"query": DepthQuery(np.zeros((6, 8, 3), np.uint8), None, None)},
        {"query": DepthQuery(np.zeros((6, 8, 3), np.uint8), None, 0.1)},
    ],
)
def test_stereo_without_all_it_needs_names_the_sample(fields):
    model = stereo_sgbm.load(stereo_sgbm.StereoSgbmOptions(), RUNTIME)
    with pytest.raises(ModelError, match=r"s1.*rgb_right"):
        predict(model, image(**fields))


def test_mean_depth_answers_its_option_everywhere():
    options = mean_depth.MeanDepthOptions(depth_m=1.5)
    first, second = predict(mean_depth.load(options, RUNTIME), image(6, 8), image(3, 4))
    assert (first.shape, second.shape) == ((6, 8), (3, 4))
    assert set(first.ravel()) == {1.5}


def test_ground_plane_agrees_with_the_geometry():
    camera = np.array([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]])
    options = ground_plane.GroundPlaneOptions(height_m=0.5, pitch_deg=30, far_m=2)
    (depth,) = predict(ground_plane.load(options, RUNTIME), image(480, 640, intrinsics=camera))
    # The optical axis meets a plane half a metre below at 0.5 / sin 30° = 1 m.
    assert np.all(depth[240] == pytest.approx(1, abs=1e-6))
    # 45° below the horizon lies 15° below the axis: 0.707 m along the ray, times cos 15°.
    row = 240 + round(500 * np.tan(np.radians(15)))
    assert depth[row, 0] == pytest.approx(
        0.5 / np.sin(np.radians(45)) * np.cos(np.radians(15)), rel=1e-3
    )
    assert np.all(depth[0] == pytest.approx(2))
    assert np.all(np.diff(depth[:, 7]) <= 0)


def test_ground_plane_needs_no_intrinsics():
    model = ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME)
    for height, width in ((1, 1), (480, 640), (7, 300)):
        (depth,) = predict(model, image(height, width))
        assert depth.shape == (height, width)
        assert np.all((depth > 0) & (depth <= 2))


def test_ground_plane_below_the_horizon_only_answers_the_far_end():
    options = ground_plane.GroundPlaneOptions(pitch_deg=-90)
    (depth,) = predict(ground_plane.load(options, RUNTIME), image())
    assert set(depth.ravel()) == {2.0}


@pytest.mark.parametrize(
    "model",
    [
        mean_depth.load(mean_depth.MeanDepthOptions(), RUNTIME),
        ground_plane.load(ground_plane.GroundPlaneOptions(), RUNTIME),
        make_numpy_depth_model(lambda rgb: rgb[..., 0] / 100, name="red"),
    ],
)
def test_sample_without_image_is_named(model):
    with pytest.raises(ModelError, match=r"s9.*image"):
        predict(model, Sample("s9"))


def test_function_becomes_a_model_whose_map_has_the_size_of_the_image(task):
    model = make_numpy_depth_model(lambda rgb: np.full((3, 4), rgb[0, 0, 0] / 100), name="red")
    (depth,) = predict(model, image())
    assert (model.name, model.task) == ("red", "monocular_depth")
    sample = image(ground_truth=DepthGroundTruth(np.ones((6, 8), np.float32)))
    np.testing.assert_array_equal(
        task().validate(depth, sample).depth_map, np.full((6, 8), 0.9, np.float32)
    )


def test_function_may_scribble_on_its_image():
    def scribble(rgb):
        rgb[:] = 0
        return np.ones(rgb.shape[:2], np.float32)

    sample = image()
    predict(make_numpy_depth_model(scribble, name="rude"), sample)
    assert np.all(sample.rgb == 90)


def test_adapter_names_the_model_after_the_function():
    def my_depth(rgb):
        return np.ones(rgb.shape[:2])

    assert adapters.wrap_depth(my_depth, None, RUNTIME).name == "my_depth"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (np.ones((1, 6, 8)), r"shape \(1, 6, 8\)"),
        (np.ones(48), r"shape \(48,\)"),
        (np.ones((0, 8)), r"shape \(0, 8\)"),
        (np.ones((6, 8), np.uint16), "uint16"),
        (None, "None; an array of metres"),
        ("depth", "<U5"),
    ],
)
def test_function_that_returns_no_depth_map_is_named(output, words):
    model = make_numpy_depth_model(lambda rgb: output, name="odd")
    with pytest.raises(AdapterError, match=f"s1: odd returned .*{words}"):
        predict(model, image())


def test_swapped_rows_and_columns_are_an_error_not_resized():
    model = make_numpy_depth_model(lambda rgb: np.ones(rgb.shape[1::-1]), name="turned")
    image = Sample(id="a", rgb=np.zeros((4, 6, 3), np.uint8))
    with pytest.raises(AdapterError, match="rows and columns are swapped"):
        predict(model, image)
