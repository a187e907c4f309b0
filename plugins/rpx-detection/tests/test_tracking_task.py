"""Loading, checking, storing and showing what the tracking task handles."""

import json

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_core.manifest import build_manifest
from rpx_detection.tracking.task import ObjectTracking, ObjectTrackingOptions
from rpx_detection.tracking.types import Tracklet, TrackletPrediction

TASK = ObjectTracking(ObjectTrackingOptions())
CUP = {"bbox": [1, 2, 11, 22], "label": "cup", "track_id": "cup-1"}
SAMPLE = Sample("scene1_clutter_00007", sequence="scene1_clutter", frame=7)


def load(root, task=TASK, **keys):
    header = {"task": "object_tracking", "pose_convention": "opencv"}
    record = {"id": "scene1_clutter_00007", "scene": "scene1", "phase": 0, **keys}
    manifest = build_manifest(header, [record], root=root, known=("detections",))
    (found,) = manifest.records(manifest.entries)
    return task.load(found, Files(root))


def boxes_of(tracks):
    return {track.track_id: track.boxes.tolist() for track in tracks}


def test_boxes_with_track_ids_are_the_truth(tmp_path):
    (tmp_path / "rgb.png").write_bytes(encode_png(np.zeros((30, 40, 3), np.uint8)))
    ball = {"bbox": [5.5, 6, 7, 8], "label": "ball", "track_id": 12}
    (tmp_path / "boxes.json").write_text(json.dumps([CUP, ball]))
    sample = load(tmp_path, rgb="rgb.png", boxes="boxes.json")
    assert boxes_of(sample.ground_truth.tracks) == {
        "cup-1": [[1, 2, 11, 22]],
        "12": [[5.5, 6, 7, 8]],
    }
    assert [track.label for track in sample.ground_truth.tracks] == ["cup", "ball"]
    assert sample.rgb.shape == (30, 40, 3)
    assert (sample.sequence, sample.frame) == ("scene1_clutter", 7)


def test_images_are_not_needed_to_score(tmp_path):
    sample = load(tmp_path, boxes=[CUP])
    assert sample.rgb is None
    assert boxes_of(sample.ground_truth.tracks) == {"cup-1": [[1, 2, 11, 22]]}


def test_an_empty_frame_has_no_tracks(tmp_path):
    assert load(tmp_path, boxes=[]).ground_truth.tracks == []


def test_what_is_ignored_is_kept_apart(tmp_path):
    ignored = {"bbox": [50, 0, 60, 10], "label": "cup", "ignore": True}
    crowd = {"bbox": [0, 50, 90, 60], "label": "cup", "iscrowd": 1}
    truth = load(tmp_path, boxes=[CUP, ignored, crowd]).ground_truth
    assert boxes_of(truth.tracks) == {"cup-1": [[1, 2, 11, 22]]}
    assert [track.boxes.tolist() for track in truth.distractors] == [[[50, 0, 60, 10]]]
    assert truth.ignored_regions.tolist() == [[0, 50, 90, 60]]


def test_a_mask_gives_the_tight_box_of_each_instance(tmp_path):
    mask = np.zeros((20, 30), np.uint16)
    mask[3:6, 10:14] = 300
    mask[8, 0] = 2
    mask[12, 4] = 2
    (tmp_path / "mask.png").write_bytes(encode_png(mask))
    tracks = load(tmp_path, mask="mask.png").ground_truth.tracks
    assert boxes_of(tracks) == {"2": [[0, 8, 5, 13]], "300": [[10, 3, 14, 6]]}


def test_a_mask_of_more_instances_than_an_image_holds_is_refused(tmp_path):
    picture = np.arange(1, 5002, dtype=np.uint16).reshape(3, 1667)
    (tmp_path / "mask.png").write_bytes(encode_png(picture))
    with pytest.raises(ManifestError, match=r"mask\.png: holds 5,001 instances"):
        load(tmp_path, mask="mask.png")


def test_boxes_come_before_the_mask(tmp_path):
    (tmp_path / "mask.png").write_bytes(encode_png(np.full((2, 2), 9, np.uint16)))
    tracks = load(tmp_path, boxes=[CUP], mask="mask.png").ground_truth.tracks
    assert boxes_of(tracks) == {"cup-1": [[1, 2, 11, 22]]}


