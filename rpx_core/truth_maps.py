"""Ground truth maps that a program made: of the image's size, and in metres where they are depths.

What is wrong with a truth is said before any model is asked, which would else be blamed for it.
"""

from __future__ import annotations

import numpy as np

from rpx_core.contracts import Sample
from rpx_core.errors import ManifestError


def check_truth_size(sample: Sample, *names: str) -> None:
    """Raise ManifestError unless these maps of the ground truth, if any, are of the image's size.

    Without an image, or without a truth, nothing can be said.
    """
    if not isinstance(sample.rgb, np.ndarray) or sample.ground_truth is None:
        return
    size = sample.rgb.shape[:2]
    for name in names:
        found = getattr(sample.ground_truth, name)
        if found is not None and np.shape(found) != size:
            raise ManifestError(
                f"sample {sample.id}: `{name}` of its ground truth is {np.shape(found)}, its image "
                f"is {size} (height, width)",
                hint="the two must show the same pixels: register or resize one of them first",
            )


def check_truth_metres(sample: Sample, name: str) -> None:
    """Raise ManifestError for depths of the ground truth, if any, that are no floats.

    Sensors and picture files store whole millimetres; nothing in them says so.
    """
    found = getattr(sample.ground_truth, name, None)
    if found is not None and np.asarray(found).dtype.kind != "f":
        raise ManifestError(
            f"sample {sample.id}: `{name}` of its ground truth is {np.asarray(found).dtype}; "
            "metres as floats were expected",
            hint="whole numbers are mostly millimetres: divide by 1000",
        )
