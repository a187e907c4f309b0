"""From finished runs to the plan of a stack: everything checked and named before work starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rpx_core.config import Named, RunConfig
from rpx_core.contracts import Metric, Unit
from rpx_core.datasets import open_dataset
from rpx_core.errors import ConfigError, PluginError
from rpx_core.extras import require_extra
from rpx_core.host import Host
from rpx_core.identity import digest, installed_inputs, run_name
from rpx_core.manifest import Manifest
from rpx_core.measure import build_metric
from rpx_core.names import bare_name
from rpx_core.offers import Offer
from rpx_core.parts import Part, resolve_part
from rpx_core.report import RunRecord
from rpx_core.specs import MetricSpec
from rpx_core.stack.answers import AnswerReader
from rpx_core.stack.join import Joined, describe_undefined, join
from rpx_core.stack.sources import Source, open_source
from rpx_core.stored_text import storable_name

DEFAULT_METRICS: Mapping[str, str] = MappingProxyType(
    {"rpx-1": "rpx-core/sgc-published", "rpx-2": "rpx-core/sgc"}
)
"""What a stack measures under the label `sgc`, by readiness rules."""

SETTINGS = frozenset({"metrics", "readiness", "requires", "data", "execution"})
PARTS_OF_SETTINGS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "data": frozenset({"name", "options"}),
        "execution": frozenset({"max_failed", "previews"}),
    }
)
"""Fields of the configuration that a stack has; all else is that of its runs."""

_OF_EACH_RUN = ("task", "model", "data", "protocol", "align", "seed")


@dataclass(frozen=True)
class Use:
    """One metric of a stack, and the tasks whose answers it gets, in its order."""

    part: Part
    metric: Any
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class StackPlan:
    """One stack run, ready to start."""

    config: RunConfig
    record: RunRecord
    directory: Path
    uses: Mapping[str, Use]
    readers: Mapping[str, AnswerReader]
    sequences: Mapping[str, Sequence[Joined]]
    manifest: Manifest | None

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by label."""
        return {label: use.metric for label, use in self.uses.items()}

    @property
    def samples(self) -> Mapping[str, Sequence[str]]:
        """The ids of the samples, by sequence."""
        return {name: [one.id for one in joined] for name, joined in self.sequences.items()}

    @property
    def primary(self) -> tuple[str, str]:
        """Label and output of the headline number."""
        label, use = next(iter(self.uses.items()))
        return label, next(iter(use.metric.outputs))


def make_stack_plan(config: RunConfig, host: Host, runs: Sequence[Path], output: Path) -> StackPlan:
    """Open the runs and join their samples; raises ConfigError for what the user can correct.

    The order in which runs are named does not matter: each metric says which task it wants where.
    """
    _check_settings(config)
    sources = _by_task([open_source(run, host) for run in runs])
    uses = {
        label: _resolve_use(label, named, host, sources)
        for label, named in _metrics(config).items()
    }
    ordered = _in_order(sources, uses)
    sequences = join(ordered)
    manifest = _open_data(config, host, sequences)
    record = _record(config, uses, ordered, sequences)
    return StackPlan(
        config=config,
        record=record,
        directory=output / record.name,
        uses=uses,
        readers={source.name: AnswerReader(source, manifest) for source in ordered},
        sequences=sequences,
        manifest=manifest,
    )


def _check_settings(config: RunConfig) -> None:
    stray = sorted(config.model_fields_set - SETTINGS)
    for section, fields in PARTS_OF_SETTINGS.items():
        inside = getattr(config, section).model_fields_set
        stray += [f"{section}.{name}" for name in sorted(inside - fields)]
    if stray:
        raise ConfigError(
            f"a stack has no setting {', '.join(stray)}: it takes its runs as they are, and reads "
            "them in one process",
            hint=f"a stack has {', '.join(_settable())}; --shard I/N spreads it over several",
        )


def _settable() -> list[str]:
    """What can be set, as it is written after `--set`."""
    whole = sorted(SETTINGS - PARTS_OF_SETTINGS.keys())
    parts = {f"{section}.{name}" for section, names in PARTS_OF_SETTINGS.items() for name in names}
    return [*whole, *sorted(parts)]


def _by_task(sources: Sequence[Source]) -> dict[str, Source]:
    found: dict[str, Source] = {}
    for source in sources:
        other = found.setdefault(source.name, source)
        if other is not source:
            raise ConfigError(
                f"{other.directory} and {source.directory} are both runs of {source.name}; a "
                "stack takes one run of each task",
                hint="`rpx report A B` shows two runs of one task beside each other",
            )
    return found


