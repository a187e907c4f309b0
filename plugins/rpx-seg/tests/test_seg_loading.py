"""What both tasks read of a record, and what they say of files that break the format."""

import io
import json

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from rpx_core.arrays import encode_npy
from rpx_core.contracts import withhold
from rpx_core.errors import ConfigError, ManifestError, TruthWithheldError
from rpx_core.images import encode_png
from rpx_seg.labels import Box, label_instances, tight_boxes
from rpx_seg.object_segmentation import ObjectSegmentationOptions
from rpx_seg.semantic_segmentation import SemanticSegmentationOptions
from rpx_seg.taxonomy import map_classes

IDS = np.array([[0, 0, 257], [1, 1, 257]])
CLASSES = {"0": "unlabelled", "1": "table", "2": "mug"}


def palette_png(indices) -> bytes:
    picture = Image.fromarray(np.asarray(indices, np.uint8), "P")
    picture.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


# RW-030
def test_instance_ids_keep_their_sixteen_bits(folder):
    folder.put_ids("mask", IDS)
    truth = folder.load_instances().ground_truth
    assert truth.mask.dtype == np.int32
    assert np.unique(truth.mask).tolist() == [0, 1, 257]
    assert (truth.labels, truth.depth) == (None, None)


def test_ids_beyond_sixteen_bits_come_from_numpy_files(folder):
    folder.put("mask", "mask.npy", encode_npy(IDS.astype(np.int64) * 70_000))
    assert folder.load_instances().ground_truth.mask.max() == 257 * 70_000
    folder.put("mask", "mask.npy", encode_npy(IDS.astype(np.int64) * 2**31))
    with pytest.raises(ManifestError, match=r"mask\.npy.*32 bits"):
        folder.load_instances()


def test_palette_pictures_are_read_as_their_indices(folder):
    folder.put("mask", "mask.png", palette_png([[0, 1, 2], [2, 2, 0]]))
    assert folder.load_instances().ground_truth.mask.tolist() == [[0, 1, 2], [2, 2, 0]]


# RW-032
def test_packed_colours_are_ids_only_when_asked_for(folder):
    folder.put_rgb((1, 3))
    pixels = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]]], np.uint8)
    folder.put("mask", "mask.png", encode_png(pixels))
    sample = folder.load_instances(encoding="packed-rgb")
    assert sample.ground_truth.mask.tolist() == [[1, 256, 65536]]
    with pytest.raises(ManifestError, match=r"mask\.png: holds RGB colours") as caught:
        folder.load_instances()
    assert "packed-rgb" in caught.value.hint


@pytest.mark.parametrize("key", ["mask", "semantic"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("negative.npy", encode_npy(IDS - 1), "negative id -1"),
        ("float.npy", encode_npy(IDS.astype(np.float32)), "float32"),
        ("cube.npy", encode_npy(IDS[..., None]), r"\(2, 3, 1\)"),
        ("text.png", b"not an image", "not an image"),
        ("cut.png", encode_png(IDS.astype(np.uint16))[:40], "cut.png"),
        ("empty.png", b"", "empty.png"),
        ("depth.npy", encode_npy(np.arange(4097).reshape(17, 241)), "holds 4,097 labels"),
        ("large.png", encode_png(np.zeros((4, 6), np.uint16)), "is 4x6, but rgb rgb.png is 2x3"),
    ],
)
def test_wrong_mask_file_is_named(folder, key, name, content, words):
    folder.put(key, name, content)
    load = folder.load_instances if key == "mask" else folder.load_classes
    with pytest.raises(ManifestError, match=words) as caught:
        load()
    assert name in str(caught.value)


@pytest.mark.parametrize("mask", [None, 3, ["a.png"]])
def test_mask_must_be_listed_as_a_path(folder, mask):
    folder.keys["mask"] = mask
    with pytest.raises(ManifestError, match=r"scene1_clutter_00007.*mask"):
        folder.load_instances()


def test_sample_without_image_is_refused(folder):
    folder.put_ids("mask", IDS)
    del folder.keys["rgb"]
    with pytest.raises(ManifestError, match="rgb"):
        folder.load_instances()


def test_ignored_ids_become_void(folder):
    folder.put_ids("mask", IDS)
    truth = folder.load_instances(ignore=(257,)).ground_truth
    assert truth.mask.tolist() == [[0, 0, -1], [1, 1, -1]]


def test_depth_is_truth_and_never_shown_to_models(folder):
    folder.put_ids("mask", IDS)
    folder.put_ids("depth", np.array([[0, 1000, 2000], [500, 1500, 2500]]))
    sample = folder.load_instances()
    np.testing.assert_allclose(sample.ground_truth.depth, [[0, 1, 2], [0.5, 1.5, 2.5]])
    blind = withhold(sample)
    with pytest.raises(TruthWithheldError):
        _ = blind.ground_truth
    assert blind.query.boxes is None


