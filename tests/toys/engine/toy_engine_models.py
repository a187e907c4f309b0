import copy
import dataclasses
import hashlib
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
import time
from pathlib import Path

from pydantic import BaseModel

from rpx_core.errors import ModelError


class Options(BaseModel, frozen=True, extra="forbid"):
    kills: tuple[str, ...] = ()
    """Samples at which the process dies."""
    kills_once: str = ""
    """A folder in which it is noted that the process has died once already at each `kills`."""
    kills_while: str = ""
    """A file; samples of `kills` kill only while it exists."""
    raises: tuple[str, ...] = ()
    """Samples at which predict() raises."""
    raises_while: str = ""
    """A file; samples of `raises` raise only while it exists."""
    kill_after: int = 0
    """The process dies at this sample, counted from 1; 0: never."""
    bias: float = 0.0
    """Added to every prediction."""
    how: str = ""
    """What the model does wrong, for those that have several ways."""
    waits: str = ""
    """A file; every sample but the first ten says there that it is in flight, and waits for the
    file to be gone."""
    weights: Path | None = None
    """A file that would be read."""
    peak: str = ""
    """A file in which the model notes the peak memory of its process, in kB, when it is closed."""
    huge: tuple[str, ...] = ()
    """Samples whose prediction is about the largest float."""


def noise(sample_id):
    digest = hashlib.sha256(sample_id.encode()).digest()
    return int.from_bytes(digest[:4], "little") / 2**32 - 0.5


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Noise:
    task = "toy_level"

    def __init__(self, options):
        self.options = options
        self.seen = 0

    def setup(self):
        if "TOY_KILL_AFTER" in os.environ and multiprocessing.parent_process():
            from tests.toys.kills import die_as_told

            die_as_told()

    def predict(self, batch):
        for sample in batch:
            self.seen += 1
            if self.options.waits and self.seen > 10:
                self.wait(Path(self.options.waits))
            if sample.id in self.options.kills and self.must_die(sample.id):
                die()
            if self.seen == self.options.kill_after:
                die()
            if sample.id in self.options.raises and self.must_raise():
                raise RuntimeError(f"cannot do {sample.id}")
        return [self.answer(sample) for sample in batch]

    def answer(self, sample):
        if sample.id in self.options.huge:
            return 1e308
        return sample.query + noise(sample.id) + self.options.bias

    def wait(self, gate):
        if gate.exists():
            gate.write_text("here")
        while gate.exists():
            time.sleep(0.01)

    def must_die(self, sample_id):
        if self.options.kills_while and not Path(self.options.kills_while).exists():
            return False
        if not self.options.kills_once:
            return True
        note = Path(self.options.kills_once, sample_id)
        if note.exists():
            return False
        note.touch()
        return True

    def must_raise(self):
        return not self.options.raises_while or Path(self.options.raises_while).exists()

    def describe(self):
        return {"kind": "noise"}

    def close(self):
        if self.options.peak:
            # Not ru_maxrss: a new process takes over that of the one it comes from.
            status = Path("/proc/self/status").read_text()
            Path(self.options.peak).write_text(re.search(r"VmHWM:\s*(\d+)", status)[1])


class Memory(Noise):
    """Each prediction also carries the mean of what the sequence has shown so far."""

    def reset(self):
        if self.options.how == "reset":
            raise RuntimeError("cannot forget")
        self.history = []

    def predict(self, batch):
        predictions = []
        for sample in batch:
            (value,) = super().predict([sample])
            self.history.append(value)
            predictions.append(value + sum(self.history) / len(self.history) / 1000)
        return predictions


class Clip(Noise):
    batch = "sequence"

    def predict(self, batch):
        return [value + len(batch) for value in super().predict(batch)]


class Null(Noise):
    def predict(self, batch):
        return [0.0 for _ in batch]


class Short(Noise):
    def predict(self, batch):
        return super().predict(batch)[1:]


class Calls(Noise):
    """Predicts how often it was called; once more than it was asked, to warm up."""

    def setup(self):
        self.calls = 1.0

    def predict(self, batch):
        first = self.calls
        self.calls += len(batch)
        return [first + number for number in range(len(batch))]


class Cheat(Noise):
    def predict(self, batch):
        return [self.steal(sample) for sample in batch]

    def steal(self, sample):
        ways = {
            "": lambda: sample.ground_truth,
            "replace": lambda: dataclasses.replace(sample, id="other").ground_truth,
            "copy": lambda: copy.deepcopy(sample).ground_truth,
            "pickle": lambda: pickle.loads(pickle.dumps(sample)).ground_truth,
            "vars": lambda: vars(sample)["ground_truth"],
            "asdict": lambda: dataclasses.asdict(sample)["ground_truth"],
            "super": lambda: super(type(sample), sample).__getattribute__("ground_truth"),
        }
        return ways[self.options.how]()


class Breaks(Noise):
    """Breaks the contract in the way that its option names."""

    def setup(self):
        match self.options.how:
            case "setup raises":
                raise OSError("weights are gone")
            case "setup exits":
                sys.exit("bye")
            case "setup dies":
                die()
            case "setup raises its own":

                class Own(ModelError):
                    pass

                raise Own("no licence", hint="buy one", details={"why": lambda: None})
            case "hangs":
                threading.Thread(target=threading.Event().wait).start()

    def describe(self):
        if self.options.how == "describe raises":
            raise ValueError("speechless")
        return {}

    def predict(self, batch):
        match self.options.how:
            case "exits":
                sys.exit(0)
            case "prints":
                print("predicting", flush=True)
                if multiprocessing.parent_process():
                    os.write(1, b"from below\n")
            case "none":
                return None
            case "text":
                return ["0.5" for _ in batch]
            case "surrogate":
                raise OSError(f"cannot open {os.fsdecode(bytes([0x61, 0xFF]))}")
            case "mute":
                raise Mute
        return super().predict(batch)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


class Function(Noise):
    def __init__(self, function):
        super().__init__(Options())
        self.function = function

    def predict(self, batch):
        return [self.function(sample.id) for sample in batch]


def load_noise(options, runtime):
    return Noise(options)


def load_memory(options, runtime):
    return Memory(options)


def load_clip(options, runtime):
    return Clip(options)


def load_cheat(options, runtime):
    return Cheat(options)


def load_null(options, runtime):
    return Null(options)


def load_short(options, runtime):
    return Short(options)


def load_calls(options, runtime):
    return Calls(options)


def load_breaks(options, runtime):
    if options.how == "load raises":
        raise LookupError("no such architecture")
    return Breaks(options)


def wrap(function, options, runtime):
    return Function(function)
