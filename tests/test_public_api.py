"""One namespace: what `import rpx_core as rpx` offers, what it costs, and that it does not drift.

`python -m tests.test_public_api` writes the snapshot anew.
"""

from __future__ import annotations

import ast
import difflib
import enum
import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rpx_core as rpx

ROOT = Path(__file__).parents[1]
SNAPSHOT = Path(__file__).parent / "data" / "public_api.txt"
REGENERATE = "python -m tests.test_public_api"
HIDE_DEPTH = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name.partition(".")[0] == "rpx_depth"
        return None if hidden else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""
DISTRIBUTIONS = sorted({distribution for distribution, _ in rpx.PUBLISHED.values()})


def run_python(code: str, *folders: Path) -> str:
    """What a fresh interpreter prints that looks for modules in `folders` first."""
    path = os.pathsep.join(str(folder) for folder in (*folders, ROOT))
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return result.stdout


def read_stub() -> tuple[dict[str, str], list[str]]:
    """The module that the stub imports each name from, and its `__all__`."""
    tree = ast.parse((ROOT / "rpx_core" / "__init__.pyi").read_text(encoding="utf-8"))
    origins: dict[str, str] = {}
    exported: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rpx_"):
            origins |= {alias.asname or alias.name: str(node.module) for alias in node.names}
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            exported = ast.literal_eval(node.value)
    return origins, exported


def test_the_stub_mirrors_the_table() -> None:
    origins, exported = read_stub()
    table = {name: target.partition(":")[0] for name, (_, target) in rpx.PUBLISHED.items()}
    assert origins == table
    assert exported == sorted(table)


def test_no_module_of_core_has_the_name_of_something_published() -> None:
    # Importing it would put the module in the place of the published name.
    modules = {path.stem for path in (ROOT / "rpx_core").iterdir()}
    assert modules.isdisjoint(rpx.PUBLISHED)


def test_the_table_names_the_distribution_that_each_package_comes_with() -> None:
    for distribution, target in rpx.PUBLISHED.values():
        assert distribution.replace("-", "_") == target.partition(".")[0]


@pytest.mark.parametrize("name", sorted(rpx.PUBLISHED))
def test_every_name_is_what_its_module_defines(name: str) -> None:
    module, _, attribute = rpx.PUBLISHED[name][1].partition(":")
    pytest.importorskip(module.partition(".")[0], exc_type=ModuleNotFoundError)
    assert getattr(rpx, name) is getattr(importlib.import_module(module), attribute)


def test_a_star_import_gives_the_published_names_and_nothing_else() -> None:
    namespace: dict[str, object] = {}
    exec("from rpx_core import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(rpx.__all__)


def test_dir_lists_every_published_name() -> None:
    assert set(rpx.PUBLISHED) <= set(dir(rpx))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rpx_core' has no attribute 'compute_eds'"):
        _ = rpx.compute_eds  # type: ignore[attr-defined]  # the point of the test


def test_the_name_of_a_missing_plugin_says_what_to_install() -> None:
    code = "import rpx_core as rpx\ntry: rpx.DepthPrediction\nexcept AttributeError as e: print(e)"
    told = run_python(HIDE_DEPTH + code)
    assert told == "rpx_core.DepthPrediction comes with rpx-depth: pip install rpx-depth\n"


def test_a_star_import_does_not_need_every_plugin() -> None:
    names = run_python(HIDE_DEPTH + "from rpx_core import *\nprint(*dir())").split()
    assert "RPXDataset" in names
    assert "DepthPrediction" not in names


@pytest.mark.parametrize(
    ("modules", "says"),
    [
        ({}, "comes with rpx-depth: pip install --upgrade rpx-depth"),
        ({"published": ""}, "comes with a newer rpx-depth: pip install --upgrade rpx-depth"),
        ({"published": "import not_there"}, "No module named 'not_there'"),
    ],
)
def test_a_plugin_that_is_old_or_broken_is_told_from_a_missing_one(
    tmp_path: Path, modules: dict[str, str], says: str
) -> None:
    package = tmp_path / "rpx_depth"
    package.mkdir()
    for name, source in {"__init__": "", **modules}.items():
        (package / f"{name}.py").write_text(source, encoding="utf-8")
    code = "import rpx_core as rpx\ntry: rpx.DepthPrediction\nexcept Exception as e: print(e)"
    assert run_python(code, tmp_path).strip().endswith(says)


def test_the_import_loads_nothing_that_is_heavy() -> None:
    modules = run_python("import sys, rpx_core; print(*sys.modules)").split()
    assert {"numpy", "pydantic", "pluggy", "rpx_core.contracts"}.isdisjoint(modules)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_public_api_is_the_one_of_the_snapshot(distribution: str) -> None:
    pytest.importorskip(distribution.replace("-", "_"), exc_type=ModuleNotFoundError)
    stored = read_snapshot().get(distribution, [])
    found = list(describe_distribution(distribution))
    difference = "\n".join(difflib.unified_diff(stored, found, "snapshot", "now", lineterm=""))
    assert not difference, (
        f"the public API of {distribution} has changed; if that is meant, run\n"
        f"  {REGENERATE}\nand say so in the changelog:\n{difference}"
    )


def read_snapshot() -> dict[str, list[str]]:
    """The lines of each distribution."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in SNAPSHOT.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lines = sections.setdefault(line.removeprefix("# "), [])
        elif line:
            lines.append(line)
    return sections


def describe_distribution(distribution: str) -> Iterator[str]:
    """One line for each published name of a distribution, and for each public member of it."""
    for name in sorted(rpx.PUBLISHED):
        if rpx.PUBLISHED[name][0] == distribution:
            value = getattr(rpx, name)
            if isinstance(value, enum.EnumMeta):
                yield f"enum {name}: " + ", ".join(f"{m.name}={m.value!r}" for m in value)
            elif isinstance(value, type):
                yield f"class {name}{describe_signature(value)}"
                yield from describe_members(value)
            else:
                yield f"def {name}{inspect.signature(value)}"


def describe_signature(value: Callable[..., object]) -> str:
    """A signature; functions in it without their place in memory."""
    return re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", str(inspect.signature(value)))


def describe_members(kind: type) -> Iterator[str]:
    """Public methods and properties, also those inherited from a class of this project."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("rpx_")]
    for name in sorted({name for base in ours for name in vars(base) if name[0] != "_"}):
        member = inspect.getattr_static(kind, name)
        if isinstance(member, property):
            yield f"    {name}: property"
        elif callable(getattr(kind, name)):
            yield f"    def {name}{inspect.signature(getattr(kind, name))}"


def write_snapshot() -> None:
    sections = [
        "\n".join([f"# {name}", *describe_distribution(name)]) + "\n" for name in DISTRIBUTIONS
    ]
    SNAPSHOT.write_text("\n".join(sections), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_snapshot()
