"""Copy the depth cases and the arrays they need out of the euler-eval reference files.

    python extract_golden.py FOLDER

FOLDER holds `euler_golden.json` and `euler_golden_inputs.npz`; see ORIGIN.md. Writes
`depth_golden.json` and `depth_golden.npz` beside this script.
"""

import json
import sys
from pathlib import Path

import numpy as np

PREFIXES = (
    "depth_standard/",
    "depth_absrel/",
    "depth_rmse/",
    "depth_silog/",
    "bench_bins/",
    "align/",
    "validation/",
)


def names_in(value: object) -> set[str]:
    """Every string inside nested lists and dicts; a leading minus means a negated array."""
    if isinstance(value, str):
        return {value.removeprefix("-")}
    children = value.values() if isinstance(value, dict) else value
    return set().union(*map(names_in, children)) if isinstance(value, dict | list) else set()


def main(folder: Path) -> None:
    reference = json.loads((folder / "euler_golden.json").read_text())
    cases = [case for case in reference["cases"] if case["id"].startswith(PREFIXES)]
    with np.load(folder / "euler_golden_inputs.npz", allow_pickle=False) as arrays:
        wanted = sorted(set().union(*(names_in(case["inputs"]) for case in cases)) & set(arrays))
        kept = {name: arrays[name] for name in wanted}
    here = Path(__file__).parent
    np.savez_compressed(here / "depth_golden.npz", **kept)
    document = {
        "generator": reference["generator"],
        "recipes": {name: reference["recipes"].get(name) for name in wanted},
        "cases": cases,
    }
    (here / "depth_golden.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
