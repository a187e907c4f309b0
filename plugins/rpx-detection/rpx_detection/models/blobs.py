"""Detection and grounding by strong colours alone: no weights, no training, numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from rpx_core.contracts import Runtime, Sample
from rpx_core.errors import ModelError
from rpx_detection.boxes import Boxes
from rpx_detection.models.phrases import Phrase, Place, parse_phrase
from rpx_detection.models.regions import Region, find_regions
from rpx_detection.models.shapes import SHAPES, shape_fits
from rpx_detection.models.strong_colours import (
    COLOURS,
    PALE,
    Codes,
    Image,
    colour_table,
    name_strong_colours,
)
from rpx_detection.types import (
    DetectionPrediction,
    DetectionQuery,
    GroundingQuery,
    VisualGroundingPrediction,
)

_WORKING_WIDTH = 320
"""Larger images are thinned out to about this size first."""


class BlobsOptions(BaseModel):
    """What is a thing: `min_pixels` of one colour, with at most `gap_px` between its parts.

    Both are meant for an image 320 pixels wide. Things that fit a named shape worse than `min_fit`
    are not answered to an expression.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_pixels: Annotated[int, Field(ge=1)] = 60
    gap_px: Annotated[int, Field(ge=1)] = 6
    min_fit: Annotated[float, Field(ge=0, le=1)] = 0.05


@dataclass(frozen=True)
class Blob:
    """A thing of one colour: its box in pixels, its colour word, how sure, and its shapes."""

    box: tuple[float, float, float, float]
    colour: str
    confidence: float
    fits: dict[str, float]

    def fit(self, phrase: Phrase) -> float:
        """How well it is what a phrase names, places aside: 0 for another colour."""
        if phrase.colour not in (None, self.colour):
            return 0.0
        return 1.0 if phrase.shape is None else self.fits[phrase.shape]


class BlobFinder:
    """Finds blobs, and remembers those of the last image: expressions come several to a frame."""

    def __init__(self, options: BlobsOptions) -> None:
        self._options = options
        self._table: Codes | None = None
        self._last: tuple[tuple[tuple[int, ...], bytes] | None, list[Blob]] = (None, [])

    def setup(self) -> None:
        """Work out the colour word of every colour."""
        self._table = colour_table()

    def find(self, sample: Sample) -> list[Blob]:
        """The blobs of a sample's image, largest first."""
        if sample.rgb is None or self._table is None:
            raise ModelError(f"sample {sample.id}: blobs need an image, and setup() before it")
        content = (sample.rgb.shape, sample.rgb.tobytes())
        if content != self._last[0]:
            self._last = (content, self._search(sample.rgb, self._table))
        return self._last[1]

    def _search(self, rgb: Image, table: Codes) -> list[Blob]:
        step = max(1, round(max(rgb.shape[:2]) / _WORKING_WIDTH))
        codes = name_strong_colours(rgb[::step, ::step], table)
        regions = find_regions(codes, self._options.gap_px)
        regions = [region for region in regions if region.pixels >= self._options.min_pixels]
        blobs = []
        for region in _without_prints(regions):
            x0, y0, x1, y1 = (float(value * step) for value in region.box)
            x1, y1 = min(x1, rgb.shape[1]), min(y1, rgb.shape[0])
            colour = COLOURS[region.code - 1]
            confidence = region.pixels / (region.pixels + 200) * (0.4 if colour in PALE else 1.0)
            blobs.append(Blob((x0, y0, x1, y1), colour, confidence, shape_fits(region, codes)))
        return blobs


class BlobDetector:
    """Answers a blob for every thing of one strong colour, named by the outline it fits best.

    With a vocabulary, each blob gets every name there that its colour and shape fit; names with a
    noun other than a known shape, `object` or `thing` are never answered.
    """

    def __init__(self, options: BlobsOptions, task: str = "object_detection") -> None:
        self.task = task
        self._finder = BlobFinder(options)

    def setup(self) -> None:
        """Prepare the colour words."""
        self._finder.setup()

    def predict(self, batch: Sequence[Sample]) -> list[DetectionPrediction]:
        """The named blobs of each image."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> DetectionPrediction:
        query = sample.query
        vocabulary = query.vocabulary if isinstance(query, DetectionQuery) else ()
        phrases = {name: parse_phrase(name) for name in vocabulary or SHAPES}
        found = []
        for blob in self._finder.find(sample):
            best = max(blob.fits, key=blob.fits.__getitem__)
            for name, phrase in phrases.items():
                if phrase is not None and phrase.shape in (None, best) and blob.fit(phrase):
                    found.append((blob.box, blob.confidence * blob.fit(phrase), name))
        return DetectionPrediction(
            boxes=_as_boxes([box for box, _, _ in found]),
            scores=np.array([score for _, score, _ in found], np.float64),
            labels=tuple(name for _, _, name in found),
        )


class BlobGrounder:
    """Answers the blob that fits the colour, shape and place of an expression; none if none does.

    Places are leftmost, rightmost and closest, which is taken as lowest in the image.
    """

    task = "visual_grounding"

    def __init__(self, options: BlobsOptions) -> None:
        self._finder = BlobFinder(options)
        self._min_fit = options.min_fit

    def setup(self) -> None:
        """Prepare the colour words."""
        self._finder.setup()

    def predict(self, batch: Sequence[Sample]) -> list[VisualGroundingPrediction]:
        """One box, or none, per expression."""
        return [self._predict(sample) for sample in batch]

    def _predict(self, sample: Sample) -> VisualGroundingPrediction:
        if not isinstance(sample.query, GroundingQuery):
            raise ModelError(f"sample {sample.id}: an expression was expected as the query")
        phrase = parse_phrase(sample.query.text)
        fitting = [
            (blob, blob.fit(phrase))
            for blob in self._finder.find(sample)
            if phrase is not None and blob.fit(phrase) >= self._min_fit
        ]
        if phrase is None or not fitting:
            return VisualGroundingPrediction(_as_boxes([]), np.zeros(0))
        if phrase.place is None:
            best = max(fitting, key=lambda pair: pair[0].confidence * pair[1])[0]
        else:
            # A place is said of things that surely are what is named.
            sure = [blob for blob, fit in fitting if fit > 0.5] or [blob for blob, _ in fitting]
            vivid = [blob for blob in sure if blob.confidence > 0.2] or sure
            place = phrase.place
            best = max(vivid, key=lambda blob: _how_far(blob, place))
        return VisualGroundingPrediction(_as_boxes([best.box]), np.array([best.confidence]))


def load(options: BlobsOptions, runtime: Runtime) -> BlobDetector:
    """The detector, for any device."""
    return BlobDetector(options, runtime.task or "object_detection")


def load_grounder(options: BlobsOptions, runtime: Runtime) -> BlobGrounder:
    """The grounding model, for any device."""
    return BlobGrounder(options)


def _without_prints(regions: Sequence[Region]) -> list[Region]:
    """Regions without the pale ones inside others: labels, lids, what a mug holds."""
    return [
        region
        for region in regions
        if COLOURS[region.code - 1] not in PALE
        or not any(other.code != region.code and other.covers(region) for other in regions)
    ]


def _how_far(blob: Blob, place: Place) -> float:
    x0, _, x1, bottom = blob.box
    return {"left": -(x0 + x1), "right": x0 + x1, "near": bottom}[place]


def _as_boxes(boxes: Sequence[tuple[float, float, float, float]]) -> Boxes:
    return np.array(boxes, np.float64).reshape(-1, 4)
