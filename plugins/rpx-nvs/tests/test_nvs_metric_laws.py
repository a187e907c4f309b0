"""What holds for every metric of views, whatever the images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rpx_core import testing as laws
from rpx_core.contracts import Frame, Sample, Undefined
from rpx_core.measure import evaluate
from rpx_core.state import fold
from rpx_nvs.colours import to_uint8
from rpx_nvs.metrics.lpips import Lpips
from rpx_nvs.metrics.multi_scale import MultiScaleSsim
from rpx_nvs.metrics.psnr import Psnr
from rpx_nvs.metrics.published import Published
from rpx_nvs.metrics.ssim import Ssim, SsimUniform7
from rpx_nvs.metrics.stability import NvsStability
from rpx_nvs.types import NovelViewSynthesisGroundTruth, NovelViewSynthesisPrediction
from rpx_nvs.visibility import SEEN, UNKNOWN

SHAPE = (12, 13)
CAMERA = np.array([[10.0, 0, 6], [0, 10, 5], [0, 0, 1]])
METRICS = [Psnr(), Ssim(), SsimUniform7(), Published(), NvsStability()]
NAMES = [type(metric).__name__ for metric in METRICS]
IMAGE_METRICS = METRICS[:3]
IMAGE_NAMES = NAMES[:3]

colours = arrays(np.uint8, (*SHAPE, 3))


@st.composite
def views(draw):
    """A target with masks, visibility and depth, and a prediction in either form.

    Pixels come from a seed: drawn one by one they would take most of the time. Contrasts from flat
    to full, and predictions from equal to unrelated, are drawn.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1, 4, 256]))
    target = rng.integers(0, spread, (*SHAPE, 3), np.uint8)
    error = rng.integers(0, draw(st.sampled_from([1, 3, 256])), (*SHAPE, 3), np.uint8)
    prediction = target ^ error
    if draw(st.booleans()):
        prediction = (prediction / 255).astype(np.float32)
    masked, split = draw(st.booleans()), draw(st.booleans())
    truth = NovelViewSynthesisGroundTruth(
        target,
        np.eye(4),
        scored=rng.random(SHAPE) < draw(st.sampled_from([0, 0.5, 1])) if masked else None,
        depth=rng.choice([0, 1, 1.5, 2], SHAPE).astype(np.float32),
        intrinsics=CAMERA,
        seen=rng.integers(0, draw(st.integers(1, 3)), SHAPE, np.uint8) if split else None,
    )
    return truth, NovelViewSynthesisPrediction(prediction)


def frame(view, number):
    truth, prediction = view
    return Frame(Sample(f"s{number}", camera_pose=np.eye(4)), truth, prediction)


def measure_all(metric, recording):
    return laws.measure_all(metric, [frame(view, number) for number, view in enumerate(recording)])


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(views(), min_size=2, max_size=3))
def test_states_survive_bytes_and_results_are_finite(metric, recording):
    laws.check_storage(metric, measure_all(metric, recording))


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(views(), min_size=2, max_size=4), data=st.data())
def test_folds_do_not_depend_on_order_or_split(metric, recording, data):
    states = measure_all(metric, recording)
    laws.check_order(metric, states, data.draw(st.permutations(range(len(states)))))
    laws.check_split(metric, states, data.draw(st.integers(0, len(states))))


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@given(recording=st.lists(views(), min_size=2, max_size=2))
def test_measuring_changes_no_input(metric, recording):
    before = [(truth.rgb.tobytes(), answer.rgb.tobytes()) for truth, answer in recording]
    measure_all(metric, recording)
    assert [(t.rgb.tobytes(), p.rgb.tobytes()) for t, p in recording] == before


@pytest.mark.parametrize("metric", METRICS[:4], ids=NAMES[:4])
@given(view=views())
def test_truth_as_prediction_is_perfect(metric, view):
    truth, _ = view
    for state in measure_all(metric, [(truth, NovelViewSynthesisPrediction(truth.rgb))]):
        for name, value in metric.result(state).items():
            if metric.outputs[name].better is not None:
                assert isinstance(value, Undefined) or value in (
                    None,
                    100.0 if "equal100" in name else metric.outputs[name].best,
                )


@pytest.mark.parametrize("metric", METRICS, ids=NAMES)
@pytest.mark.parametrize(
    "form",
    [
        lambda eight: eight / 255,
        lambda eight: (eight / 255).astype(np.float32),
        lambda eight: eight.astype(np.float32) * np.float32(1 / 255),
    ],
    ids=["float64", "float32", "reciprocal"],
)
@given(recording=st.lists(views(), min_size=2, max_size=2))
def test_8_bit_and_float_predictions_of_the_same_colours_score_the_same(
    metric, form, task, recording
):
    eights = [to_uint8(prediction.rgb) for _, prediction in recording]
    results = []
    for images in (eights, map(form, eights)):
        answers = [
            task().validate(image, Sample("s", ground_truth=truth))
            for image, (truth, _) in zip(images, recording, strict=True)
        ]
        views = [(truth, answer) for (truth, _), answer in zip(recording, answers, strict=True)]
        results.append([metric.result(state) for state in measure_all(metric, views)])
    assert results[0] == results[1]


