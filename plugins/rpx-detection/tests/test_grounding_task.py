"""What the grounding task reads, accepts, refuses, writes and shows."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_detection.grounding import VisualGrounding
from rpx_detection.types import (
    GroundingQuery,
    VisualGroundingGroundTruth,
    VisualGroundingPrediction,
)

TASK = VisualGrounding()
BOX = [10, 10, 50, 50]


def sample() -> Sample:
    return Sample("s7", np.zeros((480, 640, 3), np.uint8), query=GroundingQuery("the mug"))


def test_every_expression_of_a_frame_is_a_sample(folder):
    folder.put_json(
        "expressions",
        [
            {"text": "the mug", "boxes": [BOX]},
            {"text": "all cups", "boxes": [BOX, [0, 0, 5, 5]]},
            {"text": "the red fork", "boxes": []},
        ],
    )
    # The boxes of the frame's detection task are another thing.
    folder.put_json("boxes", [{"bbox": [1, 1, 2, 2], "label": "pin"}])
    samples = folder.load_grounding()
    assert [one.id for one in samples] == [f"scene1_clutter_00007#{n}" for n in range(3)]
    assert [one.query.text for one in samples] == ["the mug", "all cups", "the red fork"]
    assert [one.ground_truth.boxes.shape for one in samples] == [(1, 4), (2, 4), (0, 4)]
    assert {(one.scene, one.sequence, one.frame) for one in samples} == {
        ("scene1", "scene1_clutter", 7)
    }
    assert samples[0].ground_truth.text == "the mug"


def test_published_records_are_one_sample(folder):
    folder.keys |= {"text": "the mug", "boxes": [BOX], "labels": ["mug"]}
    (one,) = folder.load_grounding()
    assert one.id == "scene1_clutter_00007"
    assert one.ground_truth.boxes.tolist() == [BOX]
    assert one.ground_truth.labels == ("mug",)


def test_boxes_may_lie_in_a_file_and_name_their_label(folder):
    folder.keys["text"] = "the mug"
    folder.put_json("boxes", [{"bbox": BOX, "label": "mug"}])
    (one,) = folder.load_grounding()
    assert one.ground_truth.boxes.tolist() == [BOX]


def test_frames_without_expressions_give_no_sample(folder):
    folder.keys["expressions"] = []
    assert folder.load_grounding() == []


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "text is None"),
        ({"text": " ", "boxes": [BOX]}, "text is ' '"),
        ({"text": 3, "boxes": [BOX]}, "text is 3"),
        ({"text": "the mug"}, "a list was expected"),
        ({"text": "the mug", "boxes": [[1, 2, 3]]}, "is no box"),
        ({"text": "the mug", "boxes": [[50, 50, 10, 10]]}, "has no area"),
        ({"text": "the mug", "boxes": [[90, 0, 99, 9]]}, "outside the image"),
        ({"text": "the mug", "boxes": [BOX], "labels": [3]}, "labels"),
        ({"text": "the mug", "boxes": [BOX], "labels": "mug"}, "labels"),
        ({"text": "the mug", "boxes": [], "rgb": None}, "no `rgb`"),
        ({"expressions": {"text": "x"}}, "a list was expected"),
        ({"expressions": [{"text": "x"}]}, "an object of `text` and `boxes`"),
        ({"expressions": ["x"]}, "an object of `text` and `boxes`"),
    ],
)
def test_records_that_break_the_format_are_refused(folder, keys, words):
    folder.keys |= keys
    with pytest.raises(ManifestError, match=words) as caught:
        folder.load_grounding()
    assert "scene1_clutter_00007" in caught.value.message


@pytest.mark.parametrize("boxes", [None, [], np.zeros(0), np.zeros((0, 4))])
def test_every_shape_of_nothing_refuses_to_answer(boxes):
    found = TASK.validate(VisualGroundingPrediction(boxes, None), sample())
    assert (found.boxes.shape, found.scores.shape) == ((0, 4), (0,))


def test_one_box_needs_no_score_but_several_do():
    # RW-057
    found = TASK.validate(VisualGroundingPrediction([BOX], None), sample())
    assert found.scores.tolist() == [1.0]
    with pytest.raises(ModelError, match="sample s7: 2 boxes but scores"):
        TASK.validate(VisualGroundingPrediction([BOX, BOX], None), sample())


@pytest.mark.parametrize(
    ("boxes", "scores", "words"),
    [
        ([BOX], [np.nan], "scores hold NaN"),
        ([[0, 0, np.inf, 1]], [1], "boxes hold NaN or infinity"),
        (BOX, [1], r"shape \(4,\)"),
        ([BOX], [1, 2], "1 box but scores"),
    ],
)
def test_answers_that_cannot_be_scored_are_refused(boxes, scores, words):
    with pytest.raises(ModelError, match=words):
        TASK.validate(VisualGroundingPrediction(boxes, scores), sample())
    with pytest.raises(ModelError, match="VisualGroundingPrediction was expected"):
        TASK.validate((boxes, scores), sample())


def test_predictions_survive_their_file_bit_for_bit(tmp_path):
    written = VisualGroundingPrediction(np.array([[0.1, 1 / 3, 5, 7e6]]), np.array([-1e-17]))
    for one in (written, VisualGroundingPrediction(np.zeros((0, 4)), np.zeros(0))):
        stored = TASK.read_prediction(TASK.write_prediction(one), "s7.json")
        found = TASK.validate(stored, sample())
        assert found.boxes.tobytes() == one.boxes.tobytes()
        assert found.scores.tobytes() == one.scores.tobytes()
    path = tmp_path / "s7.npz"
    np.savez(path, boxes=written.boxes, scores=written.scores)
    stored = TASK.read_prediction(path.read_bytes(), "s7.npz")
    assert TASK.validate(stored, sample()).boxes.tobytes() == written.boxes.tobytes()


def test_files_declare_the_space_of_their_coordinates():
    # RW-058
    data = b'{"boxes": [[100, 100, 500, 500]], "scores": [1], "space": "thousand"}'
    found = TASK.validate(TASK.read_prediction(data, "s7.json"), sample())
    assert found.boxes.tolist() == [[64, 48, 320, 240]]
    with pytest.raises(ManifestError, match="space is 'percent'"):
        TASK.read_prediction(data.replace(b"thousand", b"percent"), "s7.json")


def test_preview_shows_the_expression_and_the_answer():
    rgb = np.full((240, 320, 3), 128, np.uint8)
    truth = VisualGroundingGroundTruth("the mug", np.array([BOX], np.float64))
    nothing = VisualGroundingGroundTruth("the fork", np.zeros((0, 4)))
    answer = VisualGroundingPrediction(np.array([BOX, [0, 0, 9, 9]], np.float64), np.array([2, 1]))
    silence = VisualGroundingPrediction(np.zeros((0, 4)), np.zeros(0))
    for target in (truth, nothing):
        for said in (answer, silence):
            pictures = TASK.preview(Frame(Sample("s", rgb), target, said))
            captions = [picture.caption for picture in pictures]
            assert captions == ["rgb", "ground truth", "prediction"]
            assert all(picture.image.shape == (480, 640, 3) for picture in pictures[1:])
    assert TASK.preview(Frame(Sample("s"), truth, answer)) == []
