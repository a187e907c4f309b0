"""The published contract of models: a task, `setup()`, `predict(batch)`, and models by adapters."""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from rpx_core.contracts import BlindSample, Sample, Task, TaskType, withhold
from rpx_core.errors import ModelError
from rpx_core.host import Host
from rpx_core.parts import resolve_part

Invoker = Callable[[Any, Any], Any]
"""Takes the model and a payload, returns what the model says."""


class BenchmarkModel(ABC):
    """What runs: one prediction for every sample of a batch, in the order given.

    Samples come without their ground truth, and their arrays are read-only; what the task gives to
    models beside the image is in `sample.query`. Further members are used where a model has them:
    `reset()` before each sequence of one that remembers, `batch = "sequence"` for one that wants
    all frames of a sequence at once, `describe()`, `close()`.
    """

    task: TaskType | str

    def setup(self) -> None:  # noqa: B027  # nothing to do for most models
        """Load weights, move to the device: called once, before the first batch."""

    @abstractmethod
    def predict(self, batch: Sequence[Sample]) -> Sequence[Any]:
        """One prediction per sample, in order."""

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:  # or NotImplemented
        """Models of plugins and of `make_numpy_*` have the contract without the base class."""
        if cls is not BenchmarkModel:
            return NotImplemented
        return all(callable(getattr(other, name, None)) for name in ("setup", "predict"))


@dataclass(frozen=True)
class PreparedInput:
    """What a model is called with, and what its output adapter needs to read the answer."""

    payload: Any
    context: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class InputAdapter(Protocol):
    """Makes a model's input of a sample, which has no ground truth."""

    def setup(self) -> None:
        """Load what preparing needs; called once, before the first sample. May be left out."""

    @abstractmethod
    def prepare(self, sample: Sample) -> PreparedInput:
        """The input for one sample."""
        ...


class OutputAdapter(Protocol):
    """Makes the task's prediction of a model's output."""

    def setup(self) -> None:
        """Load what finalizing needs; called once, before the first sample. May be left out."""

    @abstractmethod
    def finalize(self, model_output: Any, context: Mapping[str, Any], sample: Sample) -> Any:
        """The prediction for one sample; `context` is that of its prepared input."""
        ...


def default_invoker(model: Any, payload: Any) -> Any:
    """`model(**payload)` for a mapping, else `model(payload)`.

    Without gradients where torch is in use, which it is once somebody has imported it.
    """
    with _without_gradients():
        return model(**payload) if isinstance(payload, Mapping) else model(payload)


class BenchmarkableModel(BenchmarkModel):
    """A model between two adapters: prepare, invoke, finalize, one sample at a time."""

    def __init__(
        self,
        task: TaskType | str,
        input_adapter: InputAdapter,
        model: Any,
        output_adapter: OutputAdapter,
        invoker: Invoker = default_invoker,
        name: str = "benchmarkable_model",
        setup_hook: Callable[[], None] | None = None,
    ) -> None:
        parts = {"input adapter": input_adapter, "model": model, "output adapter": output_adapter}
        for what, part in parts.items():
            if inspect.isclass(part):
                raise ModelError(
                    f"the {what} is the class {part.__name__}",
                    hint=f"pass an object of it: {part.__name__}(...)",
                )
        self.task = task
        self.input_adapter = input_adapter
        self.model = model
        self.output_adapter = output_adapter
        self.invoker = invoker
        self.name = name
        self.setup_hook = setup_hook

    def setup(self) -> None:
        """Set both adapters up, then call the `setup_hook`, if there is one."""
        for adapter in (self.input_adapter, self.output_adapter):
            prepare = getattr(adapter, "setup", None)
            if callable(prepare):
                prepare()
        if self.setup_hook is not None:
            self.setup_hook()

    def describe(self) -> dict[str, str]:
        """What both adapters say of themselves, for the record of a run."""
        described: dict[str, str] = {}
        for part in (self.input_adapter, self.output_adapter):
            speak = getattr(part, "describe", None)
            if callable(speak):
                described |= speak()
        return described

    def predict(self, batch: Sequence[Sample]) -> list[Any]:
        """One prediction per sample; adapters never see the ground truth, whoever calls."""
        return [
            self._predict(sample if isinstance(sample, BlindSample) else withhold(sample))
            for sample in batch
        ]

    def _predict(self, sample: BlindSample) -> Any:
        prepared = self.input_adapter.prepare(sample)
        if not isinstance(prepared, PreparedInput):
            raise ModelError(
                f"sample {sample.id}: prepare() of {self.name} returned a "
                f"{type(prepared).__name__}; a PreparedInput was expected",
                hint="return rpx.PreparedInput(payload), with a context if finalize() needs one",
            )
        output = self.invoker(self.model, prepared.payload)
        return self.output_adapter.finalize(output, prepared.context, sample)


def validate_prediction(task: TaskType | str, pred: Any, sample: Sample) -> Any:
    """The prediction as the task's metrics get it; raises ModelError where it breaks the contract.

    The check is the task's own, the same as in a run. A sample without ground truth tells by its
    image which size fits. What is returned holds copies in canonical types, so nothing done to
    `pred` later reaches it.
    """
    host = Host.discover()
    checker: Task[Any, Any] = resolve_part(host.find("task", task), {}, field_name="task").build()
    try:
        return checker.validate(pred, checker.complete(sample))
    except (AttributeError, TypeError) as error:
        if sample.ground_truth is not None:
            raise
        raise ModelError(
            f"sample {sample.id} has no ground truth, by which a prediction is checked",
            hint="give the sample its ground truth: its size says which prediction fits",
        ) from error


def _without_gradients() -> AbstractContextManager[Any]:
    no_grad = getattr(sys.modules.get("torch"), "no_grad", None)
    return nullcontext() if no_grad is None else no_grad()
