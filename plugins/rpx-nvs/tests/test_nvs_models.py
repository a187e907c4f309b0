"""The models: what they answer, what they refuse, and how well they do on real images."""

from pathlib import Path

import numpy as np
import pytest

from rpx_core.contracts import Runtime, Sample, withhold
from rpx_core.demo import write_motorcycle
from rpx_core.errors import AdapterError, ModelError
from rpx_core.manifest import read_manifest
from rpx_nvs.adapters import NumpyNvsOptions, wrap
from rpx_nvs.metrics.psnr import Psnr
from rpx_nvs.metrics.ssim import Ssim
from rpx_nvs.models import copy_source, depth_warp
from rpx_nvs.published import make_numpy_nvs_model
from rpx_nvs.types import NovelViewSynthesisPrediction, NovelViewSynthesisQuery, SourceView

RUNTIME = Runtime("cpu", 0, Path())
INTRINSICS = np.array([[20.0, 0, 4], [0, 20.0, 2], [0, 0, 1]])
SHAPE = (5, 9)


def sample(depth=2.0, size=SHAPE, intrinsics=INTRINSICS, shift=0.2):
    rng = np.random.default_rng(5)
    pose = np.eye(4)
    pose[0, 3] = shift
    source = SourceView(
        rng.integers(0, 256, (*SHAPE, 3), np.uint8),
        np.eye(4),
        intrinsics,
        None if depth is None else np.full(SHAPE, depth, np.float32),
    )
    query = NovelViewSynthesisQuery(pose, pose, size, (source,), intrinsics)
    return withhold(Sample("s1", rgb=source.rgb, query=query))


@pytest.fixture(scope="module")
def motorcycle(tmp_path_factory, task):
    manifest = read_manifest(write_motorcycle(tmp_path_factory.mktemp("motorcycle")))
    (record,) = task().arrange(manifest.records(manifest.entries), manifest.files)
    return task().load(record, manifest.files)


def predict(model, one):
    (prediction,) = model.predict([withhold(one)])
    return prediction


def test_real_right_view_is_near_when_warped_and_far_when_copied(motorcycle, task):
    truth = motorcycle.ground_truth
    scores = {}
    for name, module in (("warp", depth_warp), ("copy", copy_source)):
        model = module.load(None, RUNTIME)
        prediction = task().validate(predict(model, motorcycle), motorcycle)
        for metric in (Psnr(), Ssim()):
            scores[name] = scores.get(name, {}) | metric.result(
                metric.measure(motorcycle, truth, prediction)
            )
    assert scores["warp"]["psnr"] > 21
    assert scores["copy"]["psnr"] < 14
    assert scores["warp"]["ssim"] > scores["copy"]["ssim"] + 0.3


def test_wrong_direction_is_far_off(motorcycle):
    model, truth = depth_warp.load(None, RUNTIME), motorcycle.ground_truth
    query = motorcycle.query
    mirrored = np.linalg.inv(query.target_pose)
    wrong = NovelViewSynthesisQuery(
        mirrored, mirrored, query.target_size, query.sources, query.target_intrinsics
    )
    prediction = predict(model, Sample(motorcycle.id, rgb=motorcycle.rgb, query=wrong))
    state = Psnr().measure(motorcycle, truth, prediction)
    assert Psnr().result(state)["psnr"] < 14


def test_warp_moves_pixels_and_fills_the_gap_from_beside_it():
    one = sample()
    rgb = predict(depth_warp.load(None, RUNTIME), one).rgb
    assert rgb.dtype == np.uint8
    assert (rgb[:, :7] == one.rgb[:, 2:]).all()
    assert (rgb[:, 7:] == one.rgb[:, 8:9]).all()


def test_warp_answers_in_the_target_size():
    assert predict(depth_warp.load(None, RUNTIME), sample(size=(4, 12))).rgb.shape == (4, 12, 3)


@pytest.mark.parametrize("case", [{"depth": 0.0}, {"shift": 1e3}])
def test_warp_without_any_landing_answers_the_mean_colour(case):
    one = sample(**case)
    rgb = predict(depth_warp.load(None, RUNTIME), one).rgb
    assert abs(rgb[0, 0] - one.rgb.mean(axis=(0, 1))).max() <= 0.5
    assert (rgb == rgb[0, 0]).all()


@pytest.mark.parametrize(
    ("case", "missing"), [({"depth": None}, "depth"), ({"intrinsics": None}, "intrinsics")]
)
def test_warp_says_what_it_lacks(case, missing):
    with pytest.raises(ModelError, match=f"s1.*{missing}"):
        predict(depth_warp.load(None, RUNTIME), sample(**case))


def test_copy_resizes_to_the_target():
    one = sample(size=(10, 18))
    rgb = predict(copy_source.load(None, RUNTIME), one).rgb
    assert rgb.shape == (10, 18, 3)
    assert (predict(copy_source.load(None, RUNTIME), sample()).rgb == one.rgb).all()


def test_function_gets_image_and_relative_pose_and_is_fitted_to_the_target():
    seen = {}

    def view(rgb, target_pose):
        seen["pose"] = target_pose
        rgb[:] = 0
        return np.full((2, 2, 3), 0.5)

    one = sample()
    prediction = predict(make_numpy_nvs_model(view, name="flat"), one)
    assert (prediction.rgb == 128).all()
    assert prediction.rgb.shape == (*SHAPE, 3)
    assert (seen["pose"] == one.query.relative_pose).all()
    assert one.rgb.any(), "what the function scribbles on is a copy"


def test_function_may_ask_for_the_absolute_pose():
    away = np.eye(4)
    away[1, 3] = 7
    one = sample()
    query = NovelViewSynthesisQuery(away, np.eye(4), SHAPE, one.query.sources)
    told = []
    model = wrap(
        lambda rgb, pose: told.append(pose) or rgb, NumpyNvsOptions(pose="absolute"), RUNTIME
    )
    predict(model, Sample("s1", rgb=one.rgb, query=query))
    assert (told[0] == away).all()


def test_function_may_return_a_prediction():
    model = make_numpy_nvs_model(lambda rgb, pose: NovelViewSynthesisPrediction(rgb), name="same")
    assert (predict(model, sample()).rgb == sample().rgb).all()


@pytest.mark.parametrize("answer", [None, np.zeros((5, 9)), np.full((5, 9, 3), 700.0)])
def test_function_that_returns_no_image_is_an_adapter_error(answer):
    model = make_numpy_nvs_model(lambda rgb, pose: answer, name="broken")
    with pytest.raises(AdapterError, match=r"s1: (what )?broken returned"):
        predict(model, sample())


def test_a_view_with_rows_and_columns_swapped_is_an_error_not_resized():
    model = make_numpy_nvs_model(lambda rgb, pose: rgb.transpose(1, 0, 2), name="turned")
    with pytest.raises(AdapterError, match=r"s1: turned .* rows and columns are swapped"):
        predict(model, sample())
