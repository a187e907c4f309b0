"""The published contract of models: adapters, invoker, the check of predictions, names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rpx_core as rpx
from rpx_core.conformance.compare import fingerprint
from rpx_core.contracts import withhold

from .published_samples import PERFECT, RGB, TASKS, Model, numpy_models, one_sample
from .toys.site import ToySite, toy_site

DEPTH = rpx.TaskType.MONOCULAR_DEPTH
SAMPLE = one_sample(DEPTH)


class Halve(rpx.InputAdapter):
    def __init__(self) -> None:
        self.ready = 0

    def setup(self) -> None:
        self.ready += 1

    def prepare(self, sample: rpx.Sample) -> rpx.PreparedInput:
        assert sample.rgb is not None
        return rpx.PreparedInput(sample.rgb[::2, ::2], {"size": sample.rgb.shape[:2]})


class Metres:
    """No setup(), no base class: what has the members is an adapter."""

    def finalize(self, model_output: Any, context: Mapping[str, Any], sample: rpx.Sample) -> Any:
        return rpx.DepthPrediction(np.full(context["size"], model_output, np.float32))


def make_model(model: Any = lambda rgb: float(rgb.shape[0]), **options: Any) -> Any:
    return rpx.BenchmarkableModel(DEPTH, Halve(), model, Metres(), **options)


def test_a_model_between_adapters_prepares_invokes_and_finalizes() -> None:
    (prediction,) = make_model().predict([SAMPLE])
    assert prediction.depth_map.shape == (4, 6)
    assert (prediction.depth_map == 2.0).all()


def test_setup_reaches_adapters_that_have_one_and_the_hook() -> None:
    called: list[int] = []
    model = make_model(setup_hook=lambda: called.append(model.input_adapter.ready))
    model.setup()
    assert called == [1]


def test_an_invoker_may_call_the_model_its_own_way() -> None:
    model = make_model({"half": 7.0}, invoker=lambda model, payload: model["half"])
    assert model.predict([SAMPLE])[0].depth_map[0, 0] == 7.0


def test_adapters_never_see_the_ground_truth_whoever_calls() -> None:
    class Peek(Halve):
        def prepare(self, sample: rpx.Sample) -> rpx.PreparedInput:
            return rpx.PreparedInput(sample.ground_truth.depth_map)

    class PeekLate(Metres):
        def finalize(self, model_output: Any, context: Any, sample: rpx.Sample) -> Any:
            return sample.ground_truth

    for model in (
        rpx.BenchmarkableModel(DEPTH, Peek(), abs, Metres()),
        rpx.BenchmarkableModel(DEPTH, Halve(), len, PeekLate()),
    ):
        with pytest.raises(rpx.TruthWithheldError):
            model.predict([SAMPLE])


def test_an_input_adapter_that_returns_a_bare_payload_is_told_what_to_return() -> None:
    class Bare(Halve):
        def prepare(self, sample: rpx.Sample) -> Any:
            return sample.rgb

    with pytest.raises(rpx.ModelError, match=r"returned a ndarray; a PreparedInput"):
        rpx.BenchmarkableModel(DEPTH, Bare(), len, Metres()).predict([SAMPLE])


def test_prepared_input_has_an_empty_context_by_default() -> None:
    assert dict(rpx.PreparedInput(1).context) == {}


def test_invoker_spreads_mappings_and_passes_anything_else() -> None:
    assert rpx.default_invoker(lambda a, b: a - b, {"b": 1, "a": 3}) == 2
    assert rpx.default_invoker(len, [1, 2]) == 2


def test_invoker_switches_gradients_off_where_torch_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Torch:
        is_on = True

        class no_grad:  # torch's name
            def __enter__(self) -> None:
                Torch.is_on = False

            def __exit__(self, *_: object) -> None:
                Torch.is_on = True

    monkeypatch.setitem(sys.modules, "torch", Torch)  # type: ignore[arg-type]  # a stand-in
    assert rpx.default_invoker(lambda _: Torch.is_on, None) is False
    assert Torch.is_on


def test_invoker_does_not_import_torch() -> None:
    code = "import sys, rpx_core as r; r.default_invoker(len, []); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_model_needs_predict_and_may_leave_setup_out() -> None:
    with pytest.raises(TypeError):
        rpx.BenchmarkModel()  # type: ignore[abstract]  # that is what is tested
    assert Model(DEPTH, None).setup() is None  # type: ignore[func-returns-value]  # returns nothing


def test_models_of_factories_and_plugins_are_benchmark_models() -> None:
    for _, model in numpy_models():
        assert isinstance(model, rpx.BenchmarkModel)
    assert not isinstance(object(), rpx.BenchmarkModel)


MODELS = dict(numpy_models())


@pytest.mark.parametrize("task", TASKS)
def test_numpy_models_answer_samples_made_by_a_program(task: rpx.TaskType) -> None:
    key, best = PERFECT[task]
    dataset = rpx.RPXDataset([one_sample(task)], task)
    result = rpx.BenchmarkRunner(MODELS[task], dataset).run()
    assert result.aggregated[key] == best
    assert result.num_samples == 1


@pytest.mark.parametrize(
    ("make", "answer", "says"),
    [
        (rpx.make_numpy_depth_model, np.ones((1, 4, 6), np.float32), "drop batch and channel"),
        (rpx.make_numpy_mask_model, np.ones((4, 6)), "whole ids were expected"),
        (rpx.make_numpy_detection_model, {"boxes": []}, "a dict without scores, labels"),
    ],
)
def test_functions_that_return_something_else_are_adapter_errors(
    make: Any, answer: Any, says: str
) -> None:
    with pytest.raises(rpx.AdapterError) as caught:
        make(lambda rgb: answer, name="mine").predict([SAMPLE])
    assert says in str(caught.value)


def test_a_bare_quaternion_is_refused_since_its_order_is_unknown() -> None:
    sample = next(iter(rpx.RPXDataset([one_sample(rpx.TaskType.RELATIVE_CAMERA_POSE)], *POSE)))[0]
    bare = rpx.make_numpy_pose_model(lambda a, b: (np.array([0, 0, 0, 1.0]), np.zeros(3)), name="q")
    with pytest.raises(rpx.AdapterError, match="rotation_xyzw"):
        bare.predict([sample])
    named = {"rotation_xyzw": np.array([0, 0, 0, 1.0]), "translation": np.zeros(3)}
    (pose,) = rpx.make_numpy_pose_model(lambda a, b: named, name="q").predict([sample])
    assert np.allclose(pose.rotation, np.eye(3))


POSE = (rpx.TaskType.RELATIVE_CAMERA_POSE,)


def test_a_true_quaternion_must_name_its_order_too() -> None:
    quarter = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    bare = rpx.RelativePoseGroundTruth(np.array(quarter), np.zeros(3))
    with pytest.raises(rpx.ManifestError, match=r"from_xyzw"):
        rpx.compute_metrics(*POSE, rpx.RelativePosePrediction(np.eye(3), np.zeros(3)), bare)
    turned = rpx.RelativePosePrediction(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.zeros(3))
    for truth in (
        rpx.RelativePoseGroundTruth.from_xyzw(quarter, [0, 0, 0]),
        rpx.RelativePoseGroundTruth.from_wxyz(np.roll(quarter, 1), [0, 0, 0]),
    ):
        row = rpx.compute_metrics(*POSE, turned, truth)
        assert row["rotation_error_deg"] == pytest.approx(0, abs=1e-6)


def test_a_tracker_is_reset_before_each_sequence() -> None:
    class Count:
        def __init__(self) -> None:
            self.frames: list[int] = []

        def reset(self) -> None:
            self.frames.append(0)

        def __call__(self, rgb: Any) -> list[Any]:
            self.frames[-1] += 1
            return []

    count, task = Count(), rpx.TaskType.OBJECT_TRACKING
    truth = one_sample(task).ground_truth
    samples = [
        rpx.Sample(f"{scene}_clean_{n}", RGB, truth, phase=rpx.Phase.CLEAN)
        for scene in "ab"
        for n in range(3)
    ]
    dataset = rpx.RPXDataset(samples, task, batch_size=2)
    rpx.BenchmarkRunner(rpx.make_numpy_tracking_model(count, name="count"), dataset).run()
    assert count.frames == [3, 3]


def test_a_valid_prediction_comes_back_in_canonical_types_and_as_a_copy() -> None:
    given = np.ones((4, 6))
    checked = rpx.validate_prediction(DEPTH, rpx.DepthPrediction(given), SAMPLE)
    given[:] = 9
    assert checked.depth_map.dtype == np.float32
    assert checked.depth_map.max() == 1.0


@pytest.mark.parametrize(
    ("task", "prediction", "says"),
    [
        (DEPTH, rpx.DepthPrediction(np.ones((2, 2), np.float32)), "depth is (2, 2)"),
        (DEPTH, rpx.DepthPrediction(np.ones(4, np.float32)), "desk_clutter_00001"),
        (
            rpx.TaskType.OPEN_VOCAB_DETECTION,
            rpx.DetectionPrediction(np.ones((2, 4)), np.ones(1), ["cup"] * 2),
            "2 boxes but scores",
        ),
        (rpx.TaskType.OBJECT_DETECTION, "boxes", "a DetectionPrediction was expected"),
        (rpx.TaskType.OBJECT_SEGMENTATION, np.zeros((3, 3), int), "desk_clutter_00001"),
    ],
)
def test_a_prediction_that_breaks_the_contract_is_a_model_error_naming_the_sample(
    task: rpx.TaskType, prediction: Any, says: str
) -> None:
    with pytest.raises(rpx.ModelError) as caught:
        rpx.validate_prediction(task, prediction, one_sample(task))
    assert says in str(caught.value)


PLUGIN = """
@hookimpl
def rpx_models():
    return [
        model("shift", target="toy_shift:load"),
        ModelSpec(name="zoo", summary="By file.", target="toy_shift:load", tasks=("toy",),
                  options="toy_shift:Options", argument="offset"),
        ModelSpec(name="soon", summary="Later.", target="toy_shift:load", tasks=("toy",),
                  unavailable="its weights are not released"),
    ]