def test_given_detections_are_in_the_query(tmp_path):
    found = [{"bbox": [0, 0, 5, 5], "score": 0.25, "label": "cup"}, {"bbox": [1, 1, 2, 2]}]
    given = load(tmp_path, boxes=[CUP], detections=found).query.detections
    assert given.boxes.tolist() == [[0, 0, 5, 5], [1, 1, 2, 2]]
    assert given.scores.tolist() == [0.25, 1.0]
    assert given.labels == ["cup", None]
    assert load(tmp_path, boxes=[CUP]).query.detections is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "no ground truth to track"),
        ({"boxes": [{"bbox": [0, 0, 1, 1], "label": "cup"}]}, "box 0: `track_id` is None"),
        ({"boxes": [CUP, CUP]}, "track id 'cup-1' occurs twice"),
        ({"boxes": [{**CUP, "bbox": [1, 2, 1, 22]}]}, "has no area"),
        ({"boxes": [{**CUP, "bbox": [10, 10, 5, 5]}]}, "ends before it begins"),
        ({"boxes": [{**CUP, "bbox": [1, 2, 3]}]}, "four numbers"),
        ({"boxes": [{**CUP, "bbox": [1, 2, 1e308, 3]}]}, r"holds 1e\+308, which is beyond"),
        ({"boxes": [CUP] * 5001}, "holds 5,001 boxes; at most 5,000"),
        ({"boxes": [{**CUP, "ignore": "yes"}]}, "true or false"),
        ({"boxes": [{**CUP, "trackid": 3}]}, "unknown key 'trackid'"),
        ({"boxes": {"a": 1}}, "is a dict; a list"),
        ({"boxes": [3]}, "entry 0: is an int"),
        ({"boxes": "missing.json"}, "missing.json"),
    ],
)
def test_truth_that_cannot_be_tracked_names_the_sample(tmp_path, keys, message):
    with pytest.raises(ManifestError, match=message):
        load(tmp_path, **keys)


@pytest.mark.parametrize(
    "answer",
    [
        [{"track_id": "1", "box": [0, 0, 4, 5], "score": 0.5, "label": "cup"}],
        (
            {
                "track_id": "1",
                "bbox": np.array([0, 0, 4, 5]),
                "score": np.float32(0.5),
                "label": "cup",
            },
        ),
        [Tracklet("1", np.array([[0, 0, 4, 5]]), np.array([0.5]), "cup")],
        TrackletPrediction([Tracklet("1", np.array([[0, 0, 4, 5]]), np.array([0.5]), "cup")]),
    ],
)
def test_predictions_in_any_form_become_own_float_copies(answer):
    (track,) = TASK.validate(answer, SAMPLE).tracks
    assert (track.track_id, track.label, track.scores.tolist()) == ("1", "cup", [0.5])
    assert track.boxes.dtype == np.float64
    assert track.boxes.tolist() == [[0, 0, 4, 5]]


def test_a_validated_prediction_does_not_share_memory():
    boxes = np.array([[0.0, 0, 4, 5]])
    (track,) = TASK.validate([Tracklet("1", boxes)], SAMPLE).tracks
    boxes[0, 0] = 99
    assert track.boxes[0, 0] == 0


@pytest.mark.parametrize(("given", "name"), [(3, "3"), (np.int64(-3), "-3"), (2.0, "2"), ("", "")])
def test_track_ids_become_text(given, name):
    assert (
        TASK.validate([{"track_id": given, "box": [0, 0, 1, 1]}], SAMPLE).tracks[0].track_id == name
    )


def test_rw064_the_same_id_twice_names_sequence_frame_and_id():
    twice = [{"track_id": 2, "box": [0, 0, 10, 10]}, {"track_id": 2, "box": [50, 50, 60, 60]}]
    with pytest.raises(ModelError, match=r"scene1_clutter, frame 7\): track id '2' occurs twice"):
        TASK.validate(twice, SAMPLE)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "is None; a list of objects"),
        ("tracks", "is a str"),
        ({"track_id": 1, "box": [0, 0, 1, 1]}, "is a dict; a list of objects"),
        ([{"box": [0, 0, 1, 1]}], "track 0: `track_id` is None"),
        ([{"track_id": True, "box": [0, 0, 1, 1]}], "`track_id` is True"),
        ([{"track_id": 1.5, "box": [0, 0, 1, 1]}], "`track_id` is 1.5"),
        ([{"track_id": 1, "box": [0, 0, np.nan, 1]}], "not finite"),
        ([{"track_id": 1, "box": [0, 0, 1e300, 1]}], r"holds 1e\+300, which is beyond"),
        ([{"track_id": 1, "box": [5, 5, 2, 9]}], "ends before it begins"),
        ([{"track_id": 1}], "the box is None"),
        ([{"track_id": 1, "box": "wide"}], "the box is 'wide'"),
        ([{"track_id": 1, "box": [0, 0, 1, 1], "score": np.inf}], "`score` is inf"),
        ([{"track_id": 1, "box": [0, 0, 1, 1], "label": 4}], "`label` is 4"),
        ([{"track_id": 1, "box": [0, 0, 1, 1], "scores": 1}], "unknown key 'scores'"),
        ([Tracklet("1", np.zeros((2, 4)))], "four numbers"),
    ],
)
def test_a_prediction_that_is_none_is_refused_with_its_place(answer, message):
    with pytest.raises(ModelError, match=message) as caught:
        TASK.validate(answer, SAMPLE)
    assert "scene1_clutter_00007" in caught.value.message


