"""COCO and YOLO folders as manifests, and COCO results as predictions."""

import json
from dataclasses import replace

import numpy as np
import pytest

from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError, ModelError
from rpx_core.images import encode_png
from rpx_core.predictions import PredictionFolder
from rpx_core.state import fold
from rpx_detection.detection import ObjectDetection, ObjectDetectionOptions
from rpx_detection.layouts.coco import CocoOptions, open_coco
from rpx_detection.layouts.yolo import YoloOptions, open_yolo
from rpx_detection.metrics.average_precision import CocoDetection
from rpx_detection.types import DetectionQuery
from tests.commands import rpx

PICTURE = encode_png(np.zeros((240, 320, 3), np.uint8))
TASK = ObjectDetection(ObjectDetectionOptions())


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(data)


@pytest.fixture
def coco(tmp_path):
    """Two images, categories 3 and 18, and a crowd."""
    document = {
        "images": [
            {"id": 42, "file_name": "000042.png", "width": 320, "height": 240},
            {"id": 7, "file_name": "000007.png", "width": 320, "height": 240},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car"}],
        "annotations": [
            {"id": 0, "image_id": 7, "category_id": 3, "bbox": [10.5, 20, 30, 40], "area": 900.25},
            {"id": 1, "image_id": 42, "category_id": 18, "bbox": [0, 0, 50, 60], "iscrowd": 1},
            {"id": 2, "image_id": 42, "category_id": 3, "bbox": [5, 5, 0, 9], "area": 0},
        ],
    }
    write(tmp_path / "annotations" / "instances_val2017.json", json.dumps(document))
    for name in ("000042.png", "000007.png"):
        write(tmp_path / "val2017" / name, PICTURE)
    return tmp_path, document


def load_all(manifest) -> dict[str, Sample]:
    records = manifest.records(manifest.entries)
    return {record.id: TASK.load(record, manifest.files) for record in records}


def test_coco_folder_is_indexed_in_the_order_of_image_ids(coco):
    root, _ = coco
    manifest = open_coco(CocoOptions(root=root), root)
    assert manifest.name == "val2017"
    assert [entry.id for entry in manifest.entries] == ["000007", "000042"]
    samples = load_all(manifest)
    first, second = samples["000007"].ground_truth, samples["000042"].ground_truth
    assert first.boxes.tolist() == [[10.5, 20, 40.5, 60]]
    assert (first.labels, first.area.tolist()) == (("car",), [900.25])
    assert (second.labels, second.crowd.tolist()) == (("dog",), [True])
    assert samples["000007"].query.vocabulary == ("car", "dog")
    assert samples["000007"].metadata == {"image_id": 7}
    assert any("1 instance left out, for the box has no area" in text for text in manifest.warnings)
    assert any("2 instances without an area" in text for text in manifest.warnings)


def test_lvis_lists_become_labels(coco):
    root, document = coco
    document["images"][0] |= {"neg_category_ids": [3], "not_exhaustive_category_ids": [18]}
    write(root / "annotations" / "instances_val2017.json", json.dumps(document))
    truth = load_all(open_coco(CocoOptions(root=root), root))["000042"].ground_truth
    assert (truth.negative_labels, truth.not_exhaustive_labels) == ({"car"}, {"dog"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.pop("images"), "lacks the list `images`"),
        (lambda d: d["annotations"][0].pop("bbox"), r"annotations\[0\] lacks bbox"),
        (lambda d: d["annotations"][0].update(image_id="7"), "there is no image '7'"),
        (lambda d: d["annotations"][0].update(category_id=99), "there is no category 99"),
        (lambda d: d["annotations"][0].update(bbox=[1, 2, 3]), "bbox must be"),
        (lambda d: d["categories"][0].update(name="car"), "name 'car' occurs twice"),
        (lambda d: d["images"][0].update(id=7), "id 7 occurs twice"),
        (lambda d: d["images"][0].update(id="7"), "a whole number"),
    ],
)
def test_annotation_files_that_break_the_format_are_refused(coco, change, words):
    root, document = coco
    change(document)
    write(root / "annotations" / "instances_val2017.json", json.dumps(document))
    with pytest.raises(ManifestError, match=words):
        open_coco(CocoOptions(root=root), root)


