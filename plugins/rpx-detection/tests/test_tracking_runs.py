"""Whole tracking runs from the command line: files as predictions, workers, protocols, MOT."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rpx_core.images import encode_png
from tests.commands import numbers, rpx

MODELS = """
class Forgetful:
    '''Numbers its frames, so that a worker that does not reset it gives itself away.'''

    def __init__(self):
        self.reset()

    def reset(self):
        self.seen = 0

    def __call__(self, rgb):
        self.seen += 1
        box = [int(rgb[0, 0, 0]), 0, int(rgb[0, 0, 0]) + 10, 10]
        return [{"track_id": self.seen // 3, "box": box}]

tracker = Forgetful()

def twice(rgb):
    return [{"track_id": 1, "box": [0, 0, 1, 1]}, {"track_id": 1, "box": [5, 5, 6, 6]}]
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    """A folder with three sequences of four frames, their manifest, and two trackers."""
    root = tmp_path_factory.mktemp("work")
    records = []
    for scene in ("one", "two", "three"):
        for frame in range(4):
            stem = f"{scene}_clean_{frame:05d}"
            (root / f"{stem}.png").write_bytes(
                encode_png(np.full((20, 40, 3), 3 * frame, np.uint8))
            )
            box = {"bbox": [3 * frame, 0, 3 * frame + 10, 10], "label": "cup", "track_id": "c"}
            (root / f"truth/{stem}.json").parent.mkdir(exist_ok=True)
            (root / f"truth/{stem}.json").write_text(json.dumps([box]))
            records.append({"id": stem, "scene": scene, "phase": "clean", "rgb": f"{stem}.png",
                            "boxes": f"truth/{stem}.json"})  # fmt: skip
    manifest = {"schema": "rpx-manifest-1", "task": "object_tracking", "samples": records[::-1]}
    (root / "set.json").write_text(json.dumps(manifest))
    (root / "models.py").write_text(MODELS)
    return root


def test_the_truth_as_prediction_files_is_perfect(work):
    outcome = rpx(
        work, "score", "--task", "object_tracking", "--data", "set.json",
        "--predictions", "truth", "--output", "perfect",
    )  # fmt: skip
    got = numbers(outcome)
    for address in ("hota.hota", "hota.assa", "clear.mota", "clear.motp", "identity.idf1"):
        assert got[f"{address}@pooled"] == got[f"{address}@sample"] == 1
    assert got["clear.idsw@pooled"] == got["clear.fp@pooled"] == got["clear.fn@pooled"] == 0


def test_workers_and_batches_do_not_change_a_number(work):
    ways = (("--workers", "1"), ("--workers", "2"), ("--workers", "1", "--batch-size", "3"))
    found = [
        numbers(rpx(work, "run", "--data", "set.json", "--model", "models.py:tracker",
                    "--output", f"way{n}", *way))
        for n, way in enumerate(ways)
    ]  # fmt: skip
    assert found[0] == found[1] == found[2]
    # In each sequence frames 0 and 1 are called 0, frames 2 and 3 are called 1.
    assert found[0]["clear.idsw@pooled"] == 3
    assert found[0]["identity.idf1@pooled"] == 0.5


def test_an_id_twice_fails_the_frame_and_leaves_its_sequence_undefined(work):
    outcome = rpx(
        work, "run", "--data", "set.json", "--model", "models.py:twice", "--output", "twice",
        expect=3,
    )  # fmt: skip
    assert numbers(outcome)["hota.hota@pooled"] is None
    result = next((work / "twice").glob("*/report/result.json")).read_text()
    assert "one_clean_00000" in result
    assert "'1' occurs twice" in result


def test_the_protocol_of_the_paper_leaves_the_first_frame_out(work):
    outcome = rpx(
        work, "run", "--protocol", "rpx-tracking-1", "--data", "set.json",
        "--model", "models.py:tracker", "--output", "paper",
    )  # fmt: skip
    got = numbers(outcome)
    assert got["clear.tp@pooled"] == 3 * 3
    assert got["identity.idf1@pooled"] == pytest.approx(2 / 3)


def test_a_mot_folder_is_scored_from_its_result_files(work):
    rows = "".join(f"{n},1,1,1,5,5,1,1,1\n" for n in range(1, 4))
    extra = "2,9,50,50,5,5,1,8,1\n"
    folder = work / "MOT17/train/MOT17-02"
    (folder / "gt").mkdir(parents=True)
    (folder / "seqinfo.ini").write_text("[Sequence]\nseqLength=3\n")
    (folder / "gt/gt.txt").write_text(rows + extra)
    (work / "results").mkdir()
    (work / "results/MOT17-02.txt").write_text(rows + extra)
    (work / "results/MOT17-99.txt").write_text(rows)
    rpx(work, "data", "index", "mot", "MOT17/train", "-o", "MOT17/train/set.json")
    outcome = rpx(
        work, "score", "--protocol", "mot17-1", "--data", "MOT17/train/set.json",
        "--predictions", "results", "--output", "mot",
    )  # fmt: skip
    got = numbers(outcome)
    (warning,) = outcome["runs"][0]["warnings"]
    assert "MOT17-99.txt has predictions that belong to no sample: MOT17-99" in warning
    assert got["clear.mota@pooled"] == got["hota.hota@pooled"] == 1
    assert got["clear.tp@pooled"] == 3
    (work / "results/MOT17-98.txt").write_text(rows)
    outcome = rpx(
        work, "score", "--protocol", "mot17-1", "--data", "MOT17/train/set.json",
        "--predictions", "results", "--output", "mot",
    )  # fmt: skip
    (warning,) = outcome["runs"][0]["warnings"]
    assert warning == (
        "prediction files MOT17-98.txt, MOT17-99.txt have predictions that belong to no sample: "
        "MOT17-98, MOT17-99"
    )


def test_result_files_of_another_split_are_refused(work):
    folder = work / "other/train/MOT17-02"
    (folder / "gt").mkdir(parents=True)
    (folder / "seqinfo.ini").write_text("[Sequence]\nseqLength=3\n")
    (folder / "gt/gt.txt").write_text("1,1,1,1,5,5,1,1,1\n")
    (work / "others").mkdir()
    (work / "others/MOT17-01.txt").write_text("1,1,1,1,5,5,1\n")
    rpx(work, "data", "index", "mot", "other/train", "-o", "other/train/set.json")
    command = "score --task object_tracking --data other/train/set.json --predictions others"
    done = subprocess.run(
        [sys.executable, "-m", "rpx_core.cli", *command.split()],
        cwd=work, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "has predictions of MOT17-01, but" in done.stderr
