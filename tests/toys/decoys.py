"""Plugins whose entry modules are light and whose model modules are as slow as torch."""

from __future__ import annotations

from tests.toys.site import ToySite

ENTRY = """
@hookimpl
def rpx_models():
    return [model("decoy-{number}", target="decoy_{number}_model:load")]


@hookimpl
def rpx_metrics():
    return [metric("decoy-error-{number}")]
"""
MODEL = "import time\n\ntime.sleep(2)\n"
# About as long as a real README, which pip copies into METADATA.
DESCRIPTION = "\n\n" + "A paragraph of the description of this decoy.\n" * 300


def add_decoys(site: ToySite, count: int) -> None:
    """Plugins named `rpx-decoy-00` and so on, each with a model, a metric and a requirement."""
    for number in range(count):
        label = f"{number:02}"
        site.plugin(
            f"rpx-decoy-{label}",
            ENTRY.format(number=label),
            metadata="Requires-Python: >=3.11\nRequires-Dist: rpx-core>=0.1" + DESCRIPTION,
        )
        site.module(f"decoy_{label}_model", MODEL)
