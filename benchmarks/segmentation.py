"""How long the segmentation kernels take on one frame, against the tools that people publish with.

    python benchmarks/segmentation.py [--repeat 20]

Times, on 480x640 maps of ellipses: the confusion matrix of 40 classes against torchmetrics' default
call (and without its checks), scikit-learn and a plain numpy.bincount, once more where every pixel
differs from its neighbour; panoptic quality, also of ragged outlines and large ids, against
panopticapi's algorithm in plain form, which starts from colours, and from ids; boundary F against
scikit-image's dilation with a disk; mask AP of 40 frames against pycocotools. Each group runs in
this process on one thread, taking turns, so that ratios hold when the machine is busy. Prints
medians, ratios and whether the numbers agree; fails when they do not. Peers that are not installed
are left out: torch, torchmetrics, scikit-learn, scikit-image, pycocotools.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Read by OpenBLAS when numpy is first imported, hence before it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from timing import compare, make_parser, require_agreement, time_in_turns

from rpx_core.boundaries import label_boundary, near
from rpx_core.contracts import Sample
from rpx_core.state import fold
from rpx_seg.boundaries import tolerance_px
from rpx_seg.classes import ClassOptions
from rpx_seg.confusion import tabulate
from rpx_seg.metrics.precision import MaskAveragePrecision
from rpx_seg.overlaps import count_pairs, overlap_segments
from rpx_seg.panoptic import match_segments, quality
from rpx_seg.types import SegmentationGroundTruth, SegmentationPrediction

# The plain forms of the peers live beside the parity check.
sys.path.insert(0, str(Path(__file__).parents[1] / "plugins" / "rpx-seg" / "parity"))
import panoptic_reference

Ids = NDArray[np.int32]
Implementation = Callable[[], Any]

SHAPE = (480, 640)
CLASSES = 40
SEGMENTS = 40
FRAMES = 40
BACKGROUND = 100_000
TOLERANCE = 1e-12


def ellipses(rng: np.random.Generator, count: int) -> Ids:
    """Labels 1 to `count`, one in front of another, on a background of 0."""
    labels = np.zeros(SHAPE, np.int32)
    rows, columns = np.ogrid[: SHAPE[0], : SHAPE[1]]
    for label in range(1, count + 1):
        (y, x), (high, wide) = rng.uniform(0, SHAPE), rng.lognormal(np.log(40), 0.5, 2)
        labels[((rows - y) / high) ** 2 + ((columns - x) / wide) ** 2 <= 1] = label
    return labels


def disturb(labels: Ids, rng: np.random.Generator) -> Ids:
    """The same map, moved a little, with some labels swapped."""
    moved = np.roll(labels, tuple(rng.integers(-3, 4, 2)), axis=(0, 1))
    names = np.arange(labels.max() + 1, dtype=np.int32)
    swapped = np.flatnonzero(rng.random(names.size) < 0.1)
    swapped = swapped[swapped > 0]
    names[swapped] = rng.permutation(swapped)
    return names[moved]


def fray(labels: Ids, rng: np.random.Generator, reach: int = 3) -> Ids:
    """The same map with outlines as ragged as those of a network's masks."""
    steps = rng.integers(-reach, reach + 1, (2, *SHAPE))
    rows, columns = np.indices(SHAPE) + steps
    return labels[rows.clip(0, SHAPE[0] - 1), columns.clip(0, SHAPE[1] - 1)]


def is_installed(*modules: str) -> bool:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    return not missing


def confusion_peers(truth: Ids, prediction: Ids) -> dict[str, Implementation]:
    def plain() -> NDArray[np.int64]:
        valid = (truth >= 0) & (truth < CLASSES)
        index = truth[valid].astype(np.int64) * CLASSES + prediction[valid]
        return np.bincount(index, minlength=CLASSES**2).reshape(CLASSES, CLASSES)

    peers: dict[str, Implementation] = {
        "rpx_seg": lambda: tabulate(count_pairs(truth, prediction), range(CLASSES)).matrix,
        "plain bincount": plain,
    }
    if is_installed("torch", "torchmetrics"):
        import torch
        from torchmetrics.functional.classification import multiclass_confusion_matrix

        torch.set_num_threads(1)
        tensors = torch.from_numpy(prediction), torch.from_numpy(truth)

        def matrix(*, checked: bool) -> NDArray[np.int64]:
            found = multiclass_confusion_matrix(*tensors, CLASSES, validate_args=checked)
            return np.asarray(found)

        peers["torchmetrics"] = lambda: matrix(checked=True)
        peers["torchmetrics unchecked"] = lambda: matrix(checked=False)
    if is_installed("sklearn"):
        from sklearn.metrics import confusion_matrix

        flat = truth.reshape(-1), prediction.reshape(-1)
        peers["scikit-learn"] = lambda: confusion_matrix(*flat, labels=range(CLASSES))
    return peers