"""
SHIFT = """
from pydantic import BaseModel

class Options(BaseModel, frozen=True, extra="forbid"):
    offset: float = 0.0

class Shift:
    task = "toy"
    def __init__(self, options, runtime):
        self.offset = options.offset if options else None
        self.device = runtime.device
    def setup(self): pass
    def predict(self, batch): return []

load = Shift
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ToySite]:
    with toy_site(tmp_path) as site:
        site.plugin("rpx-toy-zoo", PLUGIN)
        site.module("toy_shift", SHIFT)
        yield site


@pytest.mark.usefixtures("site")
def test_available_models_leave_out_what_is_only_announced() -> None:
    assert {"shift", "zoo"} <= set(rpx.available_models())
    assert "soon" not in rpx.available_models()
    assert "soon" in rpx.available_models(include_deferred=True)


def test_a_name_of_two_plugins_is_listed_and_resolved_in_full(site: ToySite) -> None:
    site.plugin("rpx-toy-other", PLUGIN)
    assert "shift" not in rpx.available_models()
    assert {"rpx-toy-zoo/shift", "rpx-toy-other/shift"} <= set(rpx.available_models())
    with pytest.raises(rpx.ConfigError, match="ambiguous"):
        rpx.resolve("shift", device="cpu")
    assert rpx.resolve("rpx-toy-other/shift", device="cpu").task == "toy"


