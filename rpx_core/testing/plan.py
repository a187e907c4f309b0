"""The checks of a package as things that a parametrised test calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rpx_core.conformance.bench import Settings
from rpx_core.conformance.laws import Check, Excuses, NotCheckedError
from rpx_core.conformance.package import open_package
from rpx_core.conformance.suite import plan_checks


@dataclass(frozen=True)
class PlannedCheck:
    """One check, and which skips are accepted."""

    check: Check
    excuses: Excuses

    def __call__(self) -> None:
        """Raise ConformanceError unless the law holds; skip the test where that is accepted."""
        reason = self.excuses.reason(self.check)
        if reason is not None:
            pytest.skip(reason)
        try:
            self.check.run()
        except NotCheckedError as error:
            explanation = self.excuses.explanation(self.check, error)
            if explanation is None:
                raise
            pytest.skip(explanation)

    def __str__(self) -> str:
        return str(self.check)


def plan(
    package: str | Path,
    *,
    allow_missing_extras: bool,
    data: Sequence[str],
    options: Mapping[str, Mapping[str, Any]],
    skip: Mapping[str, str],
) -> list[PlannedCheck]:
    """Every check of a package, in order."""
    excuses = Excuses(allow_missing_extras, skip)
    planned = plan_checks(open_package(package), Settings(tuple(data), options), excuses)
    return [PlannedCheck(check, planned.excuses) for check in planned.checks]
