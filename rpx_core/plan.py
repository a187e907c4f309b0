"""From a configuration to a plan: everything checked and named before work starts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpx_core.aggregate import SLICE_KEYS
from rpx_core.arrangement import arrange
from rpx_core.config import RunConfig
from rpx_core.contracts import Metric, Runtime, Task
from rpx_core.datasets import cache_directory, open_dataset, select
from rpx_core.errors import ConfigError, PluginError, count_of, first_few
from rpx_core.files import Files
from rpx_core.host import Host
from rpx_core.identity import digest, run_inputs, run_name
from rpx_core.manifest import Entry, Manifest
from rpx_core.models import ModelPart
from rpx_core.names import is_same_task
from rpx_core.option_files import hidden_paths
from rpx_core.predictions import PredictionFolder, file_stem
from rpx_core.protocols import Protocol
from rpx_core.record_digest import record_digest
from rpx_core.records import natural_key, usual_step
from rpx_core.report import RunRecord
from rpx_core.resolution import Resolved, resolve
from rpx_core.stored_text import storable_name
from rpx_core.worker import Job, Work


@dataclass(frozen=True)
class Plan:
    """One run, ready to start: what to do, what it is called, and how to read its numbers."""

    config: RunConfig
    job: Job
    manifest: Manifest
    sequences: Mapping[str, Sequence[Entry]]
    samples: Mapping[str, Sequence[str]]
    resolved: Resolved

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by label, built."""
        return self.resolved.metrics

    @property
    def record(self) -> RunRecord:
        """What `run.json` says."""
        return self.job.record

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self.job.run_directory

    def check_slices(self, keys: Sequence[str]) -> None:
        """Raise ConfigError for a key to slice by that no record has, before any work is done."""
        wanted = [key.removeprefix("metadata.") for key in keys if key not in SLICE_KEYS]
        known: set[str] = set()
        for work in self.work(list(self.samples)) if wanted else ():
            for record in work.records:
                known.update(record.metadata)
        for key in wanted:
            if key not in known:
                raise ConfigError(
                    f"--by {key}: no sample has it",
                    hint=f"one of {', '.join((*SLICE_KEYS, *sorted(known)))}",
                )

    def work(self, sequences: Sequence[str]) -> Iterator[Work]:
        """The work of these sequences; records are read as they are needed."""
        whole = self.manifest.sequences()
        for name in sequences:
            wanted = set(self.samples[name])
            frames = self.manifest.records(self.sequences[name])
            arranged = arrange(self.resolved.task, frames, self.manifest.files)
            records = tuple(record for record in arranged if record.id in wanted)
            yield Work(name, records, step=usual_step([entry.frame for entry in whole[name]]))


@dataclass(frozen=True)
class _Selection:
    """What of the data is evaluated."""

    manifest: Manifest
    sequences: Mapping[str, Sequence[Entry]]
    samples: Mapping[str, Sequence[str]]
    everything: Sequence[str]
    """Ids of all samples, before a limit."""
    arranged: str | None
    """A digest of the records that the task made of those of the manifest, reading files."""


def make_plan(
    config: RunConfig,
    host: Host,
    output: Path,
    *,
    protocol: Protocol | None = None,
    model: ModelPart | None = None,
) -> Plan:
    """Resolve a configuration against the installed plugins and the data.

    Raises ConfigError for what the user can correct. `model` replaces the one that the
    configuration names: prediction files, or a model that lives in this process.
    """
    resolved = resolve(config, host, protocol=protocol, model=model)
    manifest = open_dataset(host, config.data, resolved.offer)
    _check_served(manifest, resolved.offer.spec.name)
    sequences = select(manifest, config.data)
    ids, arranged = _samples(manifest, sequences, resolved.task)
    _check_assets(manifest, sequences, resolved)
    everything = [identifier for found in ids.values() for identifier in found]
    samples = _limit(ids, config.data.limit)
    selection = _Selection(manifest, sequences, samples, everything, arranged)
    record = _record(config, resolved, selection)
    return Plan(
        config=config,
        # A model may change the working directory.
        job=_job(config, resolved, manifest.files, record, output.absolute() / record.name),
        manifest=manifest,
        sequences={name: sequences[name] for name in samples},
        samples=samples,
        resolved=resolved,
    )


def _check_served(manifest: Manifest, task: str) -> None:
    served = manifest.header.served()
    if not any(is_same_task(task, listed) for listed in served):
        raise ConfigError(
            f"the data set {manifest.name} is for {', '.join(served) or 'no task'}, not for {task}",
            hint="choose other --data, or list the task under `tasks` in its manifest",
        )


def shard(names: Sequence[str], index: int, count: int) -> list[str]:
    """The sequences of shard `index` (from 1) of `count`; names are in natural order."""
    return list(names)[index - 1 :: count]


def _record(config: RunConfig, resolved: Resolved, selection: _Selection) -> RunRecord:
    manifest = selection.manifest
    inputs = run_inputs(config, resolved, manifest)
    if selection.arranged is not None:
        inputs["data"]["arranged"] = selection.arranged
    identity = digest(inputs)
    label, output = resolved.primary
    model, task = resolved.model.name, resolved.offer
    return RunRecord(
        name=f"{run_name(model, task.spec.name, manifest.name)}-{identity[:8]}",
        identity=identity,
        task=task.full_name,
        model=storable_name(model),
        data=storable_name(manifest.name),
        protocol=resolved.protocol.name if resolved.protocol else None,
        primary=f"{label}.{output}@{resolved.metrics[label].outputs[output].headline}",
        dataset_samples=len(selection.everything),
        selected_samples=sum(len(ids) for ids in selection.samples.values()),
        sequences=len(selection.samples),
        partial=manifest.partial,
        warnings=_warnings(config, resolved, selection),
        inputs=inputs,
    )


