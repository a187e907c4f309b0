"""Parallel folders: what is found, what is said of the rest, and that it loads."""

import json
from pathlib import Path

import numpy as np
import pytest

from rpx_core.errors import ManifestError
from rpx_core.files import Files
from rpx_core.images import encode_png
from rpx_seg.layouts.mask_folders import MaskFoldersOptions, open_mask_folders
from rpx_seg.object_segmentation import ObjectSegmentation, ObjectSegmentationOptions
from rpx_seg.semantic_segmentation import SemanticSegmentation, SemanticSegmentationOptions

RGB = encode_png(np.full((2, 3, 3), 90, np.uint8))
MASK = encode_png(np.array([[0, 1, 1], [0, 2, 2]], np.uint16))


def plant(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(RGB if name.startswith("rgb") else MASK)


def index(root: Path, **options):
    return open_mask_folders(MaskFoldersOptions(root=root, **options), root)


def records(manifest) -> dict:
    return {record.id: record for record in manifest.records(manifest.entries)}


def test_folders_match_by_name_in_natural_order(tmp_path):
    plant(tmp_path, *(f"{kind}/{n}.png" for kind in ("rgb", "masks") for n in (10, 2)))
    manifest = index(tmp_path)
    assert [entry.id for entry in manifest.entries] == ["2", "10"]
    assert manifest.header.served() == ("object_segmentation",)
    assert manifest.warnings == ()


def test_folders_inside_are_sequences(tmp_path):
    plant(tmp_path, *(f"{kind}/walk/{n}.png" for kind in ("rgb", "masks") for n in (1, 2)))
    found = records(index(tmp_path))
    assert list(found) == ["walk/1", "walk/2"]
    assert {record.sequence for record in found.values()} == {"walk"}


def test_both_kinds_serve_both_tasks_and_load(tmp_path):
    plant(tmp_path, "rgb/1.png", "masks/1.png", "semantic/1.png")
    (tmp_path / "classes.json").write_text(json.dumps(["unlabelled", "table", "mug"]))
    (tmp_path / "boxes").mkdir()
    boxes = [{"bbox": [1, 0, 3, 1], "label": "mug"}]
    (tmp_path / "boxes" / "1.json").write_text(json.dumps(boxes))
    manifest = index(tmp_path)
    assert manifest.header.served() == ("object_segmentation", "semantic_segmentation")
    (record,) = records(manifest).values()
    files = Files(manifest.root)
    instance = ObjectSegmentation(ObjectSegmentationOptions()).load(record, files)
    assert instance.ground_truth.labels == {1: "mug"}
    classes = SemanticSegmentation(SemanticSegmentationOptions()).load(record, files)
    assert classes.ground_truth.classes == {1: "table", 2: "mug"}


def test_folders_may_have_other_names(tmp_path):
    plant(tmp_path, "rgb_left/1.png", "ids/1.png")
    (tmp_path / "rgb_left" / "1.png").write_bytes(RGB)
    found = records(index(tmp_path, rgb="rgb_left", masks="ids"))
    assert found["1"].assets == {"mask": "ids/1.png"}


def test_files_without_counterpart_are_counted(tmp_path):
    plant(tmp_path, "rgb/1.png", "rgb/2.png", "masks/1.png", "masks/3.png", "rgb/.hidden.png")
    (warning,) = index(tmp_path).warnings
    assert warning == "2 files without counterpart: rgb/2.png, masks/3.png"


def test_nothing_to_match_is_an_error_that_says_what_was_expected(tmp_path):
    plant(tmp_path, "rgb/1.png", "masks/2.png")
    with pytest.raises(ManifestError, match="no image in rgb/ has a mask in masks/"):
        index(tmp_path)
    with pytest.raises(ManifestError, match="no such folder"):
        index(tmp_path / "nowhere")


def test_one_frame_in_two_files_is_refused(tmp_path):
    plant(tmp_path, "rgb/1.png", "masks/1.png", "masks/1.npy")
    with pytest.raises(ManifestError, match="the same frame twice"):
        index(tmp_path)


def test_name_that_is_no_text_is_refused(tmp_path):
    plant(tmp_path, "rgb/1\n.png", "masks/1.png")
    with pytest.raises(ManifestError, match="printable"):
        index(tmp_path)
