import numpy as np
import pytest

from rpx_core.images import encode_png
from rpx_seg.preview import (
    CONFUSED,
    INVENTED,
    MISSED,
    VOID_COLOUR,
    draw_classes,
    draw_instances,
)

RGB = np.full((8, 12, 3), 90, np.uint8)
CAPTIONS = ["rgb", "ground truth", "prediction", "error"]


def pictures(drawn) -> dict[str, np.ndarray]:
    return {picture.caption.partition(":")[0]: picture.image for picture in drawn}


def block(label: int, columns: slice, background: int = 0) -> np.ndarray:
    mask = np.full((8, 12), background, np.int32)
    mask[2:7, columns] = label
    return mask


@pytest.mark.parametrize("draw", [draw_instances, draw_classes])
def test_pictures_and_their_order(draw):
    mask = block(5, slice(2, 7))
    found = pictures(draw(RGB, mask, mask))
    assert list(found) == CAPTIONS
    assert list(pictures(draw(None, mask, mask))) == CAPTIONS[1:]
    for image in found.values():
        assert (image.dtype, image.shape[1:]) == (np.uint8, (12, 3))
        assert encode_png(image)
    np.testing.assert_array_equal(found["ground truth"], found["prediction"])


def test_assigned_segments_share_a_colour_whatever_their_ids():
    truth = block(5, slice(0, 5)) + block(9, slice(7, 11))
    renamed = block(700, slice(0, 5)) + block(3, slice(7, 11))
    found = pictures(draw_instances(RGB, truth, renamed))
    np.testing.assert_array_equal(found["ground truth"], found["prediction"])
    first, second = found["ground truth"][4, 2], found["ground truth"][4, 8]
    assert np.abs(first.astype(int) - second).max() > 40
    grey = found["error"]
    assert (grey[..., 0] == grey[..., 1]).all()


def test_invented_segments_have_a_colour_of_their_own():
    truth = block(5, slice(0, 5))
    found = pictures(draw_instances(RGB, truth, truth + block(7, slice(7, 11))))
    assert found["prediction"][4, 8].tolist() != found["prediction"][4, 2].tolist()
    assert tuple(found["error"][4, 8]) == INVENTED


def test_error_map_tells_missed_invented_confused_and_void_apart():
    truth = block(5, slice(0, 4)) + block(6, slice(4, 8))
    truth[0] = -1
    prediction = block(1, slice(2, 10))
    error = pictures(draw_instances(RGB, truth, prediction))["error"]
    assert tuple(error[4, 0]) == MISSED
    assert tuple(error[4, 2]) == CONFUSED
    assert tuple(error[4, 9]) == INVENTED
    assert tuple(error[0, 3]) == VOID_COLOUR
    assert len({*map(tuple, error[4, 4:8].tolist())}) == 1


def test_class_zero_is_a_class_and_abstentions_are_missed():
    truth = np.zeros((8, 12), np.int32)
    prediction = block(1, slice(0, 4))
    prediction[:, 8:] = -1
    found = pictures(draw_classes(RGB, truth, prediction))
    assert tuple(found["error"][4, 1]) == CONFUSED
    assert tuple(found["error"][4, 10]) == MISSED
    assert tuple(found["prediction"][4, 10]) == VOID_COLOUR
    colours = found["ground truth"][4, 1].astype(int)
    assert colours.min() > 120
    assert colours.max() - colours.min() < 20


def test_class_maps_have_a_legend_of_the_classes_that_occur():
    truth = block(1, slice(0, 4))
    _, first, second, _ = draw_classes(RGB, truth, truth, {0: "table", 1: "mug", 2: "never"})
    assert first.legend == second.legend
    (background, pale), (mug, _) = first.legend.keys
    assert (background, mug, pale) == ("table", "mug", (205, 205, 200))


@pytest.mark.parametrize("draw", [draw_instances, draw_classes])
@pytest.mark.parametrize("label", [0, -1, 2**31 - 1])
def test_maps_of_one_label_are_drawn(draw, label):
    mask = np.full((8, 12), label, np.int32)
    if draw is draw_classes and label > 65_535:
        mask[:] = 65_535
    assert len(draw(RGB, mask, mask.clip(0))) == 4
