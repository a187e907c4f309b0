"""What a prediction must be, and the files that it is stored in."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Frame, Sample
from rpx_core.errors import AdapterError, ManifestError, ModelError
from rpx_core.images import encode_png
from rpx_seg.adapters import NumpySemanticModel, wrap, wrap_semantic
from rpx_seg.object_segmentation import ObjectSegmentation, ObjectSegmentationOptions
from rpx_seg.published import make_numpy_mask_model
from rpx_seg.semantic_segmentation import SemanticSegmentation, SemanticSegmentationOptions
from rpx_seg.types import (
    SegmentationGroundTruth,
    SegmentationPrediction,
    SemanticGroundTruth,
    SemanticPrediction,
)

MASK = np.array([[0, 3, 3], [700, 700, 0]], np.int32)
RGB = np.full((2, 3, 3), 90, np.uint8)


def instance(**options) -> ObjectSegmentation:
    return ObjectSegmentation(ObjectSegmentationOptions(**options))


def semantic(**options) -> SemanticSegmentation:
    return SemanticSegmentation(SemanticSegmentationOptions(**options))


def instance_sample() -> Sample:
    return Sample("s1", rgb=RGB, ground_truth=SegmentationGroundTruth(MASK))


def semantic_sample(classes=None, void=frozenset({255})) -> Sample:
    truth = SemanticGroundTruth(np.zeros((2, 3), np.int32), classes or {}, void)
    return Sample("s1", rgb=RGB, ground_truth=truth)


TASKS = [(instance(), instance_sample()), (semantic(), semantic_sample())]


@pytest.mark.parametrize(("task", "sample"), TASKS, ids=["instance", "semantic"])
@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (MASK.tolist(), "is a list"),
        (None, "is None"),
        (MASK.astype(np.float32), "dtype float32"),
        (MASK.astype("U3"), "dtype <U3"),
        (np.stack([MASK] * 3, axis=2), r"shape \(2, 3, 3\)"),
        (MASK[None], r"shape \(1, 2, 3\)"),
        (np.zeros((0, 3), np.int32), r"shape \(0, 3\)"),
        (MASK - 1, "negative id -1"),
        (MASK.T, r"is \(3, 2\); the ground truth is \(2, 3\)"),
        (MASK.astype(np.int64) * 2**40, "32 bits"),
    ],
)
def test_what_is_no_mask_is_refused_with_the_sample_named(task, sample, mask, words):
    with pytest.raises(ModelError, match=f"sample s1: the predicted mask.*{words}"):
        task.validate(mask, sample)


@pytest.mark.parametrize(("task", "sample"), TASKS, ids=["instance", "semantic"])
@pytest.mark.parametrize("dtype", [np.uint16, np.int64, np.uint64, bool])
def test_validated_masks_are_copies_in_one_type(task, sample, dtype):
    given_mask = np.asfortranarray((MASK > 0) if dtype is bool else MASK).astype(dtype)
    own = task.validate(given_mask, sample).mask
    assert (own.dtype, own.flags.c_contiguous) == (np.int32, True)
    np.testing.assert_array_equal(own, given_mask)
    given_mask[:] = 1
    assert own[0, 0] == 0


@pytest.mark.parametrize("make", [instance, semantic])
def test_masks_of_another_size_are_scaled_only_when_asked(make):
    sample = instance_sample() if make is instance else semantic_sample()
    large = MASK.repeat(2, axis=0).repeat(2, axis=1)
    np.testing.assert_array_equal(make(resize="nearest").validate(large, sample).mask, MASK)


def test_scores_and_labels_cover_the_segments_of_the_mask():
    prediction = SegmentationPrediction(MASK, {3: np.float32(0.5), 700: 1}, {3: "a", 700: "b"})
    own = instance().validate(prediction, instance_sample())
    assert own.scores == {3: 0.5, 700: 1.0}
    assert own.labels == {3: "a", 700: "b"}


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        ({3: 0.5}, None, "segments without a score: 700"),
        (None, {700: "a"}, "segments without a label: 3"),
        ({3: 0.5, 700: 1, 9: 0.1}, None, "a score for segments that the mask does not hold: 9"),
        (None, {3: "a", 700: "b", 9: "c"}, "a label for segments .* does not hold: 9"),
        ([0.5, 0.5], None, "scores are a list"),
        ({3: np.nan, 700: 1}, None, "score of segment 3 is nan"),
        ({3: "high", 700: 1}, None, "score of segment 3"),
        (None, {3: 5, 700: "a"}, "label of segment 3"),
        (None, {3: "", 700: "a"}, "label of segment 3"),
        (None, {3: "a\0", 700: "a"}, "label of segment 3"),
        (None, {3: "\ud800", 700: "a"}, "label of segment 3"),
    ],
)
def test_incomplete_scores_and_labels_are_refused(scores, labels, words):
    with pytest.raises(ModelError, match=f"sample s1: .*{words}"):
        instance().validate(SegmentationPrediction(MASK, scores, labels), instance_sample())


def answered(answer, size=(2, 3)):
    image = np.zeros((*size, 3), np.uint8)
    (found,) = wrap(lambda rgb: answer, None, None).predict([Sample("s1", rgb=image)])
    return found


@pytest.mark.parametrize(
    "answer",
    [
        (MASK, [0.5, 0.25]),
        (MASK, [0.25, 0.5], [700, 3]),
        (MASK, {3: 0.5, 700: 0.25}),
        {"mask": MASK.tolist(), "scores": np.array([0.5, 0.25])},
        {"mask": MASK, "ids": [700, 3], "scores": [0.25, 0.5], "labels": ["b", "a"]},
    ],
)
def test_a_function_may_return_scores_beside_its_mask(answer):
    found = answered(answer)
    np.testing.assert_array_equal(found.mask, MASK)
    assert found.scores == {3: 0.5, 700: 0.25}
    assert found.labels in (None, {3: "a", 700: "b"})


def test_scores_of_segments_that_scaling_loses_are_left_out():
    large = np.zeros((4, 4), np.uint8)
    large[2:, 2:], large[0, 0] = 1, 2
    found = answered((large, [0.5, 0.25]), size=(2, 2))
    assert set(np.unique(found.mask)) - {0} == set(found.scores)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "returned None; a mask of ids"),
        ((MASK, [0.5]), "returned 1 score for 2 segments: 3, 700"),
        ((MASK,), "returned a tuple of 1"),
        ({"masks": MASK}, "returned a dict of masks; `mask` and"),
        (MASK * 0.5, "returned float64; whole ids"),
    ],
)
def test_answers_that_are_no_segments_name_the_sample_and_the_function(answer, words):
    with pytest.raises(AdapterError, match=f"sample s1: <lambda> {words}"):
        answered(answer)


def test_classes_that_the_dataset_does_not_know_are_refused():
    sample = semantic_sample({1: "table", 2: "mug"})
    with pytest.raises(ModelError, match="predicted class 7 is none of the dataset's: 1 table"):
        semantic().validate(np.full((2, 3), 7), sample)
    mapped = semantic(prediction_map={"7": 2})
    own = mapped.validate(np.full((2, 3), 7), sample)
    assert own.mask.max() == 7
    with pytest.raises(ModelError, match="predicted class 70000"):
        semantic().validate(np.full((2, 3), 70_000), semantic_sample())


def test_aligning_translates_and_lets_ignored_ids_abstain():
    task = semantic(prediction_map={"7": 2, "*": 1})
    sample = semantic_sample({1: "table", 2: "mug"}, frozenset({1}))
    prediction = task.validate(np.array([[7, 7, 8], [9, 7, 7]]), sample)
    frame = Frame(sample, sample.ground_truth, prediction)
    (aligned,) = task.align("none", [frame])
    assert aligned.prediction.mask.tolist() == [[2, 2, -1], [-1, 2, 2]]
    assert prediction.mask.tolist() == [[7, 7, 8], [9, 7, 7]]


ids = st.integers(1, 2**31 - 1)


@st.composite
def predictions(draw) -> SegmentationPrediction:
    used = draw(st.lists(ids, max_size=4, unique=True))
    mask = draw(arrays(np.int32, (3, 4), elements=st.sampled_from([0, *used])))
    present = [int(i) for i in np.unique(mask) if i > 0]
    number = st.floats(allow_nan=False, allow_infinity=False)
    scores = {i: draw(number) for i in present} if draw(st.booleans()) else None
    text = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=9)
    labels = {i: draw(text) for i in present} if draw(st.booleans()) else None
    return SegmentationPrediction(mask, scores, labels)


@given(predictions())
def test_saved_segments_come_back_as_they_were(prediction):
    task = instance()
    stored = task.read_prediction(task.write_prediction(prediction), "a.npz")
    np.testing.assert_array_equal(stored.mask, prediction.mask)
    assert stored.scores == prediction.scores
    assert stored.labels == prediction.labels


@given(arrays(np.int32, (3, 4), elements=st.integers(0, 65_535)))
def test_saved_class_maps_come_back_as_they_were(mask):
    task = semantic()
    stored = task.read_prediction(task.write_prediction(SemanticPrediction(mask)), "a.png")
    np.testing.assert_array_equal(stored.mask, mask)


def npz(**parts) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **parts)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        encode_png(MASK.astype(np.uint16)),
        encode_npy(MASK),
        npz(anything=MASK),
        npz(mask=MASK, ids=np.array([3, 700])),
    ],
)
def test_bare_maps_are_read_from_any_format(content):
    stored = instance().read_prediction(content, "a.png")
    np.testing.assert_array_equal(stored.mask, MASK)
    assert (stored.scores, stored.labels) == (None, None)


def test_labels_are_read_as_numpy_stores_text():
    names = np.array(["mug", "Straße"])
    stored = instance().read_prediction(
        npz(mask=MASK, ids=np.array([3, 700]), scores=np.array([1, 0.5]), labels=names), "a.npz"
    )
    assert stored.labels == {3: "mug", 700: "Straße"}
    assert stored.scores == {3: 1.0, 700: 0.5}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (npz(mask=MASK, scores=np.ones(2)), "holds the arrays mask, scores"),
        (npz(mask=MASK, ids=np.arange(2), other=MASK), "holds the arrays ids, mask, other"),
        (npz(mask=MASK, ids=np.array([3, 3])), "different whole numbers"),
        (npz(mask=MASK, ids=np.array([3.0])), "different whole numbers"),
        (npz(mask=MASK, ids=np.arange(2), scores=np.ones(3)), r"`scores` has shape \(3,\)"),
        (
            npz(mask=MASK, ids=np.arange(2), labels=np.ones((2, 3))),
            "labels. are float64",
        ),
        (
            npz(mask=MASK, ids=np.arange(2), labels=np.array(["mug"])),
            r"`labels` has shape \(1,\)",
        ),
        (npz(mask=MASK, ids=np.arange(1), labels=np.array([b"mug"])), "only integers"),
        (npz(mask=MASK.astype(float), ids=np.arange(1)), "`mask` is float64"),
        (npz(mask=MASK, ids=np.array(["a"])), "only integers"),
        (b"PK\x03\x04rubbish", "damaged"),
        (encode_png(np.zeros((2, 3, 3), np.uint8)), "holds RGB colours"),
        (encode_npy(MASK - 5), "negative"),
    ],
)
def test_wrong_prediction_file_is_named(content, words):
    with pytest.raises(ManifestError, match=words) as caught:
        instance().read_prediction(content, "broken.npz")
    assert "broken.npz" in str(caught.value)


def test_function_becomes_a_model_and_its_ids_are_kept_when_scaled():
    model = make_numpy_mask_model(lambda rgb: np.array([[0, 500]]), name="halves")
    model.setup()
    (prediction,) = model.predict([instance_sample()])
    assert prediction.mask.tolist() == [[0, 500, 500], [0, 500, 500]]
    assert (model.name, model.task) == ("halves", "object_segmentation")


def test_function_may_return_scores_and_does_not_touch_the_image():
    def scribble(rgb):
        rgb[:] = 0
        return SegmentationPrediction(np.ones((2, 3), int), {1: 0.5})

    sample = instance_sample()
    (prediction,) = wrap(scribble, None, None).predict([sample])
    assert prediction.scores == {1: 0.5}
    assert sample.rgb.min() == 90


def test_function_from_image_to_classes_becomes_a_semantic_model():
    model = wrap_semantic(lambda rgb: np.ones(rgb.shape[:2], np.uint8), None, None)
    assert isinstance(model, NumpySemanticModel)
    (prediction,) = model.predict([semantic_sample()])
    assert prediction.mask.tolist() == [[1, 1, 1]] * 2
    assert (model.name, model.task) == ("<lambda>", "semantic_segmentation")


@pytest.mark.parametrize("make", [wrap, wrap_semantic])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.ones((2, 3)), "returned float64"),
        (np.ones((1, 2, 3), int), r"shape \(1, 2, 3\)"),
        (json.dumps([1]), "a mask of ids was expected"),
        (None, "returned None"),
    ],
)
def test_function_that_returns_no_ids_is_refused(make, answer, words):
    with pytest.raises(AdapterError, match=f"sample s1: .*{words}"):
        make(lambda rgb: answer, None, None).predict([instance_sample()])


def test_sample_without_image_has_nothing_to_segment():
    with pytest.raises(ModelError, match="s2"):
        wrap(lambda rgb: MASK, None, None).predict([Sample("s2")])


def test_boundary_of_a_prediction_is_thin():
    task, sample = TASKS[0]
    boundary = task.boundary(SegmentationPrediction(MASK), sample)
    assert boundary.tolist() == [[True, True, True], [False, True, False]]
    assert semantic().boundary(SemanticPrediction(MASK), sample).tolist() == boundary.tolist()


@pytest.mark.parametrize("make", [instance, semantic])
def test_a_prediction_of_more_labels_than_can_be_compared_is_refused(make):
    picture = np.arange(4097).reshape(17, 241)
    truth = np.zeros(picture.shape, np.int32)
    kind = SegmentationGroundTruth if make is instance else SemanticGroundTruth
    asked = Sample("s1", rgb=np.zeros((17, 241, 3), np.uint8), ground_truth=kind(truth))
    with pytest.raises(ModelError, match=r"sample s1: .*holds 4,097 labels") as caught:
        make().validate(picture, asked)
    assert "one id for each" in caught.value.hint
    make().validate(picture % 4096, asked)


@pytest.mark.parametrize("make", [wrap, wrap_semantic])
def test_a_mask_with_rows_and_columns_swapped_is_an_error_not_resized(make):
    model = make(lambda rgb: np.zeros((3, 2), int), None, None)
    with pytest.raises(AdapterError, match=r"sample s1: .* rows and columns are swapped"):
        model.predict([Sample("s1", rgb=RGB)])


@pytest.mark.parametrize(
    ("task", "kind"), [(instance(), SegmentationGroundTruth), (semantic(), SemanticGroundTruth)]
)
def test_a_truth_of_another_size_than_its_image_is_refused_before_the_model_is_asked(task, kind):
    turned = Sample("s1", rgb=RGB, ground_truth=kind(MASK.T))
    with pytest.raises(ManifestError, match=r"sample s1: `mask` .* \(3, 2\), .* \(2, 3\)"):
        task.complete(turned)
    deep = Sample("s1", rgb=RGB, ground_truth=kind(MASK, depth=np.ones((4, 6), np.float32)))
    with pytest.raises(ManifestError, match=r"`depth` .* \(4, 6\), .* \(2, 3\)"):
        task.complete(deep)
    whole = Sample("s1", rgb=RGB, ground_truth=kind(MASK, depth=np.ones((2, 3), np.uint16)))
    with pytest.raises(ManifestError, match=r"`depth` .* uint16; metres as floats"):
        task.complete(whole)
    task.complete(Sample("s1", ground_truth=kind(MASK.T)))
    task.complete(Sample("s1", rgb=RGB))
