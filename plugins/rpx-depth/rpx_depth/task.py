"""The task `monocular_depth`: metric depth of every pixel from one image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.arrays import encode_npy, is_array_file, load_array
from rpx_core.contracts import Aligned, Frame, Picture, Sample, Task
from rpx_core.errors import ConfigError, ManifestError, ModelError
from rpx_core.files import Files
from rpx_core.frames import load_intrinsics, load_rgb, load_sample
from rpx_core.image_formats import read_image_header
from rpx_core.images import decode_depth
from rpx_core.records import Record
from rpx_depth import alignment
from rpx_depth.boundary import relative_boundary
from rpx_depth.pixel_errors import Depth, is_depth
from rpx_depth.preview import draw_preview
from rpx_depth.regions import Region, clamp_prediction, floor_prediction, valid_truth
from rpx_depth.resize import resize_depth
from rpx_depth.types import DepthGroundTruth, DepthPrediction, DepthQuery


class MonocularDepthOptions(BaseModel):
    """Where depth is evaluated, and what is done to predictions.

    `crop`, `min_depth` and `max_depth` (metres, both ends included) leave truth pixels out;
    nothing of a prediction does. After alignment, `nonpositive = "floor"` raises every finite
    prediction below `min_depth` to it, so that zero and negative ones are answers instead of
    abstentions, and `clamp` moves answers into the depth range; both count the pixels they move.
    `prediction_scale` is metres per unit of integer prediction files. A prediction of another size
    than the truth is a failed sample, unless `resize` says to interpolate it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    crop: Literal["none", "garg", "eigen", "nyu-eigen"] = "none"
    min_depth: float | None = None
    max_depth: float | None = None
    clamp: bool = False
    nonpositive: Literal["abstain", "floor"] = "abstain"
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
        if options.nonpositive == "floor" and not options.min_depth:
            raise ConfigError(
                "options.nonpositive: `floor` needs a positive options.min_depth to raise to"
            )

    def load(self, record: Record, files: Files) -> Sample:
        """The image, its depth restricted to the protocol's region, and the right view if any."""
        truth = self._load_truth(record, files)
        sample = load_sample(
            record,
            files,
            ground_truth=DepthGroundTruth(truth),
            query=_load_query(record, files),
        )
        if sample.rgb is None:
            raise ManifestError(f"sample {record.id}: no `rgb` is listed; depth needs an image")
        _check_size(record, "depth", truth.shape, sample.rgb)
        if sample.query.rgb_right is not None:
            _check_size(record, "rgb_right", sample.query.rgb_right.shape[:2], sample.rgb)
        return sample

    def validate(self, prediction: Any, sample: Sample) -> DepthPrediction:
        """A float32 map of the truth's size that nobody else holds; accepts a bare array.

        Values are not judged: a pixel that is not finite or not positive is an abstention.
        """
        array = prediction.depth_map if isinstance(prediction, DepthPrediction) else prediction
        if not isinstance(array, np.ndarray):
            raise ModelError(
                f"sample {sample.id}: the prediction is a {type(array).__name__}; a numpy array "
                "or DepthPrediction was expected",
                hint="convert tensors with .cpu().numpy()",
            )
        if array.dtype.kind != "f":
            raise ModelError(
                f"sample {sample.id}: predicted depth has dtype {array.dtype}; float metres were "
                "expected",
                hint="whole numbers are mostly millimetres: divide by 1000",
            )
        truth: DepthGroundTruth = sample.ground_truth
        height, width = truth.depth_map.shape
        if array.ndim != 2 or array.size == 0:
            raise ModelError(
                f"sample {sample.id}: predicted depth has shape {array.shape}; ({height}, {width}) "
                "was expected"
            )
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

        Facts: scale and shift of the fit, `clipped` pixels capped at the far end of inverse depth,
        `floored` and `clamped` ones. The far cap is `max_depth`, else the largest true depth of
        the frames. A frame without any answer stays as it is: it needs no fit to be a failure.
        """
        if method == "none":
            return [self._finish(frame.prediction.depth_map, {}) for frame in frames]
        pairs = [
            alignment.Frame(frame.prediction.depth_map, frame.truth.depth_map) for frame in frames
        ]
        fitted = alignment.fit(method, pairs)
        if fitted is None:
            return [
                None if _is_usable(method, pair) else self._finish(pair.prediction, {})
                for pair in pairs
            ]
        far_cap = self._options.max_depth or max(float(pair.truth.max()) for pair in pairs)
        return [self._apply(fitted, pair.prediction, far_cap) for pair in pairs]

    def boundary(self, prediction: DepthPrediction, sample: Sample) -> NDArray[np.bool_]:
        """Where the predicted surface jumps by more than 10 % between neighbours."""
        return relative_boundary(prediction.depth_map)

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, both depth maps in the same colours, and the relative error."""
        return draw_preview(frame.sample.rgb, frame.truth.depth_map, frame.prediction.depth_map)

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
        name = _listed(record, "depth")
        depth = decode_depth(files.read(name), name=name, scale=record.assets.get("depth_scale"))
        valid = valid_truth(depth, self._region)
        return np.where(valid, depth, np.float32(0))

    def _apply(
        self, fitted: alignment.Fit, depth: Depth, far_cap: float
    ) -> Aligned[DepthPrediction]:
        aligned = alignment.apply(fitted, depth, far_cap=far_cap)
        facts = {"scale": fitted.scale, "shift": fitted.shift, "clipped": aligned.clipped}
        return self._finish(aligned.depth, facts)

    def _finish(self, depth: Depth, facts: Mapping[str, float]) -> Aligned[DepthPrediction]:
        facts = dict(facts)
        if self._options.nonpositive == "floor" and self._options.min_depth:
            raised = floor_prediction(depth, self._options.min_depth)
            depth, facts["floored"] = raised.depth, raised.floored
        if self._options.clamp:
            clamped = clamp_prediction(depth, self._region)
            facts["clamped"] = int(np.count_nonzero((clamped != depth) & is_depth(depth)))
            depth = clamped
        return Aligned(DepthPrediction(depth), facts)


