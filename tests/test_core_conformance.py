"""What core itself offers keeps the laws that plugins are held to."""

import pytest

from rpx_core.testing import conformance

CHECKS = conformance(
    "rpx-core",
    allow_missing_extras=True,
    skip={
        "demo": "test_demo_data.py draws it, which takes long",
        "hub": "needs a network; test_hub_*.py have a hub of their own",
    },
)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()