def test_depth_of_another_size_is_refused(folder):
    folder.put_ids("mask", IDS)
    folder.put_ids("depth", np.ones((4, 4)))
    with pytest.raises(ManifestError, match=r"depth depth\.png is 4x4"):
        folder.load_instances()


def put_boxes(folder, *entries) -> None:
    folder.put("boxes", "boxes.json", json.dumps(entries).encode())


def test_classes_of_instances_come_from_boxes_by_place(folder):
    folder.put_ids("mask", IDS)
    put_boxes(
        folder,
        {"bbox": [2, 0, 3, 2], "label": "mug", "track_id": "7"},
        {"bbox": [0, 1, 2, 2], "label": "can"},
    )
    assert folder.load_instances().ground_truth.labels == {1: "can", 257: "mug"}


def test_classes_of_instances_come_from_boxes_by_id(folder):
    folder.put_ids("mask", IDS)
    put_boxes(folder, {"bbox": [0, 0, 3, 2], "label": "mug", "id": 1})
    assert folder.load_instances().ground_truth.labels == {1: "mug"}


def test_classes_of_instances_come_from_labels(folder):
    folder.put_ids("mask", IDS)
    folder.keys["labels"] = {"1": "can", "257": "mug"}
    assert folder.load_instances().ground_truth.labels == {1: "can", 257: "mug"}
    folder.put_ids("semantic", [[1, 1, 2], [1, 1, 2]])
    assert folder.load_instances().ground_truth.labels is None


def test_every_box_and_instance_is_used_once():
    mask = np.zeros((10, 10), np.int32)
    mask[:4, :4], mask[:4, 5:9] = 3, 8
    boxes = [Box((0, 0, 4, 4), "a"), Box((0, 0, 4, 3), "b"), Box((5, 0, 9, 4), "c")]
    assert label_instances(mask, boxes) == {3: "a", 8: "c"}
    assert label_instances(mask, [Box((0, 0, 9, 9), "far off")]) == {}
    assert label_instances(np.zeros((2, 2), np.int32), boxes) == {}


def test_tight_boxes_are_half_open():
    ids, boxes = tight_boxes(IDS)
    assert ids.tolist() == [1, 257]
    assert boxes.tolist() == [[0, 1, 2, 2], [2, 0, 3, 2]]


@pytest.mark.parametrize(
    ("boxes", "words"),
    [
        ({"bbox": [0, 0, 1, 1]}, "a list of boxes"),
        ([3], "box 0"),
        ([{"bbox": [0, 0, 1]}], "four finite numbers"),
        ([{"bbox": [0, 0, 1, "2"]}], "four finite numbers"),
        ([{"bbox": [0, 0, 1, 1, 1]}], "four finite numbers"),
        ([{"bbox": [0, 0, 1, True]}], "four finite numbers"),
        ([{"bbox": [0, 0, 1, 1e308]}], r"bbox holds 1e\+308"),
        ([{"bbox": [0, 0, 1, 1], "label": 3}], "label must be a text"),
        ([{"bbox": [0, 0, 1, 1], "id": "1"}], "id must be the whole number"),
    ],
)
def test_wrong_boxes_are_named(folder, boxes, words):
    folder.put_ids("mask", IDS)
    folder.put("boxes", "boxes.json", json.dumps(boxes).encode())
    with pytest.raises(ManifestError, match=words) as caught:
        folder.load_instances()
    assert "boxes.json" in str(caught.value)


def test_boxes_prompt_models_only_when_the_options_say_so(folder):
    folder.put_ids("mask", IDS)
    put_boxes(folder, {"bbox": [2, 0, 3, 2], "label": "mug"})
    assert folder.load_instances().query.boxes is None
    query = folder.load_instances(prompts="boxes").query
    assert query.boxes.tolist() == [[2, 0, 3, 2]]


def test_classes_come_from_the_nearest_file(folder):
    folder.put_ids("semantic", [[0, 1, 2], [1, 1, 2]], name="scenes/a/semantic/0.png")
    folder.put("rubbish", "classes.json", json.dumps({"9": "far"}).encode())
    folder.put("rubbish", "scenes/classes.json", json.dumps(CLASSES).encode())
    del folder.keys["rubbish"]
    sample = folder.load_classes()
    truth = sample.ground_truth
    assert truth.classes == {1: "table", 2: "mug"}
    assert truth.mask.tolist() == [[-1, 1, 2], [1, 1, 2]]
    assert truth.void == {0, 255}
    assert sample.query.classes == {1: "table", 2: "mug"}