def panoptic_peers(truth: Ids, prediction: Ids) -> dict[str, Implementation]:
    def ours() -> NDArray[np.float64]:
        matches = match_segments(overlap_segments(truth, prediction))
        counts = matches.rows.size, matches.missed.size, matches.false.size
        found = quality(float(matches.iou.sum()), *counts)
        return np.array([found["pq"], found["sq"], found["rq"]], np.float64)

    names = tuple(
        dict.fromkeys(np.unique(labels[labels > 0]).tolist(), "thing")
        for labels in (truth, prediction)
    )
    # 0 is void to panopticapi; the background is an id that is no segment.
    true = np.where(truth == 0, BACKGROUND, truth).astype(np.uint32)
    predicted = prediction.astype(np.uint32)

    colours = [panoptic_reference.id_to_rgb(ids) for ids in (true, predicted)]

    def theirs(true: NDArray[np.uint32], predicted: NDArray[np.uint32]) -> NDArray[np.float64]:
        totals: dict[str, panoptic_reference.Counts] = {}
        panoptic_reference.accumulate(totals, true, predicted, names)
        return np.array(list(panoptic_reference.average(totals).values()))

    return {
        "rpx_seg": ours,
        "panopticapi's algorithm": lambda: theirs(
            *(panoptic_reference.rgb_to_id(picture) for picture in colours)
        ),
        "the same, from ids": lambda: theirs(true, predicted),
    }


def boundary_peers(truth: Ids, prediction: Ids) -> dict[str, Implementation]:
    first, second = label_boundary(truth), label_boundary(prediction)
    radius = tolerance_px(SHAPE)
    peers: dict[str, Implementation] = {
        "rpx_seg": lambda: np.array(
            [near(first, second, radius).sum(), near(second, first, radius).sum()]
        )
    }
    if is_installed("skimage"):
        from skimage.morphology import dilation, disk

        def theirs() -> NDArray[np.int64]:
            grown = [dilation(one.astype(np.uint8), disk(radius)) > 0 for one in (second, first)]
            return np.array([(first & grown[0]).sum(), (second & grown[1]).sum()])

        peers["scikit-image"] = theirs
    return peers


def coco_peers(frames: list[tuple[Ids, Ids]]) -> dict[str, Implementation]:
    metric = MaskAveragePrecision(ClassOptions())
    rng = np.random.default_rng(1)
    scores = [rng.random(SEGMENTS + 1).tolist() for _ in frames]

    def ours() -> NDArray[np.float64]:
        states = [
            metric.measure(
                Sample(str(number)),
                SegmentationGroundTruth(truth),
                SegmentationPrediction(prediction, dict(enumerate(score))),
            )
            for number, ((truth, prediction), score) in enumerate(zip(frames, scores, strict=True))
        ]
        total = fold([state for state in states if state is not None])
        values = metric.result(total) if total is not None else {}
        return np.array([values[name] for name in ("ap", "ap50", "ap75")], np.float64)

    peers: dict[str, Implementation] = {"rpx_seg": ours}
    if is_installed("pycocotools"):
        peers["pycocotools"] = lambda: pycocotools_ap(frames, scores)
    return peers


def pycocotools_ap(frames: list[tuple[Ids, Ids]], scores: list[list[float]]) -> NDArray[np.float64]:
    import contextlib
    import io

    from pycocotools import mask as rle
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def entries(labels: Ids, image: int) -> list[dict[str, Any]]:
        return [
            {
                "image_id": image,
                "category_id": 1,
                "segmentation": rle.encode(np.asfortranarray(labels == segment)),
                "area": int((labels == segment).sum()),
                "iscrowd": 0,
                "segment": segment,
            }
            for segment in np.unique(labels[labels > 0]).tolist()
        ]

    truths = [entry for i, (truth, _) in enumerate(frames, 1) for entry in entries(truth, i)]
    found = [
        entry | {"score": scores[i - 1][entry["segment"]]}
        for i, (_, prediction) in enumerate(frames, 1)
        for entry in entries(prediction, i)
    ]
    data = COCO()
    data.dataset = {
        "images": [{"id": i, "height": SHAPE[0], "width": SHAPE[1]} for i in range(1, FRAMES + 1)],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": [entry | {"id": i} for i, entry in enumerate(truths, 1)],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        data.createIndex()
        evaluation = COCOeval(data, data.loadRes(found), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return np.asarray(evaluation.stats[:3])


def differ(found: Any, expected: Any) -> float:
    return float(np.abs(np.subtract(found, expected)).max())


def main() -> None:
    repeat = make_parser(__doc__, repeat=20).parse_args().repeat
    rng = np.random.default_rng(0)
    scenes = [ellipses(rng, SEGMENTS) for _ in range(FRAMES)]
    frames = [(scene, disturb(scene, rng)) for scene in scenes]
    classes = [frames[0][0] % CLASSES, frames[0][1] % CLASSES]
    noise = list(rng.integers(0, CLASSES, (2, *SHAPE), dtype=np.int32))
    groups = {
        f"confusion matrix, {CLASSES} classes": (confusion_peers(*classes), repeat),
        f"confusion matrix, {CLASSES} classes of noise": (confusion_peers(*noise), repeat),
        f"panoptic quality, {SEGMENTS} segments": (panoptic_peers(*frames[0]), repeat),
        f"panoptic quality, {SEGMENTS} ragged segments of large ids": (
            panoptic_peers(1009 * frames[0][0], 1009 * fray(frames[0][0], rng)),
            repeat,
        ),
        "boundary F, both directions": (boundary_peers(*frames[0]), repeat),
        f"mask AP, {FRAMES} frames": (coco_peers(frames), 3),
    }
    for title, (peers, times) in groups.items():
        print(f"\n{title}")
        # All find their inputs in the cache.
        found = time_in_turns(peers, times, warm=True)
        require_agreement(compare(found, "rpx_seg", differ), TOLERANCE)


if __name__ == "__main__":
    main()
