"""Copy each plugin's cases and the arrays they need out of the euler-eval reference files.

    python tests/data/extract_euler_golden.py FOLDER

FOLDER holds `euler_golden.json` and `euler_golden_inputs.npz`; the ORIGIN.md beside what is written
says what they are.
"""

import json
import sys
from pathlib import Path

import numpy as np

PLUGINS = Path(__file__).parents[2] / "plugins"
PREFIXES = {
    "rpx-depth/tests/data/depth_golden": (
        *("depth_standard/", "depth_absrel/", "depth_rmse/", "depth_silog/"),
        *("bench_bins/", "align/", "validation/"),
    ),
    "rpx-nvs/tests/data/nvs_golden": ("rgb_psnr", "rgb_ssim", "lpips/pseudo_rgb"),
}


def names_in(value: object) -> set[str]:
    """Every string inside nested lists and dicts; a leading minus means a negated array."""
    if isinstance(value, str):
        return {value.removeprefix("-")}
    children = value.values() if isinstance(value, dict) else value
    return set().union(*map(names_in, children)) if isinstance(value, dict | list) else set()


def extract(folder: Path, target: Path, prefixes: tuple[str, ...]) -> None:
    """Write the cases whose ids begin so, and their arrays, to `target` with its endings."""
    reference = json.loads((folder / "euler_golden.json").read_text())
    cases = [case for case in reference["cases"] if case["id"].startswith(prefixes)]
    with np.load(folder / "euler_golden_inputs.npz", allow_pickle=False) as arrays:
        wanted = sorted(set().union(*(names_in(case["inputs"]) for case in cases)) & set(arrays))
        kept = {name: arrays[name] for name in wanted}
    np.savez_compressed(target.with_suffix(".npz"), **kept)
    document = {
        "generator": reference["generator"],
        "recipes": {name: reference["recipes"].get(name) for name in wanted},
        "cases": cases,
    }
    target.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    for name, prefixes in PREFIXES.items():
        extract(Path(sys.argv[1]), PLUGINS / name, prefixes)