@pytest.mark.parametrize("labels", [CLASSES, ["unlabelled", "table", "mug"]])
def test_classes_come_from_the_record(folder, labels):
    folder.put_ids("semantic", [[0, 1, 2], [1, 1, 2]])
    folder.put("rubbish", "classes.json", json.dumps({"9": "far"}).encode())
    del folder.keys["rubbish"]
    folder.keys["labels"] = labels
    assert folder.load_classes().ground_truth.classes == {1: "table", 2: "mug"}


@pytest.mark.parametrize(
    "labels", [3, {"one": "mug"}, {"1": 3}, {"1": None}, {"-1": "mug"}, {"9" * 30: "mug"}]
)
def test_wrong_names_are_refused(folder, labels):
    folder.put_ids("semantic", [[0, 1, 2], [1, 1, 2]])
    folder.keys["labels"] = labels
    with pytest.raises(ManifestError, match="labels"):
        folder.load_classes()


def test_without_names_every_id_is_a_class_but_255(folder):
    folder.put_ids("semantic", [[0, 7, 255], [7, 7, 65535]])
    truth = folder.load_classes().ground_truth
    assert truth.mask.tolist() == [[0, 7, -1], [7, 7, 65535]]
    assert truth.classes == {}


def test_255_is_a_class_where_it_has_a_name(folder):
    folder.put_ids("semantic", [[0, 1, 255], [1, 1, 255]])
    folder.keys["labels"] = {"0": "sky", "1": "road", "255": "car"}
    assert folder.load_classes().ground_truth.mask.max() == 255


def test_class_without_a_name_is_named(folder):
    folder.put_ids("semantic", [[0, 1, 3], [1, 1, 2]])
    folder.keys["labels"] = CLASSES
    with pytest.raises(ManifestError, match=r"semantic\.png: holds class 3.*1 table, 2 mug"):
        folder.load_classes()


def test_class_ids_beyond_sixteen_bits_are_refused(folder):
    folder.put("semantic", "semantic.npy", encode_npy(np.full((2, 3), 65_536)))
    with pytest.raises(ManifestError, match=r"semantic\.npy: holds the class id 65536"):
        folder.load_classes()


# RW-026
def test_ignoring_a_class_with_a_name_is_refused(folder):
    folder.put_ids("semantic", [[0, 1, 1], [1, 1, 0]])
    folder.keys["labels"] = {"0": "background", "1": "mug"}
    with pytest.raises(ConfigError, match="0 is the class 'background'") as caught:
        folder.load_classes(ignore=(0,))
    assert "exclude" in caught.value.hint


# RW-028
def test_zero_and_255_alone_are_not_taken_for_one_class_and_void(folder):
    folder.put_ids("semantic", [[0, 255, 0], [255, 0, 0]])
    with pytest.raises(ManifestError, match="one class would be left"):
        folder.load_classes()
    foreground = folder.load_classes(truth_map={"255": 1}).ground_truth
    assert foreground.mask.tolist() == [[0, 1, 0], [1, 0, 0]]
    folder.keys["labels"] = {"0": "road", "1": "car"}
    assert folder.load_classes().ground_truth.mask.tolist() == [[0, -1, 0], [-1, 0, 0]]


def test_truth_is_translated_before_ids_are_ignored(folder):
    folder.put_ids("semantic", [[1, 2, 3], [8, 5, 255]])
    folder.keys["labels"] = {str(i): f"name{i}" for i in range(1, 9)}
    truth = folder.load_classes(
        truth_map={"1": 1, "2": 1, "3": 1, "8": 2, "255": 255, "*": 0},
        classes={"other": 0, "wall": 1, "window": 2},
    ).ground_truth
    assert truth.mask.tolist() == [[1, 1, 1], [2, 0, -1]]
    assert truth.classes == {0: "other", 1: "wall", 2: "window"}


def test_ids_that_no_map_lists_stay():
    mask = np.array([[0, 3, 9]], np.int32)
    assert map_classes(mask, {"3": 4, "77": 1}).tolist() == [[0, 4, 9]]
    assert map_classes(mask, {"3": 4, "*": 8}).tolist() == [[8, 4, 8]]
    assert map_classes(mask, {}) is mask


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (SemanticSegmentationOptions, {"truth_map": {"a": 1}}),
        (SemanticSegmentationOptions, {"truth_map": {"1": -1}}),
        (SemanticSegmentationOptions, {"classes": {"mug": 70_000}}),
        (SemanticSegmentationOptions, {"ignore": [-1]}),
        (SemanticSegmentationOptions, {"prompts": "boxes"}),
        (ObjectSegmentationOptions, {"encoding": "bgr"}),
        (ObjectSegmentationOptions, {"resize": "bilinear"}),
    ],
)
def test_impossible_options_are_refused(kind, options):
    with pytest.raises(ValidationError):
        kind(**options)
