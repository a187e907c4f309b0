"""Laws of adapters: a function becomes a model that gives it the image and never the truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rpx_core.conformance.bench import Bench, Recording
from rpx_core.conformance.compare import arrays_of, fingerprint
from rpx_core.conformance.laws import Check, ConformanceError, require
from rpx_core.conformance.models import watch
from rpx_core.contracts import Model
from rpx_core.errors import AdapterError, ModelError, RPXError
from rpx_core.isolation import Breakdown, attempt
from rpx_core.names import bare_name
from rpx_core.offers import Offer
from rpx_core.specs import AdapterSpec


class _Stop(Exception):
    """Raised by the function once it has been called: what it would answer only a task knows."""


class Probe:
    """A function that keeps what it was called with, scribbles on it, and answers nothing."""

    __name__ = "probe"

    def __init__(self) -> None:
        self.arguments: list[Any] = []

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Keep and spoil the arguments, then stop."""
        self.arguments = [*arguments, *named.values()]
        for array in arrays_of(self.arguments):
            if array.flags.writeable:
                array.fill(0)
        raise _Stop


class OfferedAdapter:
    """One offered adapter around functions of the checks."""

    def __init__(self, offer: Offer[AdapterSpec], bench: Bench) -> None:
        self._offer = offer
        self._bench = bench

    def check_model(self) -> None:
        """Raise unless wrapping gives a model of one of its tasks."""
        for recording in self._recordings():
            model = self._wrap(Probe(), recording)
            require(callable(getattr(model, "predict", None)), "what it returns has no predict()")
            task = getattr(model, "task", None)
            names = [bare_name(name) for name in self._offer.spec.tasks]
            require(task in names, f"its model's task is {task!r}, not {recording.offer.spec.name}")

    def check_calls(self) -> None:
        """Raise unless the function is called, without the truth, and may spoil what it gets."""
        for recording in self._recordings():
            sample = recording.samples[0]
            before, watched, probe = fingerprint(sample), watch(sample), Probe()
            model = self._wrap(probe, recording)
            model.setup()
            attempt("predict()", lambda: model.predict([watched]))  # noqa: B023  # called at once
            require(probe.arguments, "predict() did not call the function")
            require(not watched.asked, "the adapter reads the ground truth")
            require(
                fingerprint(sample) == before,
                "what the function scribbles on reaches the sample",
                hint="give it copies: rpx_core.adapters.image_copy",
            )
            self._check_arguments(probe, recording)

    def check_nonsense(self) -> None:
        """Raise unless a meaningless answer is refused in words that name the sample."""
        for recording in self._recordings():
            sample = recording.samples[0]
            model = self._wrap(lambda *arguments, **named: object(), recording)
            model.setup()
            done = attempt("predict()", lambda: self._answer(model, recording))  # noqa: B023  # called at once
            require(isinstance(done, Breakdown), "an answer that is just an object() is accepted")
            if not isinstance(done, Breakdown) or not isinstance(done.error, RPXError):
                raise ConformanceError(
                    f"an answer that is just an object() ends in {getattr(done, 'problem', done)}",
                    hint="raise AdapterError that says what was expected",
                )
            require(
                isinstance(done.error, AdapterError | ModelError) and sample.id in str(done.error),
                f"the error for a meaningless answer does not name the sample: {done.problem}",
            )

    def _answer(self, model: Model, recording: Recording) -> None:
        sample = recording.samples[0]
        (answer,) = model.predict([watch(sample)])
        recording.task.validate(answer, sample)

    def _check_arguments(self, probe: Probe, recording: Recording) -> None:
        truths = [array for sample in recording.samples for array in arrays_of(sample.ground_truth)]
        for given in arrays_of(probe.arguments):
            shared = any(np.shares_memory(given, truth) for truth in truths)
            require(not shared, "the function is given the memory of the ground truth")

    def _wrap(self, function: Any, recording: Recording) -> Model:
        part = self._bench.resolve(self._offer)
        runtime = self._bench.runtime(recording)
        model: Model = part.load()(function, part.load_options(), runtime)
        return model

    def _recordings(self) -> list[Recording]:
        return [self._bench.recording(task) for task in self._bench.tasks(self._offer)]


def adapter_checks(offer: Offer[AdapterSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered adapter."""
    subject, laws = f"adapter {offer.spec.name}", OfferedAdapter(offer, bench)
    yield Check(subject, "it makes a model of a function", laws.check_model, gate=True)
    yield Check(subject, "the function gets copies, never the truth", laws.check_calls)
    yield Check(subject, "a meaningless answer is refused clearly", laws.check_nonsense)
