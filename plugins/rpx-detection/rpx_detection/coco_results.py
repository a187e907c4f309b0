"""COCO results, one list for all images, as one prediction file per sample.

    python -m rpx_detection.coco_results RESULTS.json --annotations INSTANCES.json --output DIR
    rpx score --task object_detection --protocol coco-1 --data manifest.json --predictions DIR

A result is `{"image_id", "category_id", "bbox": [x, y, width, height], "score"}`. Every annotated
image gets a file, also one without results: no detection is an answer.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from rpx_core.atomic import write_atomic
from rpx_core.documents import read_json
from rpx_core.errors import ManifestError, RPXError, first_few
from rpx_core.files import quote
from rpx_core.predictions import file_stem
from rpx_detection.coco_files import LIMIT, Annotations, read_annotations
from rpx_detection.prediction_files import write_detections
from rpx_detection.types import DetectionPrediction


@click.command(help=__doc__.partition("\n")[0])
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--annotations", required=True, type=click.Path(path_type=Path))
@click.option("--output", required=True, type=click.Path(path_type=Path))
def main(results: Path, annotations: Path, output: Path) -> None:
    """Convert a results file."""
    try:
        count = convert(results, annotations, output)
    except RPXError as error:
        click.echo(error, err=True)
        sys.exit(error.exit_code)
    click.echo(f"wrote {output}: {count} files")


def convert(results: Path, annotations: Path, output: Path) -> int:
    """Write a prediction file for every annotated image; returns how many.

    Raises ManifestError for results of images or categories that the annotations do not have,
    naming up to ten: scoring what is left would be a wrong number.
    """
    found = read_annotations(annotations)
    listed = read_json(results, limit=LIMIT)
    if not isinstance(listed, list):
        raise ManifestError(f"{results}: a list of results was expected")
    by_image: dict[int, list[dict[str, Any]]] = {image: [] for image in found.images}
    _check_ids(results, "image_id", listed, found.images)
    _check_ids(results, "category_id", listed, found.categories)
    for number, result in enumerate(listed):
        _check_numbers(result, f"{results}: result {number}")
        by_image[result["image_id"]].append(result)
    for image, own in by_image.items():
        path = output / f"{file_stem(found.sample_id(image))}.json"
        write_atomic(path, write_detections(_as_prediction(own, found)))
    return len(by_image)


def _check_ids(path: Path, key: str, listed: Sequence[Any], known: Any) -> None:
    for number, result in enumerate(listed):
        if not isinstance(result, dict) or key not in result:
            raise ManifestError(f"{path}: result {number} has no {key}")
    unknown = [
        value for result in listed if type(value := result[key]) is not int or value not in known
    ]
    if unknown:
        kinds = ", ".join(sorted({type(value).__name__ for value in unknown}))
        few = first_few(list(dict.fromkeys(map(quote, unknown))))
        raise ManifestError(
            f"{path}: {len(unknown)} results have a {key} that is not annotated: {few} ({kinds})",
            hint=f"annotated are int: {first_few(list(map(str, known)))}",
        )


def _check_numbers(result: dict[str, Any], where: str) -> None:
    box, score = result.get("bbox"), result.get("score")
    numbers = [*box, score] if isinstance(box, list) and len(box) == 4 else [None]
    if not all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        for value in numbers
    ):
        raise ManifestError(f"{where}: bbox [x, y, width, height] and score must be numbers")


def _as_prediction(results: Sequence[dict[str, Any]], found: Annotations) -> DetectionPrediction:
    boxes = np.array([result["bbox"] for result in results], np.float64).reshape(-1, 4)
    return DetectionPrediction(
        boxes=np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1),
        scores=np.array([result["score"] for result in results], np.float64),
        labels=tuple(found.categories[result["category_id"]] for result in results),
    )


if __name__ == "__main__":
    main()
