"""Entry module of two toy tasks that a stack is made of, and one without boundaries."""

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import MetricSpec, ModelSpec, TaskSpec

TASKS = (("object_segmentation", "mask"), ("monocular_depth", "depth"), ("toy_flat", "depth"))


@hookimpl
def rpx_tasks():
    return [
        TaskSpec(
            name=name,
            summary=f"The {name} toy.",
            target=f"toy_stack_tasks:{name.title().replace('_', '')}",
            options="toy_stack_tasks:Options",
            metrics={"error": "toy-differences"},
            primary="error.mean",
            baseline="toy-echo",
            requires=("rgb", asset),
            alignments=("none", "median", "undefined"),
        )
        for name, asset in TASKS
    ]


@hookimpl
def rpx_metrics():
    together = {
        "toy-sum": (("object_segmentation",), ("monocular_depth",)),
        "toy-three": (("object_segmentation",), ("monocular_depth",), ("toy_flat",)),
        "toy-unit": (("object_segmentation",), ("monocular_depth",)),
    }
    targets = {"toy-sum": "Sum", "toy-three": "Sum", "toy-unit": "Differences"}
    return [
        MetricSpec(
            name="toy-differences",
            summary="Mean absolute difference.",
            target="toy_stack_metrics:Differences",
            tasks=tuple(name for name, _ in TASKS),
        ),
        *(
            MetricSpec(
                name=name,
                summary=f"The {name} toy.",
                target=f"toy_stack_metrics:{targets[name]}",
                combines=tasks,
            )
            for name, tasks in together.items()
        ),
    ]


@hookimpl
def rpx_models():
    return [
        ModelSpec(
            name="toy-echo",
            summary="What is asked for, with known faults.",
            target="toy_stack_tasks:load_echo",
            options="toy_stack_tasks:EchoOptions",
            tasks=tuple(name for name, _ in TASKS),
        )
    ]
