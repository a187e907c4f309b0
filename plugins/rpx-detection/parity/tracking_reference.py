"""TrackEval on our data: the same sequences in its format, its numbers under our names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trackeval.datasets._base_dataset import _BaseDataset
from trackeval.metrics import CLEAR, HOTA, Identity
from tracking_scenes import Floats, Scene

HOTA_CURVES = {
    "hota": "HOTA", "deta": "DetA", "detre": "DetRe", "detpr": "DetPr", "assa": "AssA",
    "assre": "AssRe", "asspr": "AssPr", "loca": "LocA", "owta": "OWTA",
}  # fmt: skip
HOTA_SINGLE = {"hota_0": "HOTA(0)", "loca_0": "LocA(0)", "hotaloca_0": "HOTALocA(0)"}
CLEAR_FIELDS = {
    "mota": "MOTA", "motp": "MOTP", "moda": "MODA", "smota": "sMOTA", "motal": "MOTAL",
    "recall": "CLR_Re", "precision": "CLR_Pr", "f1": "CLR_F1", "fp_per_frame": "FP_per_frame",
    "mt_ratio": "MTR", "pt_ratio": "PTR", "ml_ratio": "MLR", "idsw": "IDSW", "frag": "Frag",
    "mt": "MT", "pt": "PT", "ml": "ML", "tp": "CLR_TP", "fp": "CLR_FP", "fn": "CLR_FN",
}  # fmt: skip
IDENTITY_FIELDS = {
    "idf1": "IDF1", "idp": "IDP", "idr": "IDR", "idtp": "IDTP", "idfp": "IDFP", "idfn": "IDFN",
}  # fmt: skip

Results = Mapping[str, Any]


def metrics() -> tuple[Any, Any, Any]:
    """TrackEval's three metrics, quiet."""
    quiet = {"PRINT_CONFIG": False}
    return HOTA(), CLEAR(quiet), Identity(quiet)


Arrays = tuple[Sequence[Floats], Sequence[NDArray[np.int64]]]
"""Boxes and contiguous ids of each frame."""


def to_reference(scene: Scene) -> dict[str, Any]:
    """A sequence as `eval_sequence` takes it."""
    sides = (split_frames(rows, scene.frames) for rows in (scene.truth, scene.prediction))
    return reference_data(scene, *sides)


def reference_data(scene: Scene, truth: Arrays, prediction: Arrays) -> dict[str, Any]:
    """The same from its frames, with their IoU."""
    return {
        "num_timesteps": scene.frames,
        "num_gt_ids": len(np.unique(scene.truth[:, 1])),
        "num_tracker_ids": len(np.unique(scene.prediction[:, 1])),
        "num_gt_dets": len(scene.truth),
        "num_tracker_dets": len(scene.prediction),
        "gt_ids": truth[1],
        "tracker_ids": prediction[1],
        "similarity_scores": [
            _BaseDataset._calculate_box_ious(a, b, box_format="x0y0x1y1")
            for a, b in zip(truth[0], prediction[0], strict=True)
        ],
    }


def split_frames(rows: Floats, frames: int) -> Arrays:
    """Rows of a scene by frame."""
    _, ids = np.unique(rows[:, 1], return_inverse=True)
    cuts = np.searchsorted(rows[:, 0], np.arange(1, frames))
    return np.split(rows[:, 2:], cuts), np.split(ids, cuts)


def under_our_names(results: Sequence[Results]) -> dict[str, float]:
    """Results of HOTA, CLEAR and Identity, in this order, as one table."""
    hota, clear, identity = results
    return (
        {ours: float(np.mean(hota[theirs])) for ours, theirs in HOTA_CURVES.items()}
        | {"hota_50": float(hota["HOTA"][9])}
        | {ours: float(hota[theirs]) for ours, theirs in HOTA_SINGLE.items()}
        | {ours: float(clear[theirs]) for ours, theirs in CLEAR_FIELDS.items()}
        | {ours: float(identity[theirs]) for ours, theirs in IDENTITY_FIELDS.items()}
    )


def forgets_frames(results: Sequence[Results]) -> bool:
    """Whether TrackEval left out the frames of this sequence: it has no truth or no predictions."""
    return bool(results[1]["CLR_Frames"] == 0)


def to_values(results: Sequence[Results]) -> dict[str, float]:
    """The table of one sequence, without the number that would need the forgotten frames."""
    values = under_our_names(results)
    if forgets_frames(results):
        del values["fp_per_frame"]
    return values
