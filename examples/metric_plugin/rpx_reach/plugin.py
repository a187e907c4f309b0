"""What rpx-reach offers to rpx: a description, nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.hookspecs import hookimpl
from rpx_core.specs import MetricSpec


@hookimpl
def rpx_metrics() -> Iterable[MetricSpec]:
    """Offer the metric."""
    return [
        MetricSpec(
            name="within-reach",
            summary="share of the pixels within reach whose depth is right to centimetres",
            target="rpx_reach.within_reach:WithinReach",
            options="rpx_reach.within_reach:WithinReachOptions",
            tasks=("monocular_depth",),
        )
    ]
