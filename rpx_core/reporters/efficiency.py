"""What a model costs, in words: the same lines in every report."""

from __future__ import annotations

from dataclasses import dataclass

from rpx_core.profiling.record import Hardware, Profile, Quantity
from rpx_core.reporters.formatting import format_count, format_number, format_scaled


@dataclass(frozen=True)
class Fact:
    """One line: what, how much, and what is needed to read it. `known` is False for a null."""

    name: str
    text: str
    note: str = ""
    known: bool = True


def list_facts(profile: Profile) -> tuple[Fact, ...]:
    """All that a profile says, in the order of a report; what a machine lacks is left out."""
    latency = profile.latency
    percentiles = (latency.p50_ms, latency.p95_ms, latency.p99_ms)
    batch = f"one call with {_samples(profile.batch_size)}"
    facts = [
        *_counts(profile, batch),
        Fact(
            "Latency p50 / p95 / p99",
            f"{' / '.join(format_number(value) for value in percentiles)} ms",
            f"{batch}; {format_count(latency.calls)} calls after "
            f"{format_count(latency.warm_up)} to warm up",
        ),
        Fact("Throughput", f"{format_number(latency.samples_per_second)} samples/s"),
        _fact("Memory", profile.memory.process_bytes, "B", "peak of the process above its start"),
    ]
    if profile.hardware.accelerator is not None:
        gpu = profile.memory.accelerator_bytes
        facts.append(_fact("Memory, GPU", gpu, "B", "peak that torch held"))
    return tuple(facts)


def _counts(profile: Profile, batch: str) -> list[Fact]:
    """What does not depend on the machine; one line where one reason holds for all of it."""
    counts = (profile.parameters, profile.flops, profile.activations_bytes_fp16)
    if len({count.reason for count in counts if count.value is None}) == 1 and all(
        count.value is None for count in counts
    ):
        return [_fact("Parameters, FLOPs, activations", profile.flops, "", "")]
    computed = f"{_amount(profile.activations_bytes, 'B')} as computed"
    return [
        _fact("Parameters", profile.parameters, "", _trainable(profile)),
        _fact("FLOPs", profile.flops, "", "per sample; a multiply-add is two"),
        _fact(
            "Activations, fp16",
            profile.activations_bytes_fp16,
            "B",
            f"peak of {batch}; {computed}",
        ),
    ]


def describe_hardware(hardware: Hardware) -> str:
    """The machine in one line."""
    cores = f"{hardware.cores} core{'' if hardware.cores == 1 else 's'}"
    parts = [f"{hardware.device} on {hardware.processor}, {cores}"]
    if hardware.memory_bytes is not None:
        parts.append(f"{format_scaled(hardware.memory_bytes, 'B')} of memory")
    if hardware.accelerator is not None:
        size = format_scaled(hardware.accelerator_memory_bytes or 0, "B")
        parts.append(f"{hardware.accelerator} with {size}")
    if hardware.torch is not None:
        parts.append(f"torch {hardware.torch}, {hardware.threads} threads")
    if hardware.precision is not None:
        parts.append(hardware.precision)
    return "; ".join(parts)


def _fact(name: str, quantity: Quantity, unit: str, note: str) -> Fact:
    if quantity.value is None:
        return Fact(name, "n/a", quantity.reason or "no reason given", known=False)
    return Fact(name, format_scaled(quantity.value, unit), note)


def _amount(quantity: Quantity, unit: str) -> str:
    return "n/a" if quantity.value is None else format_scaled(quantity.value, unit)


def _trainable(profile: Profile) -> str:
    trainable = profile.trainable_parameters.value
    if trainable is None:
        return ""
    if trainable == profile.parameters.value:
        return "all trainable"
    return f"{format_scaled(trainable, '')} trainable"


def _samples(count: int) -> str:
    return f"{format_count(count)} sample{'' if count == 1 else 's'}"
