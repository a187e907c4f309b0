"""All checks of a package, in the order in which a reader wants to hear of them."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from rpx_core.conformance.adapters import adapter_checks
from rpx_core.conformance.bench import Bench, Settings
from rpx_core.conformance.datasets import dataset_checks
from rpx_core.conformance.entry import package_checks
from rpx_core.conformance.laws import NO_EXCUSES, Check, Excuses, Outcome, Verdict, perform, require
from rpx_core.conformance.metrics import metric_checks
from rpx_core.conformance.models import model_checks
from rpx_core.conformance.package import Package
from rpx_core.conformance.protocols import protocol_checks
from rpx_core.conformance.reporters import reporter_checks
from rpx_core.conformance.statement import read_statement, refuse_idle_options
from rpx_core.conformance.tasks import task_checks
from rpx_core.isolation import load_target
from rpx_core.offers import Kind, Offer
from rpx_core.parts import load_options_class

_CHECKS: Mapping[Kind, Callable[[Offer[Any], Bench], Iterator[Check]]] = MappingProxyType(
    {
        "task": task_checks,
        "metric": metric_checks,
        "adapter": adapter_checks,
        "model": model_checks,
        "dataset": dataset_checks,
        "protocol": protocol_checks,
        "reporter": reporter_checks,
    }
)
NOTHING_GIVEN = Settings()


@dataclass(frozen=True)
class Conformance:
    """What became of all checks of a package."""

    distribution: str
    outcomes: Sequence[Outcome]

    @property
    def passes(self) -> bool:
        """Whether nothing failed and every skip is accepted, and anything was checked at all."""
        return bool(self.count(Verdict.PASSED)) and not any(o.is_fatal for o in self.outcomes)

    def count(self, verdict: Verdict) -> int:
        """How many checks ended so."""
        return sum(outcome.verdict is verdict for outcome in self.outcomes)

    def by_subject(self) -> dict[str, Counter[Verdict]]:
        """How the checks of each subject ended, in order."""
        found: dict[str, Counter[Verdict]] = {}
        for outcome in self.outcomes:
            found.setdefault(outcome.subject, Counter())[outcome.verdict] += 1
        return found

    def document(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {
            "package": self.distribution,
            "passes": self.passes,
            "checks": len(self.outcomes),
            **{verdict.value: self.count(verdict) for verdict in Verdict},
            "outcomes": [
                {
                    "subject": outcome.subject,
                    "law": outcome.law,
                    "verdict": outcome.verdict.value,
                    "detail": outcome.detail or None,
                    "excused": outcome.excused,
                    "traceback": outcome.traceback,
                }
                for outcome in self.outcomes
            ],
        }


@dataclass(frozen=True)
class Plan:
    """The checks of a package in order, and the skips that the caller or the package explains."""

    checks: tuple[Check, ...]
    excuses: Excuses


def plan_checks(
    package: Package, settings: Settings = NOTHING_GIVEN, excuses: Excuses = NO_EXCUSES
) -> Plan:
    """Every check of a package; nothing heavy runs before a check does.

    Raises ConfigError and PluginError where the caller, or the package, excuses what it has not, or
    gives options of what nobody has.
    """
    said = read_statement(package)
    checks = tuple(_all_checks(package, said.complete(settings)))
    excuses.refuse_idle(checks)
    refuse_idle_options(settings, package)
    said.refuse_idle(checks, package)
    return Plan(checks, said.excuse(settings, excuses, checks))


def _all_checks(package: Package, settings: Settings) -> Iterator[Check]:
    bench = Bench(package.host, settings)
    yield from package_checks(package)
    for kind, checks in _CHECKS.items():
        for offer in package.offers(kind):
            if kind != "protocol":
                yield _target_check(kind, offer)
            yield from checks(offer, bench)


def check_package(
    package: Package, settings: Settings = NOTHING_GIVEN, excuses: Excuses = NO_EXCUSES
) -> Conformance:
    """Perform every check of a package."""
    plan = plan_checks(package, settings, excuses)
    return Conformance(package.distribution, list(perform(plan.checks, plan.excuses)))


def check_options(target: str, owner: str) -> None:
    """Raise ConformanceError unless options are documented, frozen, and refuse the unknown."""
    kind: type[BaseModel] = load_options_class(target, owner)
    require(kind.model_config.get("frozen"), f"options {target} are not frozen")
    require(
        kind.model_config.get("extra") == "forbid",
        f"options {target} accept what they do not know",
        hint='a misspelt option is an error: ConfigDict(frozen=True, extra="forbid")',
    )
    own = kind.__doc__ is not None and kind.__doc__ != BaseModel.__doc__
    described = all(field.description for field in kind.model_fields.values())
    require(own or described, f"options {target} have no docstring: `rpx list` shows it")
    if not any(field.is_required() for field in kind.model_fields.values()):
        kind()


def _target_check(kind: Kind, offer: Offer[Any]) -> Check:
    spec = offer.spec

    def check() -> None:
        target = load_target(spec.target, wanted_by=offer.full_name)
        require(callable(target), f"{spec.target} cannot be called")
        require(inspect.getdoc(target), f"{spec.target} has no docstring")
        options = getattr(spec, "options", None)
        if options is not None:
            check_options(options, offer.full_name)

    law = "target and options can be imported, are documented"
    return Check(f"{kind} {spec.name}", law, check, gate=True, basic=True)
