"""The task `monocular_depth`: metric depth of every pixel from one image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rpx_core.adapters import array_hint
from rpx_core.arrays import encode_npy, is_array_file, load_array
from rpx_core.contracts import Aligned, Frame, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError, kind_of
from rpx_core.files import Files
from rpx_core.frames import check_size, expected_size, image_of, load_sample
from rpx_core.image_formats import read_image_header
from rpx_core.images import decode_depth
from rpx_core.records import Record
from rpx_core.truth_maps import check_truth_metres, check_truth_size
from rpx_depth.adjustment import Adjustment
from rpx_depth.assets import check_magnitude, load_right_view
from rpx_depth.boundary import relative_boundary
from rpx_depth.options import DepthOptions
from rpx_depth.preview import draw_maps
from rpx_depth.regions import Crop, Region, valid_truth
from rpx_depth.resize import resize_depth
from rpx_depth.types import DepthGroundTruth, DepthPair, DepthPrediction


class MonocularDepthOptions(DepthOptions):
    """Where depth is evaluated, and what is done to predictions.

    `crop` leaves truth pixels out, as `min_depth` and `max_depth` do. `prediction_scale` is metres
    per unit of integer prediction files. A prediction of another size than the truth is a failed
    sample, unless `resize` says to interpolate it.
    """

    crop: Crop = "none"
    prediction_scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    resize: Literal["error", "bilinear"] = "error"


class MonocularDepth(Task[DepthGroundTruth, DepthPrediction]):
    """Depth in metres along the optical axis, for every pixel of one image.

    The truth decides alone what is evaluated: what a protocol's crop and range leave out is 0 in
    `ground_truth` from the start, so alignments and metrics see the same pixels.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".npy"
    suffixes: ClassVar[tuple[str, ...]] = (".npz", ".png", ".tif", ".tiff")

    def __init__(self, options: MonocularDepthOptions) -> None:
        self._options = options
        self._region = Region(options.crop, options.min_depth, options.max_depth)
        floor = options.nonpositive == "floor"
        self._adjustment = Adjustment(self._region, floor=floor, clamp=options.clamp)

    def load(self, record: Record, files: Files) -> Sample:
        """The image, its depth restricted to the protocol's region, and the right view if any."""
        truth = self._load_truth(record, files)
        sample = load_sample(record, files, ground_truth=DepthGroundTruth(truth))
        rgb = image_of(sample, "depth")
        where = f"sample {record.id}: depth {record.path_of('depth')}"
        check_size(where, truth.shape, rgb, f"rgb {record.rgb}")
        return replace(sample, query=load_right_view(record, files, rgb))

    def complete(self, sample: Sample) -> Sample:
        """The sample as it is; ManifestError for a truth not in metres or of another size."""
        check_truth_metres(sample, "depth_map")
        check_truth_size(sample, "depth_map")
        return sample

    def validate(self, prediction: Any, sample: Sample) -> DepthPrediction:
        """A float32 map of the truth's size that nobody else holds; accepts a bare array.

        Values are not judged: a pixel that is not finite or not positive is an abstention.
        """
        is_typed = isinstance(prediction, DepthPrediction)
        array = prediction.depth_map if is_typed else prediction
        height, width = expected_size(sample, "depth_map")
        if not isinstance(array, np.ndarray):
            what = "the depth_map of the prediction" if is_typed else "the prediction"
            wanted = "a numpy array" + ("" if is_typed else " or DepthPrediction")
            raise ModelError(
                f"sample {sample.id}: {what} is {kind_of(array)}; {wanted} was expected",
                hint=array_hint(array),
            )
        _check_map(array, sample, f"({height}, {width})")
        with np.errstate(over="ignore"):
            own = np.array(array, dtype=np.float32, order="C", copy=True, subok=False)
        if own.shape != (height, width):
            if self._options.resize == "error":
                raise ModelError(
                    f"sample {sample.id}: predicted depth is {own.shape}; the ground truth is "
                    f"({height}, {width})",
                    hint="resize in the model or adapter, or --set options.resize='\"bilinear\"'",
                )
            own = resize_depth(own, (height, width))
        return DepthPrediction(own)

    def align(
        self, method: str, frames: Sequence[Frame]
    ) -> Sequence[Aligned[DepthPrediction] | None]:
        """One fit over the frames given, then the floor and the clamp of the options.

        The facts are those of `Adjustment.adjust`.
        """
        return [
            None if one is None else Aligned(DepthPrediction(one.depth), one.facts, one.note)
            for one in self._adjustment.adjust(method, [_pair(frame) for frame in frames])
        ]

    def boundary(self, prediction: DepthPrediction, sample: Sample) -> NDArray[np.bool_]:
        """Where the predicted surface jumps by more than 10 % between neighbours."""
        return relative_boundary(prediction.depth_map)

    def perfect_prediction(self, sample: Sample) -> DepthPrediction:
        """The true depth; where there is none, an abstention."""
        return DepthPrediction(sample.ground_truth.depth_map.copy())

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, both depth maps in the same colours, and the relative error."""
        return draw_maps(frame.sample.rgb, _pair(frame))

    def write_prediction(self, prediction: DepthPrediction) -> bytes:
        """A `.npy` of the map as it is."""
        return encode_npy(prediction.depth_map)

    def read_prediction(self, data: bytes, name: str) -> DepthPrediction:
        """A map in metres from `.npy`, a single-array `.npz`, 16-bit PNG, or TIFF."""
        scale = self._options.prediction_scale if _holds_integers(data, name) else 1.0
        depth = decode_depth(data, name=name, scale=scale)
        if scale is None:
            raise ManifestError(
                f"{name}: holds integers, and nothing says how many metres one unit is",
                hint="--set options.prediction_scale=0.001 for millimetres",
            )
        return DepthPrediction(depth)

    def _load_truth(self, record: Record, files: Files) -> NDArray[np.float32]:
        name = record.path_of("depth")
        depth = decode_depth(files.read(name), name=name, scale=record.assets.get("depth_scale"))
        valid = valid_truth(depth, self._region)
        truth = np.where(valid, depth, np.float32(0))
        check_magnitude(truth, name)
        return truth


def _pair(frame: Frame) -> DepthPair:
    return DepthPair(frame.prediction.depth_map, frame.truth.depth_map)


def _check_map(array: NDArray[Any], sample: Sample, expected: str) -> None:
    if array.dtype.kind != "f":
        raise ModelError(
            f"sample {sample.id}: predicted depth has dtype {array.dtype}; float metres were "
            "expected",
            hint="whole numbers are mostly millimetres: divide by 1000",
        )
    if array.ndim != 2 or array.size == 0:
        raise ModelError(
            f"sample {sample.id}: predicted depth has shape {array.shape}; {expected} was expected"
        )


def _holds_integers(data: bytes, name: str) -> bool:
    if is_array_file(data, name=name):
        return load_array(data, name=name).dtype.kind in "iu"
    return not read_image_header(data, name=name).colour.startswith("float")
