"""Made-up segmentations: blobs, moved and renumbered, with holes, noise, void and equal scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CLASSES = ("ball", "mug", "book")


@dataclass(frozen=True)
class Scene:
    """One image: true ids (-1 void), predicted ids, and what is known of the segments."""

    truth: NDArray[np.int32]
    prediction: NDArray[np.int32]
    truth_labels: dict[int, str]
    labels: dict[int, str]
    scores: dict[int, float]


def make_scene(rng: np.random.Generator, shape: tuple[int, int], blobs: int) -> Scene:
    """A truth of overlapping ellipses, and a prediction that has most of them, roughly."""
    truth, prediction = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    truth_labels, labels = {}, {}
    ids = rng.choice(np.arange(1, 400), (2, blobs), replace=False)
    for true, predicted in ids.T.tolist():
        centre = rng.uniform(0, 1, 2) * shape
        radii = np.exp(rng.normal(np.log(0.09), 0.8, 2)).clip(0.01, 0.5) * shape
        truth[_ellipse(shape, centre, radii)] = true
        truth_labels[true] = str(rng.choice(CLASSES))
        if rng.random() < 0.85:
            moved = centre + rng.normal(0, 0.15, 2) * radii
            prediction[_ellipse(shape, moved, radii * rng.uniform(0.8, 1.2, 2))] = predicted
            wrong = rng.random() < 0.15
            labels[predicted] = str(rng.choice(CLASSES)) if wrong else truth_labels[true]
    void = _ellipse(shape, rng.uniform(0, 1, 2) * shape, rng.uniform(0.05, 0.3, 2) * shape)
    if rng.random() < 0.6:
        truth[void] = -1
    noise = rng.random(shape) < 0.01
    prediction[noise] = rng.choice([0, *labels], int(noise.sum()))
    # One digit: many ties.
    scores = {i: round(float(rng.random()), 1) for i in labels}
    return Scene(truth, prediction, _seen(truth_labels, truth), _seen(labels, prediction), scores)


def _ellipse(
    shape: tuple[int, int], centre: NDArray[np.float64], radii: NDArray[np.float64]
) -> NDArray[np.bool_]:
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    inside: NDArray[np.bool_] = (
        ((rows - centre[0]) / radii[0]) ** 2 + ((columns - centre[1]) / radii[1]) ** 2
    ) <= 1
    return inside


def _seen(labels: dict[int, str], mask: NDArray[np.int32]) -> dict[int, str]:
    present = set(np.unique(mask).tolist())
    return {i: name for i, name in labels.items() if i in present}
