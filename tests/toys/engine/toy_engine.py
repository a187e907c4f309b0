"""Entry module of a toy task: a number per sample, predicted with known errors."""

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import AdapterSpec, MetricSpec, ModelSpec, ProtocolSpec, TaskSpec

METRICS = {
    "toy-error": "Error",
    "toy-trace": "Trace",
    "toy-run": "Run",
    "toy-stability": "Stability",
    "toy-blocks": "OnlyBlocks",
    "toy-block-breaker": "BlockBreaker",
    "toy-short-block": "ShortBlock",
    "toy-nan": "NotANumber",
    "toy-raise": "Raising",
    "toy-wrong-keys": "WrongKeys",
    "toy-wrong-state": "WrongState",
    "toy-nan-state": "NanState",
    "toy-pooled-nan": "PooledNan",
    "toy-pair-raise": "PairRaising",
    "toy-sequence-raise": "SequenceRaising",
    "toy-quality": "Quality",
    "toy-undefined": "Undefined",
    "toy-picky": "Picky",
    "toy-drift": "Drift",
    "toy-unbuilt": "Unbuilt",
    "toy-exit": "Exiting",
}
MODELS = (
    ("toy-noise", "load_noise"),
    ("toy-memory", "load_memory"),
    ("toy-clip", "load_clip"),
    ("toy-cheat", "load_cheat"),
    ("toy-null", "load_null"),
    ("toy-short", "load_short"),
    ("toy-calls", "load_calls"),
    ("toy-breaks", "load_breaks"),
)


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
            alignments=(
                "none",
                "shift",
                "short",
                "infinite",
                "bare",
                "raise",
                "undefined",
                "doubt",
            ),
            adapter="toy-function",
            options="toy_engine_task:ToyOptions",
        ),
        TaskSpec(
            name="toy_step",
            summary="Guess the step between two frames.",
            target="toy_engine_task:StepTask",
            metrics={"error": "toy-error"},
            primary="error.abs",
            baseline="toy-noise",
            requires=("level",),
        ),
    ]


@hookimpl
def rpx_metrics():
    scaled = {"toy-error": "toy_engine_metrics:ErrorOptions"}
    return [
        MetricSpec(
            name=name,
            summary=f"The {name} metric.",
            target=f"toy_engine_metrics:{kind}",
            tasks=("toy_level", "toy_step"),
            options=scaled.get(name),
        )
        for name, kind in METRICS.items()
    ]


@hookimpl
def rpx_models():
    return [
        ModelSpec(
            name=name,
            summary=f"The {name} model.",
            target=f"toy_engine_models:{load}",
            tasks=("toy_level", "toy_step"),
            options="toy_engine_models:Options",
        )
        for name, load in MODELS
    ]


@hookimpl
def rpx_protocols():
    return [
        ProtocolSpec(
            name="toy-fixed",
            summary="The fixed protocol.",
            target="toy_engine_protocols:fixed.toml",
            tasks=("toy_level",),
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
