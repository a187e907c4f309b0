"""Specs refuse what the code that reads them could not use."""

from __future__ import annotations

import pytest

from rpx_core.errors import PluginError
from rpx_core.specs import MetricSpec, ModelSpec, ReporterSpec


@pytest.mark.parametrize("kind", [MetricSpec, ModelSpec, ReporterSpec])
@pytest.mark.parametrize("module", ["google.protobuf", "", "opencv-python"])
def test_modules_that_cannot_be_looked_for_alone_are_refused(kind: type, module: str) -> None:
    given = {} if kind is ReporterSpec else {"tasks": ("t",)}
    with pytest.raises(PluginError, match=f"modules {module!r} is no top-level module"):
        kind(name="net", summary="A net.", target="a:b", modules=(module,), **given)
