"""MOTChallenge files: lines, folders, results, and whose boxes count."""

import numpy as np
import pytest

from rpx_core.contracts import Frame, Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_core.images import encode_png
from rpx_core.predictions import PredictionFolder
from rpx_detection.tracking.layouts.mot import MotOptions, open_mot
from rpx_detection.tracking.metrics.clear import Clear
from rpx_detection.tracking.metrics.options import MatchingOptions
from rpx_detection.tracking.mot import parse_mot, tracks_of_frame, truth_of_frame
from rpx_detection.tracking.task import ObjectTracking, ObjectTrackingOptions

MOT17 = (2, 7, 8, 12)
TRUTH = """\
1,1,11,21,10,20,1,1,1.0
1,2,101,21,10,20,0,1,0.5
1,3,201,21,10,20,0,8,0.5
1,4,301,21,10,20,0,3,0.5
3,1,13,21,10,20,1,1,1.0
"""


def write_sequence(root, name="MOT17-02-SDP", truth=TRUTH, length=3, images=True):
    folder = root / name
    (folder / "gt").mkdir(parents=True)
    (folder / "seqinfo.ini").write_text(
        f"[Sequence]\nname={name}\nimDir=img1\nframeRate=30\nseqLength={length}\nimExt=.png\n"
    )
    (folder / "gt/gt.txt").write_text(truth)
    if images:
        (folder / "img1").mkdir()
        for frame in range(1, length + 1):
            image = encode_png(np.full((8, 9, 3), frame, np.uint8))
            (folder / f"img1/{frame:06d}.png").write_bytes(image)
    return folder


def load_all(root, **options):
    manifest = open_mot(MotOptions(root=root), root)
    task = ObjectTracking(ObjectTrackingOptions(**options))
    records = manifest.records([e for s in manifest.sequences().values() for e in s])
    return [task.load(record, manifest.files.declaring(record.checksums)) for record in records]


def names(tracks):
    return [track.track_id for track in tracks]


def test_a_folder_gives_a_record_per_frame_whether_or_not_it_holds_objects(tmp_path):
    write_sequence(tmp_path)
    samples = load_all(tmp_path)
    assert [sample.id for sample in samples] == [f"MOT17-02-SDP_{n:06d}" for n in (1, 2, 3)]
    assert [sample.frame for sample in samples] == [1, 2, 3]
    assert [names(s.ground_truth.tracks) for s in samples] == [["1"], [], ["1"]]
    assert [int(sample.rgb[0, 0, 0]) for sample in samples] == [1, 2, 3]


def test_pixels_count_from_zero_after_loading(tmp_path):
    write_sequence(tmp_path)
    (track,) = load_all(tmp_path)[0].ground_truth.tracks
    assert track.boxes.tolist() == [[10, 20, 20, 40]]
    assert track.label == "pedestrian"


def test_distractors_excuse_and_everything_else_stands_by(tmp_path):
    write_sequence(tmp_path)
    truth = load_all(tmp_path)[0].ground_truth
    assert names(truth.distractors) == ["3"]
    assert names(truth.bystanders) == ["2", "4"]
    truth = load_all(tmp_path, mot_distractors=(3,))[0].ground_truth
    assert names(truth.distractors) == ["4"]


def test_a_file_of_mot15_has_no_classes():
    rows = parse_mot(b"1,1,11,21,10,20,1,3.2,1.5,0\n1,2,1,1,5,5,0,4,4,4\n", "gt.txt")
    truth = truth_of_frame(rows, 1, MOT17)
    assert names(truth.tracks) == ["1"]
    assert not truth.bystanders


def test_sequences_without_truth_or_of_another_detector_are_left_out(tmp_path):
    write_sequence(tmp_path)
    write_sequence(tmp_path, "MOT17-02-DPM")
    write_sequence(tmp_path, "MOT17-01-SDP")
    (tmp_path / "MOT17-01-SDP/gt/gt.txt").unlink()
    assert set(open_mot(MotOptions(root=tmp_path), tmp_path).sequences()) == {
        "MOT17-02-DPM",
        "MOT17-02-SDP",
    }
    kept = open_mot(MotOptions(root=tmp_path, detector="SDP"), tmp_path)
    assert set(kept.sequences()) == {"MOT17-02-SDP"}


def test_detections_of_the_folder_are_given_to_trackers(tmp_path):
    folder = write_sequence(tmp_path, images=False)
    (folder / "det").mkdir()
    (folder / "det/det.txt").write_text("1,-1,2,3,4,5,0.7\n1,-1,12,3,4,5,0.2\n")
    first, second, _ = load_all(tmp_path)
    assert first.query.detections.boxes.tolist() == [[1, 2, 5, 7], [11, 2, 15, 7]]
    assert first.query.detections.scores.tolist() == [0.7, 0.2]
    assert len(second.query.detections.boxes) == 0
    assert first.rgb is None


