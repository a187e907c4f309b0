"""Classical features of OpenCV: SIFT, ORB and AKAZE, as matchers and as pose estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Runtime, Sample
from rpx_core.opencv import require_opencv
from rpx_pose.models.images import pair_cameras, pair_images
from rpx_pose.models.robust_pose import Estimator, estimate_by_magsac, estimate_by_poselib
from rpx_pose.types import KeypointCorrespondencePrediction, RelativePosePrediction

Image = NDArray[np.uint8]


class FeatureOptions(BaseModel):
    """How features are found and matched.

    At most `features` of an image. Matches are mutual nearest neighbours; with a `ratio` below 1
    the second nearest must be farther by that factor (Lowe).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    features: Annotated[int, Field(ge=8, le=100_000)] = 4000
    ratio: Annotated[float, Field(gt=0, le=1)] = 0.8


class FeaturePoseOptions(FeatureOptions):
    """The same, and within how many pixels of its epipolar line a match supports a pose."""

    threshold_px: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class FeatureMatcher:
    """Finds the matches of two images by one kind of feature."""

    def __init__(self, kind: str, options: FeatureOptions) -> None:
        self.kind = kind
        self._options = options
        self._detector: Any = None

    def setup(self) -> None:
        """Set up OpenCV's detector."""
        cv2 = require_opencv(self.kind.upper(), "rpx-pose[features]")
        cv2.setNumThreads(1)
        create: dict[str, Callable[[], Any]] = {
            "sift": lambda: cv2.SIFT.create(nfeatures=self._options.features),
            "orb": lambda: cv2.ORB.create(nfeatures=self._options.features),
            "akaze": lambda: cv2.AKAZE.create(max_points=self._options.features),
        }
        self._detector = create[self.kind]()

    def describe(self) -> dict[str, str]:
        """The OpenCV that does the work."""
        import cv2

        return {"opencv": cv2.__version__}

    def match(self, sample: Sample) -> KeypointCorrespondencePrediction:
        """Matches of both images, the surest first; scores are minus the descriptors' distance."""
        import cv2

        (points0, first), (points1, second) = (self._detect(image) for image in pair_images(sample))
        nothing = np.zeros((0, 2))
        if len(points0) < 2 or len(points1) < 2:
            return KeypointCorrespondencePrediction(nothing, nothing, np.zeros(0))
        matcher = cv2.BFMatcher(cv2.NORM_L2 if self.kind == "sift" else cv2.NORM_HAMMING)
        forward = matcher.knnMatch(first, second, k=2)
        back = {match.queryIdx: match.trainIdx for match in matcher.match(second, first)}
        kept = [
            best
            for best, other in (pair for pair in forward if len(pair) == 2)
            if best.distance <= self._options.ratio * other.distance
            and back[best.trainIdx] == best.queryIdx
        ]
        kept.sort(key=lambda match: (match.distance, match.queryIdx))
        return KeypointCorrespondencePrediction(
            points0[[match.queryIdx for match in kept]],
            points1[[match.trainIdx for match in kept]],
            np.array([-match.distance for match in kept], np.float64),
        )

    def _detect(self, image: Image) -> tuple[NDArray[np.float64], Any]:
        import cv2

        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        keypoints, descriptors = self._detector.detectAndCompute(grey, None)
        points = np.array([point.pt for point in keypoints], np.float64).reshape(-1, 2)
        return points, descriptors


class FeatureMatches:
    """A feature matcher as a model: mutual nearest neighbours, no geometry."""

    task = "keypoint_matching"

    def __init__(self, matcher: FeatureMatcher) -> None:
        self._matcher = matcher

    def setup(self) -> None:
        """Set up the detector."""
        self._matcher.setup()

    def describe(self) -> dict[str, str]:
        """The libraries that do the work."""
        return self._matcher.describe()

    def predict(self, batch: Sequence[Sample]) -> list[KeypointCorrespondencePrediction]:
        """The matches of each pair."""
        return [self._matcher.match(sample) for sample in batch]


class FeaturePose:
    """The relative pose from feature matches, by a robust estimator; up to scale."""

    task = "relative_camera_pose"

    def __init__(self, matcher: FeatureMatcher, estimate: Estimator, threshold_px: float) -> None:
        self._matcher = matcher
        self._estimate = estimate
        self._threshold_px = threshold_px

    def setup(self) -> None:
        """Set up the detector."""
        self._matcher.setup()

    def describe(self) -> dict[str, str]:
        """The libraries that do the work."""
        return self._matcher.describe()

    def predict(self, batch: Sequence[Sample]) -> list[RelativePosePrediction]:
        """The pose of each second camera, or none where too few matches agree."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> RelativePosePrediction:
        matches = self._matcher.match(sample)
        return self._estimate(matches, sample, pair_cameras(sample), self._threshold_px)


def load_sift(options: FeatureOptions, runtime: Runtime) -> FeatureMatches:
    """SIFT matches, on the CPU."""
    return FeatureMatches(FeatureMatcher("sift", options))


def load_orb(options: FeatureOptions, runtime: Runtime) -> FeatureMatches:
    """ORB matches, on the CPU."""
    return FeatureMatches(FeatureMatcher("orb", options))


def load_akaze(options: FeatureOptions, runtime: Runtime) -> FeatureMatches:
    """AKAZE matches, on the CPU."""
    return FeatureMatches(FeatureMatcher("akaze", options))


def load_sift_pose(options: FeaturePoseOptions, runtime: Runtime) -> FeaturePose:
    """SIFT and MAGSAC, on the CPU."""
    return FeaturePose(FeatureMatcher("sift", options), estimate_by_magsac, options.threshold_px)


def load_orb_pose(options: FeaturePoseOptions, runtime: Runtime) -> FeaturePose:
    """ORB and MAGSAC, on the CPU."""
    return FeaturePose(FeatureMatcher("orb", options), estimate_by_magsac, options.threshold_px)


def load_akaze_pose(options: FeaturePoseOptions, runtime: Runtime) -> FeaturePose:
    """AKAZE and MAGSAC, on the CPU."""
    return FeaturePose(FeatureMatcher("akaze", options), estimate_by_magsac, options.threshold_px)


def load_sift_poselib(options: FeaturePoseOptions, runtime: Runtime) -> FeaturePose:
    """SIFT and PoseLib's LO-RANSAC, on the CPU."""
    return FeaturePose(FeatureMatcher("sift", options), estimate_by_poselib, options.threshold_px)
