"""The blob models, the people detector, the adapters and the published factories."""

import numpy as np
import pytest

from rpx_core.contracts import Runtime, Sample, TaskType, withhold
from rpx_core.errors import AdapterError, ConfigError, ModelError
from rpx_detection import published
from rpx_detection.adapters import BoxFormat, wrap_detector, wrap_grounder
from rpx_detection.models import blobs, hog_people
from rpx_detection.models.phrases import Phrase, parse_phrase
from rpx_detection.models.regions import Region, find_regions
from rpx_detection.models.shapes import SHAPES
from rpx_detection.models.strong_colours import COLOURS, colour_table, name_strong_colours
from rpx_detection.types import DetectionQuery, GroundingQuery

TABLE = (150, 118, 88)
RED, BLUE, GREEN = (204, 33, 28), (31, 69, 189), (41, 143, 56)


@pytest.fixture
def runtime(tmp_path) -> Runtime:
    return Runtime("cpu", 0, tmp_path)


def scene(*things: tuple[tuple[int, int, int], tuple[int, int, int, int]]) -> np.ndarray:
    """Coloured boxes on a table, 320x240."""
    rgb = np.full((240, 320, 3), TABLE, np.uint8)
    for colour, (x0, y0, x1, y1) in things:
        rgb[y0:y1, x0:x1] = colour
    return rgb


def test_colour_words_are_those_that_people_use():
    shades = {
        "red": RED,
        "orange": (240, 115, 20),
        "yellow": (242, 204, 33),
        "green": GREEN,
        "blue": BLUE,
        "purple": (115, 48, 153),
        "pink": (242, 128, 171),
        "white": (235, 232, 224),
        "black": (18, 18, 20),
    }
    codes = name_strong_colours(np.array([list(shades.values())], np.uint8), colour_table())
    assert [COLOURS[code - 1] for code in codes[0]] == list(shades)
    dull = np.array([[TABLE, (128, 128, 128), (90, 100, 95)]], np.uint8)
    assert name_strong_colours(dull, colour_table()).tolist() == [[0, 0, 0]]


def test_regions_are_joined_across_small_gaps_of_their_colour():
    codes = np.zeros((40, 60), np.uint8)
    codes[5:10, 5:15] = codes[13:18, 5:15] = 1
    codes[5:10, 40:50] = 1
    codes[10:13, 5:15] = 2
    codes[30, 30] = 3
    found = find_regions(codes, gap=4)
    assert found == [
        Region(1, (5, 5, 15, 18), 100),
        Region(1, (40, 5, 50, 10), 50),
        Region(2, (5, 10, 15, 13), 30),
    ]
    assert find_regions(np.zeros((4, 4), np.uint8), gap=4) == []


def test_winding_regions_are_one():
    codes = np.zeros((30, 30), np.uint8)
    for turn in range(0, 15, 2):
        codes[turn, turn : 30 - turn] = codes[29 - turn, turn : 30 - turn] = 1
        codes[turn : 30 - turn, 29 - turn] = 1
        codes[turn + 2 : 30 - turn, turn] = 1
        codes[turn + 2, turn : turn + 2] = 1
    (spiral,) = find_regions(codes, gap=1)
    assert spiral.box == (0, 0, 30, 30)
    assert spiral.pixels == np.count_nonzero(codes)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("the red mug", Phrase("red", "mug")),
        ("Blue  boxes", Phrase("blue", "box")),
        ("all balls", Phrase(None, "ball")),
        ("the leftmost object", Phrase(place="left")),
        ("the can closest to the camera", Phrase(None, "can", "near")),
        ("all purple objects", Phrase("purple")),
        ("the tall person", None),
        ("杯", None),
    ],
)
def test_phrases_are_read_for_colour_shape_and_place(text, phrase):
    assert parse_phrase(text) == phrase


def test_detector_finds_coloured_things_exactly(runtime):
    model = blobs.load(blobs.BlobsOptions(), runtime)
    model.setup()
    things = ((RED, (40, 60, 80, 110)), (BLUE, (200, 100, 240, 150)))
    sample = Sample("s", scene(*things), ground_truth=object(), query=DetectionQuery())
    (found,) = model.predict([withhold(sample)])
    assert sorted(map(tuple, found.boxes.tolist())) == [(40, 60, 80, 110), (200, 100, 240, 150)]
    assert set(found.labels) <= set(SHAPES)
    (nothing,) = model.predict([Sample("e", scene(), query=DetectionQuery())])
    assert nothing.boxes.shape == (0, 4)


def test_detector_answers_names_of_the_vocabulary_only(runtime):
    model = blobs.load(blobs.BlobsOptions(), runtime)
    model.setup()
    steps = [(RED, (100 - half, 60 + 2 * half, 100 + half, 62 + 2 * half)) for half in range(2, 25)]
    rgb = scene(*steps, (BLUE, (200, 100, 240, 150)))
    query = DetectionQuery(("red cone", "blue cone", "object", "spanner"))
    (found,) = model.predict([Sample("s", rgb, query=query)])
    assert sorted(found.labels) == ["object", "object", "red cone"]


def test_large_images_are_answered_in_their_own_pixels(runtime):
    model = blobs.load(blobs.BlobsOptions(), runtime)
    model.setup()
    small = scene((GREEN, (40, 60, 80, 110)))
    large = small.repeat(4, axis=0).repeat(4, axis=1)
    (found,) = model.predict([Sample("s", large, query=DetectionQuery())])
    assert found.boxes.tolist() == [[160, 240, 320, 440]]


