"""With which scale the depth maps of a dataset are read: the mistake that no error shows."""

from __future__ import annotations

import numpy as np

from rpx_core.errors import ManifestError, count_of
from rpx_core.images import decode_depth
from rpx_core.manifest import Manifest

_BATCH = 256


def describe_depth(manifest: Manifest) -> tuple[str, ...]:
    """One line for each scale in use: how many maps, whether it is declared, and the first map.

    The percentiles of that map tell metres from millimetres to whoever knows the place.
    """
    found: dict[object, list[str]] = {}
    for start in range(0, len(manifest.entries), _BATCH):
        for record in manifest.records(manifest.entries[start : start + _BATCH]):
            name = record.assets.get("depth")
            if isinstance(name, str):
                found.setdefault(record.assets.get("depth_scale"), []).append(name)
    return tuple(_describe(manifest, scale, names) for scale, names in found.items())


def _describe(manifest: Manifest, scale: object, names: list[str]) -> str:
    declared = (
        "no depth_scale is declared: integers count as millimetres, floats as metres"
        if scale is None
        else f"depth_scale {scale} m per unit, as declared"
    )
    read = _percentiles(manifest, scale, names[0])
    return f"depth of {count_of(len(names), 'record')}: {declared}; {read}"


def _percentiles(manifest: Manifest, scale: object, name: str) -> str:
    try:
        usable = scale if isinstance(scale, int | float) else None
        depth = decode_depth(manifest.files.read(name), name=name, scale=usable)
    except ManifestError:
        return f"{name} cannot be read"
    measured = depth[np.isfinite(depth) & (depth > 0)]
    if not measured.size:
        return f"{name} holds no measurement"
    low, middle, high = np.percentile(measured, (5, 50, 95))
    return (
        f"of the first map, 90 % reads {low:.3g} to {high:.3g} m, and the median is {middle:.3g} m"
    )
