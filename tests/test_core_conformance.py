"""What core itself offers keeps the laws that plugins are held to."""

import pytest

from rpx_core.testing import conformance

CHECKS = conformance("rpx-core", allow_missing_extras=True)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conformance(check):
    check()
