"""The profile of a run on disk: beside the journal, in no number and in no identity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rpx_core.atomic import write_atomic
from rpx_core.documents import to_pretty_json
from rpx_core.errors import ConfigError, RPXError
from rpx_core.files import MEBIBYTE, read_file
from rpx_core.profiling.record import Profile

NAME = "profile.json"


@dataclass(frozen=True)
class StoredProfile:
    """The profile of a run directory, or the problem with the one that is there."""

    profile: Profile | None = None
    problem: str | None = None


def write_profile(directory: Path, profile: Profile) -> None:
    """Replace the profile of a run; raises JournalError when it cannot be written."""
    document = profile.model_dump(mode="json", by_alias=True)
    write_atomic(directory / NAME, to_pretty_json(document))


def read_profile(directory: Path, identity: str) -> StoredProfile:
    """The profile of a run; one that is damaged or of another run is a problem, not an error."""
    path = directory / NAME
    if not path.exists():
        return StoredProfile()
    try:
        content = read_file(path, source=str(path), limit=MEBIBYTE, error=ConfigError)
        profile = Profile.model_validate_json(content)
    except (RPXError, ValidationError):
        return StoredProfile(problem=f"{NAME} cannot be read; --profile measures again")
    if profile.run != identity:
        return StoredProfile(problem=f"{NAME} belongs to another run; --profile measures again")
    return StoredProfile(profile)
