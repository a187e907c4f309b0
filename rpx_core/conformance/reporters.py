"""Laws of reporters: whatever the results hold, safe files with the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from rpx_core.conformance.bench import Bench, require_modules
from rpx_core.conformance.laws import Check, ConformanceError, require
from rpx_core.conformance.results import HOSTILE, SCRIPT, null_results, sample_results
from rpx_core.isolation import load_target
from rpx_core.offers import Offer
from rpx_core.report import Results
from rpx_core.run import check_rendered
from rpx_core.specs import ReporterSpec

MANY = 100_000
_MARKUP = (".html", ".htm", ".svg", ".xml", ".md")


def check_reporter(render: Callable[[Results], Mapping[str, bytes]]) -> None:
    """Every law of reporters; raises ConformanceError for the first that is broken."""
    for check in ReporterLaws(render, getattr(render, "__name__", "reporter")).all():
        check()


class ReporterLaws:
    """The laws of one function from results to files."""

    def __init__(self, render: Callable[[Results], Mapping[str, bytes]], name: str) -> None:
        self._render = render
        self._name = name

    def all(self) -> list[Callable[[], None]]:
        """The laws, the most basic first."""
        return [self.check_plain, self.check_nulls, self.check_hostile, self.check_many]

    def check_plain(self) -> None:
        """Ordinary results give files, with the same bytes each time."""
        first, second = self._files(sample_results()), self._files(sample_results())
        require(first, "it writes no file")
        changed = sorted(name for name in first if first[name] != second.get(name))
        require(not changed, f"rendered twice, {', '.join(changed)} is another")

    def check_nulls(self) -> None:
        """Results without any value can be rendered."""
        self._files(null_results())

    def check_hostile(self) -> None:
        """Names from a manifest stay text: no markup of theirs, no path, no broken JSON."""
        for name, content in self._files(sample_results(name=HOSTILE)).items():
            if name.endswith(_MARKUP):
                require(
                    SCRIPT.encode() not in content,
                    f"{name} passes the markup of a sample's name on",
                    hint="escape every text: html.escape, or a template with autoescape",
                )

    def check_many(self) -> None:
        """A hundred thousand rows can be rendered."""
        self._files(sample_results(rows=MANY))

    def _files(self, results: Results) -> dict[str, bytes]:
        rendered = self._render(results)
        if not isinstance(rendered, Mapping):
            raise ConformanceError(
                f"it returns a {type(rendered).__name__}; file names with their bytes were expected"
            )
        for name, content in rendered.items():
            check_rendered(self._name, name, content)
            require(name.isprintable(), f"the file name {name!r} is not printable")
            if name.endswith(".json"):
                _check_json(name, content)
        return dict(rendered)


def reporter_checks(offer: Offer[ReporterSpec], bench: Bench) -> Iterator[Check]:
    """The laws of one offered reporter."""
    subject = f"reporter {offer.spec.name}"

    def law(name: str) -> Callable[[], None]:
        def check() -> None:
            render = load_target(offer.spec.target, wanted_by=offer.full_name)
            getattr(ReporterLaws(render, offer.full_name), name)()

        return check

    yield Check(subject, "what it needs is here", lambda: require_modules(offer), gate=True)
    yield Check(subject, "results give safe files, always the same", law("check_plain"), gate=True)
    yield Check(subject, "nulls can be rendered", law("check_nulls"))
    yield Check(subject, "hostile names stay text", law("check_hostile"))
    yield Check(subject, f"{MANY:,} rows can be rendered", law("check_many"))


def _check_json(name: str, content: bytes) -> None:
    def refuse(constant: str) -> NoReturn:
        raise ConformanceError(f"{name} holds {constant}, which is no JSON")

    try:
        document: Any = json.loads(content, parse_constant=refuse)
    except ValueError as error:
        raise ConformanceError(f"{name} is no JSON: {error}") from error
    require(document is not None, f"{name} is empty")
