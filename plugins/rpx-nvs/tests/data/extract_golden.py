"""Copy the image-quality cases and their arrays out of the euler-eval reference files.

    python extract_golden.py FOLDER

FOLDER holds `euler_golden.json` and `euler_golden_inputs.npz`; see ORIGIN.md. Writes
`nvs_golden.json` and `nvs_golden.npz` beside this script.
"""

import json
import sys
from pathlib import Path

import numpy as np

PREFIXES = ("rgb_psnr", "rgb_ssim", "lpips/pseudo_rgb")


def main(folder: Path) -> None:
    reference = json.loads((folder / "euler_golden.json").read_text())
    cases = [case for case in reference["cases"] if case["id"].startswith(PREFIXES)]
    with np.load(folder / "euler_golden_inputs.npz", allow_pickle=False) as arrays:
        wanted = sorted({name for case in cases for name in case["inputs"].values()})
        kept = {name: arrays[name] for name in wanted}
    here = Path(__file__).parent
    np.savez_compressed(here / "nvs_golden.npz", **kept)
    document = {
        "generator": reference["generator"],
        "recipes": {name: reference["recipes"].get(name) for name in wanted},
        "cases": cases,
    }
    (here / "nvs_golden.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
