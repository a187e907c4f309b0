"""What holds for every metric of detection and grounding, whatever the images."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpx_core import testing as laws
from rpx_core.contracts import Frame, Sample
from rpx_core.state import fold
from rpx_detection.metrics.average_precision import ClassAgnosticAP, CocoDetection, DetectionAP
from rpx_detection.metrics.checks import DetectionChecks
from rpx_detection.metrics.confusion import DetectionConfusion, DetectionConfusionOptions
from rpx_detection.metrics.f1 import DetectionF1, DetectionF1Options
from rpx_detection.metrics.grounding import GroundingAccuracy
from rpx_detection.metrics.per_class import DetectionPerClass, PerClassOptions
from rpx_detection.metrics.published_f1 import PublishedDetectionF1
from rpx_detection.metrics.rules import DetectionAPOptions
from rpx_detection.types import (
    DetectionGroundTruth,
    DetectionPrediction,
    VisualGroundingGroundTruth,
    VisualGroundingPrediction,
)

AP = DetectionAP(DetectionAPOptions())
COCO = CocoDetection()
F1 = DetectionF1(DetectionF1Options())
CONFUSION = DetectionConfusion(DetectionConfusionOptions())
PUBLISHED = PublishedDetectionF1()
GROUNDING = GroundingAccuracy()
DETECTION = [
    AP,
    COCO,
    ClassAgnosticAP(DetectionAPOptions(thresholds=(0.5, 0.9), max_detections=(2,), area="box")),
    DetectionPerClass(PerClassOptions(classes=("mug", "large box"))),
    F1,
    CONFUSION,
    PUBLISHED,
    DetectionChecks(),
]
ALL = [*DETECTION, GROUNDING]
NAMES = [type(metric).__name__ for metric in ALL]
FEW = settings(max_examples=25)
"""Per metric: there are many of them, and drawing whole recordings is slow."""

labels = st.sampled_from(["mug", "large box", "", "杯"])
coordinates = st.one_of(st.integers(0, 6).map(lambda n: 8.0 * n), st.floats(0, 60))
scores = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(-5, 5))


@st.composite
def upright(draw) -> tuple[float, float, float, float]:
    x, y = draw(coordinates), draw(coordinates)
    return x, y, x + draw(st.floats(0.5, 40)), y + draw(st.floats(0.5, 40))


anyhow = st.tuples(coordinates, coordinates, coordinates, coordinates)


def rows(boxes) -> np.ndarray:
    return np.array(boxes, np.float64).reshape(-1, 4)


@st.composite
def images(draw, plain=False) -> tuple[DetectionGroundTruth, DetectionPrediction]:
    """A truth with crowds and ignored objects, and detections that may be inverted or empty."""
    wanted = draw(st.lists(st.tuples(labels, upright()), max_size=4))
    found = draw(st.lists(st.tuples(labels, st.one_of(upright(), anyhow), scores), max_size=6))
    flags = st.lists(st.booleans(), min_size=len(wanted), max_size=len(wanted))
    marks = [None, None] if plain else [np.array(draw(flags), np.bool_) for _ in range(2)]
    truth = DetectionGroundTruth(
        rows([box for _, box in wanted]), tuple(label for label, _ in wanted), *marks
    )
    # Some detections sit on what is there, or nothing would ever match.
    placed = [
        draw(st.sampled_from(wanted))[1] if wanted and draw(st.booleans()) else box
        for _, box, _ in found
    ]
    return truth, DetectionPrediction(
        rows(placed),
        np.array([score for *_, score in found], np.float64),
        tuple(label for label, *_ in found),
    )


@st.composite
def expressions(draw) -> tuple[VisualGroundingGroundTruth, VisualGroundingPrediction]:
    targets = draw(st.lists(upright(), max_size=3))
    answers = draw(st.lists(st.one_of(upright(), anyhow), max_size=3))
    ranks = draw(st.lists(scores, min_size=len(answers), max_size=len(answers)))
    return (
        VisualGroundingGroundTruth("it", rows(targets)),
        VisualGroundingPrediction(rows(answers), np.array(ranks, np.float64)),
    )


def evidence_for(metric):
    return expressions() if metric is GROUNDING else images()


def measure_all(metric, recording) -> list:
    frames = [Frame(Sample(f"s{n}"), *image) for n, image in enumerate(recording)]
    return laws.measure_all(metric, frames)


def numbers(metric, recording) -> dict[str, float | None]:
    states = measure_all(metric, recording)
    return dict(metric.result(fold(states))) if states else dict.fromkeys(metric.outputs)


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
@FEW
@given(data=st.data())
def test_states_survive_bytes_and_results_are_finite(metric, data):
    laws.check_storage(metric, measure_all(metric, [data.draw(evidence_for(metric))]))


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
@FEW
@given(data=st.data())
def test_folds_do_not_depend_on_split(metric, data):
    recording = data.draw(st.lists(evidence_for(metric), min_size=1, max_size=5))
    states = measure_all(metric, recording)
    laws.check_split(metric, states, data.draw(st.integers(0, len(states))))


# Equal scores count in their order for COCO: see test_detection_ap.py.
ORDERLESS = [metric for metric in ALL if metric is not COCO]


@pytest.mark.parametrize("metric", ORDERLESS, ids=[type(one).__name__ for one in ORDERLESS])
@FEW
@given(data=st.data())
def test_numbers_do_not_depend_on_the_order_of_images(metric, data):
    recording = data.draw(st.lists(evidence_for(metric), min_size=1, max_size=5))
    shuffled = data.draw(st.permutations(recording))
    assert numbers(metric, shuffled) == pytest.approx(numbers(metric, recording), abs=1e-12)


@pytest.mark.parametrize("metric", [AP, F1], ids=["ap", "f1"])
@given(image=images(), data=st.data())
def test_numbers_do_not_depend_on_the_order_within_an_image(metric, image, data):
    truth, prediction = image
    order = list(data.draw(st.permutations(range(len(prediction.labels)))))
    shuffled = DetectionPrediction(
        prediction.boxes[order], prediction.scores[order], [prediction.labels[i] for i in order]
    )
    assert numbers(metric, [(truth, shuffled)]) == numbers(metric, [image])


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
@FEW
@given(data=st.data())
def test_measuring_changes_no_input(metric, data):
    truth, prediction = data.draw(evidence_for(metric))
    arrays = [
        v for part in (truth, prediction) for v in vars(part).values() if hasattr(v, "tobytes")
    ]
    before = [array.tobytes() for array in arrays]
    measure_all(metric, [(truth, prediction)])
    assert [array.tobytes() for array in arrays] == before


def perfect(truth: DetectionGroundTruth, ranks=None) -> DetectionPrediction:
    count = len(truth.labels)
    return DetectionPrediction(
        truth.boxes, np.ones(count) if ranks is None else ranks, truth.labels
    )


@settings(max_examples=50)
@given(recording=st.lists(images(plain=True), min_size=1, max_size=4), data=st.data())
def test_truth_as_prediction_is_perfect(recording, data):
    exact = []
    for truth, _ in recording:
        order = data.draw(st.lists(scores, min_size=len(truth.labels), max_size=len(truth.labels)))
        exact.append((truth, perfect(truth, np.array(order, np.float64))))
    for metric in (AP, COCO, F1, CONFUSION, PUBLISHED):
        for name, value in numbers(metric, exact).items():
            output = metric.outputs[name]
            # One detection cannot find two objects, so ar1 and ar10 have other bests.
            if value is None or output.best is None or name in ("ar1", "ar10"):
                continue
            # COCO's guard against 0 / 0 leaves it a rounding error short of 1.
            assert value == pytest.approx(output.best, abs=1e-12), name


@settings(max_examples=50)
@given(recording=st.lists(images(plain=True), min_size=1, max_size=3), data=st.data())
def test_worse_detectors_never_score_better(recording, data):
    exact = [(truth, perfect(truth)) for truth, _ in recording]
    worse = []
    for truth, other in recording:
        kept = np.array([data.draw(st.booleans()) for _ in truth.labels], np.bool_)
        shift = data.draw(st.floats(0, 50))
        boxes = np.concatenate([truth.boxes[kept] + shift, other.boxes])
        names = [label for label, keep in zip(truth.labels, kept, strict=True) if keep]
        ranks = np.concatenate([np.full(len(names), 0.5), other.scores])
        worse.append((truth, DetectionPrediction(boxes, ranks, [*names, *other.labels])))
    for metric in (AP, COCO, F1, CONFUSION, PUBLISHED):
        best, found = numbers(metric, exact), numbers(metric, worse)
        for name, output in metric.outputs.items():
            if None in (best[name], found[name], output.better, output.best):
                continue
            sign = 1 if output.better == "higher" else -1
            assert sign * found[name] <= sign * best[name] + 1e-12, name


@given(image=images(plain=True))
def test_removing_false_alarms_never_lowers_average_precision(image):
    truth, prediction = image
    known = [i for i, label in enumerate(prediction.labels) if label in truth.labels]
    fewer = DetectionPrediction(
        prediction.boxes[known], prediction.scores[known], [prediction.labels[i] for i in known]
    )
    before, after = numbers(AP, [image])["ap"], numbers(AP, [(truth, fewer)])["ap"]
    assert before == after or after >= before


@given(case=expressions())
def test_exact_answers_are_perfect_and_worse_ones_no_better(case):
    truth, other = case
    exact = VisualGroundingPrediction(truth.boxes, np.ones(len(truth.boxes)))
    best, found = numbers(GROUNDING, [(truth, exact)]), numbers(GROUNDING, [(truth, other)])
    for name, output in GROUNDING.outputs.items():
        if output.best is None or best[name] is None:
            continue
        assert best[name] == pytest.approx(output.best)
        assert found[name] <= best[name] + 1e-12