def test_the_content_of_the_truth_is_part_of_the_dataset(tmp_path):
    folder = write_sequence(tmp_path)
    before = open_mot(MotOptions(root=tmp_path), tmp_path).dataset_id
    (folder / "gt/gt.txt").write_text(TRUTH.replace("3,1,13", "3,1,14"))
    assert open_mot(MotOptions(root=tmp_path), tmp_path).dataset_id != before


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ("0,1,1,1,5,5,1,1,1\n", "frames 0 to 0, but seqinfo.ini says frames 1 to 3"),
        ("4,1,1,1,5,5,1,1,1\n", "frames 4 to 4"),
        ("1,1,1,1,-5,5,1,1,1\n", "frame 1, id 1 has a negative width"),
        ("1,1,1,1,5\n", "has 5 columns"),
        ("1,1,a,1,5,5,1,1,1\n", "no finite number"),
        ("1,1,1,1,5,5,1,1,1\n1,2,3\n", "3 columns after lines of 9"),
        ("1,1.5,1,1,5,5,1,1,1\n", "whole numbers"),
        ("1,1,nan,1,5,5,1,1,1\n", "no finite number"),
    ],
)
def test_a_bad_truth_file_is_named(tmp_path, truth, message):
    write_sequence(tmp_path, truth=truth)
    with pytest.raises(ManifestError, match=message) as caught:
        open_mot(MotOptions(root=tmp_path), tmp_path)
    assert "MOT17-02-SDP/gt/gt.txt" in caught.value.message


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ("1,1,1,1,5,5,1,1,1\n1,1,9,9,5,5,1,1,1\n", "frame 1: track id '1' occurs twice"),
        ("1,1,1,1,0,5,1,1,1\n", "frame 1: the box of track 1 has no area"),
    ],
)
def test_a_frame_that_cannot_be_tracked_is_named(tmp_path, truth, message):
    write_sequence(tmp_path, truth=truth)
    with pytest.raises(ManifestError, match=message):
        load_all(tmp_path)


@pytest.mark.parametrize("text", ["", "[Sequence]\n", "[Sequence]\nseqLength=0\n", "[Other]\n"])
def test_bad_sequence_information_is_named(tmp_path, text):
    folder = write_sequence(tmp_path)
    (folder / "seqinfo.ini").write_text(text)
    with pytest.raises(ManifestError, match=r"MOT17-02-SDP/seqinfo\.ini"):
        open_mot(MotOptions(root=tmp_path), tmp_path)


def test_a_folder_without_truth_says_what_was_expected(tmp_path):
    with pytest.raises(ManifestError, match=r"<sequence>/seqinfo\.ini"):
        open_mot(MotOptions(root=tmp_path), tmp_path)
    with pytest.raises(ManifestError, match="no such folder"):
        open_mot(MotOptions(root=tmp_path / "absent"), tmp_path)


def test_result_lines_are_tracks_whose_pixels_count_from_zero():
    lines = b"4,7,1.5,2.25,30.25,39.75,0.625,-1,-1,-1\n4,-1,3,3,1,1,1,-1,-1,-1\n"
    rows = parse_mot(lines, "result.txt")
    found = tracks_of_frame(rows, 4)
    assert [(t.track_id, t.boxes.tolist(), t.scores.tolist()) for t in found] == [
        ("7", [[0.5, 1.25, 30.75, 41.0]], [0.625]),
        ("-1", [[2.0, 2.0, 3.0, 3.0]], [1.0]),
    ]
    assert tracks_of_frame(rows, 5) == []


def test_lines_in_any_order_and_with_spaces_are_read():
    rows = parse_mot(b"2 1 1 1 5 5\n1 1 1 1 5 5\n", "result.txt")
    assert rows.frame.tolist() == [1, 2]
    assert rows.confidence.tolist() == [1, 1]


def answer(root, results, frame=1, length=3, **options):
    (root / "results").mkdir(exist_ok=True)
    (root / "results/MOT17-02-SDP.txt").write_text(results)
    task = ObjectTracking(ObjectTrackingOptions(**options))
    model = PredictionFolder(root / "results", task)
    sample = Sample(
        f"MOT17-02-SDP_{frame:06d}",
        sequence="MOT17-02-SDP",
        frame=frame,
        metadata={"frames": [1, length]},
    )
    (found,) = model.predict([sample])
    return found.tracks


