"""The serial executor: everything in this process, in order."""

from __future__ import annotations

from collections.abc import Iterable

from rpx_core.executors import Observer, chunks
from rpx_core.worker import Job, Work, Worker


def run_serial(job: Job, works: Iterable[Work], observer: Observer) -> None:
    """Do all work here; raises what a worker raises when it cannot go on."""
    worker = Worker(job, observer.started)
    try:
        for group in chunks(works, job.batch_size):
            for block in worker.run(group):
                observer.closed(block)
    finally:
        worker.close()
