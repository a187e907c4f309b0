"""What the published ways to run a task have in common: how a run is configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from rpx_core.config import RunConfig, build_config
from rpx_core.contracts import Difficulty, Model, TaskType
from rpx_core.datasets import MANIFEST_SUFFIXES
from rpx_core.errors import ConfigError, kind_of
from rpx_core.published.running import Progress
from rpx_core.stored_text import MAX_NAME, storable_name

_SPLITS = (*Difficulty, "all")


@dataclass(frozen=True)
class TaskRunConfig:
    """What to run: one model on one dataset, for the task of the class.

    Exactly one of `model` (an object), `model_name` (a registered name, or `module:function`) and
    `hf_checkpoint` (a checkpoint of transformers, by name or folder); `model_kwargs` are options of
    the latter two. The data is the released dataset of `repo_id` at `revision`, kept in
    `cache_dir`, of the split `hard`; or all of the manifest at `manifest_path`, or one split of it.
    `split` is easy, medium, hard or all. `max_samples` takes so many: of a manifest the first in
    the order of their ids, of the hub spread evenly over scenes and phases, and only these are
    fetched. Runs are kept below `output_dir`, one folder each, as those of `rpx run`.
    `progress(done, total, stage)` is told of finished samples. Raises ConfigError for what does
    not fit together.

    Nothing tells what a model object will answer, so each run of one is new, in a folder of its
    own. `model_version` is what the caller calls this state of the object: runs of one name and
    version are one run, which is resumed. Whoever changes the object changes the version.
    """

    task: ClassVar[TaskType | str]

    model: Model | None = None
    model_name: str | None = None
    hf_checkpoint: str | None = None
    split: str | None = None
    repo_id: str | None = None
    cache_dir: str | Path | None = None
    revision: str | None = None
    batch_size: int = 1
    device: str | None = None
    output_dir: str | Path = "runs"
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    manifest_path: str | Path | None = None
    max_samples: int | None = None
    model_version: str | None = None

    def __post_init__(self) -> None:
        if not hasattr(type(self), "task"):
            raise ConfigError(
                f"{type(self).__name__} is for no task",
                hint="use the class of the task, such as MonocularDepthRunConfig",
            )
        if self.split is None:
            object.__setattr__(self, "split", "hard" if self.manifest_path is None else "all")
        if self.progress is not None and not callable(self.progress):
            raise ConfigError(
                f"progress is {kind_of(self.progress)}; a function was expected",
                hint="one of (done, total, stage), or None for none",
            )
        self._check_paths()
        self._check_model()
        self._check_data()
        for name, value in (("batch_size", self.batch_size), ("max_samples", self.max_samples)):
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"{name} is {value!r}; a whole number from 1 on was expected")

    def to_config(self) -> RunConfig:
        """The same as a configuration of the engine; a model object is only named in it."""
        execution: dict[str, Any] = {"batch_size": self.batch_size}
        if self.device is not None:
            execution["devices"] = [self.device]
        layer = {
            "task": str(self.task),
            "model": self._model_layer(),
            "data": self._data_layer(),
            "execution": execution,
        }
        return build_config(layer, source=type(self).__name__)

    def _model_layer(self) -> dict[str, Any]:
        if self.model is not None:
            return {"name": name_model(self.model)}
        options = dict(self.model_kwargs)
        if self.hf_checkpoint is not None:
            return {"name": "hf", "options": {**options, "checkpoint": self.hf_checkpoint}}
        return {"name": self.model_name, "options": options}

    def _data_layer(self) -> dict[str, Any]:
        if self.manifest_path is not None:
            name = str(self.manifest_path)
            return {"name": name, "split": self.split, "limit": self.max_samples}
        given = {"repo_id": self.repo_id, "revision": self.revision, "cache_dir": self.cache_dir}
        options: dict[str, Any] = {key: str(one) for key, one in given.items() if one is not None}
        if self.max_samples is not None:
            # Not a limit: what is not evaluated need not be fetched either.
            options["max_samples"] = self.max_samples
        return {"name": "hub", "options": options, "split": self.split}

    def _check_model(self) -> None:
        selectors = {
            "model": self.model,
            "model_name": self.model_name,
            "hf_checkpoint": self.hf_checkpoint,
        }
        given = [name for name, value in selectors.items() if value is not None]
        if len(given) != 1:
            raise ConfigError(
                f"{' and '.join(given) or 'no model'} given; exactly one of "
                f"{', '.join(selectors)} was expected",
                hint="rpx.available_models() lists names" if not given else "leave all but one out",
            )
        if self.model is not None and self.model_kwargs:
            raise ConfigError(
                "model_kwargs are options of a model by name, not of a model object",
                hint="leave model_kwargs out: give them to the object when you make it",
            )
        self._check_version()
        if self.hf_checkpoint is not None and "checkpoint" in self.model_kwargs:
            raise ConfigError("the checkpoint is given twice", hint="hf_checkpoint says it")

    def _check_version(self) -> None:
        version = self.model_version
        if version is None:
            return
        if self.model is None:
            raise ConfigError(
                "model_version is of a model object; a model by name tells its own version",
                hint="leave model_version out",
            )
        if not isinstance(version, str) or not 1 <= len(version) <= MAX_NAME:
            raise ConfigError(
                f"model_version is {_told(version)}; a text of 1 to {MAX_NAME} characters was "
                "expected",
                hint='give what tells its weights and code from others, such as "2.1"',
            )

    def _check_paths(self) -> None:
        places = {"output_dir": self.output_dir, "manifest_path": self.manifest_path}
        for name, value in places.items():
            if isinstance(value, str | PathLike) or (value is None and name == "manifest_path"):
                continue
            raise ConfigError(
                f"{name} is {kind_of(value)}; a text or path was expected",
                hint="leave it out for the default",
            )

    def _check_data(self) -> None:
        if self.split not in _SPLITS:
            raise ConfigError(
                f"there is no split {self.split!r}", hint=f"one of {', '.join(_SPLITS)}"
            )
        if self.manifest_path is None:
            return
        if Path(self.manifest_path).suffix not in MANIFEST_SUFFIXES:
            raise ConfigError(
                f"manifest_path is {self.manifest_path}; a file that ends with one of "
                f"{', '.join(MANIFEST_SUFFIXES)} was expected",
                hint="`rpx data index` writes a manifest of a folder",
            )
        hub = {"repo_id": self.repo_id, "revision": self.revision, "cache_dir": self.cache_dir}
        given = [name for name, value in hub.items() if value is not None]
        if given:
            raise ConfigError(
                f"manifest_path is set, so {', '.join(given)} mean nothing",
                hint="leave them out, or leave manifest_path out to fetch from the hub",
            )


def _told(value: object) -> str:
    return f"a text of {len(value)} characters" if isinstance(value, str) else kind_of(value)


def name_model(model: Any) -> str:
    """What a model is called: its `name`, else its class."""
    name = getattr(model, "name", None)
    return storable_name(name if isinstance(name, str) and name else type(model).__name__)
