"""The task `sparse_depth`: metric depth at given points of one image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rpx_core.adapters import array_hint
from rpx_core.contracts import Aligned, Frame, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.frames import image_of, load_sample
from rpx_core.magnitudes import PIXELS, find_absurd
from rpx_core.records import Record
from rpx_core.truth_maps import check_truth_metres
from rpx_depth.adjustment import Adjusted, Adjustment
from rpx_depth.assets import check_magnitude, load_numbers, load_right_view
from rpx_depth.options import DepthOptions
from rpx_depth.point_files import decode_points, encode_points
from rpx_depth.point_matching import match_points, matched_depths
from rpx_depth.points import as_points, is_inside
from rpx_depth.preview import draw_points
from rpx_depth.regions import Region, valid_truth
from rpx_depth.types import (
    DepthPair,
    SparseDepthGroundTruth,
    SparseDepthPrediction,
    SparseDepthQuery,
)

Numbers = NDArray[Any]


class SparseDepth(Task[SparseDepthGroundTruth, SparseDepthPrediction]):
    """Depth in metres along the optical axis at points that the model is given.

    The query holds all points; the truth decides alone which of them are evaluated: where nothing
    was measured, or what the depth range leaves out, its depth is 0.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".npz"
    suffixes: ClassVar[tuple[str, ...]] = (".npy", ".json")

    def __init__(self, options: DepthOptions) -> None:
        self._region = Region(min_depth=options.min_depth, max_depth=options.max_depth)
        floor = options.nonpositive == "floor"
        self._adjustment = Adjustment(self._region, floor=floor, clamp=options.clamp)

    def load(self, record: Record, files: Files) -> Sample:
        """The image, the points on it with their depths, and the right view if any."""
        sample = load_sample(record, files, ground_truth=None)
        rgb = image_of(sample, "depth")
        coordinates = _load_coordinates(record, files, rgb.shape[:2])
        depths = _load_depths(record, files)
        if len(depths) != len(coordinates):
            raise ManifestError(
                f"sample {record.id}: `coordinates` are {len(coordinates)} points, `depths` are "
                f"{len(depths)}; one depth per point was expected"
            )
        truth = np.where(valid_truth(depths, self._region), depths, 0).astype(np.float64)
        check_magnitude(truth, f"sample {record.id}: `depths`")
        view = load_right_view(record, files, rgb)
        return replace(
            sample,
            ground_truth=SparseDepthGroundTruth(coordinates, truth),
            # A copy: what a model scribbles on its query must not move the truth.
            query=SparseDepthQuery(**vars(view), coordinates=coordinates.copy()),
        )

    def complete(self, sample: Sample) -> Sample:
        """The query is the points of the ground truth, whose depths must be metres as floats."""
        check_truth_metres(sample, "depths")
        if sample.query is not None or sample.ground_truth is None:
            return sample
        points = as_points(np.asarray(sample.ground_truth.coordinates))
        if points is None:
            raise ManifestError(
                f"sample {sample.id}: the ground truth's coordinates are "
                f"{_kind(sample.ground_truth.coordinates)}; (N, 2), x and y in pixels, was expected"
            )
        return replace(sample, query=SparseDepthQuery(coordinates=points))

    def validate(self, prediction: Any, sample: Sample) -> SparseDepthPrediction:
        """Points and depths in float64 that nobody else holds.

        A bare array is the depths at the query's points, in their order. Depths are not judged:
        one that is not finite or not positive is an abstention. Coordinates must be finite.
        """
        where = f"sample {sample.id}"
        if not isinstance(prediction, SparseDepthPrediction):
            points = _asked_points(sample)
            depths = _own_depths(prediction, where)
            if len(depths) != len(points):
                raise ModelError(
                    f"{where}: {len(depths)} depths were predicted for {len(points)} points",
                    hint="one for each point of the query, NaN where there is no answer; "
                    "SparseDepthPrediction gives other points",
                )
            return SparseDepthPrediction(points.copy(), depths)
        points = _own_points(prediction.coordinates, where)
        depths = _own_depths(prediction.depths, where)
        if len(depths) != len(points):
            raise ModelError(
                f"{where}: the prediction has {len(points)} coordinates and {len(depths)} depths; "
                "one depth per point was expected"
            )
        return SparseDepthPrediction(points, depths)

    def align(
        self, method: str, frames: Sequence[Frame]
    ) -> Sequence[Aligned[SparseDepthPrediction] | None]:
        """One fit over the points that frames answer, then the floor and the clamp of the options.

        All predicted depths are aligned, at their own points. The facts are those of
        `Adjustment.adjust`.
        """
        adjusted = self._adjustment.adjust(method, [_pair_predicted(frame) for frame in frames])
        return [
            None if one is None else _aligned(frame.prediction.coordinates, one)
            for frame, one in zip(frames, adjusted, strict=True)
        ]

    def perfect_prediction(self, sample: Sample) -> SparseDepthPrediction:
        """The true depths at the true points."""
        truth: SparseDepthGroundTruth = sample.ground_truth
        return SparseDepthPrediction(truth.coordinates.copy(), truth.depths.copy())

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, then its points coloured by true and predicted depth, and by their error."""
        points = frame.truth.coordinates
        if frame.sample.rgb is None:
            return ()
        answers = matched_depths(points, frame.prediction)
        return draw_points(frame.sample.rgb, points, DepthPair(answers, frame.truth.depths))

    def write_prediction(self, prediction: SparseDepthPrediction) -> bytes:
        """A `.npz` of `coordinates` and `depths`, as they are."""
        return encode_points(prediction)

    def read_prediction(self, data: bytes, name: str) -> SparseDepthPrediction | Numbers:
        """Points and depths from such a `.npz` or a `.json` object of both.

        An array alone, in `.npy` or a `.json` list, is the depths at the query's points.
        """
        return decode_points(data, name)


def _asked_points(sample: Sample) -> NDArray[np.float64]:
    """The points that depths are asked at; raises ModelError where nothing says which."""
    asked = sample.query if sample.ground_truth is None else sample.ground_truth
    if asked is None:
        raise ModelError(
            f"sample {sample.id} has neither ground truth nor query, so no depths fit it",
            hint="give the sample one of them, or predict a SparseDepthPrediction with its points",
        )
    points: NDArray[np.float64] = asked.coordinates
    return points


def _aligned(
    coordinates: NDArray[np.float64], adjusted: Adjusted
) -> Aligned[SparseDepthPrediction]:
    prediction = SparseDepthPrediction(coordinates, adjusted.depth)
    return Aligned(prediction, adjusted.facts, adjusted.note)


def _pair_predicted(frame: Frame) -> DepthPair:
    """Each predicted depth with the truth that it answers, 0 where it answers none."""
    truth, prediction = frame.truth, frame.prediction
    answers = match_points(truth.coordinates, prediction)
    answered = np.zeros(len(prediction.depths))
    answered[answers[answers >= 0]] = truth.depths[answers >= 0]
    return DepthPair(prediction.depths, answered)


def _load_coordinates(record: Record, files: Files, shape: tuple[int, ...]) -> NDArray[np.float64]:
    where = f"sample {record.id}: `coordinates`"
    numbers = load_numbers(record, files, "coordinates")
    points = as_points(numbers)
    if points is None:
        raise ManifestError(
            f"{where} are {_kind(numbers)}; numbers (N, 2), x and y in pixels, were expected"
        )
    outside = np.flatnonzero(~is_inside(points, shape))
    if outside.size:
        (x, y), (height, width) = points[outside[0]], shape
        swapped = is_inside(points[:, ::-1], shape).all()
        raise ManifestError(
            f"{where}: point {outside[0]}, x {x:g} and y {y:g}, lies outside the image, "
            f"{width} wide and {height} high ({outside.size} of {len(points)} points do)",
            hint="x is the column and comes first: rows and columns seem to be swapped"
            if swapped
            else "the centre of the first pixel is 0, 0, that of the last "
            f"{width - 1}, {height - 1}",
        )
    return points


def _load_depths(record: Record, files: Files) -> Numbers:
    depths = load_numbers(record, files, "depths")
    if depths.dtype.kind != "f" or depths.ndim != 1:
        raise ManifestError(
            f"sample {record.id}: `depths` are {_kind(depths)}; float metres (N,) were expected",
            hint="whole numbers are mostly millimetres: divide by 1000"
            if depths.dtype.kind in "iu"
            else None,
        )
    return depths


def _own_points(value: object, where: str) -> NDArray[np.float64]:
    points = as_points(value) if isinstance(value, np.ndarray) else None
    if points is None:
        raise ModelError(
            f"{where}: predicted coordinates are {_kind(value)}; an array of numbers (N, 2), x and "
            "y in pixels, was expected"
        )
    lost = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if lost.size:
        raise ModelError(
            f"{where}: predicted coordinate {lost[0]} is {points[lost[0]]}, which is no place",
            hint="leave out points without an answer, or say NaN for their depth",
        )
    absurd = find_absurd(points, PIXELS)
    if absurd is not None:
        raise ModelError(f"{where}: one of the predicted coordinates {absurd}")
    return points


def _own_depths(value: object, where: str) -> NDArray[np.float64]:
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.ndim != 1:
        raise ModelError(
            f"{where}: predicted depths are {_kind(value)}; an array of float metres (N,) or a "
            "SparseDepthPrediction was expected",
            hint="whole numbers are mostly millimetres: divide by 1000"
            if isinstance(value, np.ndarray)
            else array_hint(value),
        )
    return np.array(value, dtype=np.float64, order="C", subok=False)


def _kind(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return f"{kind_of(value)}"