def _job(
    config: RunConfig, resolved: Resolved, files: Files, record: RunRecord, directory: Path
) -> Job:
    label, output = resolved.primary
    execution, align = config.execution, config.align
    return Job(
        task=resolved.task_part,
        metrics=resolved.metric_parts,
        model=resolved.model,
        files=files,
        runtime=Runtime(
            device=execution.devices[0],
            seed=config.seed,
            cache=cache_directory(),
            task=resolved.offer.spec.name,
        ),
        run_directory=directory,
        record=record,
        primary=resolved.primary,
        lower_is_better=resolved.metrics[label].outputs[output].better == "lower",
        align_method=align.method,
        align_sequence=align.scope == "sequence" and align.method != "none",
        batch_size=execution.batch_size,
        save_predictions=execution.save_predictions,
        previews=execution.previews,
    )


def _samples(
    manifest: Manifest, sequences: Mapping[str, Sequence[Entry]], task: Task[Any, Any]
) -> tuple[dict[str, list[str]], str | None]:
    """Sample ids by sequence, and a digest of the records where the task makes its own.

    Raises PluginError where a task makes one twice.
    """
    if type(task).arrange is Task.arrange:
        return {name: [e.id for e in entries] for name, entries in sequences.items()}, None
    ids: dict[str, list[str]] = {}
    total = hashlib.sha256()
    for name, entries in sequences.items():
        arranged = arrange(task, manifest.records(entries), manifest.files)
        ids[name] = [record.id for record in arranged]
        for record in arranged:
            total.update(record_digest(record, manifest.root))
    _check_ids(ids, manifest, task)
    return ids, f"sha256:{total.hexdigest()}"


def _check_ids(ids: Mapping[str, Sequence[str]], manifest: Manifest, task: Task[Any, Any]) -> None:
    counts = Counter(identifier for found in ids.values() for identifier in found)
    if not counts:
        raise ConfigError(
            f"no samples selected: {manifest.name} has {len(manifest.entries)} records, "
            "but they make no sample of this task",
            hint="a task of pairs needs several frames in a sequence; see `rpx data check`",
        )
    (often, times), *_ = counts.most_common(1)
    if times > 1:
        raise PluginError(f"{type(task).__qualname__}.arrange() gave the id {often!r} twice")


def _limit(ids: Mapping[str, Sequence[str]], limit: int | None) -> dict[str, Sequence[str]]:
    """The first `limit` samples in id order, by sequence; sequences without any are left out."""
    if limit is not None:
        kept = set(sorted((i for found in ids.values() for i in found), key=natural_key)[:limit])
        ids = {name: [i for i in found if i in kept] for name, found in ids.items()}
    return {name: found for name, found in ids.items() if found}


def _check_assets(
    manifest: Manifest, sequences: Mapping[str, Sequence[Entry]], resolved: Resolved
) -> None:
    """Say what no record of the data has, before anything runs."""
    for owner, keys in (
        (f"task {resolved.offer.full_name}", resolved.offer.spec.requires),
        (f"model {resolved.model.name}", resolved.model.needs),
    ):
        missing = set(keys)
        for entries in sequences.values():
            if not missing:
                break
            for record in manifest.records(entries):
                missing -= {key for key in missing if record.has(key)}
        if missing:
            raise ConfigError(
                f"{owner} needs {', '.join(sorted(missing))}, which the records of "
                f"{manifest.name} do not have",
                hint="choose another --model or --data, or add the files to the manifest",
            )


def _extra_files(model: ModelPart, task: Task[Any, Any], selection: _Selection) -> list[str]:
    """A warning of prediction files that belong to no sample: most often of a misspelt id."""
    if model.kind != "files" or model.reference is None:
        return []
    # A split or a limit leaves files over that are in order.
    ids = {*selection.everything, *(entry.id for entry in selection.manifest.entries)}
    stems = {stem for i in ids for stem in (i, file_stem(i))}
    present = PredictionFolder(Path(model.reference), task).present(task)
    extra = sorted((n for stem, n in present.items() if stem not in stems), key=natural_key)
    if not extra:
        return []
    verb = "belongs" if len(extra) == 1 else "belong"
    expected = f"{file_stem(min(ids, key=natural_key))}{task.suffix}"
    return [
        f"{count_of(len(extra), 'prediction file')} {verb} to no sample: {first_few(extra, 3)}; "
        f"a file is named by the id of its sample, such as {expected}"
    ]


def _warnings(config: RunConfig, resolved: Resolved, selection: _Selection) -> tuple[str, ...]:
    warnings = list(selection.manifest.warnings)
    protocol = resolved.protocol
    departures = protocol.departures(config) if protocol else ()
    if protocol is not None and departures:
        warnings.append(f"departs from protocol {protocol.name} in {', '.join(departures)}")
    warnings += _extra_files(resolved.model, resolved.task, selection)
    parts = [resolved.task_part, *resolved.metric_parts.values(), resolved.model.part]
    for part in parts:
        warnings += [
            f"{name} looks like the path of a file, but is declared as text: the path counts in "
            "the identity of the run, the content does not"
            for name in (hidden_paths(part.plain.options, part.name) if part else ())
        ]
    return tuple(warnings)