def test_coco_folders_that_are_ambiguous_or_empty_are_refused(coco, tmp_path):
    root, document = coco
    with pytest.raises(ManifestError, match="no such folder"):
        open_coco(CocoOptions(root=root / "absent"), root)
    (root / "void").mkdir()
    with pytest.raises(ManifestError, match="no annotations"):
        open_coco(CocoOptions(root=root / "void"), root)
    write(root / "annotations" / "instances_train2017.json", json.dumps(document))
    with pytest.raises(ManifestError, match="several annotation files"):
        open_coco(CocoOptions(root=root), root)
    with pytest.raises(ManifestError, match="lies in none of train2017"):
        open_coco(CocoOptions(root=root, annotations="annotations/instances_train2017.json"), root)


def results_of(document):
    return [
        {"image_id": 7, "category_id": 3, "bbox": [10.5, 20, 30, 40], "score": 0.9},
        {"image_id": 42, "category_id": 18, "bbox": [1, 1, 9, 9], "score": 0.8},
        {"image_id": 42, "category_id": 3, "bbox": [100, 100, 9, 9], "score": 0.95},
    ]


def answers(root, results, **sample_fields):
    """The prediction of each sample, from a results file."""
    folder = root / "predictions"
    write(folder / "results.json", json.dumps(results))
    samples = load_all(open_coco(CocoOptions(root=root), root))
    model = PredictionFolder(folder, TASK)
    return {
        name: TASK.validate(found, sample)
        for name, sample in samples.items()
        for found in model.predict([replace(sample, **sample_fields)])
    }


def test_images_behind_links_that_leave_the_root_are_refused_at_once(coco, tmp_path_factory):
    root, _ = coco
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    folder = root / "val2017"
    folder.rename(elsewhere / "val2017")
    folder.symlink_to(elsewhere / "val2017")
    refused = rpx(root, "data", "index", "coco", str(root), expect=2)
    assert "2 images lie outside it, behind links: val2017/" in refused["error"]["message"]


def test_coco_results_answer_every_image(coco):
    root, document = coco
    samples = load_all(open_coco(CocoOptions(root=root), root))
    metric = CocoDetection()
    found = answers(root, results_of(document))
    states = [
        metric.measure(samples[name], samples[name].ground_truth, found[name])
        for name in sorted(samples)
    ]
    values = metric.result(fold(states))
    # The only car is found below one false alarm; the dog detection lies in a crowd of dogs.
    assert (values["ap50"], values["classes"]) == (pytest.approx(0.5), 1)


def test_an_image_without_coco_results_has_no_detections(coco):
    root, document = coco
    found = answers(root, results_of(document)[:1])
    assert sorted(len(prediction.boxes) for prediction in found.values()) == [0, 1]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"image_id": "7"}, "result 0: image_id is '7'; a whole number"),
        ({"bbox": [1, 2, 3]}, "result 0: bbox"),
        ({"score": None}, "result 0: bbox"),
        ({"score": True}, "result 0: bbox"),
    ],
)
def test_broken_coco_results_are_an_error(coco, result, words):
    # RW-015
    root, document = coco
    with pytest.raises(ManifestError, match=words):
        answers(root, [results_of(document)[0] | result])


def test_coco_results_of_an_unknown_category_fail_their_sample(coco):
    root, document = coco
    with pytest.raises(ModelError, match="results of the category 1, which the data does not"):
        answers(root, [results_of(document)[0] | {"category_id": 1}])


def test_coco_results_need_image_ids_in_the_data(coco):
    root, document = coco
    with pytest.raises(ModelError, match=r"no `metadata\.image_id`"):
        answers(root, results_of(document), metadata={})
    with pytest.raises(ModelError, match="no `category_ids`"):
        answers(root, results_of(document), query=DetectionQuery(("car", "dog")))


@pytest.fixture
def yolo(tmp_path):
    write(tmp_path / "images" / "val" / "frame_2.png", PICTURE)
    write(tmp_path / "images" / "val" / "frame_10.png", PICTURE)
    write(tmp_path / "labels" / "val" / "frame_2.txt", "1 0.5 0.5 0.25 0.5\n\n0 0.1 0.1 0.1 0.1\n")
    write(tmp_path / "classes.txt", "mug\nbox\n")
    return tmp_path


