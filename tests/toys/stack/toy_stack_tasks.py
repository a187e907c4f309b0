from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel

from rpx_core.arrays import encode_npy
from rpx_core.contracts import Aligned, Task
from rpx_core.errors import ModelError
from rpx_core.frames import load_sample
from rpx_core.images import decode_depth, decode_labels


class Options(BaseModel, frozen=True, extra="forbid"):
    edge: str = "fine"
    """What boundary() does."""
    version: str = "1"


class EchoOptions(BaseModel, frozen=True, extra="forbid"):
    shift: int = 0
    """Columns by which the answer is moved to the right."""
    scale: float = 1.0
    raises: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Masks:
    mask: np.ndarray


@dataclass(frozen=True, eq=False)
class Depth:
    depth_map: np.ndarray


class ToyTask(Task):
    suffix = ".npy"
    asset = "mask"
    kind = Masks
    decode = staticmethod(decode_labels)

    def __init__(self, options):
        self.options = options
        self.version = options.version

    def load(self, record, files):
        name = record.assets[self.asset]
        truth = self.decode(files.read(name), name=name)
        return load_sample(record, files, ground_truth=truth, query=truth)

    def validate(self, prediction, sample):
        array = self.array(prediction) if isinstance(prediction, self.kind) else prediction
        if array.shape != sample.ground_truth.shape:
            raise ModelError(f"sample {sample.id}: another shape was expected")
        return self.kind(array)

    def align(self, method, frames):
        if method == "undefined":
            return [None for _ in frames]
        if method == "none":
            return [Aligned(frame.prediction) for frame in frames]
        values = [self.array(frame.prediction) for frame in frames]
        scale = np.median([frame.truth for frame in frames]) / np.median(values)
        return [Aligned(self.kind(value * scale), {"scale": float(scale)}) for value in values]

    def array(self, prediction):
        return next(iter(vars(prediction).values()))

    def write_prediction(self, prediction):
        return encode_npy(self.array(prediction))

    def read_prediction(self, data, name):
        return self.kind(self.decode(data, name=name))


class ObjectSegmentation(ToyTask):
    def boundary(self, prediction, sample):
        if sample.id in self.options.edge:
            raise RuntimeError("no edge")
        edges = np.zeros(prediction.mask.shape, bool)
        edges[:, :-1] = np.diff(prediction.mask, axis=1) != 0
        return edges.astype(float) if self.options.edge == "float" else edges


class MonocularDepth(ToyTask):
    asset = "depth"
    kind = Depth
    decode = staticmethod(decode_depth)

    def boundary(self, prediction, sample):
        edges = np.zeros(prediction.depth_map.shape, bool)
        edges[:, 1:] = np.abs(np.diff(prediction.depth_map, axis=1)) > 0.5
        return edges


class ToyFlat(ToyTask):
    """Has no boundaries."""

    asset = "depth"
    kind = Depth
    decode = staticmethod(decode_depth)


class Echo:
    task = "toy"

    def __init__(self, options):
        self.options = options

    def setup(self):
        pass

    def predict(self, batch):
        for sample in batch:
            if sample.id in self.options.raises:
                raise RuntimeError(f"cannot do {sample.id}")
        return [
            np.roll(sample.query, self.options.shift, axis=1)
            * type(sample.query.flat[0])(self.options.scale)
            for sample in batch
        ]


def load_echo(options, runtime):
    return Echo(options)
