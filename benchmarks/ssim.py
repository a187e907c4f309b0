"""How long SSIM takes on a grey 480x640 pair, against scikit-image's Gaussian and default calls.

    python benchmarks/ssim.py [--repeat 30] [--colour]

Times rpx_nvs (numpy alone) and scikit-image where that package is installed, both with the 11x11
Gaussian window of the paper and with scikit-image's default uniform window, on one photograph-like
8-bit pair and data range 255. All run in this process on one BLAS thread, taking turns, so that
ratios hold when the machine is busy. Prints medians, ratios and disagreement; fails when the
numbers differ by more than 1e-6, or when the Gaussian call is not 3 times as fast.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

# Read by OpenBLAS when numpy is first imported, hence before it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from timing import compare, make_parser, require_agreement, time_in_turns

from rpx_nvs.structural_similarity import UNIFORM_7, WANG, ssim

Image = NDArray[np.uint8]
Implementation = Callable[[Image, Image], float]

TOLERANCE = 1e-6
LEAST_RATIO = 3.0


def ours() -> dict[str, Implementation]:
    return {
        "Gaussian 11x11": lambda first, second: ssim(first, second, WANG, 255),
        "uniform 7x7": lambda first, second: ssim(first, second, UNIFORM_7, 255),
    }


def scikit_image(*, colour: bool) -> dict[str, Implementation]:
    from skimage.metrics import structural_similarity

    shared: dict[str, Any] = {"data_range": 255, "channel_axis": 2 if colour else None}
    paper = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}

    def gaussian(first: Image, second: Image) -> float:
        return float(structural_similarity(first, second, **shared, **paper))

    def uniform(first: Image, second: Image) -> float:
        return float(structural_similarity(first, second, **shared))

    return {"Gaussian 11x11": gaussian, "uniform 7x7": uniform}


def make_pair(*, colour: bool) -> tuple[Image, Image]:
    """Smooth shading with edges and texture, and the same with noise."""
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[0:480, 0:640]
    planes = [
        128 + 70 * np.sin(rows / 41 + k) * np.cos(columns / 57) + 30 * ((rows + columns) // 40 % 2)
        for k in range(3 if colour else 1)
    ]
    clean = np.stack(planes, axis=-1) + rng.normal(0, 4, (480, 640, len(planes)))
    noisy = clean + rng.normal(0, 12, clean.shape)
    first, second = (image.round().clip(0, 255).astype(np.uint8) for image in (clean, noisy))
    return (first, second) if colour else (first[..., 0].copy(), second[..., 0].copy())


def main() -> None:
    parser = make_parser(__doc__, repeat=30)
    parser.add_argument("--colour", action="store_true", help="three channels instead of one")
    options = parser.parse_args()
    if importlib.util.find_spec("skimage") is None:
        sys.exit("scikit-image is what this compares with: pip install scikit-image")
    mine, theirs = ours(), scikit_image(colour=options.colour)
    images = make_pair(colour=options.colour)
    ratios = {}
    for name in mine:
        print(name)
        ways = {"rpx_nvs": mine[name], "scikit-image": theirs[name]}
        found = time_in_turns(
            {owner: partial(call, *images) for owner, call in ways.items()}, options.repeat
        )
        require_agreement(compare(found, "rpx_nvs", lambda a, b: abs(a - b)), TOLERANCE)
        ratios[name] = found["scikit-image"].milliseconds / found["rpx_nvs"].milliseconds
    if not ratios["Gaussian 11x11"] >= LEAST_RATIO:
        sys.exit(f"the Gaussian call is not {LEAST_RATIO} times as fast")


if __name__ == "__main__":
    main()
