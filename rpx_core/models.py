"""Where models come from: a registered name, a Python function, prediction files, an object."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rpx_core.contracts import Model, Runtime, Task
from rpx_core.errors import ConfigError, ModelError, kind_of
from rpx_core.extras import require_extra
from rpx_core.files import expand_home
from rpx_core.host import Host, Offer
from rpx_core.identity import digest_of
from rpx_core.isolation import call_plugin, load_target
from rpx_core.names import is_same_task
from rpx_core.parts import Part, resolve_part
from rpx_core.predictions import PredictionFolder
from rpx_core.shorthand import split_shorthand, with_argument
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
    process alone, see `object_model`.
    """

    name: str
    kind: Literal["registered", "function", "files", "object"]
    part: Part | None = None
    reference: str | None = None
    digest: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    value: Model | None = field(default=None, compare=False)
    uses_torch: bool = False

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
    given = named.name if named else task.spec.baseline
    options = named.options if named else {}
    name, text = split_shorthand(host, "model", given)
    if is_reference(name):
        if options:
            raise ConfigError(
                f"model.options: {name} is a Python function and has no options",
                hint="leave them out; a model with options is a plugin: `rpx new model NAME`",
            )
        return _function_model(host, task, name, adapter)
    prefer = None if named else task.distribution
    offer: Offer[ModelSpec] = host.find("model", name, task=task.spec.name, prefer=prefer)
    spec = offer.spec
    require_available(offer)
    check_task(offer.full_name, spec.tasks, task.spec.name)
    require_extra(offer)
    options = with_argument(spec, options, text, field_name="model.options")
    return ModelPart(
        _shown_name(offer, options),
        "registered",
        resolve_part(offer, options, field_name="model.options"),
        needs=spec.needs,
        uses_torch="torch" in spec.modules,
    )


def require_available(offer: Offer[ModelSpec]) -> None:
    """Raise ConfigError for a model that is only announced."""
    if offer.spec.unavailable is not None:
        raise ConfigError(
            f"model {offer.full_name} is not available: {offer.spec.unavailable}",
            hint="`rpx list models` shows those that are",
        )


def tasks_of_model(host: Host, named: Named) -> dict[str, tuple[str, ...] | None]:
    """What a registered model can do with its options, by the full name of each that it may mean.

    Plugins may offer models of one name: `hf` is one for depth and one for detection. None where
    the options decide, but nothing on this machine tells what. Raises ConfigError for a name that
    nobody offers.
    """
    name, text = split_shorthand(host, "model", named.name)
    meant = [offer for offer in host.offers("model").values() if offer.spec.name == name]
    return {
        offer.full_name: _tasks_with_options(offer, named, text)
        for offer in meant or [host.find("model", name)]
    }


def could_do(host: Host, known: Mapping[str, tuple[str, ...] | None]) -> dict[str, tuple[str, ...]]:
    """The same as `tasks_of_model`, with all tasks of a model where nothing tells which."""
    return {
        name: host.find("model", name).spec.tasks if tasks is None else tasks
        for name, tasks in known.items()
    }


def _tasks_with_options(
    offer: Offer[ModelSpec], named: Named, text: str | None
) -> tuple[str, ...] | None:
    spec = offer.spec
    if spec.does is None:
        return spec.tasks
    ask = load_target(spec.does, wanted_by=offer.full_name)
    options = with_argument(spec, named.options, text, field_name="model.options")
    does: tuple[str, ...] | None = call_plugin(
        f"{spec.does} of {offer.full_name}", lambda: ask(options)
    )
    return does if does is None else tuple(task for task in spec.tasks if task in does)


def _shown_name(offer: Offer[ModelSpec], options: Mapping[str, Any]) -> str:
    """The full name and, where an argument tells models of that name apart, the argument.

    Of a folder only its name is shown.
    """
    value = options.get(offer.spec.argument) if offer.spec.argument else None
    if not isinstance(value, str | Path):
        return offer.full_name
    folder = expand_home(value)
    return f"{offer.full_name}:{folder.resolve().name if folder.is_dir() else value}"


def is_reference(name: str) -> bool:
    """Whether a model name means a Python attribute, `module:attribute` or `file.py:attribute`.

    `NAME:TEXT` of a registered model looks the same: it must be split off first.
    """
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
            return build_registered(model.name, model.part, runtime)
        case _:
            raise ModelError(f"model {model.name}: nothing says how to build it")
    return _checked(model.name, built)


def build_registered(name: str, part: Part, runtime: Runtime) -> Model:
    """The model that a plugin offers, likewise; its options' files must be as they were planned."""
    part.check_files()
    return _checked(name, part.call(runtime))


def _checked(name: str, built: Any) -> Model:
    if not callable(getattr(built, "predict", None)):
        raise ModelError(
            f"model {name}: what was built is {kind_of(built)} without predict()",
            hint="its target must return a model: see rpx_core.contracts.Model",
        )
    return built  # type: ignore[no-any-return]  # checked above


def files_model(directory: Path) -> ModelPart:
    """The model that answers from prediction files; its identity is their content."""
    if not directory.is_dir():
        raise ConfigError(
            f"{directory}: no such folder of predictions",
            hint="check --predictions: a folder of files that a run saved, or of results",
        )
    files = PredictionFolder(directory, None).digests()
    return ModelPart(
        directory.name or "predictions",
        "files",
        reference=str(directory.resolve()),
        digest=digest_of(files),
        files=files,
    )


def object_model(value: Model, name: str, version: str | None = None) -> ModelPart:
    """The model that lives in this process alone.

    Nothing tells what it will answer: its source does not say which weights it holds, what its
    functions close over, or what has been done to it since. So each part that is made here is
    another model, whose run is its own; with a `version`, parts of one name and version are one,
    on the word of the caller.
    """
    digest = f"once:{secrets.token_hex(16)}" if version is None else f"version:{version}"
    return ModelPart(name, "object", digest=digest, value=value)


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
        raise ConfigError(
            f"{name} is {kind_of(value)}; a function or model was expected",
            hint="name one of these behind the colon, as in FILE.py:NAME",
        )
    return ModelPart(
        f"{code.source.stem}:{attribute}",
        "function",
        part,
        reference=f"{code.source}:{attribute}" if place.endswith(".py") else name,
        digest=code.digest,
        files=code.files,
    )


def _wrap(value: Any, adapter: Part, runtime: Runtime) -> Any:
    if inspect.isclass(value):
        # A class stands for what it makes without arguments: a model, or something to call.
        value = value()
    return (
        value
        if hasattr(value, "predict")
        else adapter.load()(value, adapter.load_options(), runtime)
    )
