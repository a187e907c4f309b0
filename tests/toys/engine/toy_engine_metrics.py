from dataclasses import dataclass

import numpy as np

from rpx_core.contracts import Output, Unit
from rpx_core.state import Cat, Max, Sum


@dataclass(frozen=True)
class ErrorState:
    count: Sum
    absolute: Sum
    squared: Sum
    largest: Max


class Error:
    version = "1"
    unit = Unit.SAMPLE
    State = ErrorState
    outputs = {
        "abs": Output(better="lower", best=0.0),
        "rms": Output(better="lower", best=0.0, headline="pooled"),
        "largest": Output(better="lower", best=0.0, headline="pooled"),
    }

    def measure(self, sample, truth, prediction):
        if truth < 0:
            return None
        error = prediction - truth
        return ErrorState(1, abs(error), error * error, abs(error))

    def result(self, state):
        return {
            "abs": float(state.absolute / state.count),
            "rms": float(np.sqrt(state.squared / state.count)),
            "largest": float(state.largest),
        }


@dataclass(frozen=True)
class TraceState:
    errors: Cat


class Trace:
    """Depends on the order of its evidence: a fold out of order shows at once."""

    version = "1"
    unit = Unit.SAMPLE
    State = TraceState
    outputs = {"weighted": Output(better=None, headline="pooled", aggregates=("pooled",))}

    def measure(self, sample, truth, prediction):
        return TraceState(np.array([prediction - truth]))

    def result(self, state):
        return {"weighted": float(np.dot(state.errors, np.arange(1, len(state.errors) + 1)))}


@dataclass(frozen=True)
class ChangeState:
    error: Sum
    change: Sum


class Stability:
    version = "1"
    unit = Unit.PAIR
    State = ChangeState
    outputs = {"ts": Output(better="higher", best=1.0)}

    def measure(self, previous, current):
        change = current.truth - previous.truth
        if change == 0:
            return None
        predicted = current.prediction - previous.prediction
        return ChangeState(abs(predicted - change), abs(change))

    def result(self, state):
        return {"ts": 1.0 - float(state.error / state.change)}


@dataclass(frozen=True)
class RunState:
    length: Sum
    last: Max


class Run:
    version = "1"
    unit = Unit.SEQUENCE
    State = RunState
    outputs = {"length": Output(better=None), "last": Output(better=None)}

    def measure(self, frames):
        assert all(frame.sample.rgb is None for frame in frames)
        return RunState(len(frames), frames[-1].prediction)

    def result(self, state):
        return {"length": float(state.length), "last": float(state.last)}


class NotANumber(Error):
    def result(self, state):
        return {"abs": float("nan"), "rms": 0.0, "largest": 0.0}


class Raising(Error):
    def measure(self, sample, truth, prediction):
        raise ZeroDivisionError("no such thing")
