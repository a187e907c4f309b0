"""Where models come from: a registered name, a Python function, prediction files, an object."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rpx_core.contracts import Model, Runtime, Sample, Task
from rpx_core.errors import ConfigError, ModelError, kind_of
from rpx_core.host import Host, Offer
from rpx_core.identity import digest_of
from rpx_core.names import is_same_task
from rpx_core.parts import Part, resolve_part
from rpx_core.predictions import PredictionFolder
from rpx_core.specs import ModelSpec, TaskSpec
from rpx_core.user_modules import import_code

if TYPE_CHECKING:
    from rpx_core.config import Named


@dataclass(frozen=True)
class ModelPart:
    """A model that a worker can build.

    `reference` is `module:attribute` or `file.py:attribute` of a function, or the folder of
    prediction files. `digest` stands for its content in the identity; `files` are the digests of
    the single files, which a worker must find unchanged. `value` is a model that lives in this
    process alone: such a run has no identity and does not resume.
    """

    name: str
    kind: Literal["registered", "function", "files", "object"]
    part: Part | None = None
    reference: str | None = None
    digest: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    value: Model | None = field(default=None, compare=False)

    def identity(self) -> dict[str, Any]:
        """What of this model can move a number."""
        # The name of a file or folder says where it lies, not what it holds.
        name = {"files": "", "function": self.name.rpartition(":")[2]}.get(self.kind, self.name)
        own = {"name": name, "kind": self.kind, "digest": self.digest}
        return (
            own
            | (self.part.identity() if self.part and self.kind == "registered" else {})
            | ({"adapter": self.part.identity()} if self.part and self.kind == "function" else {})
        )


def resolve_model(
    host: Host, task: Offer[TaskSpec], named: Named | None, adapter: Named | None
) -> ModelPart:
    """The model that the configuration names; the task's baseline where it names none."""
    name = named.name if named else task.spec.baseline
    options = named.options if named else {}
    if is_reference(name):
        if options:
            raise ConfigError(f"model.options: {name} is a Python function and has no options")
        return _function_model(host, task, name, adapter)
    prefer = None if named else task.distribution
    offer: Offer[ModelSpec] = host.find("model", name, task=task.spec.name, prefer=prefer)
    spec = offer.spec
    if spec.unavailable is not None:
        raise ConfigError(f"model {offer.full_name} is not available: {spec.unavailable}")
    check_task(offer.full_name, spec.tasks, task.spec.name)
    require_extra(offer)
    part = resolve_part(offer, options, field_name="model.options")
    return ModelPart(offer.full_name, "registered", part, needs=spec.needs)


def is_reference(name: str) -> bool:
    """Whether a model name means a Python attribute, `module:attribute` or `file.py:attribute`."""
    return ":" in name


def build_model(model: ModelPart, task: Task[Any, Any], runtime: Runtime) -> Model:
    """The model, ready for `setup()`; raises ModelError or PluginError when it cannot be built."""
    match model.kind:
        case "object" if model.value is not None:
            return model.value
        case "files" if model.reference is not None:
            return PredictionFolder(Path(model.reference), task, model.files)
        case "function" if model.reference is not None and model.part is not None:
            built = _wrap(_import_planned(model, model.reference), model.part, runtime)
        case _ if model.part is not None:
            built = model.part.call(runtime)
        case _:
            raise ModelError(f"model {model.name}: nothing says how to build it")
    if not callable(getattr(built, "predict", None)):
        raise ModelError(
            f"model {model.name}: what was built is {kind_of(built)} without predict()"
        )
    return built  # type: ignore[no-any-return]  # checked above


def files_model(directory: Path) -> ModelPart:
    """The model that answers from prediction files; its identity is their content."""
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such folder of predictions")
    files = PredictionFolder(directory, None).digests()
    return ModelPart(
        directory.name or "predictions",
        "files",
        reference=str(directory.resolve()),
        digest=digest_of(files),
        files=files,
    )


def _import_planned(model: ModelPart, reference: str) -> Any:
    """The function that was planned with, or ModelError where its code is another by now."""
    place, _, attribute = reference.rpartition(":")
    code = import_code(place)
    changed = code.changed(model.files)
    if changed:
        raise ModelError(
            f"model {model.name}: {', '.join(changed)} changed since the run began",
            hint="run the command again: with other code it is another run",
        )
    return code.attribute(attribute)


def check_task(owner: str, tasks: Sequence[str], task: str) -> None:
    """Raise ConfigError unless a spec serves the task."""
    if not any(is_same_task(task, listed) for listed in tasks):
        raise ConfigError(
            f"{owner} does not do {task}; it does {', '.join(tasks) or 'nothing'}",
            hint=f"pass --task {tasks[0]}, or choose another" if tasks else None,
        )


def require_extra(offer: Offer[Any]) -> None:
    """Raise ConfigError with the install command when the modules of an extra are missing."""
    missing = [name for name in offer.spec.modules if importlib.util.find_spec(name) is None]
    if missing:
        package = f"{offer.distribution}[{offer.spec.extra}]" if offer.spec.extra else missing[0]
        raise ConfigError(
            f"{offer.full_name} needs {', '.join(missing)}, which is not installed",
            hint=f"pip install '{package}'",
        )


def _function_model(
    host: Host, task: Offer[TaskSpec], name: str, adapter: Named | None
) -> ModelPart:
    wanted = adapter.name if adapter else task.spec.adapter
    if wanted is None:
        raise ConfigError(
            f"task {task.full_name} has no adapter for a bare function",
            hint="name one with `adapter`, or write a model plugin",
        )
    prefer = None if adapter else task.distribution
    offer = host.find("adapter", wanted, task=task.spec.name, prefer=prefer)
    part = resolve_part(offer, adapter.options if adapter else {}, field_name="adapter.options")
    place, _, attribute = name.rpartition(":")
    code = import_code(place)
    value = code.attribute(attribute)
    if not callable(value) and not hasattr(value, "predict"):
        raise ConfigError(f"{name} is {kind_of(value)}; a function or model was expected")
    return ModelPart(
        f"{code.source.stem}:{attribute}",
        "function",
        part,
        reference=f"{code.source}:{attribute}" if place.endswith(".py") else name,
        digest=code.digest,
        files=code.files,
    )


def _wrap(value: Any, adapter: Part, runtime: Runtime) -> Any:
    if inspect.isclass(value) and hasattr(value, "predict"):
        return value()
    return (
        value
        if hasattr(value, "predict")
        else adapter.load()(value, adapter.load_options(), runtime)
    )


def describe(model: Model) -> dict[str, str]:
    """What a model says of itself, as text; empty where it says nothing."""
    speak = getattr(model, "describe", None)
    return {str(key): str(value) for key, value in speak().items()} if callable(speak) else {}


def has_memory(model: Model) -> bool:
    """Whether the model carries state from frame to frame: it has `reset()`."""
    return callable(getattr(model, "reset", None))


def predict_checked(model: Model, batch: Sequence[Sample]) -> list[Any]:
    """Predictions of a batch; raises ModelError when their number is not the batch's."""
    predictions = list(model.predict(batch))
    if len(predictions) != len(batch):
        raise ModelError(
            f"predict() returned {len(predictions)} predictions for {len(batch)} samples",
            hint="return one prediction per sample, in order",
        )
    return predictions
