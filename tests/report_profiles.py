"""Reports of several models with what each costs, for tables and charts of quality against cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rpx_core.profiling.record import Hardware, Latency, Memory, Profile, Quantity
from rpx_core.report import Report, Results

from .report_fixtures import build_results

DESK = Hardware(
    device="cuda:0",
    processor="AMD Ryzen 9 7950X",
    cores=32,
    memory_bytes=64 * 10**9,
    accelerator="NVIDIA RTX 4090",
    accelerator_memory_bytes=24 * 10**9,
    torch="2.13.0",
    threads=16,
    precision="float16",
)
MODELS = (
    # name, factor of the error, milliseconds, parameters, FLOPs
    ("midas-small", 1.9, 3.1, 21_000_000, 9_100_000_000),
    ("fast-depth", 2.4, 1.2, 3_960_000, 740_000_000),
    ("depth-anything-v2-base", 0.86, 22.0, 97_500_000, 142_000_000_000),
    ("depth-anything-v2-large", 0.74, 61.0, 335_000_000, 460_000_000_000),
    ("depth-pro", 0.78, 340.0, 952_000_000, 4_370_000_000_000),
    ("zoedepth-nyu", 1.1, 95.0, 345_070_000, 1_010_000_000_000),
    ("metric3d-v2-vit-small", 0.97, 18.5, 37_500_000, 88_000_000_000),
    ("unidepth-v2-vitl", 0.745, 64.0, 353_000_000, 480_000_000_000),
)
"""Made up; the sizes are about those of the models that they are named after."""


def make_profile(
    run: str,
    *,
    milliseconds: float = 11.0,
    parameters: int | None = 24_800_000,
    flops: int | None = 55_000_000_000,
    **changes: Any,
) -> Profile:
    """A profile on a desk machine; `changes` replace fields."""
    missing = "the model does not use torch"
    profile = Profile(
        run=run,
        model="depth-anything-v2-small",
        measured="2026-03-14T09:40:00+00:00",
        batch_size=1,
        samples=53,
        parameters=_quantity(parameters, missing),
        trainable_parameters=_quantity(parameters, missing),
        flops=_quantity(flops, missing),
        activations_bytes=_quantity(flops and flops // 500, missing),
        activations_bytes_fp16=_quantity(flops and flops // 1000, missing),
        latency=Latency(
            p50_ms=milliseconds,
            p95_ms=1.04 * milliseconds,
            p99_ms=1.21 * milliseconds,
            per_sample_ms=milliseconds,
            samples_per_second=990 / milliseconds,
            calls=50,
            warm_up=3,
        ),
        memory=Memory(
            process_bytes=Quantity(value=1_420_000_000),
            accelerator_bytes=Quantity(value=612_000_000),
        ),
        hardware=DESK,
    )
    return profile.model_copy(update=changes)


def build_rivals(results: Results | None = None) -> Results:
    """A profiled run, with those of MODELS beside it."""
    mine = results or build_results(frames=8)
    report = mine.report.model_copy(update={"efficiency": make_profile(mine.report.run.identity)})
    others = [_rival(report, number) for number in range(len(MODELS))]
    return replace(mine, report=report, others=others)


def _rival(report: Report, number: int) -> Report:
    name, factor, milliseconds, parameters, flops = MODELS[number]
    identity = f"{number:08x}{report.run.identity[8:]}"
    record = report.run.model_copy(update={"model": name, "identity": identity})
    numbers = tuple(
        one.model_copy(update={"value": factor * one.value})
        if one.output in {"absrel", "rmse"} and one.value is not None
        else one
        for one in report.numbers
    )
    profile = make_profile(
        identity, milliseconds=milliseconds, parameters=parameters, flops=flops, model=name
    )
    return report.model_copy(update={"run": record, "numbers": numbers, "efficiency": profile})


def _quantity(value: int | None, reason: str) -> Quantity:
    return Quantity(reason=reason) if value is None else Quantity(value=value)
