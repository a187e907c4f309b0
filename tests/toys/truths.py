"""Classes of ground truth as plugins write them, of tasks that read nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Task

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class Truth:
    """Fields of every kind; `share` has a type that only type checkers import."""

    values: NDArray[np.float64]
    share: Fraction | None = None
    bare: np.ndarray | None = None  # type: ignore[type-arg]  # as plugins may have it
    old: Optional[NDArray[np.uint8]] = None  # noqa: UP045  # as plugins may have it
    either: NDArray[np.float64] | Sequence[float] = ()


class Truths(Task[Truth, Any]):
    """Of this truth; nothing is built of it."""