@pytest.mark.usefixtures("site")
def test_a_factory_builds_for_a_device_with_options() -> None:
    model: Any = rpx.get_factory("zoo")(device="cuda:1", offset=2.0)
    assert (model.device, model.offset) == ("cuda:1", 2.0)
    assert rpx.resolve("zoo:3.5", device="cpu").offset == 3.5  # type: ignore[attr-defined]  # toy


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("shft", {}, "did you mean shift"),
        ("shft", {}, "available: "),
        ("rpx-toy-zoo/none", {}, "available: "),
        ("soon", {}, "its weights are not released"),
        ("zoo", {"ofset": 1}, "options of rpx-toy-zoo/zoo: offset"),
        ("zoo:1", {"offset": 1}, "say it once"),
        ("shift", {"offset": 1}, "has no options"),
    ],
)
def test_what_cannot_be_resolved_is_a_configuration_error(
    name: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(rpx.ConfigError) as caught:
        rpx.resolve(name, device="cpu", **options)
    assert says in str(caught.value)


def test_what_is_no_function_is_refused_when_the_model_is_made() -> None:
    class Called:
        def __call__(self, rgb: object) -> object:
            return rgb

    with pytest.raises(rpx.ConfigError, match="Called is a class") as caught:
        rpx.make_numpy_depth_model(Called, name="mine")  # type: ignore[arg-type]  # the mistake
    assert "Called()" in str(caught.value)
    with pytest.raises(rpx.ConfigError, match="a function was expected, not an int"):
        rpx.make_numpy_mask_model(3, name="mine")  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize(("task", "model"), list(numpy_models()))
def test_without_truth_the_image_says_what_fits(task: rpx.TaskType, model: Any) -> None:
    (sample,) = next(iter(rpx.RPXDataset([one_sample(task)], task)))
    (answer,) = model.predict([withhold(sample)])
    checked = rpx.validate_prediction(task, answer, replace(sample, ground_truth=None))
    assert fingerprint(checked) == fingerprint(rpx.validate_prediction(task, answer, sample))


def test_what_nothing_tells_the_size_of_is_not_checked() -> None:
    depth = rpx.DepthPrediction(np.ones(RGB.shape[:2], np.float32))
    with pytest.raises(rpx.ModelError, match="sample a has neither ground truth nor image"):
        rpx.validate_prediction("monocular_depth", depth, rpx.Sample(id="a"))
    with pytest.raises(rpx.ModelError, match="predicted depth is") as caught:
        rpx.validate_prediction("monocular_depth", depth, rpx.Sample(id="a", rgb=RGB[:3]))
    assert "(3, 6)" in str(caught.value)


def test_open_vocabulary_without_a_vocabulary_is_refused_with_the_place_for_one() -> None:
    task = rpx.TaskType.OPEN_VOCAB_DETECTION
    with pytest.raises(rpx.ManifestError, match="no vocabulary says") as caught:
        rpx.RPXDataset([replace(one_sample(task), metadata=None)], task)
    assert 'metadata={"vocabulary"' in str(caught.value)


def test_a_model_that_needs_more_than_an_image_is_not_profiled_on_one() -> None:
    model = rpx.make_numpy_grounding_model(lambda rgb, text: text, name="m")
    with pytest.raises(rpx.ConfigError, match="on an image alone") as caught:
        rpx.profile_model(model)
    assert "rpx run --profile" in str(caught.value)


@pytest.mark.parametrize("part", ["input_adapter", "model", "output_adapter"])
def test_a_class_in_place_of_its_object_is_refused_where_the_model_is_made(part: str) -> None:
    parts: dict[str, Any] = {"input_adapter": Halve(), "model": len, "output_adapter": Metres()}
    with pytest.raises(rpx.ModelError, match="is the class Halve"):
        rpx.BenchmarkableModel(DEPTH, **{**parts, part: Halve})
