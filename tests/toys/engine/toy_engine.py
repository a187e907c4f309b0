"""Entry module of a toy task: a number per sample, predicted with known errors."""

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, TaskSpec


@hookimpl
def rpx_tasks():
    return [
        TaskSpec(
            name="toy_level",
            summary="Guess a number.",
            target="toy_engine_task:ToyTask",
            metrics={"error": "toy-error", "trace": "toy-trace", "run": "toy-run"},
            stability={"rpx-2": "toy-stability"},
            primary="error.abs",
            baseline="toy-noise",
            requires=("level",),
            alignments=("none", "shift"),
            adapter="toy-function",
        )
    ]


@hookimpl
def rpx_metrics():
    return [
        MetricSpec(
            name=name,
            summary=f"The {name} metric.",
            target=f"toy_engine_metrics:{kind}",
            tasks=("toy_level",),
        )
        for name, kind in {
            "toy-error": "Error",
            "toy-trace": "Trace",
            "toy-run": "Run",
            "toy-stability": "Stability",
            "toy-nan": "NotANumber",
            "toy-raise": "Raising",
        }.items()
    ]


@hookimpl
def rpx_models():
    return [
        ModelSpec(
            name=name,
            summary=f"The {name} model.",
            target=f"toy_engine_models:{load}",
            tasks=("toy_level",),
            options=f"toy_engine_models:{options}" if options else None,
        )
        for name, load, options in (
            ("toy-noise", "load_noise", "NoiseOptions"),
            ("toy-memory", "load_memory", "NoiseOptions"),
            ("toy-clip", "load_clip", None),
            ("toy-cheat", "load_cheat", None),
            ("toy-null", "load_null", None),
            ("toy-short", "load_short", None),
        )
    ]


@hookimpl
def rpx_adapters():
    return [
        AdapterSpec(
            name="toy-function",
            summary="Wraps a function of a sample id.",
            target="toy_engine_models:wrap",
            tasks=("toy_level",),
        )
    ]
