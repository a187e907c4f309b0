"""The parts of OpenCV that only some of its versions have."""

from __future__ import annotations

from typing import Any

from rpx_core.errors import ConfigError


def require_opencv(part: str, extra: str) -> Any:
    """The module `cv2`, which has this part; raises ConfigError with the install command if not.

    OpenCV 5 has left out or moved what OpenCV 4 had, and another package may have brought it.
    """
    import cv2

    if not hasattr(cv2, part):
        raise ConfigError(
            f"OpenCV {cv2.__version__} has no {part}; OpenCV 4.10 or later, but before 5, has it",
            hint=f"pip install '{extra}'",
        )
    return cv2
