"""Predictions: what is accepted, what a run saves, and what scoring reads."""

import io

import numpy as np
import pytest
from PIL import Image

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, ManifestError, ModelError
from rpx_core.images import encode_png
from rpx_core.parts import resolve_part
from rpx_nvs import plugin
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction

SHAPE = (4, 6, 3)
RNG = np.random.default_rng(2)
EIGHT = RNG.integers(0, 256, SHAPE, np.uint8)
FLOATS = RNG.random(SHAPE, np.float32)
SAMPLE = Sample("s1", ground_truth=NovelViewSynthesisGroundTruth(np.zeros(SHAPE, np.uint8)))


def encode(array, kind):
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("rgb", [EIGHT, FLOATS], ids=["uint8", "float32"])
def test_what_a_run_saves_scoring_reads_without_loss(task, rgb):
    valid = task().validate(NovelViewSynthesisPrediction(rgb), SAMPLE)
    stored = task().write_prediction(valid)
    again = task().validate(task().read_prediction(stored, "s1.npy"), SAMPLE)
    assert again.rgb.dtype == rgb.dtype
    assert again.rgb.tobytes() == rgb.tobytes()


def test_png_and_npz_are_read(task):
    buffer = io.BytesIO()
    np.savez(buffer, rgb=EIGHT)
    for name, content in (("s1.png", encode_png(EIGHT)), ("s1.npz", buffer.getvalue())):
        assert (task().read_prediction(content, name).rgb == EIGHT).all()


# RW-099: lossy files change the score.
@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_lossy_files_are_refused(task, kind):
    with pytest.raises(ManifestError, match=f"s1.png: found .*{kind}") as refused:
        task().read_prediction(encode(EIGHT, kind), "s1.png")
    assert "without loss" in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"no image", encode_png(EIGHT)[:60]])
def test_damaged_files_are_one_clear_error(task, content):
    with pytest.raises(ManifestError, match=r"s1\.png"):
        task().read_prediction(content, "s1.png")


def test_transparent_png_is_refused_by_name(task):
    rgba = np.dstack([EIGHT, np.full(SHAPE[:2], 9, np.uint8)])
    with pytest.raises(ManifestError, match=r"s1\.png: has transparent pixels"):
        task().read_prediction(encode(rgba, "PNG"), "s1.png")


def test_transparent_png_scores_as_the_array_does(task):
    rgba = np.dstack([EIGHT, RNG.integers(0, 256, SHAPE[:2], np.uint8)])
    over = task(background=(10, 20, 30))
    read = over.read_prediction(encode(rgba, "PNG"), "s1.png")
    assert (read.rgb == over.validate(rgba, SAMPLE).rgb).all()


def test_depth_maps_are_no_views(task):
    stored = encode_npy(np.ones(SHAPE[:2], np.float32))
    read = task().read_prediction(stored, "s1.npy")
    with pytest.raises(ModelError, match=r"s1: the predicted view has shape \(4, 6\)"):
        task().validate(read, SAMPLE)


def test_bare_arrays_are_accepted_and_copied(task):
    valid = task().validate(EIGHT, SAMPLE)
    assert valid.rgb is not EIGHT
    assert (valid.rgb == EIGHT).all()


def test_alpha_needs_the_option(task):
    rgba = np.dstack([EIGHT, np.full(SHAPE[:2], 255, np.uint8)])
    with pytest.raises(ModelError, match=r"s1.*alpha"):
        task().validate(rgba, SAMPLE)
    assert (task(background=(0, 0, 0)).validate(rgba, SAMPLE).rgb == EIGHT).all()


def test_another_size_is_an_error_unless_resizing_is_asked_for(task):
    with pytest.raises(ModelError, match="s1: the predicted view is 4x5; the target is 4x6"):
        task().validate(EIGHT[:, :5], SAMPLE)
    resized = task(resize="bilinear").validate(EIGHT[:2], SAMPLE)
    assert resized.rgb.shape == SHAPE


@pytest.mark.parametrize(
    "options", [{"gap": 0}, {"sources": 0}, {"background": [1, 2]}, {"background": [0, 0, 256]}]
)
def test_impossible_options_are_refused_by_name(options):
    (offered,) = plugin.rpx_tasks()

    class Offer:
        spec, full_name, version = offered, "rpx-nvs/novel_view_synthesis", "0.1.0"

    (name,) = options
    with pytest.raises(ConfigError, match=f"options.{name}"):
        resolve_part(Offer(), options, field_name="options")
