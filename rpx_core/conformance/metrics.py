"""The laws of metrics for those that a package offers: on what baselines predict, and the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rpx_core.conformance.bench import Bench, require_modules
from rpx_core.conformance.compare import difference
from rpx_core.conformance.laws import Check, ConformanceError, NotCheckedError, require
from rpx_core.conformance.metric_laws import (
    SPLITTING,
    check_block,
    check_contract,
    check_order,
    check_perfect,
    check_purity,
    check_split,
    check_storage,
    defined,
    evidence_of,
)
from rpx_core.contracts import Answer, Frame, Sample, Unit
from rpx_core.offers import Offer
from rpx_core.specs import MetricSpec


def metric_checks(offer: Offer[MetricSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered metric, on what its tasks read."""
    subject, laws = f"metric {offer.spec.name}", OfferedMetric(offer, bench)
    yield Check(subject, "it can be built, also without its extra", laws.check_built, gate=True)
    yield Check(subject, "it declares what it measures", laws.check_contract, gate=True)
    yield Check(subject, "it measures what its tasks predict", laws.check_measures, gate=True)
    yield Check(subject, "states survive bytes, numbers are finite or null", laws.check_storage)
    yield Check(subject, "folds do not depend on order", laws.check_order)
    yield Check(subject, "folds do not depend on the split", laws.check_split)
    yield Check(subject, "measuring changes nothing", laws.check_purity)
    if not offer.spec.combines:
        yield Check(subject, "the truth as prediction is perfect", laws.check_perfect)
        yield Check(subject, "measure_block equals measure, if there is one", laws.check_block)


class OfferedMetric:
    """One offered metric, built, and what it measures of samples of its tasks."""

    def __init__(self, offer: Offer[MetricSpec], bench: Bench) -> None:
        self._offer = offer
        self._bench = bench
        self._built: Any = None
        self._known: list[Any] | None = None

    def check_built(self) -> None:
        """Raise unless the target is built with its options."""
        self._built = self._bench.resolve(self._offer).build()

    def check_contract(self) -> None:
        """Raise unless the metric and its spec agree on what is measured."""
        check_contract(self._metric)
        stacks = Unit(self._metric.unit) is Unit.STACK
        require(
            stacks == bool(self._offer.spec.combines),
            f"its unit is {self._metric.unit}, its spec `combines` {self._offer.spec.combines}",
            hint="a metric of unit stack combines tasks, and no other does",
        )

    def check_measures(self) -> None:
        """Raise unless something is defined on the data at hand."""
        if not self._states:
            raise NotCheckedError(
                "it is undefined for all evidence of the data at hand",
                hint="name data for which it is defined: --data",
            )

    def check_storage(self) -> None:
        """See check_storage."""
        check_storage(self._metric, self._states)

    def check_order(self) -> None:
        """See check_order: backwards, and rotated."""
        count = len(self._states)
        for order in (range(count)[::-1], [*range(1, count), 0]):
            check_order(self._metric, self._states, list(order))

    def check_split(self) -> None:
        """See check_split, at every place."""
        for cut in range(len(self._states) + 1):
            check_split(self._metric, self._states, cut, lambda output: SPLITTING)

    def check_purity(self) -> None:
        """See check_purity."""
        require_modules(self._offer)
        if self._offer.spec.combines:
            first, second = ([call() for call in self._stacked()] for _ in range(2))
            problem = difference(first, second)
            require(problem is None, f"measured twice, the state {problem}")
            return
        for sequences in self._baselines():
            for frames in sequences:
                check_purity(self._metric, frames)

    def check_perfect(self) -> None:
        """See check_perfect."""
        require_modules(self._offer)
        for task in self._bench.tasks(self._offer):
            frames = self._bench.recording(task).perfect_frames()
            states = defined(call() for call in evidence_of(self._metric, frames))
            check_perfect(self._metric, states)

    def check_block(self) -> None:
        """See check_block."""
        if callable(getattr(self._metric, "measure_block", None)):
            for sequences in self._baselines():
                check_block(self._metric, [frame for frames in sequences for frame in frames])

    @property
    def _metric(self) -> Any:
        if self._built is None:
            self.check_built()
        return self._built

    @property
    def _states(self) -> list[Any]:
        """The states of baselines' predictions; of stacks, those of perfect ones."""
        if self._known is None:
            require_modules(self._offer)
            if self._offer.spec.combines:
                calls = self._stacked()
            else:
                calls = [
                    call
                    for sequences in self._baselines()
                    for call in evidence_of(self._metric, sequences)
                ]
            self._known = defined(call() for call in calls)
        return self._known

    def _baselines(self) -> list[list[list[Frame]]]:
        return [self._bench.baseline_frames(task) for task in self._bench.tasks(self._offer)]

    def _stacked(self) -> list[Callable[[], Any]]:
        """Calls with perfect answers of the first installed task of each that is combined."""
        frames: list[dict[str, Frame]] = []
        tasks = [self._installed(names) for names in self._offer.spec.combines]
        for task in tasks:
            found = self._bench.recording(self._bench.host.find("task", task)).perfect_frames()
            frames.append({one.sample.id: one for sequence in found for one in sequence})
        shared = sorted(set.intersection(*(set(found) for found in frames)))
        return [self._answered(tasks, [found[i] for found in frames]) for i in shared]

    def _answered(self, tasks: Sequence[str], frames: Sequence[Frame]) -> Callable[[], Any]:
        answers = {}
        for task, frame in zip(tasks, frames, strict=True):
            recording = self._bench.recording(self._bench.host.find("task", task))
            boundary = recording.task.boundary(frame.prediction, frame.sample)
            if boundary is None:
                raise ConformanceError(f"task {task} has no boundary(), which stacks need")
            answers[task] = Answer(frame.prediction, boundary)
        sample: Sample = replace(frames[0].sample, rgb=None, ground_truth=None, query=None)
        return lambda: self._metric.measure(sample, answers)

    def _installed(self, names: Sequence[str]) -> str:
        installed = {offer.spec.name for offer in self._bench.host.offers("task").values()}
        for name in names:
            if name in installed:
                return name
        raise NotCheckedError(f"it needs a task that is not installed: {' or '.join(names)}")
