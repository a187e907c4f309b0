"""Laws of models: one answer per sample, the same whatever it is batched with, from the image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from rpx_core.conformance.bench import Bench, Recording, require_modules
from rpx_core.conformance.compare import BATCHING, ROUNDING, Tolerance, difference, fingerprint
from rpx_core.conformance.laws import Check, ConformanceError, NotCheckedError, require
from rpx_core.contracts import BlindSample, Model, Sample, withhold
from rpx_core.errors import TruthWithheldError
from rpx_core.model_calls import describe, has_memory, predict_checked
from rpx_core.names import is_same_task
from rpx_core.offers import Offer
from rpx_core.specs import ModelSpec, TaskSpec

_ASKED = "_asked_for_truth"


class WatchedSample(BlindSample):
    """A sample without its ground truth that remembers whether that was asked for."""

    @property
    def ground_truth(self) -> Any:
        """Remember, and raise as every withheld truth does."""
        self.asked.append(self.id)
        raise TruthWithheldError(f"sample {self.id}: the ground truth was read")

    @property
    def asked(self) -> list[str]:
        """The ids whose truth was asked for."""
        found: list[str] = self.__dict__.setdefault(_ASKED, [])
        return found


def watch(sample: Sample) -> WatchedSample:
    """The sample as a model gets it, watched."""
    watched = object.__new__(WatchedSample)
    watched.__dict__.update(vars(withhold(sample)))
    return watched


def forget(model: Model) -> None:
    """Start a sequence, where the model has memory."""
    reset = getattr(model, "reset", None)
    if callable(reset):
        reset()


def predict_each(model: Model, samples: Sequence[Sample]) -> list[Any]:
    """Predictions of one sequence, as a run with batches of one makes them."""
    blind = [watch(sample) for sample in samples]
    if getattr(model, "batch", None) == "sequence":
        return predict_checked(model, blind)
    return [answer for sample in blind for answer in predict_checked(model, [sample])]


def check_model(
    build: Callable[[], Model], sequences: Sequence[Sequence[Sample]], validate: Callable[..., Any]
) -> None:
    """Every law of models, on these sequences; `build` returns one that is set up.

    `validate(prediction, sample)` is the task's. Raises ConformanceError for the first law broken.
    """
    laws = ModelLaws(build, sequences, validate)
    for check in laws.all():
        check()


class ModelLaws:
    """The laws of one model on a few sequences of samples."""

    def __init__(
        self,
        build: Callable[[], Model],
        sequences: Sequence[Sequence[Sample]],
        validate: Callable[..., Any],
    ) -> None:
        self._build = build
        self._sequences = [list(samples) for samples in sequences]
        self._validate = validate

    def all(self) -> list[Callable[[], None]]:
        """The laws, the most basic first."""
        return [
            self.check_answers,
            self.check_blindness,
            self.check_inputs,
            self.check_batches,
            self.check_memory,
            self.check_seed,
            self.check_manners,
        ]

    def check_answers(self) -> None:
        """One valid prediction per sample."""
        for samples, answers in zip(self._sequences, self._first, strict=True):
            require(len(answers) == len(samples), "not one prediction per sample")

    def check_blindness(self) -> None:
        """The model does not ask for the truth, not even where it catches the refusal."""
        forget(self._model)
        for samples in self._sequences:
            watched = [watch(sample) for sample in samples]
            predict_checked(self._model, watched)
            asked = [name for sample in watched for name in sample.asked]
            require(not asked, f"predict() reads the ground truth of sample {', '.join(asked[:3])}")
            forget(self._model)

    def check_inputs(self) -> None:
        """Predicting changes no sample."""
        samples = self._sequences[0]
        before = [fingerprint(sample) for sample in samples]
        blind = [watch(sample) for sample in samples]
        given = [fingerprint(vars(sample)) for sample in blind]
        forget(self._model)
        predict_checked(self._model, blind)
        require(
            [fingerprint(sample) for sample in samples] == before
            and [fingerprint(vars(sample)) for sample in blind] == given,
            "predict() changes the samples that it is given",
            hint="change a copy, as of sample.rgb.copy()",
        )

    def check_batches(self) -> None:
        """Each sample's prediction is the same whatever it is batched with."""
        if has_memory(self._model) or getattr(self._model, "batch", None) == "sequence":
            together = [self._in_one(samples) for samples in self._sequences]
        else:
            # Also across sequences, as a run batches models without memory.
            flat = self._in_one([one for samples in self._sequences for one in samples])
            ends = iter(flat)
            together = [[next(ends) for _ in samples] for samples in self._sequences]
        self._compare(together, BATCHING, "batched with others")

    def check_memory(self) -> None:
        """What was seen before does not show once `reset` was called; without it, never."""
        again = [self._answers(self._model, samples) for samples in self._sequences[::-1]][::-1]
        what = "after reset()" if has_memory(self._model) else "though it has no reset()"
        self._compare(again, ROUNDING, f"asked again in another order, {what}")

    def check_seed(self) -> None:
        """Another instance with the same seed answers the same."""
        other = self._build()
        answers = [self._answers(other, samples) for samples in self._sequences]
        close(other)
        self._compare(answers, ROUNDING, "built again from the same seed")

    def check_manners(self) -> None:
        """`describe` gives text, and `close` may be called at the end."""
        for key, value in describe(self._model).items():
            require(key and len(value) < 10_000, f"describe() says nothing useful about {key!r}")
        close(self._build())

    @cached_property
    def _model(self) -> Model:
        return self._build()

    @cached_property
    def _first(self) -> list[list[Any]]:
        return [self._answers(self._model, samples) for samples in self._sequences]

    def _answers(self, model: Model, samples: Sequence[Sample]) -> list[Any]:
        forget(model)
        return self._valid(predict_each(model, samples), samples)

    def _in_one(self, samples: Sequence[Sample]) -> list[Any]:
        forget(self._model)
        return self._valid(predict_checked(self._model, list(map(watch, samples))), samples)

    def _valid(self, answers: Sequence[Any], samples: Sequence[Sample]) -> list[Any]:
        return [self._validate(a, sample) for a, sample in zip(answers, samples, strict=True)]

    def _compare(self, answers: Sequence[Any], tolerance: Tolerance, when: str) -> None:
        for samples, before, after in zip(self._sequences, self._first, answers, strict=True):
            for sample, one, other in zip(samples, before, after, strict=True):
                problem = difference(one, other, tolerance)
                require(
                    problem is None,
                    f"the prediction of sample {sample.id} is another {when}: {problem}",
                )


