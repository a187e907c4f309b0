"""A depth estimator that the user has loaded, between the published adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import rpx_core as rpx
from rpx_core.config import Data
from rpx_core.datasets import open_dataset
from rpx_core.errors import AdapterError, ModelError
from rpx_core.inference.pretrained import _pillow
from tests.workshop import Workshop

KINDS = ("dpt", "depth_anything", "glpn")


def load(folder: Path) -> tuple[Any, Any]:
    """As a user would, but with the pixels of Pillow wherever this runs."""
    how = _pillow(transformers.__version__)
    processor = transformers.AutoImageProcessor.from_pretrained(folder, **how)
    network = transformers.AutoModelForDepthEstimation.from_pretrained(folder).eval()
    return processor, network


def wrap(processor: Any, network: Any, device: Any = "cpu") -> rpx.BenchmarkableModel:
    return rpx.BenchmarkableModel(
        task=rpx.TaskType.MONOCULAR_DEPTH,
        input_adapter=rpx.HFDepthInputAdapter(processor=processor, device=device),
        model=network,
        output_adapter=rpx.HFDepthOutputAdapter(processor=processor),
        name="mine",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_adapters_answer_as_the_model_of_the_same_checkpoint(workshop: Workshop, kind: str) -> None:
    folder = workshop.checkpoint(kind)
    samples = workshop.samples("monocular_depth", count=2)
    model, whole = wrap(*load(folder)), rpx.make_hf_depth_model(str(folder), device="cpu")
    for one in (model, whole):
        one.setup()
    for mine, theirs in zip(model.predict(samples), whole.predict(samples), strict=True):
        assert isinstance(mine, rpx.DepthPrediction)
        np.testing.assert_allclose(mine.depth_map, theirs.depth_map, rtol=1e-4, atol=1e-6)


def test_a_run_says_where_the_network_of_a_user_was(workshop: Workshop, tmp_path: Path) -> None:
    demo = open_dataset(workshop.host, Data(name="demo")).root / "demo.json"
    cfg = rpx.MonocularDepthRunConfig(
        model=wrap(*load(workshop.checkpoint("dpt")), device=None),
        manifest_path=demo,
        max_samples=2,
        output_dir=tmp_path,
    )
    result, _, paths = rpx.run_monocular_depth(cfg)
    assert result.num_samples == 2
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert f"on {device}" in paths["markdown"].read_text()
    assert f'"{device}, float32"' in paths["json"].read_text()


def test_an_unknown_device_is_an_error_of_setup(workshop: Workshop) -> None:
    processor, network = load(workshop.checkpoint("dpt"))
    with pytest.raises(ModelError, match="device 'tpu9'"):
        wrap(processor, network, "tpu9").setup()


def test_a_network_in_a_short_format_is_read_in_full_precision() -> None:
    class Plain:
        pass

    class Outputs(dict[str, Any]):
        __getattr__ = dict.__getitem__

    sample = rpx.Sample("s", np.zeros((6, 8, 3), np.uint8))
    outputs = Outputs(predicted_depth=torch.full((1, 3, 4), 2.0, dtype=torch.bfloat16))
    found = rpx.HFDepthOutputAdapter(Plain()).finalize(outputs, {}, sample)
    np.testing.assert_array_equal(found.depth_map, np.full((6, 8), 2, np.float32))


def test_a_network_that_answers_with_something_else_is_an_error() -> None:
    sample = rpx.Sample("s", np.zeros((6, 8, 3), np.uint8))
    with pytest.raises(AdapterError, match="returned no `predicted_depth` but a Tensor"):
        rpx.HFDepthOutputAdapter(object()).finalize(torch.ones(1, 6, 8), {}, sample)
