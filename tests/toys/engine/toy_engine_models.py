import hashlib
import os
import signal

from pydantic import BaseModel


class NoiseOptions(BaseModel, frozen=True, extra="forbid"):
    kills: tuple[str, ...] = ()
    """Samples at which the process dies."""
    raises: tuple[str, ...] = ()
    """Samples at which predict() raises."""
    kill_after: int = 0
    """The process dies at this sample, counted from 1; 0: never."""


def noise(sample_id):
    digest = hashlib.sha256(sample_id.encode()).digest()
    return int.from_bytes(digest[:4], "little") / 2**32 - 0.5


class Noise:
    task = "toy_level"

    def __init__(self, options):
        self.options = options
        self.seen = 0

    def setup(self):
        pass

    def predict(self, batch):
        for sample in batch:
            self.seen += 1
            if sample.id in self.options.kills or self.seen == self.options.kill_after:
                os.kill(os.getpid(), signal.SIGKILL)
            if sample.id in self.options.raises:
                raise RuntimeError(f"cannot do {sample.id}")
        return [sample.query + noise(sample.id) for sample in batch]

    def describe(self):
        return {"kind": "noise"}


class Memory(Noise):
    """Each prediction also carries the mean of what the sequence has shown so far."""

    def reset(self):
        self.history = []

    def predict(self, batch):
        predictions = []
        for sample, value in zip(batch, super().predict(batch), strict=True):
            self.history.append(value)
            predictions.append(value + sum(self.history) / len(self.history) / 1000)
        return predictions


class Clip(Noise):
    batch = "sequence"

    def predict(self, batch):
        return [value + len(batch) for value in super().predict(batch)]


class Cheat(Noise):
    def predict(self, batch):
        return [sample.ground_truth for sample in batch]


class Null(Noise):
    def predict(self, batch):
        return [0.0 for _ in batch]


class Short(Noise):
    def predict(self, batch):
        return super().predict(batch)[1:]


class Function(Noise):
    def __init__(self, function):
        super().__init__(NoiseOptions())
        self.function = function

    def predict(self, batch):
        return [self.function(sample.id) for sample in batch]


def load_noise(options, runtime):
    return Noise(options)


def load_memory(options, runtime):
    return Memory(options)


def load_clip(options, runtime):
    return Clip(NoiseOptions())


def load_cheat(options, runtime):
    return Cheat(NoiseOptions())


def load_null(options, runtime):
    return Null(NoiseOptions())


def load_short(options, runtime):
    return Short(NoiseOptions())


def wrap(function, options, runtime):
    return Function(function)
