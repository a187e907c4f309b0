"""Laws of tasks: what is loaded, predicted, stored and shown is the same thing throughout."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rpx_core.conformance.bench import Bench, Recording
from rpx_core.conformance.compare import difference, fingerprint
from rpx_core.conformance.laws import Check, ConformanceError, require
from rpx_core.conformance.metric_laws import check_perfect, defined, evidence_of
from rpx_core.conformance.models import check_baseline
from rpx_core.contracts import Frame, Sample, Task, Unit
from rpx_core.errors import ManifestError, ModelError
from rpx_core.isolation import Breakdown, attempt, load_target
from rpx_core.offers import Offer
from rpx_core.specs import MetricSpec, TaskSpec

GARBAGE = (b"", b"\x00\x01\x02 no prediction", b"{", b"PK\x03\x04", b"\x93NUMPY")


def check_task(task: Task[Any, Any], samples: Sequence[Sample]) -> None:
    """Every law of tasks on samples that it has loaded; it needs `perfect_prediction`.

    Raises ConformanceError for the first law that is broken.
    """

    def perfect(sample: Sample) -> Any:
        answer = task.perfect_prediction(sample)
        require(answer is not None, "perfect_prediction() is None: nothing can be checked")
        return task.validate(answer, sample)

    for check in TaskLaws(task, samples, perfect).all():
        check()


class TaskLaws:
    """The laws of one task on samples that it has loaded.

    `perfect` gives the validated prediction that a sample's own truth would be.
    """

    def __init__(
        self, task: Task[Any, Any], samples: Sequence[Sample], perfect: Callable[[Sample], Any]
    ) -> None:
        self._task = task
        self._samples = samples
        self._perfect = perfect

    def all(self) -> list[Callable[[], None]]:
        """The laws, the most basic first."""
        return [
            self.check_validation,
            self.check_nonsense,
            self.check_files,
            self.check_garbage,
            self.check_preview,
            self.check_boundary,
        ]

    def check_validation(self) -> None:
        """A valid prediction stays what it is, and is not the caller's own arrays."""
        for sample in self._samples:
            one = self._perfect(sample)
            before = fingerprint(sample)
            problem = difference(one, self._task.validate(one, sample))
            require(problem is None, f"validating a valid prediction changes it: {problem}")
            require(fingerprint(sample) == before, "validate() changes the sample")

    def check_nonsense(self) -> None:
        """What is no prediction is refused by a ModelError that names the sample."""
        sample = self._samples[0]
        done = attempt("validate(object())", lambda: self._task.validate(object(), sample))
        if not isinstance(done, Breakdown):
            raise ConformanceError("validate() accepts an object() as a prediction")
        require(
            isinstance(done.error, ModelError) and sample.id in str(done.error),
            f"validate(object()) ends in {done.problem}",
            hint="raise ModelError that names the sample and what was expected",
        )

    def check_files(self) -> None:
        """What is written is read again, and is the same once validated."""
        for sample in self._samples:
            one = self._perfect(sample)
            stored = self._task.write_prediction(one)
            require(isinstance(stored, bytes), "write_prediction() does not return bytes")
            again = self._task.read_prediction(stored, f"a{self._task.suffix}")
            problem = difference(one, self._task.validate(again, sample))
            require(problem is None, f"sample {sample.id}: written and read, {problem}")

    def check_garbage(self) -> None:
        """A file that holds no prediction is refused by a ManifestError."""
        for data in GARBAGE:
            name = f"prediction{self._task.suffix}"
            done = attempt(
                f"read_prediction({data[:12]!r})",
                lambda data=data, name=name: self._task.read_prediction(data, name),  # type: ignore[misc]  # bound now
            )
            if isinstance(done, Breakdown) and not isinstance(done.error, ManifestError):
                raise ConformanceError(done.problem, hint="raise ManifestError that names the file")

    def check_preview(self) -> None:
        """Pictures are uint8 RGB, each with a caption."""
        for sample in self._samples[:2]:
            frame = Frame(sample, sample.ground_truth, self._perfect(sample))
            for picture in self._task.preview(frame):
                image = picture.image
                require(
                    isinstance(image, np.ndarray)
                    and image.dtype == np.uint8
                    and image.ndim == 3
                    and image.shape[2] == 3
                    and image.size > 0,
                    f"preview {picture.caption!r} is no uint8 RGB image of height x width x 3",
                )
                require(picture.caption, "a preview has no caption")

    def check_boundary(self) -> None:
        """The boundary of a prediction is a bool map, or there is none."""
        for sample in self._samples[:2]:
            found = self._task.boundary(self._perfect(sample), sample)
            require(
                found is None
                or (isinstance(found, np.ndarray) and found.dtype == bool and found.ndim == 2),
                "boundary() gives neither None nor a bool array of height x width",
            )


