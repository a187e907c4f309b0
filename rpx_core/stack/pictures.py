"""Pictures of the worst samples of a stack, drawn from the saved predictions when it reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rpx_core.contracts import Answer, Picture
from rpx_core.errors import RPXError
from rpx_core.frames import load_rgb
from rpx_core.guard import guarded
from rpx_core.manifest import Manifest
from rpx_core.previews import WorstKeeper, find_pictures
from rpx_core.report import Failure, Results, Row
from rpx_core.stack.answers import sample_of
from rpx_core.stack.join import Joined
from rpx_core.stack.plan import StackPlan
from rpx_core.worst import Candidate


def draw_worst(plan: StackPlan, results: Results) -> Results:
    """The results with pictures of their worst samples, where the primary metric can draw.

    What was drawn before stays, unless there is data now to find images in.
    """
    shown = results.report.worst[: plan.config.execution.previews]
    joined = {one.id: one for frames in plan.sequences.values() for one in frames}
    keeper = WorstKeeper(plan.directory / "previews", len(shown), lower_is_better=False)
    for sample in shown:
        if plan.manifest is None and sample.pictures:
            continue
        pictures = guarded("measure", partial(_draw, plan, joined[sample.id]))
        # A picture that cannot be made is no reason to lose a number.
        if pictures and not isinstance(pictures, Failure):
            keeper.keep(Candidate(sample.id, sample.id, sample.value), pictures)
    worst = tuple(
        sample.model_copy(update={"pictures": find_pictures(plan.directory, sample.id)})
        for sample in results.report.worst
    )
    return replace(results, report=results.report.model_copy(update={"worst": worst}))


def _draw(plan: StackPlan, joined: Joined) -> Sequence[Picture]:
    use = plan.uses[plan.primary[0]]
    preview = getattr(use.metric, "preview", None)
    if preview is None:
        return ()
    answers = {}
    for task in use.tasks:
        answer = plan.readers[task].read(joined.rows[task])
        if not isinstance(answer, Answer):
            return ()
        answers[task] = answer
    row = joined.rows[use.tasks[0]]
    rgb = None if plan.manifest is None else _find_image(plan.manifest, row)
    pictures: Sequence[Picture] = preview(replace(sample_of(row), rgb=rgb), answers)
    return pictures


def _find_image(manifest: Manifest, row: Row) -> NDArray[np.uint8] | None:
    """The image that the runs saw; None where the data has another one, or none to read."""
    entries = [entry for entry in manifest.entries if entry.id == row.id]
    files = manifest.files
    try:
        for record in manifest.records(entries):
            if record.rgb is not None and files.digest(record.rgb) == row.rgb_digest:
                return load_rgb(record.rgb, files)
    except RPXError:
        # The picture is drawn without its background.
        return None
    return None