def _metrics(config: RunConfig) -> Mapping[str, Named]:
    return config.metrics or {"sgc": Named(name=DEFAULT_METRICS[config.readiness])}


def _resolve_use(label: str, named: Named, host: Host, sources: Mapping[str, Source]) -> Use:
    offer: Offer[MetricSpec] = host.find("metric", named.name)
    wanted = offer.spec.combines
    if not wanted:
        raise ConfigError(
            f"metric {offer.full_name} measures runs of {', '.join(offer.spec.tasks)}, one at a "
            "time; a stack needs metrics that combine several tasks",
            hint=f"such as {', '.join(_stack_metrics(host))}",
        )
    tasks = tuple(task for names in wanted for task in [_only(names, sources)] if task is not None)
    if len(tasks) < len(wanted) or len(sources) > len(tasks):
        expected = " and ".join(f"one of {' or '.join(names)}" for names in wanted)
        raise ConfigError(
            f"metric {offer.full_name} takes runs of {len(wanted)} tasks, {expected}; "
            f"given: {', '.join(sources)}",
            hint="name one run of each",
        )
    require_extra(offer)
    part = resolve_part(offer, named.options, field_name=f"metrics.{label}.options")
    metric = build_metric(part)
    if Unit(metric.unit) is not Unit.STACK:
        raise PluginError(f"metric {offer.full_name} combines tasks, but its unit is {metric.unit}")
    return Use(part, metric, tasks)


def _only(names: Sequence[str], sources: Mapping[str, Source]) -> str | None:
    """The one task among these names that there is a run of."""
    found = [name for name in names if name in sources]
    return found[0] if len(found) == 1 else None


def _stack_metrics(host: Host) -> list[str]:
    return [offer.spec.name for offer in host.offers("metric").values() if offer.spec.combines]


def _in_order(sources: Mapping[str, Source], uses: Mapping[str, Use]) -> list[Source]:
    """The runs as the first metric takes them."""
    tasks = next(iter(uses.values())).tasks
    return [sources[task] for task in tasks]


def _open_data(
    config: RunConfig, host: Host, sequences: Mapping[str, Sequence[Joined]]
) -> Manifest | None:
    if "data" not in config.model_fields_set:
        return None
    manifest = open_dataset(host, config.data)
    known = {entry.id for entry in manifest.entries}
    if not any(one.id in known for frames in sequences.values() for one in frames):
        raise ConfigError(
            f"--data: {manifest.name} has none of the samples of the runs",
            hint="name the data that the runs evaluated",
        )
    return manifest


def _record(
    config: RunConfig,
    uses: Mapping[str, Use],
    sources: Sequence[Source],
    sequences: Mapping[str, Sequence[Joined]],
) -> RunRecord:
    inputs = _inputs(config, uses, sources)
    identity = digest(inputs)
    models = [source.record.model for source in sources]
    data = " + ".join(dict.fromkeys(source.record.data for source in sources))
    slug = run_name("+".join(map(bare_name, models)), "stack", data)
    label, use = next(iter(uses.items()))
    output, meaning = next(iter(use.metric.outputs.items()))
    samples = sum(len(frames) for frames in sequences.values())
    return RunRecord(
        name=f"{slug}-{identity[:8]}",
        identity=identity,
        task="+".join(source.name for source in sources),
        model=storable_name(" + ".join(models)),
        data=storable_name(data),
        primary=f"{label}.{output}@{meaning.headline}",
        dataset_samples=samples,
        selected_samples=samples,
        sequences=len(sequences),
        partial=tuple(reason for source in sources for reason in source.partial),
        warnings=describe_undefined(sequences),
        inputs=inputs,
    )


def _inputs(
    config: RunConfig, uses: Mapping[str, Use], sources: Sequence[Source]
) -> dict[str, Any]:
    """The identities of the runs, what their rows and predictions say, and those of the metrics."""
    parts = [use.part for use in uses.values()]
    owners = {part.name.split("/")[0] for part in parts}
    owners |= {source.offer.distribution for source in sources}
    by_run = {
        key: {source.name: source.record.inputs.get(key) for source in sources}
        for key in _OF_EACH_RUN
    }
    return {
        **by_run,
        "runs": {
            source.name: {
                "identity": source.record.identity,
                "rows": source.digest,
                "predictions": source.predictions_digest,
            }
            for source in sources
        },
        "metrics": {
            label: {**use.part.identity(), "metric": use.metric.version}
            for label, use in uses.items()
        },
        "readiness": config.readiness,
        **installed_inputs(owners),
    }
