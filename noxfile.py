"""Every check and chore, run as `nox` (the fast default set) or `nox -s NAME`."""

from __future__ import annotations

import re
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

import nox
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
DISTRIBUTIONS = [ROOT, *sorted(file.parent for file in ROOT.glob("plugins/*/pyproject.toml"))]
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
EVO = "evo==1.38.1"
TEN_LINES = "ten_lines.py"
DEPTH = ("--task", "monocular_depth")
NEW_PLUGINS = {
    "model": (*DEPTH, "--model", "own-model"),
    "metric": (*DEPTH, "--set", 'metrics.own="own-metric"'),
    "adapter": (*DEPTH, "--model", "mine.py:predict", "--set", 'adapter="own-adapter"'),
    "dataset": (*DEPTH, "--data", "own-dataset"),
    "protocol": (*DEPTH, "--protocol", "own-protocol"),
    "reporter": (*DEPTH, "--as", "own-reporter"),
    "task": ("--task", "own_task", "--data", "own-task-demo"),
}
"""Kinds of plugins that `rpx new` writes, and the run that uses each."""
# Budgets measured while other tests run would fail by chance.
ALL_CORES = ["-n", "logical", "--ignore=tests/startup"]

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["lint", "types", "docs", "tests", "kills", "startup", "wheels"]
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"


@nox.session
def demo(session: nox.Session) -> None:
    """Install core and every plugin, evaluate the demo set, say where the report is."""
    session.install(*editable(""))
    session.run("rpx", "run", *session.posargs)
    for report in sorted(ROOT.glob("runs/*/report/report.html")):
        session.log(f"report: {report}")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Type-check core and every plugin with mypy, strict."""
    session.install(*editable("[all]"), *group("types", "test"))
    session.run("mypy", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run every test but the slow ones and the start-up budgets, on all cores."""
    session.install(*editable("[all]"), *group("test", "browser"))
    session.run("pytest", *ALL_CORES, "-m", "not slow", *session.posargs)


@nox.session
def kills(session: nox.Session) -> None:
    """Kill runs with two workers at a hundred places in the journal; each resumes to the same."""
    session.install(*editable(""), *group("test"))
    files = ("tests/test_engine_kills.py", "tests/test_stack_command.py")
    session.run("pytest", "-m", "slow", *files, *session.posargs)


