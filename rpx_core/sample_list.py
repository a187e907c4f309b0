"""Samples that a program made, as a dataset: no record or file stands behind them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import get_annotations
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from rpx_core.contracts import Sample, Task
from rpx_core.errors import ManifestError
from rpx_core.host import Host
from rpx_core.isolation import Breakdown, attempt
from rpx_core.parts import resolve_part
from rpx_core.records import Record, natural_key, parse_record, usual_step
from rpx_core.sample_fields import check_fields
from rpx_core.samples import Stretch, find_task
from rpx_core.scorer import Span

_PUBLISHED_ID = re.compile(r"(?P<scene>.+)_(?P<phase>clutter|interaction|clean)_\d+")


class SampleList:
    """The samples of a program for one task, each with its query where the task can tell it.

    Raises ManifestError for an unknown task, for two samples of one id, and for a sample whose
    ground truth is not the task's.
    """

    def __init__(self, samples: Sequence[Sample], host: Host, task: str, root: Path) -> None:
        self.root = root
        self.offer = find_task(host, task, wanted_by="samples")
        built: Task[Any, Any] = resolve_part(self.offer, {}, field_name="task").build()
        for sample in samples:
            check_fields(sample)
            problem = truth_problem(built, sample)
            if problem:
                raise ManifestError(f"sample {sample.id}: {problem}")
        self._samples = [built.complete(sample) for sample in samples]
        self._records = [describe_sample(sample) for sample in self._samples]
        _check_ids(self._records)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Nothing: what a program makes is not read from anywhere."""
        return ()

    def samples(self) -> Iterator[Sample]:
        """The samples in the order given."""
        return iter(self._samples)

    def count_samples(self) -> int:
        """How many samples there are."""
        return len(self._samples)

    def stretches(self) -> Iterator[Stretch]:
        """The samples by sequence, both in natural order, as those of a manifest."""
        groups: dict[str, list[tuple[Record, Sample]]] = {}
        for record, sample in zip(self._records, self._samples, strict=True):
            groups.setdefault(record.sequence, []).append((record, sample))
        for name, frames in sorted(groups.items(), key=lambda item: natural_key(item[0])):
            frames.sort(key=lambda frame: (frame[0].frame, natural_key(frame[0].id)))
            records = [record for record, _ in frames]
            step = usual_step([record.frame for record in records])
            yield Stretch(Span(name, records, step), iter([sample for _, sample in frames]))


def describe_sample(sample: Sample) -> Record:
    """What a manifest would say of a sample: its place in the data, no assets.

    A sample without a scene takes it from an id of the published form, `{scene}_{phase}_{frame}`.
    Sequence and frame have the defaults of records.
    """
    raw = {
        "id": sample.id,
        "scene": sample.scene if sample.scene is not None else _scene_of(sample),
        "phase": sample.phase,
        "difficulty": sample.difficulty,
        "sequence": sample.sequence,
        "frame": sample.frame,
        "metadata": dict(sample.metadata or {}),
    }
    return parse_record(raw, where=f"sample {sample.id}", defaults={}, known=())


def truth_problem(task: Task[Any, Any], sample: Sample) -> str | None:
    """Why a sample's ground truth is none of the task's; None where it is one."""
    truth, expected = sample.ground_truth, _truth_type(type(task))
    if expected is None:
        return None
    if not isinstance(truth, expected):
        found = "missing" if truth is None else f"a {type(truth).__name__}"
        return f"its ground truth is {found}; a {expected.__name__} was expected"
    for name in _array_fields(expected):
        value = getattr(truth, name)
        if value is not None and not isinstance(value, np.ndarray):
            kind = type(value).__name__
            return f"`{name}` of its ground truth is a {kind}; a numpy array was expected"
    return None


def _truth_type(kind: type) -> type | None:
    """The class of ground truth that a task class declares: the first argument of `Task[...]`."""
    for base in kind.__mro__:
        for declared in vars(base).get("__orig_bases__", ()):
            arguments = get_args(declared)
            if get_origin(declared) is Task and isinstance(arguments[0], type):
                return arguments[0]
    return None


@cache
def _array_fields(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that hold an array, if they hold anything.

    An annotation that cannot be evaluated, for a name that only type checkers import, says nothing.
    """
    if not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind) if _is_array(_hint(kind, field.name)))


def _hint(kind: type, name: str) -> Any:
    owner = next(base for base in kind.__mro__ if name in get_annotations(base))
    # Alone: one that fails would hide those of the other fields.
    alone = SimpleNamespace(__annotations__={name: get_annotations(owner)[name]})
    names, own = vars(sys.modules[owner.__module__]), dict(vars(owner))
    found = attempt(f"annotation of {name}", lambda: get_type_hints(alone, names, own)[name])
    return None if isinstance(found, Breakdown) else found


def _is_array(hint: Any) -> bool:
    parts = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    kinds = {get_origin(part) or part for part in parts} - {NoneType}
    return kinds == {np.ndarray}


def _scene_of(sample: Sample) -> str | None:
    match = _PUBLISHED_ID.fullmatch(sample.id)
    return match["scene"] if match and match["phase"] == sample.phase else None


def _check_ids(records: Sequence[Record]) -> None:
    counts = Counter(record.id for record in records)
    for identifier, count in counts.most_common(1):
        if count > 1:
            raise ManifestError(
                f"sample {identifier}: {count} samples have this id", hint="ids must be unique"
            )
