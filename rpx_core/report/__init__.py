"""What a run says: rows, cells, numbers and the report, as stored and as shown.

Everything here crosses a file boundary: frozen pydantic models, versioned by `schema`. Unknown
values are null with a reason; NaN and infinity cannot be stored. Reporters and the hooks that are
told of a run import its types from here.
"""

from rpx_core.report.bounded import Count
from rpx_core.report.numbers import Cell, Counts, Number, Slice
from rpx_core.report.readiness import GridCell, Readiness, Score
from rpx_core.report.report import FailedSample, Report, Results, WorstSample
from rpx_core.report.row import Failure, Measured, Row, Stage, Tag
from rpx_core.report.run import Changed, RunRecord, Status, Writer

__all__ = [
    "Cell",
    "Changed",
    "Count",
    "Counts",
    "FailedSample",
    "Failure",
    "GridCell",
    "Measured",
    "Number",
    "Readiness",
    "Report",
    "Results",
    "Row",
    "RunRecord",
    "Score",
    "Slice",
    "Stage",
    "Status",
    "Tag",
    "WorstSample",
    "Writer",
]
