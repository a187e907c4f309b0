"""Versions of OpenCV that lack what a model needs."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from rpx_core.errors import ConfigError
from rpx_core.opencv import require_opencv


def test_a_missing_part_of_opencv_names_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", SimpleNamespace(__version__="5.0.0", SIFT=object))
    assert require_opencv("SIFT", "rpx-pose[features]").__version__ == "5.0.0"
    with pytest.raises(ConfigError, match=r"OpenCV 5\.0\.0 has no HOGDescriptor") as caught:
        require_opencv("HOGDescriptor", "rpx-detection[opencv]")
    assert caught.value.hint == "pip install 'rpx-detection[opencv]'"
