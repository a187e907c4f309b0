"""What is in prediction files of many samples and belongs to none of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from rpx_core.errors import ConfigError, first_few
from rpx_core.plan import Plan
from rpx_core.predictions import PredictionFolder
from rpx_core.records import natural_key


def warn_of_strangers(plan: Plan) -> Plan:
    """The plan, with a warning of files of many samples that speak of others than the data's.

    Raises ConfigError where such files speak of none that the data has: every sample would pass
    for one without predictions.
    """
    model, task = plan.resolved.model, plan.resolved.task
    if model.kind != "files" or model.reference is None or task.shared is None:
        return plan
    folder = PredictionFolder(Path(model.reference), task, model.files)
    spoken = {name: set(folder.answers(name).owners) for name in folder.shared}
    if not any(spoken.values()):
        return plan
    # A split or a limit leaves over what is in order.
    records = chain.from_iterable(map(plan.manifest.records, plan.manifest.sequences().values()))
    known = {owner for record in records if (owner := task.shared.owner(record)) is not None}
    _check_any_known(spoken, known, plan)
    strange = [name for name, owners in spoken.items() if owners - known]
    if not strange:
        return plan
    unknown = sorted(set().union(*spoken.values()) - known, key=natural_key)
    files = "prediction file {} has" if len(strange) == 1 else "prediction files {} have"
    warning = (
        f"{files.format(first_few(strange, 3))} predictions that belong to no sample: "
        f"{first_few(unknown, 3)}"
    )
    record = plan.record.model_copy(update={"warnings": (*plan.record.warnings, warning)})
    return replace(plan, job=replace(plan.job, record=record))


def _check_any_known(spoken: Mapping[str, set[str]], known: set[str], plan: Plan) -> None:
    owners = set().union(*spoken.values())
    if owners & known:
        return
    has = first_few(sorted(known, key=natural_key)) if known else "none that could be named so"
    listed, files = first_few(sorted(owners, key=natural_key)), first_few(list(spoken))
    raise ConfigError(
        f"{files}: has predictions of {listed}, but {plan.manifest.name} has {has}",
        hint="are these the predictions of another split? Manifests are written with what such "
        "files refer to by `rpx data index`",
    )
