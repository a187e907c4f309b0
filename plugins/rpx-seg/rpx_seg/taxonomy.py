"""From the class ids of one taxonomy to those of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from rpx_seg.types import LabelMap

REST = "*"
HIGHEST_CLASS = 65535

ClassId = Annotated[int, Field(ge=0, le=HIGHEST_CLASS)]
ClassKey = Annotated[str, Field(pattern=r"^(\*|\d{1,5})$")]
ClassMap = dict[ClassKey, ClassId]
"""New ids by old ones; `*` stands for every id that is not listed, which else stays as it is."""


def map_classes(mask: LabelMap, mapping: Mapping[str, int]) -> LabelMap:
    """The label map in the other taxonomy; ids from 0 to 65535."""
    if not mapping:
        return mask
    table = np.arange(int(mask.max()) + 1, dtype=np.int32)
    if REST in mapping:
        table[:] = mapping[REST]
    for key, new in mapping.items():
        if key != REST and int(key) < table.size:
            table[int(key)] = new
    return table[mask]