def test_saved_predictions_read_back_without_loss():
    box = np.array([[0.1, 1 / 3, 1e6 + 0.7, 12.0]])
    tracks = [Tracklet("a/ü", box, np.array([0.1 + 0.2]), "cup"), Tracklet("-1", box + 1)]
    data = TASK.write_prediction(TrackletPrediction(tracks))
    again = TASK.read_prediction(data, "x.json").tracks
    assert [(t.track_id, t.label) for t in again] == [("a/ü", "cup"), ("-1", None)]
    assert again[0].scores.tolist() == [0.1 + 0.2]
    assert again[1].scores is None
    assert all(np.array_equal(a.boxes, b.boxes) for a, b in zip(tracks, again, strict=True))


def test_a_file_of_truth_is_a_prediction():
    data = json.dumps([CUP]).encode()
    assert boxes_of(TASK.read_prediction(data, "x.json").tracks) == {"cup-1": [[1, 2, 11, 22]]}


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"[{}]", b"\xff\xfe", b'{"a": NaN}'])
def test_a_damaged_prediction_file_is_named(data):
    with pytest.raises(ManifestError, match=r"x\.json"):
        TASK.read_prediction(data, "x.json")


def test_doubtful_boxes_are_dropped_when_scored_not_when_saved():
    task = ObjectTracking(ObjectTrackingOptions(min_score=0.5))
    answer = [
        {"track_id": 1, "box": [0, 0, 1, 1], "score": 0.5},
        {"track_id": 2, "box": [0, 0, 1, 1], "score": 0.49},
        {"track_id": 3, "box": [0, 0, 1, 1]},
    ]
    prediction = task.validate(answer, SAMPLE)
    assert len(prediction.tracks) == 3
    (aligned,) = task.align("none", [Frame(SAMPLE, None, prediction)])
    assert list(boxes_of(aligned.prediction.tracks)) == ["1", "3"]
    assert aligned.facts == {"dropped": 1}


def test_preview_shows_misses_and_false_alarms(tmp_path):
    grey = np.full((120, 160, 3), 90, np.uint8)
    (tmp_path / "rgb.png").write_bytes(encode_png(grey))
    far = {"bbox": [100, 60, 140, 100], "label": "cup", "ignore": True}
    sample = load(tmp_path, rgb="rgb.png", boxes=[CUP, far])
    prediction = TASK.validate([{"track_id": 5, "box": [60, 20, 90, 60]}], sample)
    pictures = TASK.preview(Frame(sample, sample.ground_truth, prediction))
    assert [p.caption for p in pictures] == ["rgb", "ground truth", "prediction", "errors"]
    np.testing.assert_array_equal(pictures[0].image, grey)
    images = [picture.image for picture in pictures[1:]]
    assert all(image.dtype == np.uint8 and image.ndim == 3 for image in images)
    assert len({image.tobytes() for image in images}) == 3


def test_preview_calls_no_error_what_the_metrics_excuse(tmp_path):
    from rpx_detection.drawing import WRONG

    (tmp_path / "rgb.png").write_bytes(encode_png(np.full((120, 160, 3), 90, np.uint8)))
    ignored = {"bbox": [100, 60, 140, 100], "label": "cup", "ignore": True}
    sample = load(tmp_path, rgb="rgb.png", boxes=[CUP, ignored])

    def wrong_pixels(*boxes):
        tracks = [{"track_id": number, "box": list(box)} for number, box in enumerate(boxes)]
        frame = Frame(sample, sample.ground_truth, TASK.validate(tracks, sample))
        return int((TASK.preview(frame)[-1].image == WRONG).all(axis=2).sum())

    assert wrong_pixels((100, 60, 140, 100)) == 0
    assert wrong_pixels((0, 60, 40, 100)) > 0


def test_preview_of_an_empty_frame_draws_nothing_on_it(tmp_path):
    (tmp_path / "rgb.png").write_bytes(encode_png(np.full((120, 160, 3), 90, np.uint8)))
    sample = load(tmp_path, rgb="rgb.png", boxes=[])
    pictures = TASK.preview(Frame(sample, sample.ground_truth, TrackletPrediction([])))
    assert all((picture.image == 90).all() for picture in pictures)


def test_preview_without_an_image_is_empty(tmp_path):
    sample = load(tmp_path, boxes=[CUP])
    assert list(TASK.preview(Frame(sample, sample.ground_truth, TrackletPrediction([])))) == []
