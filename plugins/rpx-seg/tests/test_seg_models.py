"""The models, on made-up tables, and on a picture with something to cut out."""

import numpy as np
import pytest

from rpx_core.contracts import Runtime, Sample, withhold
from rpx_core.errors import ModelError
from rpx_seg.assignment import assign
from rpx_seg.models import grabcut, superpixels, threshold, threshold_semantic
from rpx_seg.overlaps import overlap_segments
from rpx_seg.standing_blobs import StandingBlob
from rpx_seg.table_colours import WORDS, name_table_colours
from rpx_seg.types import SegmentationQuery, SemanticQuery

RUNTIME = Runtime(device="cpu", seed=0, cache=None)
WOOD, WALL = (200, 150, 100), (150, 150, 155)
PAINT = {
    "red": (200, 30, 30),
    "orange": (240, 120, 20),
    "yellow": (240, 200, 30),
    "green": (40, 140, 60),
    "blue": (30, 70, 190),
    "purple": (115, 50, 150),
    "pink": (240, 130, 170),
    "white": (235, 232, 225),
    "black": (18, 18, 20),
}
CLASSES = {1: "Wall", 2: "floor", 3: "table", 4: "cabinet", 5: "ball", 8: "bottle", 11: "book"}


def table_top(*things: tuple[str, int, int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A wall above a table, on it boxes of (colour, top, left, height, width), and their mask."""
    rng = np.random.default_rng(0)
    picture = np.empty((120, 160, 3))
    picture[:40], picture[40:] = WALL, WOOD
    mask = np.zeros((120, 160), np.int32)
    for number, (colour, top, left, height, width) in enumerate(things, start=1):
        place = (slice(top, top + height), slice(left, left + width))
        picture[place], mask[place] = PAINT[colour], number
    noisy = picture + rng.normal(0, 2, picture.shape)
    return noisy.clip(0, 255).astype(np.uint8), mask


def run(model, rgb, query=None):
    model.setup()
    (prediction,) = model.predict([withhold(Sample("s1", rgb=rgb, query=query))])
    assert prediction.mask.shape == rgb.shape[:2]
    assert prediction.mask.dtype == np.int32
    return prediction


def find_objects(rgb, **options):
    return run(threshold.load(threshold.ThresholdOptions(**options), RUNTIME), rgb)


def fit(truth, prediction) -> float:
    overlaps = overlap_segments(truth, prediction)
    best = overlaps.iou()[assign(overlaps)].sum()
    return best / max(overlaps.truth_ids.size, overlaps.prediction_ids.size)


def test_coloured_things_on_a_table_are_found():
    rgb, truth = table_top(
        ("red", 60, 20, 20, 15), ("blue", 70, 60, 20, 30), ("green", 30, 120, 50, 16)
    )
    prediction = find_objects(rgb)
    assert fit(truth, prediction.mask) > 0.9
    assert set(prediction.scores) == set(np.unique(prediction.mask)) - {0}
    assert all(0 < score <= 1 for score in prediction.scores.values())


def test_ids_say_the_colour_and_then_the_place_from_the_left():
    rgb, truth = table_top(("red", 60, 90, 20, 15), ("red", 70, 20, 20, 30))
    mask = find_objects(rgb).mask
    red = WORDS.index("red") + 1
    assert mask[truth == 2].max() == red
    assert mask[truth == 1].max() == red + len(WORDS)


def test_pictures_on_the_wall_and_specks_are_no_objects():
    rgb, _ = table_top(("red", 5, 20, 20, 15), ("blue", 80, 60, 3, 3))
    prediction = find_objects(rgb)
    assert not prediction.mask.any()
    assert prediction.scores == {}


def test_large_images_are_looked_at_small_and_answered_large():
    rgb, truth = table_top(("red", 60, 20, 30, 25))
    large = rgb.repeat(3, axis=0).repeat(3, axis=1)
    mask = find_objects(large).mask
    assert fit(truth.repeat(3, axis=0).repeat(3, axis=1), mask) > 0.9


@pytest.mark.parametrize("rgb", [np.zeros((1, 1, 3), np.uint8), np.full((3, 500, 3), 255, "u1")])
def test_images_of_any_shape_are_answered(rgb):
    find_objects(rgb)
    name_background(rgb)


@pytest.mark.parametrize("word", WORDS)
def test_paints_have_their_names(word):
    rgb = np.full((2, 2, 3), PAINT[word], np.uint8)
    assert (name_table_colours(rgb) == WORDS.index(word) + 1).all()


def test_wood_and_plaster_have_no_colour_word():
    for dull in (WOOD, WALL, (120, 80, 46), (90, 60, 40)):
        assert not name_table_colours(np.full((2, 2, 3), dull, np.uint8)).any()


def name_background(rgb, classes=None):
    model = threshold_semantic.load(threshold_semantic.ThresholdSemanticOptions(), RUNTIME)
    return run(model, rgb, SemanticQuery(classes or CLASSES)).mask


def test_rooms_are_named_by_place_and_objects_by_shape():
    rgb, truth = table_top(("blue", 60, 20, 40, 16), ("red", 90, 60, 16, 40))
    mask = name_background(rgb)
    assert (mask[:35] == 1).mean() > 0.95
    assert (mask[45:][truth[45:] == 0] == 3).mean() > 0.95
    assert np.median(mask[truth == 1]) == 8


def test_names_that_the_dataset_does_not_know_become_its_first_class():
    rgb, _ = table_top(("blue", 60, 20, 40, 16))
    mask = name_background(rgb, {4: "sky", 9: "table"})
    assert set(np.unique(mask)) == {4, 9}


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        (np.ones((30, 15), bool), "bottle"),
        (np.ones((12, 20), bool), "bowl"),
        (np.tri(12, 20, dtype=bool), "book"),
        (np.tri(20, 20, dtype=bool), "cone"),
        (np.ones((26, 20), bool), "can"),
        (np.ones((20, 20), bool), "box"),
        (np.hypot(*np.mgrid[-9:10, -9:10]) <= 9, "ball"),
    ],
)
def test_shapes_are_what_they_most_often_are(shape, name):
    blob = StandingBlob(slice(0, shape.shape[0]), slice(0, shape.shape[1]), shape, 1)
    assert threshold_semantic.guess_object(blob) == name


def test_semantic_baseline_needs_names():
    model = threshold_semantic.load(threshold_semantic.ThresholdSemanticOptions(), RUNTIME)
    with pytest.raises(ModelError, match="s1: the dataset names no classes"):
        model.predict([Sample("s1", rgb=np.zeros((4, 4, 3), np.uint8), query=SemanticQuery())])


@pytest.mark.parametrize(
    "model",
    [
        superpixels.load_slic(superpixels.SlicOptions(n_segments=40), RUNTIME),
        superpixels.load_felzenszwalb(superpixels.FelzenszwalbOptions(min_size_px=30), RUNTIME),
    ],
    ids=["slic", "felzenszwalb"],
)
def test_superpixels_cover_everything_and_follow_edges(model):
    rgb, truth = table_top(("red", 60, 20, 30, 35))
    mask = run(model, rgb).mask
    assert mask.min() == 1
    assert 2 <= np.unique(mask).size < 200
    # Segments do not cross from the red box to the table.
    inside = np.unique(mask[truth == 1])
    assert (truth[np.isin(mask, inside)] == 1).mean() > 0.8
    assert "scikit-image" in model.describe()


def cut(rgb, boxes, **options):
    model = grabcut.load(grabcut.GrabCutOptions(**options), RUNTIME)
    assert "opencv" in model.describe()
    return run(model, rgb, SegmentationQuery(np.array(boxes, np.float64).reshape(-1, 4)))


def test_grabcut_cuts_out_what_the_boxes_hold():
    rgb, truth = table_top(("red", 60, 20, 20, 15), ("blue", 70, 60, 20, 30))
    boxes = [[58, 68, 92, 92], [17, 57, 38, 83]]
    mask = cut(rgb, boxes).mask
    assert fit(truth, mask) > 0.9
    assert np.median(mask[truth == 2]) == 1
    assert np.median(mask[truth == 1]) == 2
    np.testing.assert_array_equal(cut(rgb, boxes).mask, mask)


def test_grabcut_puts_the_smaller_box_in_front():
    rgb, truth = table_top(("red", 60, 20, 40, 40), ("blue", 70, 30, 15, 15))
    mask = cut(rgb, [[28, 68, 47, 87], [18, 58, 62, 102]]).mask
    assert np.median(mask[truth == 2]) == 1


@pytest.mark.parametrize(
    "boxes", [[], [[0, 0, 160, 120]], [[5, 5, 5, 9]], [[500, 500, 600, 600]], [[-20, -20, -5, -5]]]
)
def test_grabcut_answers_boxes_it_cannot_use_with_nothing(boxes):
    rgb, _ = table_top()
    assert not cut(rgb, boxes).mask.any()


@pytest.mark.parametrize("query", [None, SegmentationQuery()])
def test_grabcut_without_boxes_says_how_to_give_them(query):
    model = grabcut.load(grabcut.GrabCutOptions(), RUNTIME)
    with pytest.raises(ModelError, match=r"s1: grabcut needs boxes.*options\.prompts") as caught:
        model.predict([Sample("s1", rgb=np.zeros((4, 4, 3), np.uint8), query=query)])
    assert "options.prompts" in caught.value.hint
