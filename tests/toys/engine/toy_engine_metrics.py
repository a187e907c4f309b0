import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import BaseModel

from rpx_core import contracts
from rpx_core.contracts import Output, Unit
from rpx_core.state import Cat, Max, Sum


@dataclass(frozen=True)
class ErrorState:
    count: Sum
    absolute: Sum
    squared: Sum
    largest: Max


class ErrorOptions(BaseModel, frozen=True, extra="forbid"):
    scale: float = 1.0


class Error:
    version = "1"
    unit = Unit.SAMPLE
    State = ErrorState
    outputs: ClassVar = {
        "abs": Output(better="lower", best=0.0),
        "rms": Output(better="lower", best=0.0, headline="pooled"),
        "largest": Output(better="lower", best=0.0, headline="pooled"),
    }

    def __init__(self, options=None):
        self.scale = options.scale if options else 1.0

    def measure(self, sample, truth, prediction):
        if truth < 0:
            return None
        error = (prediction - truth) * self.scale
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
    outputs: ClassVar = {"weighted": Output(better=None, headline="pooled", aggregates=("pooled",))}

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
    outputs: ClassVar = {"ts": Output(better="higher", best=1.0)}

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
    outputs: ClassVar = {"length": Output(better=None), "last": Output(better=None)}

    def measure(self, frames):
        if any(frame.sample.rgb is not None for frame in frames):
            raise ValueError("an image was kept")
        return RunState(len(frames), frames[-1].prediction)

    def result(self, state):
        return {"length": float(state.length), "last": float(state.last)}


@dataclass(frozen=True)
class QualityState:
    count: Sum
    squared: Sum


class Quality:
    """Infinitely good where the error is zero, as the PSNR of equal images is."""

    version = "1"
    unit = Unit.SAMPLE
    State = QualityState
    outputs: ClassVar = {"db": Output(better="higher", best=float("inf"))}

    def measure(self, sample, truth, prediction):
        return QualityState(1, (prediction - truth) ** 2)

    def result(self, state):
        mean = float(state.squared / state.count)
        return {"db": float("inf") if mean == 0 else -10 * float(np.log10(mean))}


class NotANumber(Error):
    def result(self, state):
        return {"abs": float("nan"), "rms": 0.0, "largest": 0.0}


class PooledNan(Error):
    """Fine for one sample, broken for several."""

    def result(self, state):
        bad = float("nan") if state.count > 1 else 0.0
        return {"abs": 1.0, "rms": bad, "largest": 0.0}


class Raising(Error):
    def measure(self, sample, truth, prediction):
        raise ZeroDivisionError("no such thing")


class Exiting(Error):
    def measure(self, sample, truth, prediction):
        sys.exit(0)


class WrongKeys(Error):
    def result(self, state):
        return {"abs": 0.0, "rmse": 0.0}


class WrongState(Error):
    def measure(self, sample, truth, prediction):
        return {"count": 1}


class NanState(Error):
    def measure(self, sample, truth, prediction):
        return ErrorState(1, float("nan"), 0.0, 0.0)


class Undefined(Error):
    def measure(self, sample, truth, prediction):
        return None


class Picky(Error):
    """Says why it has no value."""

    def measure(self, sample, truth, prediction):
        if truth < 10:
            return contracts.Undefined("too low to judge")
        return super().measure(sample, truth, prediction)


class BlockBreaker(Error):
    """Has a sample that breaks its block, and alone only itself."""

    def measure(self, sample, truth, prediction):
        if truth == 3:
            raise ZeroDivisionError("no such thing")
        return super().measure(sample, truth, prediction)

    def measure_block(self, frames):
        return [self.measure(*frame) for frame in frames]


class ShortBlock(Error):
    """Forgets the last sample of each block."""

    def measure_block(self, frames):
        return [self.measure(*frame) for frame in frames[:-1]]


class OnlyBlocks(Error):
    """Cannot measure one sample: whatever has numbers was measured in a block."""

    def measure(self, sample, truth, prediction):
        raise ZeroDivisionError("alone")

    def measure_block(self, frames):
        return [Error.measure(self, *frame) for frame in frames]


class Unbuilt(Error):
    def __init__(self):
        raise LookupError("no such constant")


class Drift(Run):
    """How far off the last frame is."""

    outputs: ClassVar = {"drift": Output(better="lower", best=0.0)}

    def measure(self, frames):
        return RunState(len(frames), abs(frames[-1].prediction - frames[-1].truth))

    def result(self, state):
        return {"drift": float(state.last)}


class PairRaising(Stability):
    def measure(self, previous, current):
        raise ZeroDivisionError("no pair")


class SequenceRaising(Run):
    def measure(self, frames):
        raise ZeroDivisionError("no sequence")
