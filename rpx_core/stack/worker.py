"""Measuring a stack: reads the answers of the runs, measures, and commits sequence by sequence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from rpx_core.blocks import Block
from rpx_core.contracts import Answer, Unit
from rpx_core.guard import guarded
from rpx_core.measure import Evidence, LabelledMetric
from rpx_core.report import Failure, Row
from rpx_core.stack.answers import sample_of
from rpx_core.stack.join import Joined
from rpx_core.stack.plan import StackPlan
from rpx_core.writers import join_run

_Answers = Mapping[str, Answer]


class StackWorker:
    """Does the sequences of one plan in this process, into a journal of its own."""

    def __init__(self, plan: StackPlan) -> None:
        self._plan = plan
        self._metrics = [LabelledMetric(label, use.metric) for label, use in plan.uses.items()]
        self._journal = join_run(plan.directory, plan.record, device="cpu", model={})

    def run(self, sequence: str) -> Block:
        """Measure one sequence and commit it."""
        measured = [self._measure(joined) for joined in self._plan.sequences[sequence]]
        rows, states = zip(*measured, strict=True)
        return self._journal.commit(sequence, rows, states)

    def close(self) -> None:
        """Flush the journal."""
        self._journal.close()

    def _measure(self, joined: Joined) -> tuple[Row, Mapping[str, bytes]]:
        row = Row(
            unit=Unit.STACK,
            id=joined.id,
            sequence=joined.sequence,
            frame=joined.frame,
            **joined.describe(),
        )
        evidence = Evidence()
        answers = self._read(joined) if joined.reason is None else joined.reason
        if isinstance(answers, str):
            for metric in self._metrics:
                evidence.undefined(metric, answers)
            return row.model_copy(update={"metrics": evidence.measured}), {}
        failure = (
            answers
            if isinstance(answers, Failure)
            else guarded("measure", partial(self._take, evidence, row, answers))
        )
        if failure is not None:
            return row.model_copy(update={"failure": failure}), {}
        return row.model_copy(update={"metrics": evidence.measured}), evidence.states

    def _read(self, joined: Joined) -> _Answers | Failure | str:
        """The answers of all runs, the first failure, or why there is an undefined one."""
        answers = {}
        for task, reader in self._plan.readers.items():
            answer = reader.read(joined.rows[task])
            if answer is None:
                return f"the alignment of the {task} run is undefined"
            if isinstance(answer, Failure):
                message = f"in the {task} run: {answer.message}"
                return answer.model_copy(update={"message": message})
            answers[task] = answer
        return answers

    def _take(self, evidence: Evidence, row: Row, answers: _Answers) -> None:
        for metric in self._metrics:
            mine = {task: answers[task] for task in self._plan.uses[metric.label].tasks}
            evidence.take(metric, partial(metric.metric.measure, sample_of(row), mine))
