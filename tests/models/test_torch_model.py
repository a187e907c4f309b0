"""What every network of torch has in common: devices, formats, batches, seeds."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_core.inference.devices import Placement, choose_device, place
from rpx_core.inference.model import TorchModel, TorchOptions
from rpx_core.lifecycle import Request
from tests.workshop import Workshop, runtime


class Mean(torch.nn.Module):
    """The mean of an image, with a weight, noise and dropout to be caught by."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.dropout(images.mean(dim=(1, 2, 3)) * self.weight)


class MeanNetwork:
    """Answers the mean of each image, as long as not too many come at once."""

    def __init__(self, room: int = 99) -> None:
        self.room = room
        self.module: Any = None
        self.batches: list[tuple[int, ...]] = []
        self.grads: list[bool] = []

    def load(self, placement: Placement) -> None:
        self.placement = placement
        self.module = Mean().to(placement.device, placement.torch_dtype).eval()
        self.drawn = float(torch.rand(1))

    def answer(self, samples: Sequence[Sample]) -> list[float]:
        images = np.stack([np.array(sample.rgb) for sample in samples])
        self.batches.append(images.shape)
        if len(samples) > self.room:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        values = self.module(self.placement.move(torch.from_numpy(images).float()))
        self.grads.append(values.requires_grad)
        return [float(value) for value in values]

    def describe(self) -> dict[str, str]:
        return {"checkpoint": "none"}


def sample(level: int, shape: tuple[int, int] = (4, 6)) -> Sample:
    return Sample(id=f"s{level}", rgb=np.full((*shape, 3), level, np.uint8))


def build(network: MeanNetwork, dtype: Any = "float32", device: str = "cpu") -> TorchModel:
    model = TorchModel(network, runtime("any", device), TorchOptions(dtype=dtype))
    model.setup()
    return model


@pytest.mark.parametrize("name", ["Net", "network"])
def test_a_bare_module_is_told_that_it_gets_no_tensor(workshop: Workshop, name: str) -> None:
    file = workshop.folder / "bare.py"
    file.write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, image):\n        return torch.relu(image)\n\n\nnetwork = Net()\n"
    )
    data = {"name": "demo", "limit": 1}
    outcome = workshop.run(f"{file}:{name}", task="monocular_depth", data=data)
    (failed,) = outcome.report.failures
    problem = failed.failure.text
    assert "Net is a torch module, which was called with a numpy array: TypeError: relu" in problem
    assert "write a function around it" in problem


def test_images_of_one_size_go_together_and_order_is_kept() -> None:
    network = MeanNetwork()
    batch = [sample(1), sample(2), sample(3, (8, 8)), sample(4)]
    assert build(network).predict(batch) == [1, 2, 3, 4]
    assert network.batches == [(2, 4, 6, 3), (1, 8, 8, 3), (1, 4, 6, 3)]


def test_nothing_is_trained_and_no_gradient_is_kept() -> None:
    network = MeanNetwork()
    model = build(network)
    assert model.predict([sample(7)]) == [7]
    assert network.grads == [False]
    assert not network.module.training
    assert model.module is network.module


def test_a_batch_that_does_not_fit_is_halved_and_the_numbers_are_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    network = MeanNetwork(room=2)
    model = build(network)
    with caplog.at_level(logging.WARNING):
        assert model.predict([sample(level) for level in range(8)]) == list(range(8))
    assert [shape[0] for shape in network.batches] == [8, 4, 2, 2, 2, 2]
    assert len(caplog.records) == 1
    assert model.describe()["largest_batch"] == "2"


def test_a_description_says_where_and_how_it_runs() -> None:
    described = build(MeanNetwork(), "bfloat16").describe()
    assert described == {
        "device": "cpu",
        "dtype": "bfloat16",
        "torch": torch.__version__,
        "checkpoint": "none",
    }


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_weights_and_images_take_the_number_format(dtype: str) -> None:
    network = MeanNetwork()
    assert build(network, dtype).predict([sample(5)]) == [5]
    assert network.module.weight.dtype is getattr(torch, dtype)


def test_whole_numbers_keep_their_type_on_the_way_to_the_device() -> None:
    moved = Placement("cpu", "float16").move({"ids": torch.arange(3), "x": torch.ones(1), "n": 3})
    assert moved["ids"].dtype is torch.int64
    assert moved["x"].dtype is torch.float16
    assert moved["n"] == 3


def test_a_network_draws_from_the_seed_of_the_run() -> None:
    first, again, other = MeanNetwork(), MeanNetwork(), MeanNetwork()
    build(first)
    build(again)
    model = TorchModel(other, Runtime("cpu", 99, None), TorchOptions())  # type: ignore[arg-type]
    model.setup()
    assert first.drawn == again.drawn != other.drawn


def test_auto_is_a_gpu_where_torch_finds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto", uses_torch=True) == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto", uses_torch=True) == "cpu"


@pytest.mark.parametrize("device", ["cuda:77", "teapot"])
def test_a_device_that_is_not_there_is_an_error_with_those_that_are(device: str) -> None:
    with pytest.raises(ModelError, match=f"device '{device}': torch .* cannot use it") as caught:
        place(device, "float32")
    assert "it finds cpu" in str(caught.value.hint)


def test_predicting_before_the_set_up_is_an_error() -> None:
    model = TorchModel(MeanNetwork(), runtime("any"), TorchOptions())
    assert model.describe() == {}
    assert model.module is None
    model.synchronize()
    with pytest.raises(ModelError, match=r"setup\(\) has not been called"):
        model.predict([sample(1)])


def test_an_image_is_needed() -> None:
    with pytest.raises(ModelError, match="sample a: has no image"):
        build(MeanNetwork()).predict([Sample(id="a")])


def test_after_the_end_nothing_is_left_to_wait_for() -> None:
    model = build(MeanNetwork())
    model.synchronize()
    model.close()


def test_a_run_says_where_the_weights_of_a_function_are(workshop: Workshop) -> None:
    (workshop.folder / "mine.py").write_text(
        "import numpy as np\nimport torch\n\nNET = torch.nn.Linear(1, 1).to(torch.bfloat16)\n\n\n"
        "def predict(rgb):\n    return np.full(rgb.shape[:2], float(NET.bias[0]) ** 2 + 1)\n"
    )
    model = f"{workshop.folder / 'mine.py'}:predict"
    request = Request(reporters=("markdown",))
    outcome = workshop.run(model, request, task="monocular_depth")
    (writer,) = outcome.report.writers
    assert (writer.model["device"], writer.model["dtype"]) == ("cpu", "bfloat16")
    summary = (outcome.directory / "report" / "summary.md").read_text()
    assert "on cpu, bfloat16" in summary
