"""Data that needs no download: a drawn table-top dataset and one real stereo pair.

Importing this package costs nothing; numpy and scikit-image are loaded by the writers.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "DEMO_VERSION",
    "MOTORCYCLE_VERSION",
    "write_demo",
    "write_demo_scene",
    "write_motorcycle",
]

DEMO_VERSION = "2"
"""Moves whenever a byte of the drawn dataset would."""

MOTORCYCLE_VERSION = "1"
"""Moves whenever a byte of the converted stereo pair would."""


def write_demo(directory: Path) -> Path:
    """Draw the demo dataset into `directory` (216 frames, all tasks); return its manifest.

    12 scenes (four per difficulty) x 3 phases x 6 frames at 320x240, ray cast, so that depth,
    masks, poses and correspondences agree exactly. Writing it twice gives equal bytes; the
    manifest is the same everywhere, pixels may differ in the last bit between numpy builds.
    """
    from rpx_core.demo.generator import write_dataset
    from rpx_core.demo.layout import SCENES

    return write_dataset(directory, range(SCENES))


def write_demo_scene(directory: Path) -> Path:
    """Draw the first scene alone (3 phases x 6 frames) into `directory`; return its manifest."""
    from rpx_core.demo.generator import write_dataset

    return write_dataset(directory, range(1))


def write_motorcycle(directory: Path) -> Path:
    """Convert scikit-image's Middlebury stereo pair into `directory`; return its manifest.

    Raises `ConfigError` when scikit-image is not installed.
    """
    from rpx_core.demo.motorcycle import write_pair

    return write_pair(directory)
