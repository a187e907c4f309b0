"""What the tests of the engine share: one toy plugin for each process, a fresh folder each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rpx_core.host import Host
from tests.local_hub import LocalHub, local_hub
from tests.toys.bench import Bench
from tests.toys.lab import TOYS, Lab, open_lab, toy_samples
from tests.toys.stack_bench import DEPTH, MASKS, STACK_TOYS, StackBench


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """A hub on this machine that this process, and what it starts, takes for the real one."""
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "RPX_HF_REPO", "RPX_HF_REVISION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("RPX_CACHE_DIR", str(tmp_path / "cache"))
    with local_hub() as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


@pytest.fixture(scope="module")
def toy_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host that knows the toy plugin."""
    with TOYS.installed(tmp_path_factory.mktemp("toys") / "site") as host:
        yield host


@pytest.fixture
def bench(tmp_path: Path, toy_host: Host) -> Bench:
    """A bench with a manifest of toy samples."""
    made = Bench(tmp_path, toy_host)
    made.write_set()
    return made


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A lab with a manifest of toy samples, for commands in fresh processes."""
    made = open_lab(tmp_path / "lab")
    made.write_manifest(toy_samples())
    return made


@pytest.fixture(scope="module")
def stack_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host that knows the toy tasks of a stack."""
    with STACK_TOYS.installed(tmp_path_factory.mktemp("stack") / "site") as host:
        yield host


@pytest.fixture
def stack_bench(tmp_path: Path, stack_host: Host) -> StackBench:
    """A stack bench with two scenes of two phases of two frames."""
    made = StackBench(tmp_path, stack_host)
    made.write_set()
    return made


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, stack_host: Host) -> StackBench:
    """The same for tests that leave its data and runs as they are."""
    made = StackBench(tmp_path_factory.mktemp("shelf"), stack_host)
    made.write_set()
    return made


@pytest.fixture(scope="module")
def masks(shelf: StackBench) -> Path:
    """A run of the masks on the shelf."""
    return shelf.run(MASKS)


@pytest.fixture(scope="module")
def depth(shelf: StackBench) -> Path:
    """A run of the depth on the shelf."""
    return shelf.run(DEPTH)
