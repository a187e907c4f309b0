"""From the classes of a checkpoint to those of the data, by name."""

from __future__ import annotations

from rpx_seg.models.hf_classes import translation
from rpx_seg.models.hf_networks import HfSegmentationOptions

CHECKPOINT = {0: "Wall", 1: "dining_table", 2: "sky", 3: "mug"}
DATA = {5: "wall", 7: "Dining  Table", 9: "mug"}


def test_equal_names_are_the_same_class_whatever_their_ids() -> None:
    assert translation(CHECKPOINT, DATA, 255).tolist() == [5, 7, 255, 9]


def test_what_the_data_does_not_know_gets_the_id_that_is_set() -> None:
    assert translation({0: "sky"}, DATA, 3).tolist() == [3]


def test_the_first_of_two_equal_names_of_the_data_counts() -> None:
    assert translation({0: "mug"}, {4: "mug", 2: "mug"}, 255).tolist() == [2]


def test_ids_that_the_checkpoint_leaves_out_are_unknown() -> None:
    assert translation({2: "mug"}, DATA, 255).tolist() == [255, 255, 9]


def test_classes_of_the_checkpoint_can_be_renamed() -> None:
    options = HfSegmentationOptions(checkpoint="a/b", labels={"cup": "mug"})
    assert [options.rename(name) for name in ("cup", "wall")] == ["mug", "wall"]
