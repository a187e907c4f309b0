"""What checks share: data that is at hand, samples of each task, and parts built of specs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rpx_core.config import Data, Named
from rpx_core.conformance.laws import MissingExtraError, NotCheckedError
from rpx_core.contracts import Frame, Model, Runtime, Sample, Task
from rpx_core.datasets import cache_directory, open_dataset
from rpx_core.demo.datasets import open_demo_scene
from rpx_core.errors import RPXError
from rpx_core.extras import install_command, missing_modules
from rpx_core.host import Host
from rpx_core.manifest import Manifest
from rpx_core.models import ModelPart, build_model, tasks_of_model
from rpx_core.names import is_same_task
from rpx_core.offers import Offer
from rpx_core.parts import Part, load_options_class, resolve_part
from rpx_core.records import Record
from rpx_core.specs import DatasetSpec, ModelSpec, TaskSpec

FRAMES = 3
"""Of each sequence that checks look at; there are two."""
SEQUENCES = 2


@dataclass(frozen=True)
class Settings:
    """What the caller gives beside the package: data to check on, and options of specs by name."""

    data: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Recording:
    """What one task reads of a few frames: samples with their truth, sequence by sequence."""

    offer: Offer[TaskSpec]
    task: Task[Any, Any]
    data: str
    sequences: tuple[tuple[Sample, ...], ...]

    @property
    def samples(self) -> list[Sample]:
        """All samples, in order."""
        return [sample for samples in self.sequences for sample in samples]

    def perfect(self, sample: Sample) -> Any:
        """The validated prediction that the truth itself would be."""
        answer = self.task.perfect_prediction(sample)
        if answer is None:
            raise NotCheckedError(
                f"task {self.offer.full_name} has no perfect_prediction()",
                hint="return from it what a model that knew the ground truth would answer",
            )
        return self.task.validate(answer, sample)

    def perfect_frames(self) -> list[list[Frame]]:
        """The frames that metrics see where the truth itself is the prediction."""
        return [self.align([self._frame(one) for one in samples]) for samples in self.sequences]

    def align(self, frames: Sequence[Frame]) -> list[Frame]:
        """Frames as a run without alignment gives them to metrics."""
        aligned = [self.task.align("none", [frame])[0] for frame in frames]
        return [
            frame._replace(prediction=one.prediction)
            for frame, one in zip(frames, aligned, strict=True)
            if one is not None
        ]

    def answer(self, model: Model) -> list[list[Frame]]:
        """The frames that metrics see of a model's predictions, one sample at a time."""
        from rpx_core.conformance.models import forget, predict_each

        found = []
        for samples in self.sequences:
            forget(model)
            answers = predict_each(model, samples)
            frames = [
                Frame(one, one.ground_truth, self.task.validate(answer, one))
                for one, answer in zip(samples, answers, strict=True)
            ]
            found.append(self.align(frames))
        return found

    def _frame(self, sample: Sample) -> Frame:
        return Frame(sample, sample.ground_truth, self.perfect(sample))


