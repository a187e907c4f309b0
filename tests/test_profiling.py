"""Profiling models that do not use torch: what is timed, on which batches, and what is stored."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import ValidationError

from rpx_core.contracts import Sample
from rpx_core.errors import ConfigError, ModelError
from rpx_core.profiling.batches import Batches, cut_batches
from rpx_core.profiling.hardware import describe_hardware
from rpx_core.profiling.memory import MemoryMeter
from rpx_core.profiling.profiler import Method, Subject, profile
from rpx_core.profiling.record import Profile
from rpx_core.profiling.storage import NAME, read_profile, write_profile
from rpx_core.profiling.timing import Budget
from rpx_core.published.efficiency import EfficiencyMetadata, count_parameters, profile_model

from .report_profiles import make_profile

SUBJECT = Subject(run="abc", model="toy")


@pytest.fixture(autouse=True)
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process where nothing has imported it."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)


@dataclass
class Toy:
    """A model whose calls take so many seconds of a clock that nobody else moves."""

    seconds: Sequence[float]
    task: str = "toy"
    now: float = 0.0
    calls: list[tuple[str, ...]] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    def setup(self) -> None:
        """Do nothing."""

    def predict(self, batch: Sequence[Sample]) -> Sequence[int]:
        self.now += self.seconds[len(self.calls) % len(self.seconds)]
        self.calls.append(tuple(sample.id for sample in batch))
        self.events.append("predict")
        return [0] * len(batch)

    def synchronize(self) -> None:
        self.events.append("synchronize")

    def clock(self) -> float:
        self.events.append("clock")
        return self.now


class Remembering(Toy):
    def reset(self) -> None:
        self.calls.append(("reset",))


def make_samples(*frames: int) -> list[Sample]:
    """Sequences of so many frames each."""
    return [
        Sample(id=f"{name}{frame}", sequence=name)
        for name, count in zip("abcdef", frames, strict=False)
        for frame in range(count)
    ]


def profile_toy(toy: Toy, samples: Sequence[Sample], budget: Budget, size: int = 1) -> Profile:
    method = Method(budget, clock=toy.clock)
    return profile(toy, cut_batches(samples, toy, size), SUBJECT, method)


def test_latency_leaves_out_the_warm_up_and_the_call_that_counts() -> None:
    toy = Toy([100.0, 50.0, 0.010, 0.012, 0.014, 0.030, 999.0])
    found = profile_toy(toy, make_samples(3), Budget(warm_up=2, calls=4))
    assert len(toy.calls) == 7
    latency = found.latency
    assert (latency.calls, latency.warm_up) == (4, 2)
    assert latency.p50_ms == pytest.approx(13.0, rel=1e-6)
    assert latency.p95_ms == pytest.approx(14 + 0.85 * 16, rel=1e-6)
    assert latency.p99_ms == pytest.approx(14 + 0.97 * 16, rel=1e-6)
    assert latency.samples_per_second == pytest.approx(4 / 0.066, rel=1e-6)


def test_the_device_is_idle_whenever_the_clock_is_read() -> None:
    toy = Toy([0.01])
    profile_toy(toy, make_samples(1), Budget(warm_up=1, calls=2))
    timed = ["synchronize", "clock", "predict", "synchronize", "clock"]
    assert toy.events == ["predict", *timed, *timed, "predict"]


def test_a_slow_model_is_timed_a_few_times_and_the_profile_says_so() -> None:
    toy = Toy([20.0])
    found = profile_toy(toy, make_samples(1), Budget(warm_up=1, calls=50, seconds=30, least=3))
    assert found.latency.calls == 3
    assert found.notes == (
        "3 calls were timed instead of 50, for lack of time: p95 and p99 say little",
    )


def test_a_batch_is_one_call_and_its_time_is_shared_by_its_samples() -> None:
    toy = Toy([0.2])
    found = profile_toy(toy, make_samples(9), Budget(warm_up=1, calls=4), size=4)
    assert {len(call) for call in toy.calls} == {4}
    assert (found.batch_size, found.samples) == (4, 8)
    assert found.latency.p50_ms == pytest.approx(200)
    assert found.latency.per_sample_ms == pytest.approx(50)


def test_a_model_with_memory_forgets_at_the_start_of_each_sequence() -> None:
    toy = Remembering([0.1])
    profile_toy(toy, make_samples(2, 1), Budget(warm_up=1, calls=3))
    first = [("reset",), ("a0",), ("a1",)]
    assert toy.calls == [*first, ("reset",), ("b0",), *first]


def test_a_model_that_wants_sequences_gets_them_whole() -> None:
    class Whole(Toy):
        batch = "sequence"

    toy = Whole([0.1])
    profile_toy(toy, make_samples(3, 2), Budget(warm_up=0, calls=2))
    assert toy.calls == [("a0", "a1", "a2"), ("b0", "b1"), ("a0", "a1", "a2")]


def test_batches_of_memoryless_models_go_across_sequences() -> None:
    cut = cut_batches(make_samples(1, 1, 1), Toy([0.1]), 3)
    assert cut == Batches(cut.batches[:1])
    assert [sample.id for sample in cut.batches[0].samples] == ["a0", "b0", "c0"]


def test_a_model_without_torch_has_no_counts_and_says_why() -> None:
    found = profile_toy(Toy([0.1]), make_samples(1), Budget(warm_up=0, calls=1))
    counts = (found.parameters, found.trainable_parameters, found.flops, found.activations_bytes)
    assert {(count.value, count.reason) for count in counts} == {
        (None, "the model does not use torch")
    }
    assert found.hardware.torch is None


def test_a_model_that_returns_too_few_predictions_is_not_profiled() -> None:
    class Short(Toy):
        def predict(self, batch: Sequence[Sample]) -> Sequence[int]:
            return []

    with pytest.raises(ModelError, match="0 predictions for 1 samples"):
        profile_toy(Short([0.1]), make_samples(1), Budget())


def test_memory_that_was_used_in_between_is_seen() -> None:
    meter = MemoryMeter()
    block = bytearray(b"x" * 80_000_000)
    del block
    used = meter.read().process_bytes.value
    assert used is not None
    assert used > 60_000_000


def test_the_hardware_is_described_without_the_name_of_the_machine() -> None:
    hardware = describe_hardware("cpu", None)
    assert hardware.cores >= 1
    assert hardware.processor
    assert socket.gethostname() not in hardware.model_dump_json()


def test_a_profile_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    write_profile(tmp_path, make_profile("abc", flops=None))
    assert read_profile(tmp_path, "abc").profile == make_profile("abc", flops=None)


@pytest.mark.parametrize("content", [b"{}", b"not json", b'{"schema": "rpx-profile-2"}', b"\xff"])
def test_a_damaged_profile_is_a_problem_and_no_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    stored = read_profile(tmp_path, "abc")
    assert stored.profile is None
    assert stored.problem == "profile.json cannot be read; --profile measures again"


def test_the_profile_of_another_run_is_not_shown(tmp_path: Path) -> None:
    write_profile(tmp_path, make_profile("abc"))
    stored = read_profile(tmp_path, "xyz")
    assert stored.profile is None
    assert stored.problem == "profile.json belongs to another run; --profile measures again"


def test_a_profile_cannot_hold_what_json_cannot() -> None:
    with pytest.raises(ValidationError):
        make_profile("abc", milliseconds=float("nan")).model_validate(
            make_profile("abc", milliseconds=float("nan")).model_dump()
        )


def test_an_api_model_is_not_run_and_its_row_says_so() -> None:
    def refuse(image: object) -> None:
        raise AssertionError("it was called")

    found = profile_model(refuse, model_type="api", notes="over the network")
    row = found.to_table_row()
    assert [row.pop("Notes"), *{*row.values()}] == ["over the network", "N/A (API)"]


def test_the_row_of_a_local_model_has_its_numbers() -> None:
    row = EfficiencyMetadata(24.79, 55.1234, None, 12.0).to_table_row()
    assert row == {
        "Params (M)": "24.79",
        "FLOPs (G)": "55.12",
        "ActMem (GB, fp16)": "N/A",
        "Latency (ms/sample)": "12",
        "Notes": "",
    }


def test_the_profile_of_a_run_becomes_published_metadata() -> None:
    profile = make_profile("abc", notes=("a", "b"))
    found = EfficiencyMetadata.from_profile(profile)
    assert found == EfficiencyMetadata(24.8, 55.0, 0.055, 11.0, "local", "a; b")


def test_a_function_of_an_image_is_profiled() -> None:
    shapes = set()
    found = profile_model(lambda image: shapes.add((image.shape, str(image.dtype))), (3, 24, 32))
    assert shapes == {((24, 32, 3), "uint8")}
    assert (found.params_m, found.flops_g, found.actmem_gb_fp16) == (None, None, None)
    assert found.latency_ms_per_sample is not None


def test_a_model_with_predict_is_profiled_on_one_sample() -> None:
    toy = Toy([0.1])
    profile_model(toy, (3, 24, 32))
    assert set(toy.calls) == {("profile_clean_0",)}
    assert count_parameters(toy) is None


@pytest.mark.parametrize(
    ("model", "shape"), [(3, (3, 24, 32)), (print, (24, 32)), (print, (0, 1, 1))]
)
def test_what_cannot_be_profiled_is_refused(model: object, shape: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError):
        profile_model(model, shape)
