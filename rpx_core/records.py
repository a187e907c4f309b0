"""Records: what a dataset says of one frame, before anything is loaded."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from rpx_core.contracts import Difficulty, Phase
from rpx_core.errors import ManifestError
from rpx_core.spelling import did_you_mean

WELL_KNOWN_ASSETS = frozenset(
    {
        *("depth", "depth_scale", "rgb_right", "intrinsics_right", "baseline_m"),
        *("mask", "semantic", "boxes", "labels", "tracks", "expressions", "text", "vocabulary"),
        *("coordinates", "depths", "correspondences", "points0", "points1", "visibility"),
        *("rgb_b", "intrinsics_b", "pose_a", "pose_b", "target_rgb", "target_pose"),
        *("camera_pose", "fisheye_left", "fisheye_right"),
        *("trajectory", "estimate", "timestamps", "poses", "homography"),
    }
)
"""Keys that the published formats use; known whether or not the plugin that reads them is here."""

_PHASES = {0: Phase.CLUTTER, 1: Phase.INTERACTION, 2: Phase.CLEAN}
# Controls, and the characters that reorder or break the lines around them.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_INTEGER = re.compile(r"\d+")
_NATURAL = re.compile(r"(\d+)")
_LONGEST_NUMBER = 4000
"""Python refuses to parse longer integers; such digits sort as text."""
MAX_ID = 200
"""Characters of an id or the name of a scene."""


class Record(BaseModel):
    """One frame of a dataset: identity, place in its sequence, and named assets.

    `assets` maps keys such as `depth` or `mask` to what the manifest holds there: a path
    relative to the root, or an inline value. `sequence` defaults to scene and phase where both
    are given, else the frame stands alone; `frame` defaults to the last integer of the id.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    scene: Annotated[str, Field(min_length=1, max_length=MAX_ID)] | None = None
    phase: Phase | None = None
    difficulty: Difficulty | None = None
    sequence: Annotated[str, Field(min_length=1, max_length=2 * MAX_ID)]
    frame: int
    rgb: str | None = None
    intrinsics: Any = None
    pose: Any = None
    pose_convention: Literal["opencv", "t265"] = "t265"
    metadata: dict[str, Any] = Field(default_factory=dict)
    checksums: dict[str, str] = Field(default_factory=dict)
    assets: dict[str, Any] = Field(default_factory=dict)

    @field_validator("id", "scene", "sequence")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        found = _STEERING.search(value) if value is not None else None
        if found is not None:
            raise ValueError(
                f"control characters are not allowed, found {found[0]!a} at offset {found.start()}"
            )
        return value

    @field_validator("phase", mode="before")
    @classmethod
    def _phase_by_number(cls, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            value = _PHASES.get(value, value)
        if value is None or value in tuple(Phase):
            return value
        raise PydanticCustomError("phase", "{problem}", {"problem": _about_phase(value)})

    def has(self, key: str) -> bool:
        """Whether the record carries this asset, `rgb`, `intrinsics` or `pose`."""
        if key in {"rgb", "intrinsics", "pose"}:
            return getattr(self, key) is not None
        return self.assets.get(key) is not None

    def path_of(self, key: str) -> str:
        """The path that an asset is; raises ManifestError where there is none, or no path."""
        path = self.assets.get(key)
        if not isinstance(path, str):
            raise ManifestError(f"sample {self.id}: `{key}` must be the path of a file")
        return path


def parse_record(
    raw: object, *, where: str, defaults: Mapping[str, Any], known: Collection[str]
) -> Record:
    """A record from one manifest entry; raises ManifestError naming the entry and the key."""
    if not isinstance(raw, dict):
        raise ManifestError(f"{where}: an object was expected, not {type(raw).__name__}")
    raw = {**defaults, **raw}
    core = {key: value for key, value in raw.items() if key in _CORE_KEYS}
    assets = {key: value for key, value in raw.items() if key not in _CORE_KEYS}
    identifier = _short_text(core.get("id"))
    where = f"{where} (id {identifier[:80]!r})" if identifier else where
    for key in assets:
        if key not in known:
            raise ManifestError(
                f"{where}: unknown key {key[:80]!r}",
                hint=_suggest(key[:MAX_ID], {*known, *_CORE_KEYS}),
            )
    if core.get("frame") is None:
        core["frame"] = _last_integer(identifier)
    if core.get("sequence") is None:
        core["sequence"] = _default_sequence(core, identifier)
    try:
        return Record(**core, assets=assets)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in problem["loc"])
        raise ManifestError(f"{where}: {field}: {problem['msg']}") from error


def natural_key(text: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Sort key that orders embedded integers by value: frame_9999 before frame_10000.

    Keys are equal for equal texts only, so that no order depends on where sorting began.
    """
    parts = tuple(
        (1, int(part), "")
        if part.isdecimal() and part.isascii() and len(part) < _LONGEST_NUMBER
        else (0, 0, part)
        for part in _NATURAL.split(text)
        if part
    )
    return parts, text


def usual_step(frames: Sequence[int]) -> float:
    """The median distance of the frame numbers of a whole sequence, whatever is evaluated of it."""
    gaps = [after - before for before, after in pairwise(frames)]
    return float(median(gaps)) if gaps else 0.0


_CORE_KEYS = frozenset(Record.model_fields) - {"assets"}


def _about_phase(value: object) -> str:
    """What to say of a phase that is none, with all that is accepted."""
    named = ", ".join(f"{phase.value!r} (or {number})" for number, phase in _PHASES.items())
    meant = did_you_mean(value, _PHASES.values()) if isinstance(value, str) else None
    return f"{value!r:.80} is no phase: {named} was expected" + (f"; {meant}" if meant else "")


def _default_sequence(core: Mapping[str, Any], identifier: str) -> str:
    scene, phase = core.get("scene"), core.get("phase")
    if scene is None or phase is None:
        return identifier
    name = _PHASES.get(phase, phase) if isinstance(phase, int) else phase
    return f"{scene}_{name}"


def _short_text(identifier: object) -> str:
    """The id as far as anything is derived from it, or shown; what is no id is refused later."""
    return identifier[: MAX_ID + 1] if isinstance(identifier, str) else ""


def _last_integer(identifier: str) -> int:
    numbers = _INTEGER.findall(identifier)
    return int(numbers[-1][-18:]) if numbers else 0


def _suggest(key: str, known: Collection[str]) -> str:
    meant = did_you_mean(key, known)
    if meant:
        return f"{meant} Free-form values belong in `metadata`"
    return "no installed task knows it; free-form values belong in `metadata`"
