"""Depth estimators of transformers, from a folder to a report."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import rpx_core as rpx
from rpx_core.errors import AdapterError, ConfigError, ModelError
from rpx_core.lifecycle import DEFAULT_REPORTERS, Request
from rpx_core.run import run
from rpx_depth.models.hf import HfDepth, HfDepthOptions, load, read_depth
from tests.commands import numbers
from tests.commands import rpx as command
from tests.workshop import Workshop, needs_torchvision, runtime

KINDS = ("dpt", "depth_anything", "glpn")
ZOEDEPTH = pytest.param("zoedepth", marks=needs_torchvision)


@pytest.mark.parametrize("kind", [*KINDS, ZOEDEPTH])
@pytest.mark.parametrize("data", ["demo", "motorcycle"])
def test_a_folder_becomes_a_whole_report(workshop: Workshop, kind: str, data: str) -> None:
    folder = workshop.checkpoint(kind)
    chosen = {"name": data, "limit": 3} if data == "demo" else data
    outcome = workshop.run(
        f"hf:{folder}", Request(reporters=DEFAULT_REPORTERS), data=chosen, align="affine"
    )
    status = outcome.report.status
    assert (status.failed_samples, outcome.exit_code) == (0, 0)
    assert outcome.report.run.task == "rpx-depth/monocular_depth"
    assert outcome.report.run.model == f"rpx-depth/hf:{kind}"
    assert {path.name for path in outcome.written} >= {"summary.md", "report.html"}
    (writer,) = outcome.report.writers
    assert writer.model["checkpoint"] == kind
    assert writer.model["device"] == writer.device == "cpu"
    assert writer.model["transformers"]


def test_the_command_line_takes_a_folder_and_the_answer_resumes(workshop: Workshop) -> None:
    folder = workshop.checkpoint("dpt")
    arguments = ("run", "--model", f"hf:{folder}", "--data", "motorcycle", "--align", "disparity")
    first = command(workshop.folder, *arguments)
    again = command(workshop.folder, *arguments)
    assert numbers(first) == numbers(again)
    assert numbers(first)["depth.coverage@sample"] == pytest.approx(1)


def test_predictions_do_not_depend_on_the_batch(workshop: Workshop) -> None:
    samples = workshop.samples("monocular_depth", count=5)
    for kind in KINDS:
        model = load(HfDepthOptions(checkpoint=workshop.checkpoint(kind)), runtime("x"))
        model.setup()
        together = [one.depth_map for one in model.predict(samples)]
        alone = [model.predict([sample])[0].depth_map for sample in samples]
        # One and the same computation, but for the order in which a matrix product adds.
        np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-6)
        assert together[0].shape == samples[0].rgb.shape[:2]
        assert together[0].dtype == np.float32


def test_points_are_read_from_the_map(workshop: Workshop) -> None:
    folder = workshop.checkpoint("depth_anything")
    outcome = workshop.run(f"hf-points:{folder}")
    assert outcome.report.run.task == "rpx-depth/sparse_depth"
    assert outcome.report.status.failed_samples == 0


def test_another_checkpoint_or_format_is_another_run(workshop: Workshop) -> None:
    model = {"name": "hf", "options": {"checkpoint": str(workshop.checkpoint("dpt"))}}
    moved = workshop.folder / "moved"
    shutil.copytree(workshop.checkpoint("dpt"), moved, dirs_exist_ok=True)
    name = workshop.plan(model).record.identity
    assert workshop.plan(f"hf:{moved}").record.identity == name
    half = {"name": "hf", "options": {**model["options"], "dtype": "bfloat16"}}
    assert workshop.plan(half).record.identity != name
    (moved / "model.safetensors").write_bytes(b"other")
    assert workshop.plan(f"hf:{moved}").record.identity != name


def test_workers_answer_as_one_process_does(workshop: Workshop) -> None:
    folder = workshop.checkpoint("glpn")
    alone = workshop.run(f"hf:{folder}", Request(fresh=True, reporters=()))
    several = workshop.run(
        f"hf:{folder}", Request(fresh=True, reporters=()), execution={"workers": 2}
    )
    assert several.report.run == alone.report.run
    assert several.report.numbers == alone.report.numbers


def test_a_worker_refuses_weights_that_changed_since_the_plan(workshop: Workshop) -> None:
    folder = workshop.folder / "changing"
    shutil.copytree(workshop.checkpoint("dpt"), folder, dirs_exist_ok=True)
    plan = workshop.plan(f"hf:{folder}")
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"!")
    with pytest.raises(ModelError, match="what the options checkpoint lead to changed"):
        run(plan, workshop.host, Request(reporters=()))


def test_half_precision_is_close(workshop: Workshop) -> None:
    samples = workshop.samples("monocular_depth", count=1)
    found = []
    for dtype in ("float32", "bfloat16"):
        options = HfDepthOptions(checkpoint=workshop.checkpoint("depth_anything"), dtype=dtype)
        model = load(options, runtime("x"))
        model.setup()
        found.append(model.predict(samples)[0].depth_map)
    assert found[1].dtype == np.float32
    np.testing.assert_allclose(found[1], found[0], rtol=0.05)


def test_weights_that_are_missing_are_not_made_up(workshop: Workshop) -> None:
    folder = workshop.folder / "headless"
    shutil.copytree(workshop.checkpoint("dpt"), folder, dirs_exist_ok=True)
    weights = load_file(folder / "model.safetensors")
    kept = {name: one for name, one in weights.items() if not name.startswith("head.")}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="random numbers would stand there"):
        workshop.run(f"hf:{folder}")


def test_a_checkpoint_of_another_task_is_refused_with_its_reason(workshop: Workshop) -> None:
    folder = workshop.checkpoint("yolos")
    with pytest.raises(ModelError, match="a YolosForObjectDetection, which estimates no") as caught:
        workshop.run(f"hf:{folder}", task="monocular_depth")
    assert "it is for object_detection: --task object_detection" in str(caught.value.hint)


def published(workshop: Workshop, kind: str = "dpt", **options: Any) -> Any:
    return rpx.make_hf_depth_model(str(workshop.checkpoint(kind)), device="cpu", **options)


def test_the_published_function_gives_a_model(workshop: Workshop) -> None:
    model = published(workshop)
    model.setup()
    samples = workshop.samples("monocular_depth", count=2)
    first, second = model.predict(samples)
    assert isinstance(first, rpx.DepthPrediction)
    assert first.depth_map.shape == second.depth_map.shape == samples[0].rgb.shape[:2]
    assert (model.task, model.name) == ("monocular_depth", "dpt")
    assert published(workshop, name="mine", dtype="bfloat16").name == "mine"


def test_the_published_function_refuses_what_it_does_not_know(workshop: Workshop) -> None:
    with pytest.raises(ConfigError, match="dtype"):
        published(workshop, dtype="float8")
    with pytest.raises(ConfigError, match="there is no folder"):
        rpx.make_hf_depth_model("/no/such/place", device="cpu")


class Sizes:
    """Processors that take the image's size, that and the source's, or nothing."""

    class Target:
        def post_process_depth_estimation(self, outputs: Any, target_sizes: Any = None) -> Any:
            self.got = {"target_sizes": target_sizes}
            return [{"predicted_depth": one} for one in outputs["predicted_depth"]]

    class Both:
        def post_process_depth_estimation(
            self, outputs: Any, source_sizes: Any = None, target_sizes: Any = None, flip: Any = None
        ) -> Any:
            self.got = {"source_sizes": source_sizes, "target_sizes": target_sizes, "flip": flip}
            return [{"predicted_depth": one} for one in outputs["predicted_depth"]]

    class Nothing:
        pass


class Outputs(dict[str, Any]):
    """What a network returns: names are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def read(processor: Any, **outputs: Any) -> Any:
    return read_depth(processor, Outputs(outputs), [(6, 8)])


def test_a_processor_gets_those_arguments_that_its_signature_names() -> None:
    depth = torch.ones(1, 6, 8)
    target, both = Sizes.Target(), Sizes.Both()
    read(target, predicted_depth=depth)
    read(both, predicted_depth=depth)
    assert target.got == {"target_sizes": [(6, 8)]}
    assert both.got == {"source_sizes": [(6, 8)], "target_sizes": [(6, 8)], "flip": None}


def test_without_post_processing_maps_are_interpolated_to_the_image() -> None:
    (found,) = read(Sizes.Nothing(), predicted_depth=torch.full((1, 3, 4), 2.5))
    assert found.shape == (6, 8)
    assert torch.allclose(found, torch.tensor(2.5))


def test_outputs_without_depth_are_an_error() -> None:
    with pytest.raises(AdapterError, match="returned no `predicted_depth`"):
        read(Sizes.Target(), logits=torch.ones(1))


def test_a_network_that_is_not_loaded_answers_nothing(workshop: Workshop) -> None:
    network = HfDepth(HfDepthOptions(checkpoint=workshop.checkpoint("dpt")))
    assert network.module is None
    assert network.describe() == {}
    with pytest.raises(AdapterError, match="not loaded"):
        network.answer([])
