"""Average precision and recall of each class that is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from rpx_core.contracts import Output, ResultMap
from rpx_core.errors import ConfigError
from rpx_core.outputs import are_distinct, count, output_name
from rpx_core.ranking.means import ranked_share
from rpx_core.ranking.ranked_list import RankedList
from rpx_detection.metrics.average_precision import RankedMetric
from rpx_detection.metrics.rules import DetectionAPOptions


class PerClassOptions(DetectionAPOptions):
    """The `classes` that get numbers of their own, by their labels; the rest as for AP."""

    classes: Annotated[tuple[str, ...], Field(min_length=1)]


class DetectionPerClass(RankedMetric):
    """AP and recall of each class listed in the options, computed as `DetectionAP` does.

    `ap_<class>` and `ar_<class>` for every listed class, and `objects_<class>`, how many objects
    stand behind them; <class> is the label in lower case with `_` for all but letters and digits.
    0 to 1, higher is better. Outputs have to be known before the data is, so the classes are an
    option; labels that are not listed get no number here and change none.

    A class without objects is undefined, whatever was detected: it is neither 0 nor 1. Shapes,
    source and what raises are those of `DetectionAP`; building it raises ConfigError for classes
    whose names would be one.

    Trap: the number of a class with few objects moves far by chance; read `objects_<class>`.
    """

    def __init__(self, options: PerClassOptions) -> None:
        if not are_distinct(options.classes):
            raise ConfigError(
                f"metric detection-per-class: the classes {', '.join(map(repr, options.classes))} "
                "do not have names of their own",
                hint="labels must differ in their letters a to z and digits, not only in case",
            )
        super().__init__(options.rules(), options.area)
        self._classes = options.classes
        self.outputs: Mapping[str, Output] = MappingProxyType(_outputs(options.classes))

    def result(self, state: RankedList) -> ResultMap:
        """The outputs of one image, or of all images whose lists were joined."""
        scores = self._rules.score(state)
        values: dict[str, float | None] = {}
        for label in self._classes:
            values[output_name("ap", label)] = scores.precision_of(label)
            values[output_name("ar", label)] = scores.recall_of(label)
            values[output_name("objects", label)] = scores.objects_of(label)
        return values


def _outputs(classes: Sequence[str]) -> dict[str, Output]:
    outputs = {}
    for label in classes:
        for kind, summary in (("ap", "average precision"), ("ar", "recall")):
            outputs[output_name(kind, label)] = ranked_share(
                f"{summary} of class {label}, mean over the IoU thresholds"
            )
        outputs[output_name("objects", label)] = count(
            f"objects of class {label}", aggregates=("pooled",)
        )
    return outputs