def close(model: Model) -> None:
    """End a model that wants to be ended."""
    end = getattr(model, "close", None)
    if callable(end):
        end()


def model_checks(offer: Offer[ModelSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered model, for each installed task that it does."""
    subject, spec = f"model {offer.spec.name}", offer.spec
    if spec.unavailable is not None:
        return

    def check_needs() -> None:
        require_modules(offer)
        bench.resolve(offer)
        bench.tasks(offer)

    yield Check(subject, "what it needs is here", check_needs, gate=True)
    offered = OfferedModel(offer, bench)
    yield Check(subject, "it can be built and set up", offered.check_built, gate=True)
    yield Check(subject, "one valid prediction per sample", offered.law("check_answers"), gate=True)
    for law, method in (
        ("it does not ask for the truth", "check_blindness"),
        ("predicting changes no sample", "check_inputs"),
        ("predictions do not depend on the batch", "check_batches"),
        ("it has no memory, or reset() clears it", "check_memory"),
        ("the same seed gives the same predictions", "check_seed"),
        ("describe() and close() work", "check_manners"),
    ):
        yield Check(subject, law, offered.law(method))


class OfferedModel:
    """One offered model on the samples of each of its tasks."""

    def __init__(self, offer: Offer[ModelSpec], bench: Bench) -> None:
        self._offer = offer
        self._bench = bench

    def check_built(self) -> None:
        """Raise unless the model is built, set up, and says which task it does."""
        for recording in self._recordings:
            model = self._bench.model(self._offer, recording)
            task = getattr(model, "task", None)
            require(
                isinstance(task, str)
                and any(is_same_task(task, name) for name in self._offer.spec.tasks),
                f"its `task` is {task!r}; its spec names {', '.join(self._offer.spec.tasks)}",
            )
            close(model)

    def law(self, name: str) -> Callable[[], None]:
        """One law, for every task."""

        def check() -> None:
            for laws in self._laws:
                getattr(laws, name)()

        return check

    @cached_property
    def _recordings(self) -> list[Recording]:
        found, problems = [], []
        for task in self._bench.tasks_of_model(self._offer):
            try:
                found.append(self._bench.recording(task, self._offer.spec.needs))
            except NotCheckedError as problem:
                problems.append(problem)
        if problems and not found:
            raise problems[0]
        require(found, "with these options it does none of the tasks that its spec names")
        return found

    @cached_property
    def _laws(self) -> list[ModelLaws]:
        return [self._laws_on(recording) for recording in self._recordings]

    def _laws_on(self, recording: Recording) -> ModelLaws:
        return ModelLaws(
            lambda: self._bench.model(self._offer, recording),
            recording.sequences,
            recording.task.validate,
        )


def check_baseline(task: Offer[TaskSpec], bench: Bench) -> None:
    """Raise unless a task's baseline is of its own distribution and needs nothing more."""
    offer: Offer[ModelSpec] = bench.host.find(
        "model", task.spec.baseline, task=task.spec.name, prefer=task.distribution
    )
    where = f"the baseline {offer.full_name}"
    require(offer.distribution == task.distribution, f"{where} is of another distribution")
    if offer.spec.extra is not None or offer.spec.modules:
        raise ConformanceError(f"{where} needs an extra; a baseline runs wherever its task does")