def test_a_perfect_float_view_is_infinite(task):
    target = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    truth = NovelViewSynthesisGroundTruth(target)
    answer = task().validate(target / 255, Sample("s", ground_truth=truth))
    found = evaluate(Psnr(), Psnr().measure(None, truth, answer))
    assert found.infinite == ("psnr", "psnr_8bit")


@given(view=views(), share=st.floats(0.1, 0.9))
def test_moving_colours_towards_the_truth_never_lowers_psnr(view, share):
    truth, prediction = view
    start = prediction.rgb / (255 if prediction.rgb.dtype == np.uint8 else 1)
    nearer = start + share * (truth.rgb / 255 - start)
    found = [
        measure_all(Psnr(), [(truth, NovelViewSynthesisPrediction(rgb))]) for rgb in (start, nearer)
    ]
    for before, after in zip(*found, strict=True):
        old, new = Psnr().result(before), Psnr().result(after)
        for name in ("psnr", "psnr_covered", "psnr_disoccluded"):
            assert isinstance(old[name], Undefined) or new[name] >= old[name] - 1e-9


@given(truth=colours, level=st.integers(1, 255))
def test_a_flipped_pixel_never_improves_a_perfect_view(truth, level):
    changed = truth.copy()
    changed[6, 6, 0] ^= np.uint8(level)
    for metric in IMAGE_METRICS:
        target = NovelViewSynthesisGroundTruth(truth)
        state = metric.measure(None, target, NovelViewSynthesisPrediction(changed))
        first = next(iter(metric.outputs))
        assert metric.result(state)[first] < metric.outputs[first].best


@pytest.mark.parametrize(("metric", "metric_name"), [(Psnr(), "psnr"), (Ssim(), "ssim")])
@given(view=views())
def test_whole_lies_between_its_parts(metric, metric_name, view):
    truth, prediction = view
    if truth.seen is None:
        return
    # Every pixel of known visibility, so that the two parts make the whole.
    known = np.where(truth.seen == UNKNOWN, SEEN, truth.seen).astype(np.uint8)
    split = NovelViewSynthesisGroundTruth(truth.rgb, scored=truth.scored, seen=known)
    for state in measure_all(metric, [(split, prediction)]):
        values = metric.result(state)
        whole = next(iter(values.values()))
        parts = [values.get(f"{metric_name}_{part}") for part in ("covered", "disoccluded")]
        present = [part for part in parts if not isinstance(part, Undefined)]
        assert min(present) - 1e-9 <= whole <= max(present) + 1e-9


@pytest.mark.parametrize(
    ("metric", "smallest"),
    [
        (Ssim(), "the Gaussian 11x11 window"),
        (SsimUniform7(), "the uniform 7x7 window"),
        (MultiScaleSsim(), "176x176 pixels"),
        (Lpips(), "31x31 pixels"),
    ],
)
def test_images_too_small_are_undefined(metric, smallest):
    truth = NovelViewSynthesisGroundTruth(np.zeros((5, 5, 3), np.uint8))
    measured = metric.measure(None, truth, NovelViewSynthesisPrediction(truth.rgb))
    assert measured == Undefined(f"the image is smaller than {smallest}")


def test_multi_scale_is_perfect_for_the_truth_and_undefined_under_a_mask():
    rgb = np.random.default_rng(0).integers(0, 256, (176, 180, 3), np.uint8)
    metric, answer = MultiScaleSsim(), NovelViewSynthesisPrediction(rgb)
    state = metric.measure(None, NovelViewSynthesisGroundTruth(rgb), answer)
    assert metric.result(fold([state, state])) == {"ms_ssim": 1, "ms_ssim_mirrored": 1}
    scored = np.ones((176, 180), np.bool_)
    everything = NovelViewSynthesisGroundTruth(rgb, scored=scored.copy())
    assert isinstance(metric.measure(None, everything, answer), metric.State)
    scored[0, 0] = False
    masked = NovelViewSynthesisGroundTruth(rgb, scored=scored)
    assert metric.measure(None, masked, answer) == Undefined("a mask leaves pixels out")


def test_masked_windows_are_those_centred_on_scored_pixels():
    rng = np.random.default_rng(0)
    rgb, other = rng.integers(0, 256, (2, *SHAPE, 3), np.uint8)
    scored = np.zeros(SHAPE, np.bool_)
    answer = NovelViewSynthesisPrediction(other)
    # The rim holds no window centre.
    scored[:5], scored[:, :5] = True, True
    measured = Ssim().measure(None, NovelViewSynthesisGroundTruth(rgb, scored=scored), answer)
    assert measured == Undefined("no window is centred on a scored pixel")
    scored[6, 7] = True
    state = Ssim().measure(None, NovelViewSynthesisGroundTruth(rgb, scored=scored), answer)
    assert state.windows.tolist() == [1, 0, 0]
