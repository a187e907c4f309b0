"""What tasks of two images have in common."""

from __future__ import annotations

PAIR_ASSETS = ("rgb_b", "intrinsics_b", "pose_a", "pose_b")
FEATURES = ("sift", "orb", "akaze")
"""Classical features, each with a matcher and an estimator of poses."""
