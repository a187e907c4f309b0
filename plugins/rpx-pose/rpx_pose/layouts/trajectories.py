"""Dataset `trajectories`: a folder of reference trajectories, one sample for each file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from rpx_core.errors import ManifestError
from rpx_core.manifest import Manifest, build_manifest
from rpx_core.records import natural_key

_ENDINGS = (".txt", ".tum", ".kitti", ".csv")


class TrajectoriesOptions(BaseModel):
    """`root` holds the files, directly or in folders. A file ends in one of `references` before
    its own ending, as in `fr1_xyz-groundtruth.txt`; the part before it is the sample's id. Beside
    it, the same name with one of `times` holds timestamps, and with `estimates` an estimate.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    references: tuple[str, ...] = ("-groundtruth", "_groundtruth", "_gt", "-gt")
    times: tuple[str, ...] = ("-times", "_times")
    estimates: tuple[str, ...] = ("-estimate", "_estimate")


def open_trajectories(options: TrajectoriesOptions, cache: Path) -> Manifest:
    """Index every reference below the root, in natural order."""
    root = options.root.expanduser().resolve()
    if not root.is_dir():
        raise ManifestError(f"{options.root}: no such folder")
    names = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and path.suffix in _ENDINGS and not path.name.startswith(".")
    }
    records = [
        _record(name, names, options) for name in sorted(names, key=natural_key)
        if _stem(name, options.references) is not None
    ]  # fmt: skip
    if not records:
        raise ManifestError(
            f"{root}: no reference trajectory is there; names ending in "
            f"{', '.join(options.references)} before {', '.join(_ENDINGS)} were expected",
            hint="--set references='[\"_truth\"]' names others",
        )
    _check_ids(records)
    return build_manifest({"name": root.name, "task": "trajectory"}, records, root=root)


def _check_ids(records: list[dict[str, Any]]) -> None:
    first: dict[str, str] = {}
    for record in records:
        other = first.setdefault(record["id"], record["trajectory"])
        if other != record["trajectory"]:
            raise ManifestError(
                f"{other} and {record['trajectory']} are both references of {record['id']!r}",
                hint="rename one, or say which ending is a reference: "
                "--set references='[\"_groundtruth\"]'",
            )


def _record(name: str, names: set[str], options: TrajectoriesOptions) -> dict[str, Any]:
    stem = _stem(name, options.references) or name
    record = {"id": stem, "sequence": stem, "trajectory": name}
    for key, endings in (("timestamps", options.times), ("estimate", options.estimates)):
        found = [
            other
            for other in sorted(names)
            for base in (stem, Path(name).with_suffix("").as_posix())
            if any(other == f"{base}{end}{ending}" for end in endings for ending in _ENDINGS)
        ]
        if len(set(found)) > 1:
            raise ManifestError(f"{name}: both {found[0]} and {found[1]} could be its {key}")
        if found:
            record[key] = found[0]
    return record


def _stem(name: str, endings: tuple[str, ...]) -> str | None:
    base = Path(name).with_suffix("").as_posix()
    for ending in endings:
        if base.endswith(ending) and len(base) > len(ending):
            return base[: -len(ending)]
    return None
