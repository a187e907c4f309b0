"""Matching by class: the option that metrics of segments share, and the classes of segments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from rpx_core.contracts import Sample
from rpx_core.errors import MetricError, first_few
from rpx_core.outputs import are_distinct
from rpx_seg.overlaps import VOID, Counts
from rpx_seg.types import LabelMap, SegmentationGroundTruth

ClassName = Annotated[str, Field(min_length=1, max_length=80)]


class ClassOptions(BaseModel):
    """`by_class` lets only segments of equal class match and averages over classes.

    Every predicted segment must then have a class; true ones without, beside others that have one,
    are void. Each class in `classes` gets an output of its own, which changes no other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by_class: bool = False
    classes: tuple[ClassName, ...] = ()

    @model_validator(mode="after")
    def _check_classes(self) -> ClassOptions:
        if self.classes and not self.by_class:
            raise ValueError("`classes` needs by_class = true")
        check_names(self.classes)
        return self


def check_names(classes: Collection[str]) -> None:
    """Raise ValueError when classes have no output names of their own."""
    if not are_distinct(classes):
        raise ValueError(
            "`classes` must differ in their letters a to z and digits, which make the names of "
            "their outputs"
        )


def judged_mask(truth: SegmentationGroundTruth, options: ClassOptions) -> LabelMap:
    """The true mask; where classes are asked for, void where some instances lack theirs.

    Annotators leave out what they cannot tell. Where no instance has a class, all stay.
    """
    if not options.by_class or not truth.labels:
        return truth.mask
    named = np.isin(truth.mask, list(truth.labels))
    return np.where(named | (truth.mask <= 0), truth.mask, np.int32(VOID))


def class_names(
    labels: Mapping[int, str] | None, ids: Counts, options: ClassOptions, sample: Sample
) -> NDArray[np.str_]:
    """The class of each segment; the empty name for all when classes are not asked for.

    Raises MetricError naming the sample when segments have none.
    """
    if not options.by_class:
        return np.full(ids.size, "", dtype="<U1")
    known = labels or {}
    missing = [str(i) for i in ids.tolist() if i not in known]
    if missing:
        raise MetricError(
            f"sample {sample.id}: segments without a class: {first_few(missing)}",
            hint="by_class needs `boxes` or `labels` in the record, and labels in predictions",
        )
    return np.array([known[i] for i in ids.tolist()], dtype=np.str_)