def test_results_are_answered_frame_by_frame(tmp_path):
    results = "1,5,11,21,10,20,0.9,-1,-1,-1\n3,5,13,21,10,20,0.8,-1,-1,-1\n"
    (track,) = answer(tmp_path, results)
    assert (track.track_id, track.boxes.tolist()) == ("5", [[10, 20, 20, 40]])
    assert answer(tmp_path, results, frame=2) == []
    assert answer(tmp_path, "") == []


def test_the_truth_as_a_result_is_perfect(tmp_path):
    write_sequence(tmp_path)
    task = ObjectTracking(ObjectTrackingOptions())
    frames = []
    for sample in load_all(tmp_path):
        tracks = task.validate(answer(tmp_path, TRUTH, sample.frame), sample)
        frames.append(Frame(sample, sample.ground_truth, tracks))
    metric = Clear(MatchingOptions())
    got = metric.result(metric.measure(frames))
    # The box of the pedestrian that does not count, and the car, are false alarms of MOT17.
    assert (got["tp"], got["fp"], got["fn"]) == (2, 2, 0)


@pytest.mark.parametrize(
    ("frames", "step"),
    [((0, 1, 2), "=1"), ((2, 3, 4), "=-1")],
)
def test_rw067_files_that_count_from_elsewhere_are_refused_with_the_offset(tmp_path, frames, step):
    results = "".join(f"{n},1,1,1,5,5,1,-1,-1,-1\n" for n in frames)
    with pytest.raises(ModelError, match=f"frames {frames[0]} to {frames[-1]}, but") as caught:
        answer(tmp_path, results)
    assert caught.value.hint.endswith(f"frame_offset{step}")
    shifted = answer(tmp_path, results, frame_offset=int(step[1:]))
    assert names(shifted) == ["1"]


def test_results_of_another_split_are_not_explained_by_an_offset(tmp_path):
    with pytest.raises(ModelError) as caught:
        answer(tmp_path, "700,1,1,1,5,5,1,-1,-1,-1\n")
    assert "split" in caught.value.hint


def test_rw064_an_id_twice_in_a_result_names_file_frame_and_id(tmp_path):
    with pytest.raises(ManifestError, match=r"MOT17-02-SDP\.txt, frame 1: track id '2'"):
        answer(tmp_path, "1,2,1,1,10,10,1\n1,2,51,51,10,10,1\n")


def test_a_sequence_without_a_file_is_an_error(tmp_path):
    (tmp_path / "run.txt").write_text("")
    model = PredictionFolder(tmp_path, ObjectTracking(ObjectTrackingOptions()))
    with pytest.raises(ModelError, match=r"no file walk\.txt has its sequence"):
        model.predict([Sample("walk_1", sequence="walk", frame=1)])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,1,1,1,5,5\n\n1,2,x,1,5,5\n", "line 3: 'x' is no finite number"),
        ("1,1,1,1,5,5\n1,2,1,1,5,nan\n", "line 2: 'nan' is no finite number"),
        ("1,1,1,1,5,5\n1,2,1,1,5\n", "line 2: 5 columns after lines of 6"),
    ],
)
def test_a_bad_line_is_named_without_the_words_of_numpy(text, words):
    with pytest.raises(ManifestError) as caught:
        parse_mot(text.encode(), "a.txt")
    assert str(caught.value) == f"a.txt, {words}"


def test_a_sequence_that_does_not_say_its_length_is_not_lost(tmp_path):
    write_sequence(tmp_path)
    (write_sequence(tmp_path, "MOT17-04-SDP") / "seqinfo.ini").unlink()
    with pytest.raises(ManifestError, match=r"MOT17-04-SDP have gt/gt\.txt but no seqinfo\.ini"):
        open_mot(MotOptions(root=tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1,1,1e308,21,10,20,1,1,1.0", r"a box holds 1e\+308"),
        ("1e300,1,1,21,10,20,1,1,1.0", "beyond 2\\^53"),
        ("1,1,1,21,10,20,1,1e300,1.0", "beyond 2\\^53"),
    ],
)
def test_numbers_that_nobody_means_are_refused(line, words):
    with pytest.raises(ManifestError, match=f"gt.txt.*{words}"):
        parse_mot(line.encode(), name="gt.txt")


def test_a_frame_of_more_boxes_than_can_be_compared_is_refused():
    lines = "".join(f"1,{identity},1,1,5,5,1,1,1.0\n" for identity in range(5001))
    rows = parse_mot(lines.encode(), name="gt.txt")
    with pytest.raises(ManifestError, match=r"gt\.txt, frame 1: holds 5,001 boxes"):
        truth_of_frame(rows, 1, MOT17)
