"""What the detection tasks read, accept, refuse, write and show."""

import json

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ConfigError, ManifestError, ModelError
from rpx_detection.detection import (
    ObjectDetection,
    ObjectDetectionOptions,
    OpenVocabDetection,
    OpenVocabDetectionOptions,
)
from rpx_detection.types import DetectionPrediction, DetectionQuery

TASK = ObjectDetection(ObjectDetectionOptions())
BOX = [10, 10, 50, 50]


def sample_with(*vocabulary: str) -> Sample:
    return Sample("s7", np.zeros((480, 640, 3), np.uint8), query=DetectionQuery(vocabulary))


def predicted(boxes, scores, labels) -> DetectionPrediction:
    return DetectionPrediction(boxes, scores, labels)


def test_objects_come_with_all_that_the_file_says(folder):
    folder.put_json(
        "boxes",
        [
            {"bbox": BOX, "label": "mug", "track_id": "001-1"},
            {"bbox": [0, 0.5, 80, 60], "label": "mugs", "iscrowd": 1, "area": 12.5},
            {"bbox": [0, 0, 5, 5], "label": "box", "ignore": True, "metadata": {"by": "me"}},
        ],
    )
    truth = folder.load().ground_truth
    assert truth.boxes.tolist() == [BOX, [0, 0.5, 80, 60], [0, 0, 5, 5]]
    assert truth.labels == ("mug", "mugs", "box")
    assert truth.crowd.tolist() == [False, True, False]
    assert truth.ignore.tolist() == [False, False, True]
    assert truth.area.tolist() == [1600.0, 12.5, 25.0]
    assert (truth.negative_labels, truth.not_exhaustive_labels) == (None, frozenset())


def test_boxes_may_be_inline_and_none(folder):
    folder.keys["boxes"] = []
    sample = folder.load()
    assert sample.ground_truth.boxes.shape == (0, 4)
    assert sample.rgb.shape == (60, 80, 3)
    assert sample.query.vocabulary == ()


def test_vocabulary_comes_from_the_record_or_the_defaults(folder):
    folder.keys["boxes"] = [{"bbox": BOX, "label": "mug"}]
    folder.header["defaults"] = {"vocabulary": ["box", "mug"]}
    assert folder.load().query.vocabulary == ("box", "mug")
    folder.keys["vocabulary"] = ["mug", "spoon"]
    assert folder.load().query.vocabulary == ("mug", "spoon")


def test_labels_that_were_looked_for_are_kept(folder):
    folder.keys |= {
        "boxes": [{"bbox": BOX, "label": "Mug"}],
        "negative_labels": ["Fork "],
        "not_exhaustive_labels": ["MUG"],
    }
    truth = folder.load(labels="casefold").ground_truth
    assert truth.labels == ("mug",)
    assert (truth.negative_labels, truth.not_exhaustive_labels) == ({"fork"}, {"mug"})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"bbox": BOX}, "boxes.0.: label None"),
        ({"bbox": BOX, "label": 3}, "label 3 is an int"),
        ({"bbox": BOX, "label": "a\x00"}, "not printable"),
        ({"bbox": BOX, "label": " "}, "label ' ' is empty"),
        ({"label": "mug"}, "is no box"),
        ({"bbox": [1, 2, 3], "label": "mug"}, "is no box"),
        ({"bbox": [1, 2, 3, "4"], "label": "mug"}, "is no box"),
        ({"bbox": [1, 2, True, 4], "label": "mug"}, "is no box"),
        ({"bbox": [50, 10, 10, 50], "label": "mug"}, "has no area"),
        ({"bbox": [10, 10, 10, 50], "label": "mug"}, "has no area"),
        ({"bbox": [90, 10, 99, 50], "label": "mug"}, "outside the image, which is 80x60"),
        ({"bbox": [-9, 10, 0, 50], "label": "mug"}, "outside the image"),
        ({"bbox": [0, 0, 1e308, 1e308], "label": "mug"}, r"holds 1e\+308, which is beyond"),
        ({"bbox": [-1e8, 0, 5, 5], "label": "mug"}, r"holds -1e\+08, which is beyond"),
        ({"bbox": BOX, "label": "mug", "area": 1e300}, r"area is 1e\+300"),
        ({"bbox": BOX, "label": "mug", "area": 0}, "area is 0"),
        ({"bbox": BOX, "label": "mug", "area": -4}, "area is -4"),
        ({"bbox": BOX, "label": "mug", "iscrowd": "no"}, "true or false"),
        ({"bbox": BOX, "label": "mug", "is_crowd": 1}, "unknown key 'is_crowd'"),
        ([10, 10, 50, 50], "an object with `bbox` and `label`"),
    ],
)
def test_broken_entries_are_one_error_naming_the_sample(folder, entry, words):
    folder.put_json("boxes", [entry])
    with pytest.raises(ManifestError, match=words) as caught:
        folder.load()
    assert "scene1_clutter_00007" in caught.value.message


