"""What the tests of the engine share: one toy plugin for each process, a fresh folder each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rpx_core.host import Host
from tests.toys.bench import Bench, toy_plugin
from tests.toys.lab import Lab, open_lab, toy_samples


@pytest.fixture(scope="session")
def toy_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host that knows the toy plugin."""
    with toy_plugin(tmp_path_factory.mktemp("toys") / "site") as host:
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