class Bench:
    """Finds data and builds parts; what is costly is made once, when a check first needs it."""

    def __init__(self, host: Host, settings: Settings = Settings()) -> None:
        self.host = host
        self.settings = settings
        self._recordings: dict[tuple[str, frozenset[str]], Recording] = {}
        self._baselines: dict[str, list[list[Frame]]] = {}

    def runtime(self, recording: Recording) -> Runtime:
        """What a model is told: it runs on the CPU, from one seed, for the task of a recording."""
        task = recording.offer.spec.name
        return Runtime(device="cpu", seed=0, cache=cache_directory(), task=task)

    def resolve(self, offer: Offer[Any]) -> Part:
        """The part of a spec with the options given for it.

        Raises NotCheckedError where it has options that must be given and were not.
        """
        given = self.settings.options.get(offer.spec.name, {})
        target = getattr(offer.spec, "options", None)
        if target is not None:
            fields = load_options_class(target, offer.full_name).model_fields
            missing = [
                name for name, one in fields.items() if one.is_required() and name not in given
            ]
            if missing:
                raise NotCheckedError(
                    f"{offer.spec.name} must be given {', '.join(missing)}",
                    hint=f"--set {offer.spec.name}.{missing[0]}=VALUE, or say why it cannot be "
                    f"checked with --skip {offer.spec.name}=REASON",
                )
        return resolve_part(offer, given, field_name=f"{offer.spec.name}.options")

    def has_options(self, offer: Offer[Any]) -> bool:
        """Whether the caller gives options for a spec."""
        return bool(self.settings.options.get(offer.spec.name))

    def tasks(self, offer: Offer[Any]) -> list[Offer[TaskSpec]]:
        """The installed tasks that a spec is for; raises NotCheckedError when there is none."""
        installed = self.host.offers("task").values()
        wanted: tuple[str, ...] = offer.spec.tasks
        found = [
            one for one in installed if any(is_same_task(one.full_name, name) for name in wanted)
        ]
        if not found:
            raise NotCheckedError(
                f"none of its tasks is installed: {', '.join(wanted) or 'it names none'}",
                hint="install the plugin of the task beside this one",
            )
        return found

    def tasks_of_model(self, offer: Offer[ModelSpec]) -> list[Offer[TaskSpec]]:
        """The installed tasks that a model can do with the options given for it."""
        given = dict(self.settings.options.get(offer.spec.name, {}))
        named = Named(name=offer.full_name, options=given)
        does = tasks_of_model(self.host, named)[offer.full_name]
        found = self.tasks(offer)
        return found if does is None else [task for task in found if task.spec.name in does]

    def recording(self, task: Offer[TaskSpec], needs: Sequence[str] = ()) -> Recording:
        """Samples of a task whose records have all that is needed.

        Raises NotCheckedError when no data at hand has that.
        """
        key = task.full_name, frozenset(needs)
        if key not in self._recordings:
            self._recordings[key] = self._record(task, {*task.spec.requires, *needs})
        return self._recordings[key]

    def model(self, offer: Offer[ModelSpec], recording: Recording) -> Model:
        """A model that is ready to predict the samples of a recording."""
        require_modules(offer)
        part = self.resolve(offer)
        named = ModelPart(offer.full_name, "registered", part)
        built = build_model(named, recording.task, self.runtime(recording))
        built.setup()
        return built

    def baseline_frames(self, task: Offer[TaskSpec]) -> list[list[Frame]]:
        """The frames that metrics see of a task's baseline."""
        if task.full_name not in self._baselines:
            recording = self.recording(task)
            offer = self.host.find(
                "model", task.spec.baseline, task=task.spec.name, prefer=task.distribution
            )
            needed = self.recording(task, offer.spec.needs)
            frames = needed.answer(self.model(offer, recording))
            self._baselines[task.full_name] = frames
        return self._baselines[task.full_name]

    @contextmanager
    def fresh_cache(self) -> Iterator[Path]:
        """An empty cache, for a dataset that is to be opened anew."""
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)

    @cached_property
    def _demo(self) -> Manifest:
        return open_demo_scene(cache_directory())

    def _record(self, task: Offer[TaskSpec], keys: set[str]) -> Recording:
        built: Task[Any, Any] = self.resolve(task).build()
        tried = []
        for manifest in self._manifests(task):
            sequences = _arranged(manifest, built, keys)
            tried.append(manifest.name)
            if sequences:
                loaded = tuple(
                    tuple(built.load(record, manifest.files) for record in records)
                    for records in sequences
                )
                return Recording(task, built, manifest.name, loaded)
        raise NotCheckedError(
            f"no data at hand has samples of {task.spec.name}"
            + (f" with {', '.join(sorted(keys))}" if keys else "")
            + f"; looked at {', '.join(tried)}",
            hint="name a manifest or dataset that has: --data",
        )

    def _manifests(self, task: Offer[TaskSpec]) -> Iterator[Manifest]:
        """The data given, the demo, then what plugins offer for the task without being asked."""
        for name in self.settings.data:
            yield open_dataset(self.host, Data(name=name))
        if not self.settings.data:
            yield self._demo
        for offer in self.host.offers("dataset").values():
            own = offer.distribution == task.distribution or offer.spec.name == "motorcycle"
            if own and self._opens_alone(offer, task):
                yield open_dataset(self.host, Data(name=offer.full_name))

    def _opens_alone(self, offer: Offer[DatasetSpec], task: Offer[TaskSpec]) -> bool:
        spec = offer.spec
        if missing_modules(offer) or spec.layout:
            return False
        if not any(is_same_task(task.full_name, name) for name in spec.tasks):
            return False
        try:
            self.resolve(offer)
        except RPXError:
            return False
        return True


def require_modules(offer: Offer[Any]) -> None:
    """Raise MissingExtraError where a spec's extra is not installed."""
    missing = missing_modules(offer)
    if missing:
        raise MissingExtraError(
            f"{', '.join(missing)} is not installed",
            hint=f"{install_command(offer)}, or accept that with --allow-missing-extras",
        )


def _arranged(manifest: Manifest, task: Task[Any, Any], keys: set[str]) -> list[Sequence[Record]]:
    """The first samples' records of a few sequences, where their frames have these keys."""
    found: list[Sequence[Record]] = []
    for entries in manifest.sequences().values():
        frames = manifest.records(entries)
        if all(record.has(key) for record in frames for key in keys):
            records = list(task.arrange(frames, manifest.files))[:FRAMES]
            found += [records] if records else []
        if len(found) == SEQUENCES:
            break
    return found
