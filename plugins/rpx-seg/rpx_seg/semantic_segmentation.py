"""The task `semantic_segmentation`: the class of every pixel of one image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.boundaries import label_boundary
from rpx_core.contracts import Aligned, Frame, Picture, Sample, Task
from rpx_core.errors import ConfigError, ManifestError, ModelError, first_few
from rpx_core.files import Files
from rpx_core.frames import expected_size, image_of, load_sample
from rpx_core.records import Record
from rpx_seg.labels import VOID_NAMES, find_classes
from rpx_seg.loading import (
    Resize,
    check_mask,
    check_sizes,
    check_truth,
    load_depth,
    load_mask,
    make_void,
)
from rpx_seg.mask_files import SUFFIXES, decode_mask, encode_classes
from rpx_seg.preview import draw_classes
from rpx_seg.taxonomy import HIGHEST_CLASS, ClassId, ClassMap, map_classes
from rpx_seg.types import LabelMap, SemanticGroundTruth, SemanticPrediction, SemanticQuery

DEFAULT_IGNORED = 255
"""What most datasets store where nothing is annotated."""


class SemanticSegmentationOptions(BaseModel):
    """Which classes there are, what is not judged, and how ids are translated.

    `classes` are ids by name; by default the dataset's own (`labels`, else `classes.json`).
    True pixels with an id in `ignore` are void, predicted ones abstain; by default 255 and the
    class that the dataset calls unlabelled, void or ignore. `truth_map` and `prediction_map`
    translate ids into those of `classes` first: `{"8" = 2, "*" = 0}`; with a `truth_map` the
    dataset's own names no longer apply. A prediction of another size than the image is a failed
    sample, unless `resize` says to scale it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    classes: dict[Annotated[str, Field(min_length=1)], ClassId] | None = None
    ignore: tuple[ClassId, ...] | None = None
    truth_map: ClassMap = Field(default_factory=dict)
    prediction_map: ClassMap = Field(default_factory=dict)
    resize: Resize = "error"


