"""Learned models keep the laws of models: batch invariance, blindness, seeds, on tiny networks."""

from __future__ import annotations

import pytest

from rpx_core.conformance.bench import Settings
from rpx_core.conformance.laws import NO_EXCUSES, Verdict, perform
from rpx_core.conformance.package import open_package
from rpx_core.conformance.suite import plan_checks
from tests.workshop import Workshop, needs_torchvision

LAWS = {
    "target and options can be imported, are documented",
    "what it needs is here",
    "it can be built and set up",
    "one valid prediction per sample",
    "it does not ask for the truth",
    "predicting changes no sample",
    "predictions do not depend on the batch",
    "it has no memory, or reset() clears it",
    "the same seed gives the same predictions",
    "describe() and close() work",
}
CHECKPOINTS = [
    ("rpx-depth", "hf", "dpt"),
    ("rpx-depth", "hf-points", "dpt"),
    ("rpx-depth", "depth_anything_v2_metric_indoor_small", "depth_anything"),
    ("rpx-depth", "depth_anything_v2_metric_indoor_small-points", "depth_anything"),
    pytest.param("rpx-depth", "zoedepth_nyu", "zoedepth", marks=needs_torchvision),
    ("rpx-seg", "hf", "mask2former"),
    ("rpx-seg", "hf", "segformer"),
    ("rpx-seg", "hf", "detr_panoptic"),
    ("rpx-detection", "hf", "detr"),
    ("rpx-detection", "hf", "rt_detr"),
    ("rpx-detection", "hf", "owlv2"),
    ("rpx-detection", "hf", "grounding_dino"),
]
BACKBONES = ("timm", "timm-dense", "timm-pose")


@pytest.mark.parametrize(("package", "model", "kind"), CHECKPOINTS)
def test_a_model_with_weights_keeps_the_laws(
    workshop: Workshop, package: str, model: str, kind: str
) -> None:
    given = {model: {"checkpoint": str(workshop.checkpoint(kind))}}
    keep_laws(package, model, Settings(options=given))


@pytest.mark.parametrize("model", BACKBONES)
def test_a_backbone_with_random_weights_keeps_the_laws(model: str) -> None:
    pytest.importorskip("timm", reason="`nox -s models` has it")
    keep_laws("rpx-pose", model, Settings())


def keep_laws(package: str, model: str, settings: Settings) -> None:
    """These laws of models at least, and nothing skipped."""
    plan = plan_checks(open_package(package), settings)
    checks = [check for check in plan.checks if check.subject == f"model {model}"]
    outcomes = list(perform(checks, NO_EXCUSES))
    assert [o for o in outcomes if o.verdict is not Verdict.PASSED] == []
    assert LAWS - {outcome.law for outcome in outcomes} == set()
