"""What core itself offers: the embedded data, stack metrics and the report formats."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import DatasetSpec, MetricSpec, ReporterSpec

_ALL_TASKS = (
    "monocular_depth",
    "sparse_depth",
    "object_segmentation",
    "semantic_segmentation",
    "object_detection",
    "open_vocab_detection",
    "visual_grounding",
    "object_tracking",
    "relative_camera_pose",
    "keypoint_matching",
    "trajectory",
    "novel_view_synthesis",
)
_MASKS_AND_DEPTH = (("object_segmentation", "semantic_segmentation"), ("monocular_depth",))


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer stack geometric coherence; metrics of one task come with the task."""
    metrics = "rpx_core.coherence.metrics"
    return [
        MetricSpec(
            name="sgc",
            summary="do outlines of masks lie where depth jumps? (rpx-2)",
            target=f"{metrics}:Coherence",
            options=f"{metrics}:CoherenceOptions",
            combines=_MASKS_AND_DEPTH,
        ),
        MetricSpec(
            name="sgc-published",
            summary="overlap of dilated mask and depth edges, as published (rpx-1)",
            target=f"{metrics}:PublishedCoherence",
            options=f"{metrics}:PublishedCoherenceOptions",
            combines=_MASKS_AND_DEPTH,
        ),
    ]


@hookimpl
def rpx_datasets() -> Iterable[DatasetSpec]:
    """Offer the embedded datasets, and those on the hub."""
    return [
        DatasetSpec(
            name="demo",
            summary="generated table-top scenes: 12 scenes x 3 phases x 6 frames, all tasks",
            target="rpx_core.demo.datasets:open_demo",
            tasks=_ALL_TASKS,
        ),
        DatasetSpec(
            name="motorcycle",
            summary="a real stereo pair with metric depth (Middlebury 2014, from scikit-image)",
            target="rpx_core.demo.datasets:open_motorcycle",
            tasks=(
                "monocular_depth",
                "sparse_depth",
                "relative_camera_pose",
                "keypoint_matching",
                "novel_view_synthesis",
            ),
            extra="motorcycle",
            modules=("skimage",),
        ),
        DatasetSpec(
            name="hub",
            summary="a dataset on the Hugging Face Hub, hub:OWNER/REPO; by default the RPX release",
            target="rpx_core.hub.dataset:open_hub",
            options="rpx_core.hub.dataset:HubOptions",
            argument="repo_id",
            tasks=(*_ALL_TASKS, "trajectory"),
            selective=True,
        ),
    ]


@hookimpl
def rpx_reporters() -> Iterable[ReporterSpec]:
    """Offer the report formats."""
    return [
        ReporterSpec(
            name="json",
            summary="result.json: everything, strictly",
            target="rpx_core.reporters.result_json:render",
        ),
        ReporterSpec(
            name="markdown",
            summary="summary.md: the headline numbers, for a pull request",
            target="rpx_core.reporters.markdown:render",
        ),
        ReporterSpec(
            name="csv",
            summary="per_sample.csv and cells.csv, for spreadsheets",
            target="rpx_core.reporters.tables:render_csv",
        ),
        ReporterSpec(
            name="parquet",
            summary="per_sample.parquet and cells.parquet, for data frames",
            target="rpx_core.reporters.tables:render_parquet",
            extra="parquet",
            modules=("pyarrow",),
        ),
        ReporterSpec(
            name="html",
            summary="report.html: one page with pictures, no external request",
            target="rpx_core.reporters.html:render",
        ),
    ]
