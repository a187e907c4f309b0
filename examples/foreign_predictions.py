r"""Predictions of another program: a file for each sample, named by its id.

    $ rpx data demo set
    $ python foreign_predictions.py set/demo.json predictions
    $ rpx score --task monocular_depth --data set/demo.json --predictions predictions --limit 18 \
        --set options.prediction_scale=0.001

This file stands for the other program: it knows nothing of rpx, and reads the manifest, which is
plain JSON. It writes depth as 16-bit PNG in millimetres, which is what `prediction_scale` says;
`.npy`, `.npz` and TIFF of floats in metres need nothing said.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image


def write_predictions(manifest: Path, folder: Path, count: int = 18) -> None:
    """Guess the depth of the first samples."""
    folder.mkdir(exist_ok=True)
    for sample in json.loads(manifest.read_text(encoding="utf-8"))["samples"][:count]:
        with Image.open(manifest.parent / sample["rgb"]) as image:
            grey = np.asarray(image.convert("L"), dtype=np.float64)
        metres = 0.8 + 2.0 * grey / 255
        Image.fromarray((metres * 1000).astype(np.uint16)).save(folder / f"{sample['id']}.png")


if __name__ == "__main__":
    write_predictions(Path(sys.argv[1]), Path(sys.argv[2]))