def test_blobs_are_of_this_image_even_if_another_has_the_same_bytes(runtime):
    finder = blobs.BlobFinder(blobs.BlobsOptions())
    finder.setup()
    bar = np.full((10, 40, 3), RED, np.uint8)
    shapes = [bar, bar.reshape(40, 10, 3), bar]
    found = [finder.find(Sample("s", rgb)) for rgb in shapes]
    assert [blob.box for (blob,) in found] == [(0, 0, 40, 10), (0, 0, 10, 40), (0, 0, 40, 10)]


def test_grounder_follows_colours_places_and_refuses(runtime):
    model = blobs.load_grounder(blobs.BlobsOptions(), runtime)
    model.setup()
    rgb = scene(
        (RED, (40, 60, 80, 110)), (BLUE, (150, 140, 190, 190)), (BLUE, (240, 100, 280, 150))
    )
    answers = {
        "the red box": [[40, 60, 80, 110]],
        "the rightmost blue object": [[240, 100, 280, 150]],
        "the leftmost box": [[40, 60, 80, 110]],
        "the object closest to the camera": [[150, 140, 190, 190]],
        "the green box": [],
        "the red cone": [],
        "my grandmother": [],
    }
    samples = [Sample("s", rgb, query=GroundingQuery(text)) for text in answers]
    assert [one.boxes.tolist() for one in model.predict(samples)] == list(answers.values())
    with pytest.raises(ModelError, match="sample s: an expression"):
        model.predict([Sample("s", rgb, query=DetectionQuery())])


def test_people_detector_finds_none_where_none_are(runtime):
    model = hog_people.load(hog_people.HogPeopleOptions(), runtime)
    model.setup()
    for size in ((240, 320), (40, 30)):
        (found,) = model.predict([Sample("s", np.full((*size, 3), 90, np.uint8))])
        assert (found.boxes.shape, found.scores.shape, found.labels) == ((0, 4), (0,), ())
    assert "opencv" in model.describe()
    with pytest.raises(ModelError, match="sample s"):
        model.predict([Sample("s")])


def sample_with(*vocabulary: str) -> Sample:
    return Sample("s7", np.zeros((480, 640, 3), np.uint8), query=DetectionQuery(vocabulary))


def test_functions_return_dicts_or_tuples():
    box = [[1, 2, 3, 4]]
    for answer in ({"boxes": box, "scores": [1], "labels": ["mug"]}, (box, [1], ["mug"])):
        model = published.make_numpy_detection_model(lambda rgb, answer=answer: answer, name="mine")
        assert (model.name, model.task) == ("mine", "object_detection")
        model.setup()
        (found,) = model.predict([sample_with()])
        assert isinstance(found, published.DetectionPrediction)
        assert (found.boxes.tolist(), found.labels) == (box, ("mug",))


def test_functions_that_take_a_vocabulary_get_it():
    def detect(rgb, vocabulary):
        rgb[:] = 7
        return [[1, 2, 3, 4]] * len(vocabulary), np.arange(len(vocabulary)), vocabulary

    task = TaskType.OPEN_VOCAB_DETECTION
    model = published.make_numpy_detection_model(detect, name="mine", task=task)
    assert model.task == "open_vocab_detection"
    sample = sample_with("mug", "box")
    assert model.predict([sample])[0].labels == ("mug", "box")
    assert not sample.rgb.any()


def test_functions_may_answer_class_indices():
    model = published.make_numpy_detection_model(
        lambda rgb: ([[1, 2, 3, 4]], [1], np.array([1])), name="mine"
    )
    assert model.predict([sample_with("mug", "box")])[0].labels == ("box",)


def test_grounding_functions_get_the_text():
    model = published.make_numpy_grounding_model(
        lambda rgb, text: {"boxes": [[0, 0, len(text), 9]], "scores": [1]}, name="mine"
    )
    sample = Sample("s", np.zeros((9, 9, 3), np.uint8), query=GroundingQuery("the mug"))
    (found,) = model.predict([sample])
    assert isinstance(found, published.VisualGroundingPrediction)
    assert found.boxes.tolist() == [[0, 0, 7, 9]]


def test_box_format_is_declared_never_guessed(runtime):
    # RW-016 and RW-058
    pixels = [[64, 48, 320, 240]]
    model = wrap_detector(
        lambda rgb: ([[100, 100, 400, 400]], [1], ["mug"]),
        BoxFormat(layout="xywh", space="thousand"),
        runtime,
    )
    assert model.predict([sample_with()])[0].boxes.tolist() == pixels
    grounder = wrap_grounder(
        lambda rgb, text: ([[0.1, 0.1, 0.5, 0.5]], [1]), BoxFormat(space="unit"), runtime
    )
    query = GroundingQuery("it")
    sample = Sample("s", np.zeros((480, 640, 3), np.uint8), query=query)
    assert grounder.predict([sample])[0].boxes.tolist() == pixels
    assert grounder.name == "<lambda>"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "returned None"),
        (([], []), "returned 2 values"),
        ({"boxes": []}, "a dict without scores, labels"),
        (([[1, 2, 3]], [1], ["a"]), r"shape \(1, 3\).*returned by mine"),
        (([[1, 2, 3, 4]], [1], [5]), "label 5 is an int"),
    ],
)
def test_functions_that_return_something_else_are_told(answer, words):
    model = published.make_numpy_detection_model(lambda rgb: answer, name="mine")
    with pytest.raises(AdapterError, match=words) as caught:
        model.predict([sample_with()])
    assert "sample s7" in caught.value.message


def test_factories_know_their_tasks():
    with pytest.raises(ConfigError, match="does not do monocular_depth"):
        published.make_numpy_detection_model(
            lambda rgb: None, name="mine", task=TaskType.MONOCULAR_DEPTH
        )
