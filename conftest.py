"""What the tests of core and of every plugin share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytest_plugins = ["rpx_core.testing"]

# Their assertions say what they compared, as those in test modules do.
pytest.register_assert_rewrite("tests.commands", "tests.plugin_checks")

# A loaded machine is not a bug: examples have no deadline. The rest stays as Hypothesis chose it,
# which differs under continuous integration.
settings.register_profile("rpx", settings(deadline=None))
settings.load_profile("rpx")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip browser tests where there is no Chromium; continuous integration must have one."""
    if CHROMIUM or os.environ.get("CI"):
        return
    missing = pytest.mark.skip(reason="no Chromium: apt-get install chromium libatomic1")
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(missing)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests generate is made anew, and the user's own cache stays as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RPX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def chromium_page() -> Iterator[Page]:
    """A page of a headless Chromium, 1280 x 800, closed after the test."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser.new_page(viewport={"width": 1280, "height": 800})
        browser.close()
