"""Structural similarity (SSIM): how alike two images are in each small window.

For a window with weights w that sum to 1: mx = Σw·x, my = Σw·y, vx = Σw·x² - mx², likewise vy, and
c = Σw·x·y - mx·my. With C1 = (0.01·L)², C2 = (0.03·L)² and L the data range,

    ssim = (2·mx·my + C1)·(2·c + C2) / ((mx² + my² + C1)·(vx + vy + C2))

at every place where the window lies inside the image; colour channels are images of their own.
The second factor alone is the contrast-structure term. Source: Wang, Bovik, Sheikh and Simoncelli
2004 (Gaussian window), and scikit-image (uniform window with sample covariances).

Filtering is two products with banded matrices, in strips of rows that stay in the cache, and of
four maps instead of five: only the sum vx + vy is needed. Everything is float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.errors import MetricError

Floats = NDArray[np.float64]

K1, K2 = 0.01, 0.03
_STRIP = 32
"""Rows, or columns, that one product makes: few enough for the cache and for the band's zeros."""


@dataclass(frozen=True)
class Window:
    """Weights along each axis, an odd number that sums to 1.

    `unbiased` takes variances and covariance as of a sample: times n/(n-1), n the window's pixels.
    """

    name: str
    taps: tuple[float, ...]
    unbiased: bool = False

    @property
    def radius(self) -> int:
        """Pixels from the centre to the rim."""
        return len(self.taps) // 2

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether an image of this (height, width, ...) holds the window."""
        return min(shape[:2]) >= len(self.taps)


def gaussian_window(taps: int, sigma: float) -> Window:
    """A Gaussian of `taps` pixels across."""
    offsets = np.arange(taps) - taps // 2
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    return Window(f"Gaussian {taps}x{taps}", tuple((weights / weights.sum()).tolist()))


WANG = gaussian_window(11, 1.5)
"""The window of the paper, with variances of the weighted window itself."""
UNIFORM_7 = Window("uniform 7x7", (1 / 7,) * 7, unbiased=True)
"""What scikit-image does unless told otherwise."""


@dataclass(frozen=True)
class Strip:
    """Similarity at some rows of window centres; valid until the next strip is asked for.

    `rows` are rows of the map of centres, as in `similarity_map`.
    """

    rows: slice
    ssim: Floats
    contrast: Floats


def ssim(first: NDArray[Any], second: NDArray[Any], window: Window, data_range: float) -> float:
    """Mean similarity of two images (H, W) or (H, W, C); -1 to 1, exactly 1 for equal images.

    Raises MetricError for images of different shapes, or smaller than the window.
    """
    return float(similarity_map(first, second, window, data_range).mean())


def similarity_map(
    first: NDArray[Any], second: NDArray[Any], window: Window, data_range: float
) -> Floats:
    """Similarity at every window centre, averaged over channels.

    Centres leave the window's radius out on every side: an image (H, W) gives a map of
    (H - 2·radius, W - 2·radius). Raises MetricError as `ssim` does.
    """
    check_images(first, second, window)
    rim = 2 * window.radius
    found = np.zeros((first.shape[0] - rim, first.shape[1] - rim))
    planes = _planes(first, second)
    for plane in planes:
        for strip in similarity_strips(*plane, window, data_range):
            found[strip.rows] += strip.ssim
    found /= len(planes)
    return found


def _planes(first: NDArray[Any], second: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    if first.ndim == 2:
        return [(first, second)]
    return [(first[..., channel], second[..., channel]) for channel in range(first.shape[2])]


def similarity_strips(
    first: NDArray[Any], second: NDArray[Any], window: Window, data_range: float
) -> Iterator[Strip]:
    """The similarity map of two planes (H, W) that hold the window, strip by strip."""
    height, width = first.shape
    rim = 2 * window.radius
    stabilisers = ((K1 * data_range) ** 2, (K2 * data_range) ** 2)
    scale = _covariance_scale(window)
    maps = np.empty((4, _STRIP + rim, width))
    smooth = np.empty((4, _STRIP, width))
    moments = np.empty((4, _STRIP, width - rim))
    scratch = np.empty((2, _STRIP, width - rim))
    for top in range(0, height - rim, _STRIP):
        count = min(_STRIP, height - rim - top)
        read = slice(top, top + count + rim)
        _fill_maps(first[read], second[read], maps[:, : count + rim])
        _filter_rows(window, maps[:, : count + rim], smooth[:, :count])
        _filter_columns(window, smooth[:, :count], moments[:, :count])
        similarity, contrast = _compare(moments[:, :count], scratch[:, :count], stabilisers, scale)
        yield Strip(slice(top, top + count), similarity, contrast)


def _fill_maps(first: NDArray[Any], second: NDArray[Any], out: Floats) -> None:
    """x, y, x² + y², x·y."""
    x, y, squares, product = out
    x[...], y[...] = first, second
    np.multiply(x, x, out=squares)
    np.multiply(y, y, out=product)
    squares += product
    np.multiply(x, y, out=product)


def _filter_rows(window: Window, maps: Floats, out: Floats) -> None:
    count, span = out.shape[1], maps.shape[1]
    np.matmul(_band(window)[:count, :span], maps, out=out)


def _filter_columns(window: Window, maps: Floats, out: Floats) -> None:
    width, rim = out.shape[2], 2 * window.radius
    band = _band(window).T
    for start in range(0, width, _STRIP):
        count = min(_STRIP, width - start)
        part = maps[:, :, start : start + count + rim]
        np.matmul(part, band[: count + rim, :count], out=out[:, :, start : start + count])


@lru_cache(maxsize=16)
def _band(window: Window) -> Floats:
    """The matrix that filters a strip: row i holds the weights at columns i onwards."""
    taps = len(window.taps)
    band = np.zeros((_STRIP, _STRIP + taps - 1))
    for row in range(_STRIP):
        band[row, row : row + taps] = window.taps
    return band


def _covariance_scale(window: Window) -> float:
    pixels = len(window.taps) ** 2
    return pixels / (pixels - 1) if window.unbiased else 1.0


def _compare(
    moments: Floats, scratch: Floats, stabilisers: tuple[float, float], scale: float
) -> tuple[Floats, Floats]:
    """Similarity and contrast-structure of each window, in the arrays given."""
    mean_x, mean_y, squares, product = moments
    similarity, contrast = scratch
    c1, c2 = stabilisers
    means = np.multiply(mean_x, mean_y, out=contrast)
    product -= means
    product *= 2 * scale
    product += c2
    means *= 2
    np.multiply(mean_x, mean_x, out=mean_x)
    np.multiply(mean_y, mean_y, out=mean_y)
    mean_x += mean_y
    squares -= mean_x
    squares *= scale
    squares += c2
    means += c1
    mean_x += c1
    np.divide(means, mean_x, out=similarity)
    np.divide(product, squares, out=contrast)
    similarity *= contrast
    return similarity, contrast


def check_images(first: NDArray[Any], second: NDArray[Any], window: Window) -> None:
    """Raise MetricError unless both are images of one shape that holds the window."""
    if first.shape != second.shape or first.ndim not in (2, 3):
        raise MetricError(
            f"SSIM compares two images (H, W) or (H, W, C) of one shape; found {first.shape} and "
            f"{second.shape}"
        )
    if not window.fits(first.shape):
        taps = len(window.taps)
        raise MetricError(
            f"an image of {first.shape[0]}x{first.shape[1]} pixels is smaller than SSIM's "
            f"{window.name} window",
            hint=f"SSIM is undefined below {taps}x{taps} pixels",
        )
