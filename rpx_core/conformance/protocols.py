"""Laws of protocols: each is a configuration of things that are there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rpx_core.config import RunConfig, build_config
from rpx_core.conformance.bench import Bench
from rpx_core.conformance.laws import Check, require
from rpx_core.names import is_same_task
from rpx_core.offers import Offer
from rpx_core.parts import resolve_part
from rpx_core.protocols import Protocol, load_protocol
from rpx_core.specs import ProtocolSpec, TaskSpec


class OfferedProtocol:
    """One offered protocol."""

    def __init__(self, offer: Offer[ProtocolSpec], bench: Bench) -> None:
        self._offer = offer
        self._bench = bench

    def check_read(self) -> None:
        """Raise unless its file is a protocol for the tasks of its spec."""
        task = self._protocol.task
        named = self._offer.spec.tasks
        require(
            any(is_same_task(task, name) for name in named),
            f"its file is for {task}, its spec for {', '.join(named) or 'no task'}",
        )

    def check_options(self) -> None:
        """Raise unless the task is installed and takes the options and the alignment."""
        config, task = self._config, self._task
        resolve_part(task, config.options, field_name="options").build()
        known = task.spec.alignments
        method = config.align.method
        require(method in known, f"align: {method!r} is none of {', '.join(known)}")

    def check_metrics(self) -> None:
        """Raise unless it names its metrics, and each is there and takes its options."""
        metrics = self._config.metrics
        require(
            metrics,
            "it names no metrics",
            hint="name them, so that a later default does not change what it computes",
        )
        for label, named in (metrics or {}).items():
            offer = self._bench.host.find(
                "metric", named.name, task=self._task.spec.name, prefer=self._offer.distribution
            )
            resolve_part(offer, named.options, field_name=f"metrics.{label}.options").build()

    def check_departures(self) -> None:
        """Raise unless a run by the protocol departs from it in nothing."""
        departures = self._protocol.departures(self._config)
        require(not departures, f"a run by it departs from it in {', '.join(departures)}")

    @cached_property
    def _protocol(self) -> Protocol:
        return load_protocol(self._offer)

    @cached_property
    def _config(self) -> RunConfig:
        layer = {"task": self._protocol.task, **self._protocol.layer}
        return build_config(layer, source=f"protocol {self._offer.spec.name}")

    @cached_property
    def _task(self) -> Offer[TaskSpec]:
        return self._bench.tasks(self._offer)[0]


def protocol_checks(offer: Offer[ProtocolSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered protocol."""
    subject, laws = f"protocol {offer.spec.name}", OfferedProtocol(offer, bench)
    yield Check(subject, "its file is a protocol of its task", laws.check_read, gate=True)
    yield Check(subject, "its task takes its options", laws.check_options)
    yield Check(subject, "it names metrics that are there", laws.check_metrics)
    yield Check(subject, "a run by it departs in nothing", laws.check_departures)