def test_yolo_folder_is_indexed_with_backgrounds(yolo):
    write(yolo / "labels" / "val" / "lonely.txt", "0 0.5 0.5 0.1 0.1\n")
    manifest = open_yolo(YoloOptions(root=yolo, split="val"), yolo)
    samples = load_all(manifest)
    assert list(samples) == ["val/frame_2", "val/frame_10"]
    truth = samples["val/frame_2"].ground_truth
    assert truth.boxes == pytest.approx(np.array([[120, 60, 200, 180], [16, 12, 48, 36]]))
    assert truth.labels == ("box", "mug")
    assert samples["val/frame_10"].ground_truth.labels == ()
    assert samples["val/frame_2"].query.vocabulary == ("mug", "box")
    assert manifest.warnings == ("1 file without counterpart: labels/val/lonely.txt",)


@pytest.mark.parametrize(
    "text",
    [
        "path: .\nnames: [mug, 'box']\nnc: 2\n",
        'names:\n  0: mug\n  1: "box"  # square\nval: images/val\n',
        "names:\n- mug\n- box\n",
        "nc: 2\nnames:  # two\n  - mug\n\n  - box\n",
        "names:\n  # in order\n  - mug\n  -   box   # square # again\nval: x\n",
        "names:\r\n  [\r\n  mug,\r\n  box,\r\n  ]\r\n",
    ],
)
def test_class_names_are_read_from_yaml(yolo, text):
    write(yolo / "data.yaml", text)
    manifest = open_yolo(YoloOptions(root=yolo), yolo)
    assert load_all(manifest)["val/frame_2"].query.vocabulary == ("mug", "box")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.yaml", "names: mug\n", "no list of class names"),
        ("data.yaml", "names:\n  0: mug\n  2: box\n", "skips some"),
        ("data.yaml", "names: [mug\n", "no list of class names"),
        ("data.yaml", "names:\n" + 300_000 * "\n", "no list of class names"),
        ("data.yaml", "names:\n  0: a" + 300_000 * " " + "b\n  2: c\n", "skips some"),
        ("data.yaml", 100_000 * "names: [\n", "no list of class names"),
        ("data.yaml", "names:\n  " + 5000 * "1" + ": mug\n", "no list of class names"),
        ("labels/val/frame_2.txt", "2 0.5 0.5 0.1 0.1", "line 1: class 2 is not one of the 2"),
        ("labels/val/frame_2.txt", "0 0.5 0.5 0.1", "4 numbers"),
        ("labels/val/frame_2.txt", "0 0.5 0.5 0.1 nan", "line 1: 'nan' is no finite number"),
        ("labels/val/frame_2.txt", "0.0 0.5 0.5 0.1 0.1", "the class is '0.0'; a whole number"),
        ("labels/val/frame_2.txt", "\n0 0.5 0.5 0 0.1", "line 2: width 0 and height 0.1"),
        ("labels/val/frame_2.txt", "mug 0.5 0.5 0.1 0.1", "line 1"),
        ("labels/val/frame_2.txt", b"\xff\xfe", "not UTF-8"),
        ("images/val/frame_2.png", b"nothing", "frame_2.png"),
    ],
)
def test_yolo_folders_that_break_the_format_are_refused(yolo, name, content, words):
    write(yolo / name, content)
    with pytest.raises(ManifestError, match=words):
        open_yolo(YoloOptions(root=yolo), yolo)


def test_yolo_folders_without_images_or_names_are_refused(yolo):
    with pytest.raises(ManifestError, match="no such folder"):
        open_yolo(YoloOptions(root=yolo / "absent"), yolo)
    with pytest.raises(ManifestError, match="images/train: holds no images"):
        open_yolo(YoloOptions(root=yolo, split="train"), yolo)
    (yolo / "images" / "void").mkdir()
    with pytest.raises(ManifestError, match="holds no images"):
        open_yolo(YoloOptions(root=yolo, split="void"), yolo)
    (yolo / "classes.txt").unlink()
    with pytest.raises(ManifestError, match="what the classes are called"):
        open_yolo(YoloOptions(root=yolo), yolo)
    manifest = open_yolo(YoloOptions(root=yolo, names=("a", "b")), yolo)
    assert load_all(manifest)["val/frame_2"].ground_truth.labels == ("b", "a")