def test_a_class_cannot_be_there_and_verified_to_be_absent(folder):
    folder.keys |= {"boxes": [{"bbox": BOX, "label": "Mug"}], "negative_labels": ["mug"]}
    assert folder.load(labels="exact").ground_truth.labels == ("Mug",)
    with pytest.raises(ManifestError, match="'mug' is annotated, and in negative_labels"):
        folder.load(labels="casefold")


def test_numbers_that_json_does_not_have_are_refused(folder):
    folder.put("boxes", "boxes.json", b'[{"bbox": [0, 0, NaN, 5], "label": "mug"}]')
    with pytest.raises(ManifestError, match="NaN"):
        folder.load()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"boxes": {"bbox": BOX}}, "a list was expected"),
        ({"boxes": [], "vocabulary": "mug"}, "list of class names"),
        ({"boxes": [], "vocabulary": ["mug", 3]}, "text was expected"),
        ({"boxes": [], "vocabulary": ["mug", "mug"]}, "listed twice"),
        ({"boxes": [{"bbox": BOX, "label": "cup"}], "vocabulary": ["mug"]}, "not in the vocab"),
        ({"boxes": [], "rgb": None}, "no `rgb`"),
        ({"boxes": [{"bbox": BOX, "label": "mug"}] * 5001}, "holds 5,001 boxes; at most 5,000"),
    ],
)
def test_records_that_break_the_format_are_refused(folder, keys, words):
    folder.keys |= keys
    with pytest.raises(ManifestError, match=words):
        folder.load()


def test_chosen_vocabulary_leaves_other_classes_out_on_both_sides(folder):
    folder.keys |= {
        "boxes": [{"bbox": BOX, "label": "mug"}, {"bbox": [0, 0, 5, 5], "label": "box"}],
        "vocabulary": ["mug", "box", "fork"],
    }
    sample = folder.load(vocabulary=("box",))
    assert sample.query.vocabulary == ("box",)
    assert sample.ground_truth.labels == ("box",)
    assert sample.ground_truth.area.tolist() == [25.0]
    task = ObjectDetection(ObjectDetectionOptions(vocabulary=("box",)))
    found = task.validate(predicted([BOX, BOX], [0.1, 0.9], ["mug", "box"]), sample)
    assert (found.labels, found.scores.tolist()) == (("box",), [0.9])


def test_open_vocabulary_needs_one_and_folds_case(folder):
    folder.keys["boxes"] = [{"bbox": BOX, "label": "Coffee Mug"}]
    with pytest.raises(ManifestError, match="no vocabulary") as caught:
        folder.load_open()
    assert "header" in caught.value.hint
    folder.keys["vocabulary"] = ["coffee  MUG", "Fork"]
    sample = folder.load_open()
    assert sample.query.vocabulary == ("coffee mug", "fork")
    task = OpenVocabDetection(OpenVocabDetectionOptions())
    found = task.validate(predicted([BOX], [1], ["COFFEE mug "]), sample)
    assert found.labels == sample.ground_truth.labels == ("coffee mug",)


def test_options_must_name_classes():
    with pytest.raises(ConfigError, match=r"options\.vocabulary"):
        ObjectDetection(ObjectDetectionOptions(vocabulary=("a\nb",)))


