"""The task `keypoint_matching`: which pixels of two images show the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from rpx_core.arrays import encode_npz, load_arrays
from rpx_core.contracts import Frame, Picture, Sample, Task
from rpx_core.errors import ManifestError, ModelError
from rpx_core.files import Files
from rpx_core.records import Record
from rpx_pose.matches import check_matches, read_matches
from rpx_pose.previews.match_lines import draw_match_lines
from rpx_pose.tasks.correspondences import load_correspondences
from rpx_pose.tasks.pairing import (
    is_pair,
    join,
    load_pair,
    load_relative_pose,
    second_image,
)
from rpx_pose.tasks.resizing import resize_pair
from rpx_pose.types import (
    KeypointCorrespondenceGroundTruth,
    KeypointCorrespondencePrediction,
    KeypointQuery,
)


class KeypointMatchingOptions(BaseModel):
    """`shorter_side_px` resizes every image before anything sees it; errors are in its pixels."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shorter_side_px: Annotated[int, Field(ge=16, le=4096)] | None = None


class KeypointMatching(Task[KeypointCorrespondenceGroundTruth, KeypointCorrespondencePrediction]):
    """Pixels (n, 2), x and y, of a first image and of the same points in a second.

    Records that are pairs are taken as they are; a frame with `correspondences` makes a pair with
    the next of its sequence.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".npz"

    def __init__(self, options: KeypointMatchingOptions) -> None:
        self._options = options

    def arrange(self, records: Sequence[Record], files: Files) -> Sequence[Record]:
        """Listed pairs, then the other frames that have correspondences, each with the next."""
        frames = [record for record in records if not is_pair(record)]
        listed = [record for record in records if is_pair(record)]
        made = [join(a, b) for a, b in pairwise(frames) if a.has("correspondences")]
        return [*listed, *made]

    def load(self, record: Record, files: Files) -> Sample:
        """Both images, true matches, and the relative pose where both cameras have one."""
        sample = load_pair(record, files, ground_truth=None)
        truth = replace(
            load_correspondences(record, files, sample),
            relative_pose=load_relative_pose(record, files),
        )
        sample = replace(sample, ground_truth=truth)
        if self._options.shorter_side_px is not None:
            sample = resize_pair(sample, self._options.shorter_side_px)
        points0 = sample.ground_truth.points0.copy()
        query = KeypointQuery(sample.query.rgb_b, sample.query.intrinsics_b, points0=points0)
        return replace(sample, query=query)

    def complete(self, sample: Sample) -> Sample:
        """The query is the second image, `metadata["rgb_b"]`, and the points of the first."""
        pair = second_image(sample)
        if sample.query is not None or sample.ground_truth is None or pair is None:
            return sample
        points0 = sample.ground_truth.points0.copy()
        return replace(sample, query=KeypointQuery(pair.rgb_b, pair.intrinsics_b, points0=points0))

    def validate(self, prediction: Any, sample: Sample) -> KeypointCorrespondencePrediction:
        """Matches as float64 arrays that nobody else holds; accepts a mapping or a tuple.

        Matches that are not finite are left out: they are no answer. None is no match at all.
        """
        try:
            return check_matches(read_matches(prediction))
        except ModelError as error:
            raise ModelError(
                f"sample {sample.id}: the predicted matches: {error.message}", hint=error.hint
            ) from error

    def perfect_prediction(self, sample: Sample) -> KeypointCorrespondencePrediction:
        """The true matches of the points that both images show."""
        truth: KeypointCorrespondenceGroundTruth = sample.ground_truth
        seen = slice(None) if truth.visibility is None else truth.visibility
        return KeypointCorrespondencePrediction(truth.points0[seen], truth.points1[seen])

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """Both images with true matches, and with predicted ones coloured by their error."""
        return draw_match_lines(frame.sample, frame.truth, frame.prediction)

    def write_prediction(self, prediction: KeypointCorrespondencePrediction) -> bytes:
        """A `.npz` with points0, points1 and, where there are any, scores."""
        arrays = {"points0": prediction.points0, "points1": prediction.points1}
        if prediction.scores is not None:
            arrays["scores"] = prediction.scores
        return encode_npz(arrays)

    def read_prediction(self, data: bytes, name: str) -> KeypointCorrespondencePrediction:
        """Matches from such a file; numbers of any type."""
        arrays: Mapping[str, Any] = load_arrays(data, name=name, require=("points0", "points1"))
        try:
            return read_matches(arrays)
        except ModelError as error:
            raise ManifestError(f"{name}: {error.message}", hint=error.hint) from error