@nox.session
def startup(session: nox.Session) -> None:
    """Hold the command line to its start-up budgets, with nothing running beside it."""
    session.install(*editable(""), *group("test"))
    session.run("pytest", "tests/startup", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into site/; a broken link or a page left out is an error."""
    session.install(*group("docs"))
    session.run("mkdocs", "build", "--strict", "--quiet", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build every sdist, and from it the wheel, into dist/; check that nothing was left out."""
    session.install(*group("build"))
    shutil.rmtree(DIST, ignore_errors=True)
    for folder in DISTRIBUTIONS:
        session.run("python", "-m", "build", "--outdir", str(DIST), str(folder), silent=True)
        missing = left_out(folder)
        if missing:
            session.error(f"{name_of(folder)}: the wheel lacks {', '.join(missing)}")


@nox.session(requires=["build"], reuse_venv=False)
def wheels(session: nox.Session) -> None:
    """Install the built wheels as a user would and evaluate the demo set with them.

    What this proves of an environment that holds the wheels alone, in a folder with nothing of this
    tree: the command line evaluates every task, the script of ten lines of docs/api.md does the
    same from Python, a plugin of every kind can be written, installed, checked and used, and no
    plugin is broken.
    """
    names = [name_of(folder) for folder in DISTRIBUTIONS]
    session.install("--find-links", str(DIST), *names)
    with tempfile.TemporaryDirectory() as empty, session.chdir(empty):
        session.run("rpx", "run")
        use_python(session)
        use_new_plugins(session)
        session.run("rpx", "doctor", "--strict")


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """Run the tests with the oldest Python and the oldest dependencies that are declared."""
    constraints = Path(session.create_tmp()) / "lowest.txt"
    constraints.write_text("\n".join(lowest_versions()), encoding="utf-8")
    session.install("--constraint", str(constraints), *editable("[all]"), *group("test"))
    session.run("pytest", *ALL_CORES, "-m", "not browser and not slow", *session.posargs)


@nox.session(python=PYTHONS)
def pythons(session: nox.Session) -> None:
    """Run the tests on each supported Python."""
    session.install(*editable("[all]"), *group("test"))
    session.run("pytest", *ALL_CORES, "-m", "not browser and not slow", *session.posargs)


@nox.session
def parity(session: nox.Session) -> None:
    """Compare every metric with the tool that people publish with; each script fails by itself."""
    session.install(*editable(""), *group("parity", "test"))
    for script in (
        "rpx-detection/parity/coco_boxes.py",
        "rpx-detection/parity/tracking.py",
        "rpx-seg/parity/segmentation.py",
        "rpx-nvs/parity/reference_numbers.py",
    ):
        session.run("python", f"plugins/{script}")
    # LPIPS needs torch, which the fast tests do without.
    session.run("pytest", "plugins/rpx-nvs/tests/test_nvs_lpips.py")
    recordings = evo_recordings(session)
    session.run("python", "plugins/rpx-pose/parity/evo_data.py", str(recordings))


@nox.session
def models(session: nox.Session) -> None:
    """Run learned networks: tiny ones of transformers, and a trained backbone beside SIFT."""
    extras = {"rpx-depth": "hf", "rpx-seg": "hf", "rpx-detection": "hf", "rpx-pose": "timm"}
    learned = [
        part
        for folder in DISTRIBUTIONS
        if name_of(folder) in extras
        for part in ("-e", f"{folder}[{extras[name_of(folder)]}]")
    ]
    session.install(*editable("[all]"), *learned, *group("models", "test"))
    folders = [ROOT / "tests/models", *sorted(ROOT.glob("plugins/*/tests/models"))]
    session.run("pytest", *map(str, folders), *session.posargs)
    session.run("python", "benchmarks/learned_matching.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Time the metrics against the same tools, in ratios; the ratios that we promise must hold."""
    session.install(*editable(""), *group("parity"))
    for name in ("coco_ap", "tracking", "segmentation", "ssim", "pose", "trajectory"):
        session.run("python", f"benchmarks/{name}.py")


@nox.session(name="bench-depth")
def bench_depth(session: nox.Session) -> None:
    """Compare the depth metrics, in numbers and in time, with the reference evaluator."""
    session.install(*editable(""), *group("bench-depth"))
    session.run("python", "benchmarks/depth_standard.py", *session.posargs)


def use_python(session: nox.Session) -> None:
    """Run the script of ten lines as docs/api.md has it, saved to a file as a reader would."""
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    (script,) = re.findall(rf'^```python title="{TEN_LINES}"\n(.*?)^```$', page, re.M | re.S)
    Path(TEN_LINES).write_text(script, encoding="utf-8")
    session.run("python", TEN_LINES)


def use_new_plugins(session: nox.Session) -> None:
    """Write a plugin of every kind with `rpx new`, install it, check it unchanged, and run it."""
    for kind in NEW_PLUGINS:
        session.run("rpx", "new", kind, f"own-{kind}", "--output", "plugins", silent=True)
    session.install("flit_core>=3.12,<4")
    packages = [f"./plugins/rpx-own-{kind}" for kind in NEW_PLUGINS]
    # Not editable: what is installed is what a wheel carries.
    session.install("--no-build-isolation", "--find-links", str(DIST), *packages)
    for kind in NEW_PLUGINS:
        session.run("rpx", "check", f"rpx-own-{kind}")
    function = "def predict(rgb):\n    return rgb.mean(axis=2) + 0.5\n"
    Path("mine.py").write_text(function, encoding="utf-8")
    for arguments in NEW_PLUGINS.values():
        session.run("rpx", "run", "--limit", "4", "--output", "own", *arguments)


def evo_recordings(session: nox.Session) -> Path:
    """evo's own test recordings, from its source distribution; they are not ours to keep."""
    folder = Path(session.create_tmp())
    fetch = ("download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder))
    session.run("python", "-m", "pip", *fetch, EVO)
    (archive,) = folder.glob("evo-*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz") / "test" / "data"


def editable(extras: str) -> list[str]:
    """Arguments that install core and every plugin from this tree."""
    return [part for folder in DISTRIBUTIONS for part in ("-e", f"{folder}{extras}")]


def group(*names: str) -> tuple[str, ...]:
    """What the named dependency groups of the root project ask for."""
    return nox.project.dependency_groups(PROJECT, *names)


def name_of(folder: Path) -> str:
    """The distribution's name, as in its pyproject.toml."""
    return str(nox.project.load_toml(folder / "pyproject.toml")["project"]["name"])


def left_out(folder: Path) -> list[str]:
    """Files of the package, and the licence, that the wheel in dist/ does not carry."""
    package = name_of(folder).replace("-", "_")
    (wheel,) = DIST.glob(f"{package}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        carried = archive.namelist()
    sources = [file for file in (folder / package).rglob("*") if file.is_file()]
    wanted = [
        file.relative_to(folder).as_posix() for file in sources if "__pycache__" not in file.parts
    ]
    missing = sorted(set(wanted) - set(carried))
    if not any(name.endswith("/LICENSE") for name in carried):
        missing.append("LICENSE")
    return missing


def lowest_versions() -> list[str]:
    """One `name==version` for each dependency: the lower bound that the projects declare."""
    oldest: dict[str, Version] = {}
    for folder in DISTRIBUTIONS:
        project = nox.project.load_toml(folder / "pyproject.toml")["project"]
        extras = project.get("optional-dependencies", {}).values()
        for line in [*project["dependencies"], *(line for extra in extras for line in extra)]:
            requirement = Requirement(line)
            if requirement.name.startswith("rpx-"):
                continue
            bounds = [Version(s.version) for s in requirement.specifier if s.operator == ">="]
            oldest[requirement.name] = max([*bounds, oldest.get(requirement.name, bounds[0])])
    return [f"{name}=={version}" for name, version in sorted(oldest.items())]
