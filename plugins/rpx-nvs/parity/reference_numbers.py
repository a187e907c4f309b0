"""Compare PSNR, SSIM and MS-SSIM with scikit-image and torchmetrics; write the golden numbers.

    pip install scikit-image==0.26.0 torch==2.13.0 torchmetrics==1.9.0
    python parity/reference_numbers.py [--write]

Prints each number beside the reference and fails beyond the stated tolerances. `--write` puts the
images and the references' numbers into `tests/data/`, where the default tests read them.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpx_nvs.scales import multi_scale_ssim
from rpx_nvs.squared_error import psnr, squared_errors
from rpx_nvs.structural_similarity import UNIFORM_7, WANG, ssim

Image = NDArray[np.uint8]

DATA = Path(__file__).parents[1] / "tests" / "data"
TOLERANCES = {"psnr": 1e-6, "ssim": 1e-6, "ssim_uniform7": 1e-6, "ms_ssim_mirrored": 1e-5}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the golden files")
    write = parser.parse_args().write
    truth, predictions = make_images()
    cases, worst = {}, 0.0
    for name, prediction in predictions.items():
        expected, found = measure_theirs(prediction, truth), measure_ours(prediction, truth)
        cases[name] = expected
        for metric, value in expected.items():
            error = abs(found[metric] - value)
            worst = max(worst, error / TOLERANCES[metric])
            print(f"{name:8} {metric:16} {value:.10f} {found[metric]:.10f} {error:.1e}")
    if write:
        write_golden({"truth": truth, **predictions}, cases)
    if not worst <= 1:
        sys.exit("beyond the tolerances")


def make_images() -> tuple[Image, dict[str, Image]]:
    """A smooth image with edges and odd sides, and it blurred, and noisy."""
    rows, columns = np.mgrid[0:181, 0:177]
    waves = [np.sin(rows / 9 + k) * np.cos(columns / (7 + k)) for k in range(3)]
    truth = 128 + 90 * np.stack(waves, axis=-1)
    truth[40:120, 60:130] = (230, 60, 30)
    truth = truth.round().clip(0, 255).astype(np.uint8)
    noise = ((rows * 37 + columns * 101) ** 2 % 61)[..., None] - 30
    blurred = sum(np.roll(truth.astype(int), k, axis) for k in (-1, 0, 1) for axis in (0, 1)) / 6
    predictions = {"blurred": blurred, "noisy": truth + noise}
    eight = {k: v.round().clip(0, 255).astype(np.uint8) for k, v in predictions.items()}
    return truth, eight


def measure_ours(prediction: Image, truth: Image) -> dict[str, float]:
    error = float(squared_errors(prediction, truth).sum()) / truth.size
    return {
        "psnr": psnr(error, 255),
        "ssim": ssim(prediction, truth, WANG, 255),
        "ssim_uniform7": ssim(prediction, truth, UNIFORM_7, 255),
        "ms_ssim_mirrored": multi_scale_ssim(prediction, truth, 255).mirrored,
    }


def measure_theirs(prediction: Image, truth: Image) -> dict[str, float]:
    import torch
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity
    from torchmetrics.functional.image import multiscale_structural_similarity_index_measure

    first, second = (image.astype(np.float64) for image in (truth, prediction))
    tensors = [torch.from_numpy(image.transpose(2, 0, 1)[None]) for image in (second, first)]
    shared: dict[str, Any] = {"data_range": 255, "channel_axis": 2}
    gaussian = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    multi_scale = multiscale_structural_similarity_index_measure(*tensors, data_range=255.0)
    return {
        "psnr": float(peak_signal_noise_ratio(truth, prediction)),
        "ssim": float(structural_similarity(first, second, **shared, **gaussian)),
        "ssim_uniform7": float(structural_similarity(first, second, **shared)),
        "ms_ssim_mirrored": float(multi_scale),
    }


def write_golden(images: dict[str, Image], cases: dict[str, dict[str, float]]) -> None:
    np.savez_compressed(DATA / "nvs_reference.npz", **images)
    packages = ("numpy", "scikit-image", "torch", "torchmetrics")
    document = {
        "generator": "parity/reference_numbers.py",
        "versions": {package: version(package) for package in packages},
        "cases": cases,
    }
    (DATA / "nvs_reference.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
