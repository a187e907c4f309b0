"""How long the ten standard depth metrics of one frame take, against two other implementations.

    python benchmarks/depth_standard.py [--repeat 30] [--keep-memory]

Times rpx_depth (which also yields irmse, coverage and delta1_of_truth), a plain function that masks
anew for every metric, and euler-eval's standard set where that package is installed, on one float32
480x640 frame with 20 % of the truth missing. All run in this process on one BLAS thread, taking
turns, so that ratios hold when the machine is busy. Prints medians, ratios, and the largest
relative disagreement; fails above 1e-9. `--keep-memory` stops glibc from returning freed memory to
the kernel, which favours implementations with large temporaries.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

# Read by OpenBLAS when numpy is first imported, hence before it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from timing import compare, make_parser, require_agreement, time_in_turns

from rpx_depth.pixel_errors import measure_errors, standard_set

Image = NDArray[np.float32]
Values = Mapping[str, float | None]
Implementation = Callable[[Image, Image], Values]

TOLERANCE = 1e-9
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3


def ours(prediction: Image, truth: Image) -> Values:
    return standard_set(measure_errors(prediction, truth))


def plain(prediction: Image, truth: Image) -> Values:
    """What evaluation scripts do: a line per metric, each over its own masked float64 copies."""

    def masked() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        valid = (truth > 0) & np.isfinite(truth) & (prediction > 0) & np.isfinite(prediction)
        return prediction[valid].astype(np.float64), truth[valid].astype(np.float64)

    def mean(error: Callable[..., NDArray[np.float64] | NDArray[np.bool_]]) -> float:
        return float(np.mean(error(*masked())))

    def accuracy(limit: float) -> float:
        return mean(lambda p, g: np.maximum(p / g, g / p) < limit)

    mean_log = mean(lambda p, g: np.log(p) - np.log(g))
    mean_log_square = mean(lambda p, g: (np.log(p) - np.log(g)) ** 2)
    return {
        "absrel": mean(lambda p, g: np.abs(p - g) / g),
        "sqrel": mean(lambda p, g: (p - g) ** 2 / g),
        "mae": mean(lambda p, g: np.abs(p - g)),
        "rmse": mean(lambda p, g: (p - g) ** 2) ** 0.5,
        "rmse_log": mean_log_square**0.5,
        "log10": mean(lambda p, g: np.abs(np.log10(p) - np.log10(g))),
        "silog": max(mean_log_square - mean_log**2, 0) ** 0.5,
        "delta1": accuracy(1.25),
        "delta2": accuracy(1.25**2),
        "delta3": accuracy(1.25**3),
    }


def euler() -> Implementation | None:
    """euler-eval's function, from its file alone: the package would import torch and more."""
    package = importlib.util.find_spec("euler_eval")
    if package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "metrics" / "depth_standard.py"
    spec = importlib.util.spec_from_file_location("euler_depth_standard", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def measure(prediction: Image, truth: Image) -> Values:
        values: Values = module.compute_standard_depth_metrics(prediction, truth)[0]
        return values

    return measure


def frame() -> tuple[Image, Image]:
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.5, 8, (480, 640)).astype(np.float32)
    prediction = (truth * np.exp(rng.normal(0.02, 0.2, truth.shape))).astype(np.float32)
    truth[rng.random(truth.shape) < 0.2] = 0
    return prediction, truth


def keep_memory() -> None:
    if not sys.platform.startswith("linux"):
        sys.exit("--keep-memory needs glibc")
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_THRESHOLD, 1 << 30)
    libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    libc.mallopt(M_TOP_PAD, 64 << 20)


def disagreement(reference: Values, values: Values) -> float:
    pairs = [(values[name], reference[name]) for name in reference]
    return max(abs(a - b) / abs(b) for a, b in pairs if a is not None and b)


def main() -> None:
    parser = make_parser(__doc__, repeat=30)
    parser.add_argument("--keep-memory", action="store_true", help="never give memory back")
    options = parser.parse_args()
    if options.keep_memory:
        keep_memory()
    implementations: dict[str, Implementation] = {"rpx_depth": ours, "plain": plain}
    reference = euler()
    if reference is None:
        print("euler-eval is not installed: pip install --no-deps euler-eval==2.30.0")
    else:
        implementations["euler-eval"] = reference
    images = frame()
    ways = {name: partial(measure, *images) for name, measure in implementations.items()}
    found = time_in_turns(ways, options.repeat)
    require_agreement(compare(found, "rpx_depth", disagreement), TOLERANCE)


if __name__ == "__main__":
    main()
