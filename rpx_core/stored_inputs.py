"""What is read back of a stored run, its names and inputs, checked before anything relies on it.

The inputs themselves stay as they were written: the identity is their digest. These are views of
the parts that reports and stacks build on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from rpx_core.errors import ConfigError
from rpx_core.stored_text import MAX_NAME, is_name


class _View(BaseModel):
    """Some fields of an object that has more."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


def _check_name(text: str) -> str:
    if not is_name(text):
        raise ValueError(f"a printable text of 1 to {MAX_NAME} characters was expected")
    return text


_Name = Annotated[str, AfterValidator(_check_name)]


class StoredNames(_View):
    """What the parts of a run are called; `name` is that of its folder."""

    name: Annotated[str, Field(pattern="^[a-z0-9._-]+$", max_length=MAX_NAME)]
    task: _Name
    model: _Name
    data: _Name
    protocol: _Name | None


class StoredPart(_View):
    """A plugin part: its full name and options, and the digests of files among these."""

    name: str
    version: str | None = None
    options: dict[str, Any]
    files: dict[str, str] = Field(default_factory=dict)


class StoredMetric(StoredPart):
    """A metric with the version of its formula."""

    metric: str


class StoredTask(StoredPart):
    """A task with the version of its rules."""

    task: str


class StoredAlign(_View):
    """How predictions were fitted to the truth."""

    method: str
    scope: Literal["sample", "sequence"]


class StoredModel(_View):
    """What kind of model it was."""

    kind: str


class StoredData(_View):
    """What was evaluated."""

    dataset_id: str


class StoredInputs(_View):
    """What every run has: metrics by label, the readiness rules, versions by distribution."""

    metrics: dict[str, StoredMetric] = Field(min_length=1)
    readiness: Literal["rpx-1", "rpx-2"]
    distributions: dict[str, str | None] = Field(default_factory=dict)


class StoredRunInputs(StoredInputs):
    """What a run of one task has beside; a stack of runs has these by task."""

    task: StoredTask
    align: StoredAlign
    model: StoredModel
    data: StoredData


def is_stack(inputs: Mapping[str, Any]) -> bool:
    """Whether the inputs are those of a stack of runs."""
    return "runs" in inputs


def check_inputs(inputs: Mapping[str, Any], source: str) -> None:
    """Raise ConfigError, naming the source and the key, for inputs that rpx cannot have written."""
    kind = StoredInputs if is_stack(inputs) else StoredRunInputs
    try:
        kind.model_validate(dict(inputs))
    except ValidationError as error:
        raise _refusal(error, source, "inputs") from error


def check_names(record: object, source: str) -> None:
    """The same for the names in a record."""
    try:
        StoredNames.model_validate(record, from_attributes=True)
    except ValidationError as error:
        raise _refusal(error, source) from error


def _refusal(error: ValidationError, source: str, *above: str) -> ConfigError:
    problem = error.errors(include_url=False)[0]
    place = ".".join((*above, *(str(part)[:80] for part in problem["loc"])))
    return ConfigError(
        f"{source}: {place}: {problem['msg'].removeprefix('Value error, ')}",
        hint="it is not the record of a run by this version of rpx; run the evaluation again",
    )
