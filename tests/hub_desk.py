"""A small repository on a local hub, fetched without waiting between attempts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rpx_core.hub.client import Client
from rpx_core.hub.failures import Patience
from rpx_core.hub.fetch import Access, Fetched, Query, fetch, open_repository
from rpx_core.hub.origin import choose_origin
from tests.hub_sets import make_tar
from tests.local_hub import LocalHub

REPO = "me/tiny"
DEPTH_KEYS = frozenset({"rgb", "depth"})


def plain_files(frames: int = 5, scene: str = "scene001") -> dict[str, bytes]:
    """The early layout: frames of one scene and phase, and a manifest for depth that lists them."""
    files: dict[str, bytes] = {}
    samples = []
    for number in range(frames):
        entry = {"id": f"{scene}_clutter_{number}", "scene": scene, "phase": 0}
        for key in ("rgb", "depth"):
            path = f"scenes/{scene}/0/{key}/{number:05d}.png"
            files[path] = f"{path} ".encode() * 400
            entry[key] = path
        samples.append(entry)
    return files | {"manifests/monocular_depth/hard.json": manifest_of(samples)}


def packed_files(members: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """The released layout: two frames in archives; `members` replace those of `rgb.tar`."""
    phase = "scenes/scene001/0"
    frames = ("00000", "00001")
    samples = [
        {
            "id": f"scene001__0__{frame}",
            "scene_id": "scene001",
            "phase": 0,
            "frame_idx": int(frame),
            "rgb": f"extracted/{phase}/rgb/{frame}.webp",
            "depth": f"extracted/{phase}/depth/{frame}.png",
        }
        for frame in frames
    ]
    rgb = members or {f"rgb/{frame}.webp": f"rgb {frame}".encode() for frame in frames}
    depth = {f"depth/{frame}.png": f"depth {frame}".encode() for frame in frames}
    poses = {f"cam_pose/{frame}.npy": f"pose {frame}".encode() for frame in frames}
    return {
        f"{phase}/rgb.tar": make_tar(rgb),
        f"{phase}/depth.tar": make_tar(depth),
        f"{phase}/fisheye.tar": make_tar({"fisheye/left/00000.webp": b"left"}),
        f"{phase}/labels/cam_pose/v1.tar": make_tar(poses),
        "manifests/monocular_depth/hard.json": manifest_of(samples),
    }


def manifest_of(samples: list[dict[str, Any]]) -> bytes:
    return json.dumps({"task": "monocular_depth", "samples": samples}).encode()


def start_download() -> subprocess.Popen[str]:
    """A download of the depth of the hard split, in a process of its own."""
    arguments = ("data", "download", "--task", "monocular_depth", "--split", "hard", "--json")
    return subprocess.Popen(
        [sys.executable, "-m", "rpx_core.cli", *arguments, "--repo", REPO],
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass
class Desk:
    """Fetches from a hub into one cache."""

    hub: LocalHub
    cache: Path
    waits: list[float] = field(default_factory=list)
    attempts: int = 3
    workers: int = 8

    def fetch(self, revision: str = "main", **query: Any) -> Fetched:
        """What depth needs of the hard split."""
        origin = choose_origin(REPO, revision)
        client = Client(origin, Patience(attempts=self.attempts, sleep=self.waits.append))
        wish = {"task": "monocular_depth", "split": "hard", "keys": DEPTH_KEYS, **query}
        access = Access(self.cache, self.workers, client=client)
        return fetch(open_repository(origin, access), Query(**wish))

    def cached(self) -> set[str]:
        """Names of what is visible of any commit, less what describes it."""
        commits = self.cache / "hub" / "me%2Ftiny" / "commits"
        found = (path.relative_to(commits).parts[1:] for path in commits.glob("*/scenes/**/*"))
        return {
            "/".join(parts)
            for parts, path in zip(found, commits.glob("*/scenes/**/*"), strict=True)
            if path.is_file() and not path.name.startswith(".")
        }

    def left_over(self) -> list[str]:
        """What lies where files come in."""
        incoming = self.cache / "hub" / "me%2Ftiny" / "incoming"
        return sorted(path.name for path in incoming.iterdir()) if incoming.is_dir() else []