class OfferedTask:
    """One offered task on the data at hand."""

    def __init__(self, offer: Offer[TaskSpec], bench: Bench) -> None:
        self._offer = offer
        self._bench = bench

    @cached_property
    def recording(self) -> Recording:
        """Its samples."""
        return self._bench.recording(self._offer)

    @cached_property
    def laws(self) -> TaskLaws:
        """The laws of the task itself."""
        return TaskLaws(self.recording.task, self.recording.samples, self.recording.perfect)

    def check_class(self) -> None:
        """Raise unless the target is a concrete Task with a version and a file ending."""
        kind = load_target(self._offer.spec.target, wanted_by=self._offer.full_name)
        require(inspect.isclass(kind) and issubclass(kind, Task), "its target is no class of Task")
        missing = ", ".join(sorted(kind.__abstractmethods__))
        require(not missing, f"its class does not implement {missing}")
        require(isinstance(getattr(kind, "version", None), str), "`version` must be text")
        for ending in (getattr(kind, "suffix", None), *kind.suffixes):
            require(isinstance(ending, str) and ending[:1] == ".", f"{ending!r} is no file ending")
        again = pickle.loads(pickle.dumps(self._offer.spec))
        require(again == self._offer.spec, "its spec does not survive pickling to a worker")

    def check_parts(self) -> None:
        """Raise unless everything that the spec names is there and serves the task."""
        spec = self._offer.spec
        check_baseline(self._offer, self._bench)
        label, _, output = spec.primary.partition(".")
        outputs = self._build_metric(spec.metrics[label]).outputs
        require(output in outputs, f"primary {spec.primary!r}: outputs are {', '.join(outputs)}")
        for name in spec.metrics.values():
            self._find("metric", name)
        if spec.adapter is not None:
            self._find("adapter", spec.adapter)
        for rules, name in spec.stability.items():
            metric = self._build_metric(name)
            require(metric.unit == Unit.PAIR, f"stability {rules}: {name} measures no pairs")
            better = metric.outputs["ts"].better if "ts" in metric.outputs else None
            require(better == "higher", f"stability {rules}: {name} has no output `ts` to raise")

    def check_loading(self) -> None:
        """Raise unless loading is repeatable and gives samples with a truth."""
        again = Bench(self._bench.host, self._bench.settings).recording(self._offer)
        for one, other in zip(self.recording.samples, again.samples, strict=True):
            require(one.ground_truth is not None, f"sample {one.id} has no ground truth")
            require(fingerprint(one) == fingerprint(other), f"sample {one.id} loads differently")

    def check_alignment(self) -> None:
        """Raise unless each alignment gives one prediction per frame, or None."""
        task = self.recording.task
        frames = [
            Frame(sample, sample.ground_truth, self.recording.perfect(sample))
            for sample in self.recording.sequences[0]
        ]
        for method in self._offer.spec.alignments:
            aligned = list(task.align(method, frames))
            require(len(aligned) == len(frames), f"align({method!r}) gives {len(aligned)} results")
            for one in filter(None, aligned):
                finite = all(np.isfinite(float(value)) for value in one.facts.values())
                require(finite, f"align({method!r}) states a fact that is not finite")

    def check_truth(self) -> None:
        """Raise unless every default metric finds the truth as prediction perfect."""
        sequences = self.recording.perfect_frames()
        for label, name in self._offer.spec.metrics.items():
            metric = self._build_metric(name)
            states = defined(call() for call in evidence_of(metric, sequences))
            try:
                check_perfect(metric, states)
            except ConformanceError as error:
                raise ConformanceError(f"{label}: {error.message}", hint=error.hint) from error

    def check_baseline(self) -> None:
        """Raise unless the baseline answers."""
        require(self._bench.baseline_frames(self._offer), "the baseline answers nothing")

    def law(self, name: str) -> Callable[[], None]:
        """One law of the task itself, which is loaded when that is first checked."""

        def check() -> None:
            getattr(self.laws, name)()

        return check

    def _find(self, kind: Any, name: str) -> Offer[Any]:
        spec = self._offer.spec
        return self._bench.host.find(kind, name, task=spec.name, prefer=self._offer.distribution)

    def _build_metric(self, name: str) -> Any:
        offer: Offer[MetricSpec] = self._find("metric", name)
        return self._bench.resolve(offer).build()


def task_checks(offer: Offer[TaskSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered task."""
    subject, task = f"task {offer.spec.name}", OfferedTask(offer, bench)
    yield Check(subject, "its class is complete", task.check_class, gate=True)
    yield Check(subject, "what it names is there and fits", task.check_parts)
    yield Check(subject, "there is data for it", lambda: _touch(task), gate=True)
    yield Check(subject, "loading twice gives the same samples", task.check_loading)
    for law, method in (
        ("validating a valid prediction changes nothing", "check_validation"),
        ("what is no prediction is refused clearly", "check_nonsense"),
        ("a prediction written and read is the same", "check_files"),
        ("a damaged prediction file is refused clearly", "check_garbage"),
        ("previews are uint8 RGB with captions", "check_preview"),
        ("boundaries are bool maps", "check_boundary"),
    ):
        yield Check(subject, law, task.law(method))
    yield Check(subject, "alignments give one prediction per frame", task.check_alignment)
    yield Check(subject, "the truth as prediction is perfect", task.check_truth)
    yield Check(subject, "its baseline answers", task.check_baseline)


def _touch(task: OfferedTask) -> None:
    require(task.recording.samples, "it has no samples")
