import itertools
import json
import os
import signal

import numpy as np
from pydantic import BaseModel

from rpx_core.contracts import Aligned, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError


class ToyOptions(BaseModel, frozen=True, extra="forbid"):
    kills: tuple[str, ...] = ()
    """Samples whose loading kills the process."""
    stray: tuple[str, ...] = ()
    """Samples that come back from loading under another id."""
    pictures: bool = False
    """Samples have an image."""
    preview: str = "fine"
    offset: float = 0.0
    """Added to every truth."""


class ToyTask(Task):
    version = "1"
    suffix = ".json"

    def __init__(self, options):
        self.options = options

    def load(self, record, files):
        if record.id in self.options.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        level = record.assets["level"]
        if isinstance(level, str) and level.endswith(".txt"):
            level = float(files.read(level))
        if not isinstance(level, int | float):
            raise ManifestError(
                f"sample {record.id}: level is not a number", hint="write <1.5>, not <high>"
            )
        return Sample(
            id="stray" if record.id in self.options.stray else record.id,
            rgb=np.zeros((4, 4, 3), np.uint8) if self.options.pictures else None,
            ground_truth=float(level) + self.options.offset,
            metadata=dict(record.metadata),
            phase=record.phase,
            difficulty=record.difficulty,
            scene=record.scene,
            sequence=record.sequence,
            frame=record.frame,
            query=float(level),
        )

    def validate(self, prediction, sample):
        if not isinstance(prediction, float):
            raise ModelError(f"sample {sample.id}: a float was expected")
        return prediction

    def align(self, method, frames):
        plain = [Aligned(frame.prediction) for frame in frames]
        match method:
            case "none" | "short":
                return plain[1:] if method == "short" else plain
            case "bare":
                return [frame.prediction for frame in frames]
            case "infinite":
                return [Aligned(frame.prediction, {"scale": float("inf")}) for frame in frames]
            case "raise":
                raise ArithmeticError("no fit")
            case "doubt":
                return [
                    Aligned(frame.prediction, note="above 20" if frame.truth > 20 else None)
                    for frame in frames
                ]
            case "undefined":
                return [None if frame.truth > 20 else Aligned(frame.prediction) for frame in frames]
        shift = float(np.mean([frame.truth - frame.prediction for frame in frames]))
        return [Aligned(frame.prediction + shift, {"shift": shift}) for frame in frames]

    def preview(self, frame):
        if self.options.preview == "raise":
            raise RuntimeError("no picture")
        if self.options.preview == "bad":
            return [Picture("rgb", np.zeros((2, 2), np.complex128))]
        shade = np.full((4, 4, 3), int(abs(frame.prediction)) % 256, np.uint8)
        image = shade if frame.sample.rgb is None else frame.sample.rgb
        return [Picture("rgb", image), Picture("prediction", shade)]

    def write_prediction(self, prediction):
        return json.dumps(prediction).encode()

    def read_prediction(self, data, name):
        return float(json.loads(data))


class StepTask(ToyTask):
    """Makes a sample of every two adjacent frames."""

    def __init__(self):
        super().__init__(ToyOptions())

    def arrange(self, records, files):
        return [self.step(*pair, files) for pair in itertools.pairwise(records)]

    def step(self, before, after, files):
        level = _level(after, files) - _level(before, files)
        identifier = f"{before.id}--{after.id}"
        return after.model_copy(update={"id": identifier, "assets": {"level": level}})


def _level(record, files):
    level = record.assets["level"]
    return float(files.read(level)) if str(level).endswith(".txt") else level
