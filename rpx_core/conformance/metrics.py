"""Laws of metrics: states fold to the same numbers in any order, split and place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

from rpx_core.conformance.bench import Bench, require_modules
from rpx_core.conformance.compare import Tolerance, difference, fingerprint
from rpx_core.conformance.laws import Check, ConformanceError, NotCheckedError, require
from rpx_core.contracts import Aggregate, Answer, Frame, Output, Sample, Undefined, Unit
from rpx_core.measure import evaluate
from rpx_core.offers import Offer
from rpx_core.specs import MetricSpec
from rpx_core.state import decode_state, encode_state, fold, state_fields

ROUNDING = 1e-12
PERFECT = 1e-4
"""Angles near zero come from the arc cosine, which loses half of the digits."""

_OUTPUT = re.compile(r"[a-z][a-z0-9_]*")
_LABEL = "metric"

Evidence = Sequence[Callable[[], Any]]
"""What calls `measure`, once for each unit of evidence."""


def evidence_of(metric: Any, sequences: Iterable[Sequence[Frame]]) -> list[Callable[[], Any]]:
    """How a run calls a metric on recordings: on frames, on adjacent pairs, or on the whole."""
    calls: list[Callable[[], Any]] = []
    for frames in sequences:
        calls += _calls(metric, list(frames))
    return calls


def measure_all(metric: Any, frames: Sequence[Frame]) -> list[Any]:
    """The states of one recording, without what is undefined."""
    return defined(call() for call in evidence_of(metric, [frames]))


def defined(measured: Iterable[Any]) -> list[Any]:
    """What was measured, without what is undefined."""
    return [state for state in measured if state is not None and not isinstance(state, Undefined)]


def check_contract(metric: Any) -> None:
    """A metric says what it measures, in which unit, and how to read each output."""
    version = getattr(metric, "version", None)
    require(isinstance(version, str) and version, "`version` must be a text such as '1'")
    require(metric.unit in list(Unit), f"`unit` is {metric.unit!r}; units are {', '.join(Unit)}")
    state_fields(metric.State)
    require(len(metric.outputs) > 0, "`outputs` is empty")
    for name, output in metric.outputs.items():
        _check_output(name, output)


def check_storage(metric: Any, states: Iterable[Any]) -> None:
    """A state has the same numbers after a trip through bytes, all within their declared range."""
    for state in states:
        # Raises for NaN, for an infinite value that is not declared, and for missing outputs.
        values, infinite = evaluate(metric, _LABEL, state)
        stored = decode_state(metric.State, encode_state(state))
        require(
            evaluate(metric, _LABEL, stored) == (values, infinite),
            f"the numbers of a stored state are {dict(metric.result(stored))}, before {values}",
        )
        _check_range(metric.outputs, values)


def check_order(metric: Any, states: Sequence[Any], order: Sequence[int]) -> None:
    """A fold has the same numbers, to the bit, in any order of its states."""
    if not states:
        return
    flat = evaluate(metric, _LABEL, fold(states))
    moved = evaluate(metric, _LABEL, fold([states[place] for place in order]))
    problem = difference(flat, moved)
    require(problem is None, f"the fold depends on the order of its states: {problem}")


def check_split(
    metric: Any,
    states: Sequence[Any],
    cut: int,
    tolerance: Callable[[str], float] = lambda output: ROUNDING,
) -> None:
    """A fold of folds has the numbers of the flat fold; `tolerance` of each output is stated."""
    if not states:
        return
    parts = [part for part in (fold(states[:cut]), fold(states[cut:])) if part is not None]
    flat, _ = evaluate(metric, _LABEL, fold(states))
    nested, _ = evaluate(metric, _LABEL, fold(parts))
    for name, value in flat.items():
        limit = tolerance(name)
        problem = difference(value, nested[name], Tolerance(limit, limit))
        require(problem is None, f"{name} of a fold of folds {problem}")


def check_purity(metric: Any, frames: Sequence[Frame]) -> None:
    """Measuring changes no input and remembers nothing: twice the same gives equal states."""
    before = fingerprint(list(frames))
    calls = evidence_of(metric, [frames])
    first, second = [call() for call in calls], [call() for call in calls]
    require(fingerprint(list(frames)) == before, "measure() changes what it is given")
    problem = difference(first, second)
    require(problem is None, f"measured twice, the state {problem}")


def check_perfect(metric: Any, states: Sequence[Any], tolerance: float = PERFECT) -> None:
    """The numbers of perfect predictions are the declared best, or undefined."""
    for state in [*states, *([fold(states)] if states else [])]:
        values, infinite = evaluate(metric, _LABEL, state)
        for name, output in metric.outputs.items():
            value = values[name]
            if name in infinite or value is None or output.best is None or not output.attained:
                continue
            require(
                math.isclose(value, output.best, rel_tol=tolerance, abs_tol=tolerance),
                f"{name} is {value:g} where the truth itself is the prediction; its best is "
                f"{output.best:g}",
                hint="declare what the truth reaches, or Output(attained=False) where nothing can",
            )


def check_block(metric: Any, frames: Sequence[Frame]) -> None:
    """`measure_block` has the numbers of the fold of the single states."""
    states = measure_all(metric, frames)
    block = metric.measure_block(list(frames))
    require((block is None) == (not states), "measure_block() is undefined where measure() is not")
    if block is not None:
        one, other = evaluate(metric, _LABEL, block), evaluate(metric, _LABEL, fold(states))
        problem = difference(one, other, Tolerance(ROUNDING, ROUNDING))
        require(problem is None, f"measure_block() disagrees with measure(): {problem}")


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
        require_modules(self._offer)
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
        """See check_split, at every place. Roots of small differences lose half of the digits."""
        for cut in range(len(self._states) + 1):
            check_split(self._metric, self._states, cut, lambda output: 1e-9)

    def check_purity(self) -> None:
        """See check_purity."""
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


def _calls(metric: Any, frames: list[Frame]) -> list[Callable[[], Any]]:
    if Unit(metric.unit) is Unit.PAIR:
        return [lambda pair=pair: metric.measure(*pair) for pair in pairwise(frames)]  # type: ignore[misc]  # bound now
    if Unit(metric.unit) is Unit.SEQUENCE:
        plain = [frame._replace(sample=replace(frame.sample, rgb=None)) for frame in frames]
        return [lambda: metric.measure(plain)]
    return [lambda frame=frame: metric.measure(*frame) for frame in frames]  # type: ignore[misc]  # bound now


def _check_output(name: str, output: Output) -> None:
    where = f"output {name}"
    require(_OUTPUT.fullmatch(name), f"{where}: names are lower_snake_case")
    require(output.better in ("higher", "lower", None), f"{where}: better is {output.better!r}")
    for aggregate in output.aggregates:
        known = get_args(Aggregate)
        require(aggregate in known, f"{where}: {aggregate!r} is none of {', '.join(known)}")
    require(output.headline in output.aggregates, f"{where}: its headline is no aggregate of it")
    if None not in (output.better, output.best, output.worst):
        rises = float(output.best or 0) > float(output.worst or 0)
        require(
            rises == (output.better == "higher"),
            f"{where}: {output.better} is better, but best is {output.best} and worst "
            f"{output.worst}",
        )


def _check_range(outputs: Mapping[str, Output], values: Mapping[str, float | None]) -> None:
    for name, output in outputs.items():
        ends = [end for end in (output.best, output.worst) if end is not None]
        value = values[name]
        if len(ends) < 2 or value is None or not all(map(math.isfinite, ends)):
            continue
        require(
            min(ends) - ROUNDING <= value <= max(ends) + ROUNDING,
            f"{name} is {value}, outside its declared range from {min(ends)} to {max(ends)}",
        )
