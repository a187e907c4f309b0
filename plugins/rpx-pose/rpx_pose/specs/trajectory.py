"""What is offered for trajectories, and the folders that poses are read from."""

from __future__ import annotations

from rpx_core.specs import AdapterSpec, DatasetSpec, MetricSpec, ModelSpec, TaskSpec

_TRAJECTORY = ("trajectory",)
_METRICS = "rpx_pose.metrics"
_MODELS = "rpx_pose.models"

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="trajectory",
        summary="the path of a camera or robot against a reference (TUM, KITTI, EuRoC files)",
        target="rpx_pose.tasks.trajectory:TrajectoryTask",
        options="rpx_pose.tasks.trajectory:TrajectoryOptions",
        metrics={
            "ate_se3": "ate-se3",
            "ate_sim3": "ate-sim3",
            "ate_origin": "ate-origin",
            "rpe": "rpe",
        },
        primary="ate_se3.rmse_m",
        baseline="static-trajectory",
        requires=(),
        assets=("trajectory", "poses", "timestamps", "estimate"),
        adapter="numpy-trajectory",
    ),
)

METRICS: tuple[MetricSpec, ...] = (
    *(
        MetricSpec(
            name=name,
            summary=f"absolute trajectory error, {how}",
            target=f"{_METRICS}.absolute:{kind}",
            tasks=_TRAJECTORY,
        )
        for name, how, kind in (
            ("ate-none", "not aligned", "AteNone"),
            ("ate-origin", "first poses made equal", "AteOrigin"),
            ("ate-se3", "after the best rigid motion", "AteSe3"),
            ("ate-sim3", "after the best rigid motion and scale", "AteSim3"),
        )
    ),
    MetricSpec(
        name="rpe",
        summary="relative pose error over steps of frames or metres",
        target=f"{_METRICS}.relative:RelativeError",
        options=f"{_METRICS}.relative:RelativeErrorOptions",
        tasks=_TRAJECTORY,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-trajectory",
        summary="a function from timestamps to poses (n, 4, 4)",
        target="rpx_pose.adapters:wrap_trajectory",
        tasks=_TRAJECTORY,
    ),
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="static-trajectory",
        summary="stands still at the origin",
        target=f"{_MODELS}.trajectories:load_static",
        tasks=_TRAJECTORY,
    ),
    ModelSpec(
        name="listed-estimate",
        summary="the trajectory that the record lists as estimate",
        target=f"{_MODELS}.trajectories:load_listed",
        tasks=_TRAJECTORY,
        needs=("estimate",),
    ),
)

DATASETS: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="rpx-poses",
        summary="images and poses of the unpacked RPX release, failed captures left out",
        target="rpx_pose.layouts.rpx_poses:open_rpx_poses",
        options="rpx_pose.layouts.rpx_poses:RpxPosesOptions",
        tasks=("relative_camera_pose", "trajectory"),
        layout=True,
    ),
    DatasetSpec(
        name="trajectories",
        summary="a folder of reference trajectories: TUM, KITTI (with times) or EuRoC files",
        target="rpx_pose.layouts.trajectories:open_trajectories",
        options="rpx_pose.layouts.trajectories:TrajectoriesOptions",
        tasks=_TRAJECTORY,
        layout=True,
    ),
)