def _load_query(record: Record, files: Files) -> DepthQuery:
    if not record.has("rgb_right"):
        return DepthQuery()
    intrinsics = None
    if record.has("intrinsics_right"):
        intrinsics = load_intrinsics(record.assets["intrinsics_right"], record, files)
    baseline = record.assets.get("baseline_m")
    if baseline is not None and not _is_length(baseline):
        raise ManifestError(
            f"sample {record.id}: baseline_m is {baseline!r}; a positive number of metres was "
            "expected"
        )
    return DepthQuery(load_rgb(_listed(record, "rgb_right"), files), intrinsics, baseline)


def _listed(record: Record, key: str) -> str:
    name = record.assets.get(key)
    if not isinstance(name, str):
        raise ManifestError(f"sample {record.id}: `{key}` must be the path of a file")
    return name


def _is_length(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value < float("inf")  # type: ignore[operator]  # a number, see above


def _check_size(record: Record, key: str, shape: tuple[int, ...], rgb: NDArray[np.uint8]) -> None:
    if shape == rgb.shape[:2]:
        return
    (height, width), (rows, columns) = shape, rgb.shape[:2]
    raise ManifestError(
        f"sample {record.id}: {key} {record.assets[key]} is {height}x{width}, but rgb "
        f"{record.rgb} is {rows}x{columns} (height x width)",
        hint="the two must show the same pixels; register them before listing them",
    )


def _holds_integers(data: bytes, name: str) -> bool:
    if is_array_file(data):
        return load_array(data, name=name).dtype.kind in "iu"
    return not read_image_header(data, name=name).colour.startswith("float")


def _is_usable(method: str, frame: alignment.Frame) -> bool:
    answered = np.isfinite if method in ("affine", "disparity") else is_depth
    return bool((is_depth(frame.truth) & answered(frame.prediction)).any())