@pytest.mark.parametrize("boxes", [None, [], np.zeros(0), np.zeros((0, 4))])
@pytest.mark.parametrize("labels", [None, [], (), np.array([], np.str_)])
def test_every_shape_of_nothing_is_no_detection(boxes, labels):
    # RW-003
    found = TASK.validate(predicted(boxes, boxes if boxes is None else [], labels), sample_with())
    assert (found.boxes.shape, found.scores.shape, found.labels) == ((0, 4), (0,), ())


def test_valid_predictions_are_own_float64_copies():
    boxes, scores = np.array([BOX], np.float32), np.array([2], np.int64)
    found = TASK.validate(predicted(boxes, scores, np.array(["mug"])), sample_with())
    boxes[:], scores[:] = 0, 0
    assert found.boxes.dtype == found.scores.dtype == np.float64
    assert (found.boxes.tolist(), found.scores.tolist()) == ([BOX], [2.0])
    assert found.labels == ("mug",)


def test_odd_boxes_and_scores_beyond_one_are_legal():
    boxes = [[50, 50, 10, 10], [5, 5, 5, 5], [-1e6, 0, 1e6, 9]]
    found = TASK.validate(predicted(boxes, [-3, 0, 250], ["a", "b", "c"]), sample_with())
    assert found.boxes.tolist() == boxes


@pytest.mark.parametrize(
    ("boxes", "scores", "labels", "words"),
    [
        ([BOX], [0.9, 0.1], ["mug"], r"1 box but scores of shape \(2,\)"),
        ([BOX, BOX], [0.9, 0.1], ["mug"], "2 boxes but 1 label"),
        ([BOX], [0.9], None, "1 box but 0 labels"),
        ([BOX], None, ["mug"], r"scores of shape \(0,\)"),
        (BOX, [0.9], ["mug"], r"shape \(4,\)"),
        ([[1, 2, 3]], [0.9], ["mug"], r"shape \(1, 3\)"),
        ([[1, 2, 3, np.nan]], [0.9], ["mug"], "boxes hold NaN or infinity"),
        ([[1, 2, 3, np.inf]], [0.9], ["mug"], "boxes hold NaN or infinity"),
        ([[0, 0, 1e308, 1e308]], [0.9], ["mug"], r"holds 1e\+308, which is beyond 1e\+07 px"),
        ([[-1e308, 0, 1, 1]], [0.9], ["mug"], r"holds -1e\+308, which is beyond"),
        (np.zeros((10_001, 4)), np.ones(10_001), ["mug"] * 10_001, "at most 10,000 are taken"),
        ([BOX], [np.nan], ["mug"], "scores hold NaN"),
        ([BOX], [np.inf], ["mug"], "scores hold NaN or infinity"),
        ([BOX], [True], ["mug"], "dtype bool"),
        ([["a", "b", "c", "d"]], [0.9], ["mug"], "an array of numbers was expected"),
        ([[1, 2], [1, 2, 3]], [1, 1], ["a", "b"], "predicted boxes"),
        ("boxes", [0.9], ["mug"], "are a str"),
        ([BOX], [0.9], "m", "labels are a str"),
        ([BOX], [0.9], [3], "label 3 is an int"),
        ([BOX], [0.9], ["a\x00b"], "not printable"),
        ([BOX], [0.9], ["x" * 300], "at most 200"),
    ],
)
def test_predictions_that_cannot_be_scored_are_refused(boxes, scores, labels, words):
    with pytest.raises(ModelError, match=words) as caught:
        TASK.validate(predicted(boxes, scores, labels), sample_with())
    assert caught.value.message.startswith("sample s7: ")


def test_anything_else_than_detections_is_refused():
    for other in (None, [BOX], {"boxes": [BOX]}):
        with pytest.raises(ModelError, match="DetectionPrediction was expected"):
            TASK.validate(other, sample_with())


def test_predictions_survive_their_file_bit_for_bit():
    boxes = np.array([[0.1, 1 / 3, 2e-300, 5e6], [-0.0, 1, 2, 3]])
    written = predicted(boxes, np.array([0.1, -7e-17]), ('杯 "mug"', "Mug "))
    data = TASK.write_prediction(written)
    found = TASK.validate(TASK.read_prediction(data, "s7.json"), sample_with())
    assert found.boxes.tobytes() == written.boxes.tobytes()
    assert found.scores.tobytes() == written.scores.tobytes()
    assert found.labels == written.labels


