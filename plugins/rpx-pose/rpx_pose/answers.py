"""A relative pose as models and files give it: named parts, checked before anything is measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import as_array
from rpx_core.errors import AdapterError, ModelError
from rpx_pose.rotations import ORTHONORMAL, rotation_fault
from rpx_pose.types import RelativePosePrediction

Floats = NDArray[np.float64]

ROTATIONS = ("rotation", "rotation_xyzw", "rotation_wxyz")
_FAR_M = 1.5e11
_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])


def read_answer(
    answer: Mapping[str, Any], *, known: Collection[str] = ()
) -> RelativePosePrediction:
    """The pose that a mapping names; raises ModelError for anything else.

    `rotation` is 3x3, `rotation_xyzw` and `rotation_wxyz` are quaternions in that order, and
    `translation` has 3 numbers; `pose` may be None, which says that there is none. `scale_known`
    is read where it is among the `known` keys.
    """
    if set(answer) == {"pose"} and answer["pose"] is None:
        return RelativePosePrediction.no_pose()
    given = [key for key in ROTATIONS if key in answer]
    unknown = set(map(str, answer)) - {*ROTATIONS, "translation", *known}
    if len(given) != 1 or "translation" not in answer or unknown:
        raise ModelError(
            f"a pose has one of {', '.join(ROTATIONS)}, and `translation`; "
            f"found {', '.join(map(str, answer)) or 'nothing'}"
        )
    scale_known = answer.get("scale_known", True)
    if not isinstance(scale_known, bool):
        raise ModelError(f"`scale_known` is {scale_known!r}; true or false was expected")
    rotation = as_numbers(answer[given[0]], given[0])
    translation = as_numbers(answer["translation"], "translation")
    make = {
        "rotation": RelativePosePrediction,
        "rotation_xyzw": RelativePosePrediction.from_xyzw,
        "rotation_wxyz": RelativePosePrediction.from_wxyz,
    }[given[0]]
    return make(rotation, translation, scale_known=scale_known)


def from_matrix(matrix: Floats) -> RelativePosePrediction:
    """The pose in a 4x4 matrix; raises ModelError for another shape or last row."""
    if matrix.shape != (4, 4):
        raise ModelError(f"a 4x4 pose was expected, not shape {matrix.shape}")
    if np.isfinite(matrix).all() and np.abs(matrix[3] - _LAST_ROW).max() > ORTHONORMAL:
        raise ModelError("the last row of the pose is not 0 0 0 1")
    return RelativePosePrediction(matrix[:3, :3], matrix[:3, 3])


def check_answer(answer: RelativePosePrediction) -> RelativePosePrediction:
    """The pose as float64 arrays of its own; raises ModelError where it breaks the contract.

    A pose that is not finite, or farther away than the sun, is none.
    """
    if answer.rotation is None and answer.translation is None:
        return answer
    if answer.rotation is None or answer.translation is None:
        raise ModelError(
            f"it lacks its {'rotation' if answer.rotation is None else 'translation'}",
            hint="return both, or None where no pose is found",
        )
    rotation = as_numbers(answer.rotation, "rotation")
    translation = as_numbers(answer.translation, "translation").reshape(-1)
    if rotation.size == 4:
        raise ModelError(
            "a rotation of four numbers is a quaternion, and nothing says in which order",
            hint="name it: `rotation_xyzw` or `rotation_wxyz` in a mapping, "
            "RelativePosePrediction.from_xyzw or .from_wxyz",
        )
    if rotation.shape != (3, 3):
        raise ModelError(f"the rotation has shape {rotation.shape}; (3, 3) was expected")
    if translation.shape != (3,):
        raise ModelError(f"the translation has {translation.size} numbers; 3 were expected")
    if not np.isfinite(rotation).all() or not (np.abs(translation) < _FAR_M).all():
        return RelativePosePrediction.no_pose()
    fault = rotation_fault(rotation)
    if fault is not None:
        raise ModelError(f"the rotation {fault}", hint="check the axes, or orthonormalise it")
    return RelativePosePrediction(rotation, translation, scale_known=answer.scale_known)


def as_numbers(value: Any, name: str) -> Floats:
    """An own float64 array of what is called so; raises ModelError where it holds no numbers."""
    try:
        return as_array(value, "an array of numbers").astype(np.float64)
    except AdapterError as error:
        raise ModelError(f"`{name}` is {error.message}", hint=error.hint) from error
