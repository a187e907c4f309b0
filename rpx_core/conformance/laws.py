"""One law of one subject, and what became of checking it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from rpx_core.errors import ConfigError, PluginError, RPXError, first_few
from rpx_core.isolation import Breakdown, attempt


class ConformanceError(PluginError):
    """A plugin breaks a law; the message says which, where, and what would keep it."""


class NotCheckedError(RPXError):
    """A law cannot be checked here; the message is the reason.

    `missing_extra` when only an optional dependency is not installed.
    """

    missing_extra: bool = False


class MissingExtraError(NotCheckedError):
    """What a law needs comes with an extra that is not installed."""

    missing_extra = True


class Verdict(StrEnum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Check:
    """One law of one subject. Of a subject whose `gate` does not pass, no more is asked."""

    subject: str
    law: str
    run: Callable[[], None]
    gate: bool = False
    basic: bool = False
    """Whether it can be checked anywhere, whatever the subject needs: no excuse covers it."""

    @property
    def names(self) -> tuple[str, str]:
        """What its subject goes by: "model mine", and the bare name."""
        return self.subject, self.subject.rpartition(" ")[2]

    def __str__(self) -> str:
        return f"{self.subject}: {self.law}"


@dataclass(frozen=True)
class Excuses:
    """Which skips are accepted: missing extras, and those of subjects with a reason.

    A reason stands under the name of a subject, or a pattern of names with `*`; a name goes first.
    What is in `skip` is not tried. What is in `explained` is, and may then turn out to be what
    cannot be checked here.
    """

    missing_extras: bool = False
    skip: Mapping[str, str] = field(default_factory=dict)
    explained: Mapping[str, str] = field(default_factory=dict)

    def reason(self, check: Check) -> str | None:
        """Why this check is not to be run."""
        return find_reason(self.skip, check)

    def explanation(self, check: Check, problem: NotCheckedError) -> str | None:
        """Why it is accepted that this check could not be made; None where it is not."""
        told = _whole(problem)
        if problem.missing_extra:
            return told if self.missing_extras else None
        reason = find_reason(self.explained, check)
        return reason and f"{told}; {reason}"

    def refuse_idle(self, checks: Sequence[Check]) -> None:
        """Raise ConfigError for an excuse of something that is not checked: it hides nothing."""
        idle = idle_names(self.skip, checks)
        if idle:
            raise ConfigError(
                f"skip: nothing that is checked is called {first_few(idle, 3)}",
                hint="leave the excuse out, or correct its name",
            )


@dataclass(frozen=True)
class Outcome:
    """A check that was performed, or was not, and why."""

    subject: str
    law: str
    verdict: Verdict
    detail: str = ""
    excused: bool = False
    """Whether a skip is one that the caller accepts."""
    follows: bool = False
    """Whether it is only the consequence of another outcome of the subject."""
    traceback: str | None = None

    @property
    def is_fatal(self) -> bool:
        """Whether the plugin does not pass because of this."""
        return self.verdict is Verdict.FAILED or (
            self.verdict is Verdict.SKIPPED and not self.excused
        )


NO_EXCUSES = Excuses()
_CODE = "code"
_FAILED = f"{_CODE} failed: "
"""How an error begins that nobody foresaw; that it failed is said beside it."""


def idle_names(names: Iterable[str], checks: Sequence[Check]) -> list[str]:
    """Which of these names and patterns no subject of the checks goes by."""
    known = {name for check in checks for name in check.names}
    return sorted(name for name in names if not any(fnmatchcase(one, name) for one in known))


def find_reason(reasons: Mapping[str, str], check: Check) -> str | None:
    """The reason that stands under a name of the check's subject, or else under a pattern."""
    if check.basic:
        return None
    for name in check.names:
        if name in reasons:
            return reasons[name]
    return next(
        (
            reason
            for pattern, reason in reasons.items()
            if any(fnmatchcase(name, pattern) for name in check.names)
        ),
        None,
    )


def perform(checks: Iterable[Check], excuses: Excuses) -> Iterator[Outcome]:
    """Perform checks in order; code of others can only fail its own."""
    closed: dict[str, Outcome] = {}
    for check in checks:
        gate = closed.get(check.subject)
        if gate is not None:
            # Counted, not repeated: the gate's own outcome says what is wrong.
            detail = f"not asked, because of: {gate.law}"
            yield Outcome(check.subject, check.law, Verdict.SKIPPED, detail, True, follows=True)
            continue
        outcome = perform_one(check, excuses)
        if check.gate and outcome.verdict is not Verdict.PASSED:
            closed[check.subject] = outcome
        yield outcome


def perform_one(check: Check, excuses: Excuses) -> Outcome:
    """Perform one check, whatever it does."""
    reason = excuses.reason(check)
    if reason is not None:
        return Outcome(check.subject, check.law, Verdict.SKIPPED, reason, excused=True)
    done = attempt(_CODE, check.run)
    if not isinstance(done, Breakdown):
        return Outcome(check.subject, check.law, Verdict.PASSED)
    error = done.error
    if isinstance(error, NotCheckedError):
        explanation = excuses.explanation(check, error)
        detail, excused = explanation or _whole(error), explanation is not None
        return Outcome(check.subject, check.law, Verdict.SKIPPED, detail, excused)
    detail = _whole(error) if isinstance(error, RPXError) else done.problem.removeprefix(_FAILED)
    # The subject is said before it.
    detail = detail.removeprefix(f"{check.subject}: ")
    return Outcome(check.subject, check.law, Verdict.FAILED, detail, traceback=done.traceback)


def require(condition: object, problem: str, *, hint: str | None = None) -> None:
    """Raise ConformanceError unless a law holds."""
    if not condition:
        raise ConformanceError(problem, hint=hint)


def _whole(error: RPXError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
