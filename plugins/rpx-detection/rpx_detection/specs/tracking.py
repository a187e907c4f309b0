"""What is offered for tracking."""

from __future__ import annotations

from rpx_core.specs import (
    AdapterSpec,
    DatasetSpec,
    MetricSpec,
    ModelSpec,
    ProtocolSpec,
    TaskSpec,
)

_TRACKING = ("object_tracking",)
_HERE = "rpx_detection.tracking"

TASKS: tuple[TaskSpec, ...] = (
    TaskSpec(
        name="object_tracking",
        summary="boxes of every object, under one id from frame to frame",
        target=f"{_HERE}.task:ObjectTracking",
        options=f"{_HERE}.task:ObjectTrackingOptions",
        metrics={
            "hota": "tracking-hota",
            "clear": "tracking-clear",
            "identity": "tracking-identity",
        },
        primary="hota.hota",
        baseline="iou-tracker",
        requires=(),
        assets=("tracks", "boxes", "mask", "detections"),
        adapter="numpy-tracking",
    ),
)

METRICS: tuple[MetricSpec, ...] = tuple(
    MetricSpec(
        name=f"tracking-{family}",
        summary=summary,
        target=f"{_HERE}.metrics.{family}:{family.title()}",
        options=None if options is None else f"{_HERE}.metrics.options:{options}",
        tasks=_TRACKING,
    )
    for family, options, summary in (
        ("hota", "TrackingOptions", "HOTA, DetA, AssA, LocA and their parts, as TrackEval"),
        ("clear", "MatchingOptions", "MOTA, MOTP, switches, fragments, mostly tracked and lost"),
        ("identity", "MatchingOptions", "IDF1, IDP, IDR: the best fixed map between tracks"),
        ("greedy", None, "the published simple numbers: greedy MOTA, F1 of detections"),
    )
)

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="iou-tracker",
        summary="joins detections that overlap from frame to frame",
        target=f"{_HERE}.models.iou_tracker:load",
        options=f"{_HERE}.models.tracker:TrackerOptions",
        tasks=_TRACKING,
    ),
    ModelSpec(
        name="kalman-tracker",
        summary="the same, expecting objects to move on as before",
        target=f"{_HERE}.models.kalman_tracker:load",
        options=f"{_HERE}.models.kalman_tracker:KalmanTrackerOptions",
        tasks=_TRACKING,
    ),
)

ADAPTERS: tuple[AdapterSpec, ...] = (
    AdapterSpec(
        name="numpy-tracking",
        summary="a function called frame by frame, from RGB to a list of boxes with track ids",
        target=f"{_HERE}.adapters:wrap",
        tasks=_TRACKING,
    ),
)

DATASETS: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="mot",
        summary="MOTChallenge: <sequence>/seqinfo.ini, gt/gt.txt, img1/, det/det.txt",
        target=f"{_HERE}.layouts.mot:open_mot",
        options=f"{_HERE}.layouts.mot:MotOptions",
        tasks=_TRACKING,
        layout=True,
    ),
)

PROTOCOLS: tuple[ProtocolSpec, ...] = tuple(
    ProtocolSpec(
        name=name, summary=summary, target=f"{_HERE}:protocols/{name}.toml", tasks=_TRACKING
    )
    for name, summary in (
        ("mot17-1", "MOT16 and MOT17 as TrackEval evaluates them"),
        ("mot20-1", "MOT20 as TrackEval evaluates it"),
        ("rpx-tracking-1", "RPX scenes: one class, the first frame given and not scored"),
    )
)
