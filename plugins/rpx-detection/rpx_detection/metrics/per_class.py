"""Average precision and recall of each class that is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import numpy as np
from pydantic import Field

from rpx_core.contracts import Output, ResultMap
from rpx_core.errors import ConfigError
from rpx_detection.average_precision import ClassScores
from rpx_detection.metrics.average_precision import RankedMetric
from rpx_detection.metrics.rules import DetectionAPOptions
from rpx_detection.ranked_list import RankedList


class PerClassOptions(DetectionAPOptions):
    """The `classes` that get numbers of their own, by their labels; the rest as for AP."""

    classes: Annotated[tuple[str, ...], Field(min_length=1)]


class DetectionPerClass(RankedMetric):
    """AP and recall of each class listed in the options, computed as `DetectionAP` does.

    `ap_<class>` and `ar_<class>` for every listed class, and `objects_<class>`, how many objects
    stand behind them; <class> is the label in lower case with `_` for all but letters and digits.
    0 to 1, higher is better. Outputs have to be known before the data is, so the classes are an
    option; labels that are not listed get no number here and change none.

    A class without objects is undefined, whatever was detected: it is neither 0 nor 1.

    Trap: the number of a class with few objects moves far by chance; read `objects_<class>`.
    """

    def __init__(self, options: PerClassOptions) -> None:
        super().__init__(options.rules())
        self._names = _output_names(options.classes)
        self.outputs: Mapping[str, Output] = MappingProxyType(_outputs(self._names))

    def result(self, state: RankedList) -> ResultMap:
        """The outputs of one image, or of all images whose lists were joined."""
        scores = self._rules.score(state)
        places = {label: place for place, label in enumerate(scores.classes.tolist())}
        values: dict[str, float | None] = {}
        for label, name in self._names.items():
            values |= _class_values(scores, places.get(label), name)
        return values


def _class_values(scores: ClassScores, place: int | None, name: str) -> dict[str, float | None]:
    objects = 0 if place is None else int(scores.objects[place, 0])
    if place is None or not objects:
        return {f"ap_{name}": None, f"ar_{name}": None, f"objects_{name}": objects}
    return {
        f"ap_{name}": float(np.mean(scores.precision[place, 0])),
        f"ar_{name}": float(np.mean(scores.recall[-1, place, 0])),
        f"objects_{name}": objects,
    }


def _output_names(classes: tuple[str, ...]) -> dict[str, str]:
    """Output name by label; raises ConfigError where two labels would share one."""
    names = {label: re.sub(r"[^a-z0-9]+", "_", label.casefold()).strip("_") for label in classes}
    if "" in names.values() or len(set(names.values())) < len(classes):
        raise ConfigError(
            f"metric detection-per-class: the classes {', '.join(map(repr, classes))} do not have "
            "names of their own",
            hint="labels must differ in their letters a to z and digits, not only in case",
        )
    return names


def _outputs(names: Mapping[str, str]) -> dict[str, Output]:
    outputs = {}
    for label, name in names.items():
        for kind, summary in (("ap", "average precision"), ("ar", "recall")):
            outputs[f"{kind}_{name}"] = Output(
                better="higher",
                best=1.0,
                worst=0.0,
                headline="pooled",
                aggregates=("pooled", "group"),
                summary=f"{summary} of class {label}, mean over the IoU thresholds",
            )
        outputs[f"objects_{name}"] = Output(
            better=None,
            headline="pooled",
            aggregates=("pooled",),
            summary=f"objects of class {label}",
        )
    return outputs
