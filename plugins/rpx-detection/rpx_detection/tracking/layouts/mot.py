"""Layout `mot`: MOTChallenge sequences, `<sequence>/{seqinfo.ini,gt/gt.txt,img1/}`."""

from __future__ import annotations

import configparser
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from rpx_core.documents import read_text
from rpx_core.errors import ManifestError, first_few
from rpx_core.files import Files
from rpx_core.folders import list_folders, open_root
from rpx_core.manifest import Manifest, build_manifest
from rpx_detection.tracking.mot import parse_mot

_INFO = "seqinfo.ini"
_TRUTH = "gt/gt.txt"
_DETECTIONS = "det/det.txt"


class MotOptions(BaseModel):
    """`root` holds the sequences, such as `MOT17/train`.

    MOT17 has every sequence three times, once for each detector; `detector` keeps one of them.
    Images may be missing, for scoring files of results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    detector: Literal["DPM", "FRCNN", "SDP"] | None = None


@dataclass(frozen=True)
class _Sequence:
    """What `seqinfo.ini` says of a sequence."""

    name: str
    length: int
    images: str
    ending: str
    rate: float | None


def open_mot(options: MotOptions, cache: Path) -> Manifest:
    """Index every sequence that has ground truth, a record per frame; frames count from 1."""
    root = open_root(options.root)
    folders = [path for path in list_folders(root) if (path / _INFO).is_file()]
    if options.detector is not None:
        folders = [path for path in folders if path.name.endswith(f"-{options.detector}")]
    files = Files(root)
    _check_info(root, options.detector)
    records = [
        record
        for folder in folders
        if (folder / _TRUTH).is_file()
        for record in _index_sequence(folder.name, files)
    ]
    if not records:
        raise ManifestError(
            f"{root}: holds no sequence with ground truth; <sequence>/{_INFO} beside "
            f"<sequence>/{_TRUTH} was expected",
            hint="the test sets of MOTChallenge have no public ground truth",
        )
    header = {"name": root.parent.name if root.name == "train" else root.name}
    header |= {"task": "object_tracking"}
    return build_manifest(header, records, root=root, known=("detections",))


def _check_info(root: Path, detector: str | None) -> None:
    """A sequence with ground truth that does not say its length would be lost in silence."""
    lost = [
        path.name
        for path in list_folders(root)
        if (path / _TRUTH).is_file() and not (path / _INFO).is_file()
        if detector is None or path.name.endswith(f"-{detector}")
    ]
    if lost:
        raise ManifestError(
            f"{root}: {first_few(lost)} have {_TRUTH} but no {_INFO}, which says how many frames "
            "there are",
            hint=f"add {_INFO} with a section [Sequence] and seqLength, or move the folder away",
        )


def _index_sequence(folder: str, files: Files) -> list[dict[str, Any]]:
    sequence = _read_info(folder, files)
    truth = f"{folder}/{_TRUTH}"
    _check_frames(truth, sequence, files)
    shared: dict[str, Any] = {
        "scene": sequence.name,
        "sequence": sequence.name,
        "tracks": truth,
        "checksums": {truth: files.digest(truth)},
        "metadata": {"frames": [1, sequence.length]}
        | ({} if sequence.rate is None else {"frame_rate": sequence.rate}),
    }
    if (files.root / folder / _DETECTIONS).is_file():
        shared["detections"] = f"{folder}/{_DETECTIONS}"
    images = f"{folder}/{sequence.images}"
    has_images = (files.root / images).is_dir()
    records = []
    for frame in range(1, sequence.length + 1):
        record = {"id": f"{sequence.name}_{frame:06d}", "frame": frame, **shared}
        if has_images:
            record["rgb"] = f"{images}/{frame:06d}{sequence.ending}"
        records.append(record)
    return records


def _read_info(folder: str, files: Files) -> _Sequence:
    name = f"{folder}/{_INFO}"
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(files.read(name), source=name))
        table = parser["Sequence"]
        length = int(table["seqLength"])
        rate = table.get("frameRate")
        found = _Sequence(
            folder,
            length,
            table.get("imDir", "img1"),
            table.get("imExt", ".jpg"),
            None if rate is None else float(rate),
        )
    except (configparser.Error, KeyError, ValueError) as error:
        raise ManifestError(
            f"{name}: a section [Sequence] with a whole seqLength was expected: {error}"
        ) from error
    if length < 1:
        raise ManifestError(f"{name}: seqLength is {length}; at least one frame was expected")
    return found


def _check_frames(truth: str, sequence: _Sequence, files: Files) -> None:
    """Every line of the truth must belong to a frame, or its object would be lost in silence."""
    frames = parse_mot(files.read(truth), truth).frame
    if len(frames) and (frames[0] < 1 or frames[-1] > sequence.length):
        raise ManifestError(
            f"{truth}: has lines for frames {frames[0]} to {frames[-1]}, but seqinfo.ini says "
            f"frames 1 to {sequence.length}",
            hint="frames of MOTChallenge files count from 1",
        )
