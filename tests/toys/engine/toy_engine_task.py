import json

import numpy as np

from rpx_core.contracts import Aligned, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError


class ToyTask(Task):
    version = "1"
    suffix = ".json"

    def load(self, record, files):
        level = record.assets["level"]
        if not isinstance(level, int | float):
            raise ManifestError(f"sample {record.id}: level is not a number")
        return Sample(
            id=record.id,
            ground_truth=float(level),
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
        if method == "none":
            return [Aligned(frame.prediction) for frame in frames]
        shift = float(np.mean([frame.truth - frame.prediction for frame in frames]))
        return [Aligned(frame.prediction + shift, {"shift": shift}) for frame in frames]

    def preview(self, frame):
        shade = np.full((4, 4, 3), int(abs(frame.prediction)) % 256, np.uint8)
        return [Picture("rgb", shade), Picture("prediction", shade)]

    def write_prediction(self, prediction):
        return json.dumps(prediction).encode()

    def read_prediction(self, data, name):
        return float(json.loads(data))