class SemanticSegmentation(Task[SemanticGroundTruth, SemanticPrediction]):
    """A class id for every pixel.

    Predictions are kept and saved in their own taxonomy; aligning translates them.
    """

    version: ClassVar[str] = "1"
    suffix: ClassVar[str] = ".png"
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def __init__(self, options: SemanticSegmentationOptions) -> None:
        self._options = options

    def load(self, record: Record, files: Files) -> Sample:
        """The image with its class map, the names of classes, and depth to follow them by."""
        name = record.path_of("semantic")
        stored = load_mask(record, "semantic", files)
        if stored.max() > HIGHEST_CLASS:
            raise ManifestError(
                f"{name}: holds the class id {stored.max()}; ids up to {HIGHEST_CLASS} are read"
            )
        classes = self._find_classes(record, files, name)
        void = self._find_void(classes)
        mask = map_classes(stored, self._options.truth_map)
        _check_truth(mask, void, classes, name)
        depth = load_depth(record, files)
        known = {i: label for i, label in classes.items() if i not in void}
        sample = load_sample(
            record,
            files,
            ground_truth=SemanticGroundTruth(make_void(mask, void), known, void, depth),
            query=SemanticQuery(dict(known)),
        )
        check_sizes(record, image_of(sample, "segmentation"), {"semantic": mask, "depth": depth})
        return sample

    def complete(self, sample: Sample) -> Sample:
        """The query is the classes that the ground truth names; raises as `check_truth`."""
        check_truth(sample)
        if sample.query is not None or sample.ground_truth is None:
            return sample
        return replace(sample, query=SemanticQuery(dict(sample.ground_truth.classes)))

    def validate(self, prediction: Any, sample: Sample) -> SemanticPrediction:
        """An int32 map of the image's size that nobody else holds; accepts a bare array.

        Where the dataset names its classes, the translated prediction holds no other.
        """
        raw = prediction.mask if isinstance(prediction, SemanticPrediction) else prediction
        truth: SemanticGroundTruth | None = sample.ground_truth
        mask = check_mask(raw, sample, expected_size(sample, "mask"), self._options.resize)
        if mask.max() > HIGHEST_CLASS:
            raise ModelError(
                f"sample {sample.id}: predicted class {mask.max()}; ids go up to {HIGHEST_CLASS}"
            )
        if truth is not None and truth.classes:
            used = np.unique(map_classes(mask, self._options.prediction_map)).tolist()
            strange = [i for i in used if i not in truth.classes and i not in truth.void]
            if strange:
                raise ModelError(
                    f"sample {sample.id}: predicted class {strange[0]} is none of the dataset's: "
                    f"{_list_classes(truth.classes)}",
                    hint="translate ids with options.prediction_map",
                )
        return SemanticPrediction(mask)

    def align(
        self, method: str, frames: Sequence[Frame]
    ) -> Sequence[Aligned[SemanticPrediction] | None]:
        """Predictions in the taxonomy of the truth, -1 where they answer with an ignored id."""
        return [
            Aligned(
                SemanticPrediction(
                    make_void(
                        map_classes(frame.prediction.mask, self._options.prediction_map),
                        frame.truth.void,
                    )
                )
            )
            for frame in frames
        ]

    def boundary(self, prediction: SemanticPrediction, sample: Sample) -> NDArray[np.bool_]:
        """Where the predicted class changes to the right or below."""
        return label_boundary(prediction.mask)

    def perfect_prediction(self, sample: Sample) -> SemanticPrediction:
        """The true classes; void pixels, which no answer changes, get a class that exists."""
        truth: SemanticGroundTruth = sample.ground_truth
        somewhere = max(0, int(truth.mask.max(initial=0)))
        return SemanticPrediction(np.where(truth.mask >= 0, truth.mask, somewhere))

    def preview(self, frame: Frame) -> Sequence[Picture]:
        """The image, both class maps in the same colours, and the wrong pixels."""
        truth: SemanticGroundTruth = frame.truth
        return draw_classes(frame.sample.rgb, truth.mask, frame.prediction.mask, truth.classes)

    def write_prediction(self, prediction: SemanticPrediction) -> bytes:
        """A PNG of class ids, 8 or 16 bits deep."""
        return encode_classes(prediction.mask)

    def read_prediction(self, data: bytes, name: str) -> SemanticPrediction:
        """A class map from PNG, TIFF or a numpy file."""
        return SemanticPrediction(decode_mask(data, name=name))

    def _find_classes(self, record: Record, files: Files, name: str) -> Mapping[int, str]:
        if self._options.classes is not None:
            return {i: label for label, i in self._options.classes.items()}
        return {} if self._options.truth_map else find_classes(record, files, name)

    def _find_void(self, classes: Mapping[int, str]) -> frozenset[int]:
        unnamed = {i for i, label in classes.items() if label.strip().lower() in VOID_NAMES}
        if self._options.ignore is None:
            # An id that names a class is that class.
            return frozenset(unnamed | ({DEFAULT_IGNORED} - set(classes)))
        for i in self._options.ignore:
            if i in classes and i not in unnamed:
                raise ConfigError(
                    f"options.ignore: {i} is the class {classes[i]!r}; leaving its pixels out "
                    "hides every false positive on them",
                    hint="to leave a class out of the mean only, use the metric's option `exclude`",
                )
        return frozenset(self._options.ignore)


def _check_truth(
    mask: LabelMap, void: frozenset[int], classes: Mapping[int, str], name: str
) -> None:
    values = np.unique(mask).tolist()
    if classes:
        strange = [i for i in values if i not in classes and i not in void]
        if strange:
            raise ManifestError(
                f"{name}: holds class {strange[0]}, which is none of {_list_classes(classes)}",
                hint="complete the list of classes, or translate ids with options.truth_map",
            )
    elif values == [0, DEFAULT_IGNORED] and DEFAULT_IGNORED in void:
        raise ManifestError(
            f"{name}: holds 0 and 255 alone; with 255 ignored, one class would be left",
            hint="if 255 is foreground, --set 'options.truth_map={255 = 1}'; if it is void, name "
            "the classes in `labels`",
        )


def _list_classes(classes: Mapping[int, str]) -> str:
    return first_few([f"{i} {label}" for i, label in sorted(classes.items())])