def test_files_may_declare_another_box_format():
    # RW-058: the file says what its numbers mean; nothing is guessed.
    table = {
        "boxes": [[100, 100, 400, 400]],
        "scores": [1],
        "labels": ["mug"],
        "layout": "xywh",
        "space": "thousand",
    }
    stored = TASK.read_prediction(json.dumps(table).encode(), "s7.json")
    assert TASK.validate(stored, sample_with()).boxes.tolist() == [[64, 48, 320, 240]]


def test_yolo_files_are_read_with_the_vocabulary(tmp_path):
    stored = TASK.read_prediction(b"1 0.3 0.3 0.4 0.4 0.9\n\n0 0.5 0.5 1 1 0.25\n", "s7.txt")
    found = TASK.validate(stored, sample_with("mug", "box"))
    assert found.labels == ("box", "mug")
    assert found.boxes == pytest.approx(np.array([[64, 48, 320, 240], [0, 0, 640, 480]]))
    assert TASK.validate(TASK.read_prediction(b"", "s7.txt"), sample_with()).labels == ()


def test_numpy_files_hold_class_indices(tmp_path):
    path = tmp_path / "s7.npz"
    np.savez(path, boxes=[BOX], scores=[0.5], labels=[1])
    stored = TASK.read_prediction(path.read_bytes(), "s7.npz")
    assert TASK.validate(stored, sample_with("mug", "box")).labels == ("box",)
    with pytest.raises(ModelError, match="class index 1 is not one of the 1"):
        TASK.validate(stored, sample_with("mug"))
    with pytest.raises(ModelError, match="text was expected") as caught:
        TASK.validate(stored, sample_with())
    assert "vocabulary" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("s.json", b"[]", "an object with boxes, scores, labels"),
        ("s.json", b'{"boxes": []}', "lacks scores, labels"),
        ("s.json", b'{"boxes": [], "scores": [], "labels": [], "x": 1}', "holds 'x'"),
        ("s.json", b'{"boxes": [], "scores": [], "labels": [], "layout": "yxyx"}', "yxyx"),
        ("s.json", b'{"boxes": [[0, 0, NaN, 1]], "scores": [1], "labels": ["a"]}', "NaN"),
        ("s.json", b"{", "not JSON"),
        ("s.npz", b"PK", "not a .npy"),
        ("s.txt", b"0 0.5 0.5 1 1", "5 numbers"),
        ("s.txt", b"0 0.5 0.5 1 1 nan", "no finite number"),
        ("s.txt", b"x 0.5 0.5 1 1 1", "line 1"),
        ("s.txt", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_prediction_files_that_are_none_are_refused(name, content, words):
    with pytest.raises(ManifestError, match=words) as caught:
        TASK.read_prediction(content, name)
    assert name in caught.value.message


def test_preview_shows_what_was_missed_confused_and_invented(truth, prediction):
    rgb = np.full((240, 320, 3), 128, np.uint8)
    wanted = truth(
        ("mug", (10, 10, 60, 60)), ("box", (100, 100, 150, 180)), ("can", (200, 5, 240, 60))
    )
    found = prediction(
        ("mug", (10, 10, 60, 60), 0.9),
        ("can", (100, 100, 150, 180), 0.8),
        ("fork", (400, 30, 10, -20), 0.7),
    )
    pictures = TASK.preview(Frame(Sample("s", rgb), wanted, found))
    assert [picture.caption for picture in pictures] == [
        "rgb",
        "ground truth",
        "prediction",
        "errors",
    ]
    assert pictures[0].image is rgb
    for picture in pictures[1:]:
        assert picture.image.shape == (480, 640, 3)
        assert picture.image.dtype == np.uint8
        assert (picture.image != 128).any()
    assert TASK.preview(Frame(Sample("s"), wanted, found)) == []


def test_preview_of_nothing_is_the_image(truth, prediction):
    rgb = np.full((240, 320, 3), 128, np.uint8)
    pictures = TASK.preview(Frame(Sample("s", rgb), truth(), prediction()))
    assert all((picture.image == 128).all() for picture in pictures)
