"""`rpx data`: write the demo set, fetch from the hub, index folders, check manifests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rpx_core.cli.names import complete
from rpx_core.cli.output import State, common_options, print_json
from rpx_core.errors import ConfigError, ExitCode, count_of

if TYPE_CHECKING:
    from rpx_core.hub.resolved import Written

MAX_PROBLEMS = 50


@click.group(
    epilog="""\b
Examples:
  rpx data demo my-demo                       write the embedded demo set to look at
  rpx data download --task monocular_depth --split hard --max-samples 60
  rpx data index nyu /data/nyu -o nyu.json    a manifest from folders that you have
  rpx data check nyu.json                     read every file once, report what is wrong
"""
)
def data() -> None:
    """Write, fetch, index and check datasets."""


@data.command(epilog="\b\nExample:\n  rpx data demo my-demo && rpx run --data my-demo/demo.json")
@click.argument("directory", type=click.Path(path_type=Path))
@common_options
def demo(*, state: State, directory: Path) -> None:
    """Write the embedded demo set into DIRECTORY, which must not exist yet."""
    from rpx_core.demo import write_demo

    if directory.exists():
        raise ConfigError(f"{directory} exists already", hint="name a new folder")
    try:
        manifest = write_demo(directory)
    except OSError as error:
        raise ConfigError(f"{directory} cannot be written: {error.strerror}") from error
    if state.as_json:
        print_json({"manifest": str(manifest)})
    else:
        state.console().print(f"wrote {manifest}", markup=False, soft_wrap=True)


@data.command(
    epilog="""\b
Examples:
  rpx data download --task monocular_depth --split hard
  rpx data download --task object_segmentation --split easy --max-samples 60
  rpx data download --task relative_camera_pose --repo me/my-scenes --revision v2
Private and gated datasets need HF_TOKEN. RPX_CACHE_DIR says where everything is kept; it is
verified, used again by other tasks and splits, and an interrupted download goes on where it was.
"""
)
@click.option("--task", required=True, shell_complete=complete("task"), help="Whose files.")
@click.option("--split", help="easy, medium or hard. [default: all of them]")
@click.option("--repo", "repo_id", help="OWNER/NAME. [default: $RPX_HF_REPO, or the RPX release]")
@click.option("--revision", help="Branch, tag or commit. [default: the audited release, or main]")
@click.option(
    "--max-samples", type=click.IntRange(min=1), metavar="N", help="Only N, spread evenly."
)
@click.option("--max-workers", type=click.IntRange(1, 64), default=8, show_default=True)
@click.option("--set", "settings", multiple=True, metavar="A=VALUE", help="Options of `hub`.")
@common_options
def download(*, state: State, task: str, split: str | None, **flags: Any) -> int:
    """Fetch what a task and split need, and nothing else; print the manifest to run on.

    Every sample is read once, as `rpx data check` does. Exit code 2 when anything is wrong.
    """
    from rpx_core.check import check_dataset
    from rpx_core.cli.progress import progress_bar
    from rpx_core.cli.settings import flags_layer
    from rpx_core.config import Data
    from rpx_core.hub.resolved import write_manifest

    chosen = {name: value for name, value in flags.items() if name != "settings" and value}
    options = chosen | flags_layer({"settings": flags["settings"]})
    host = state.discover()
    written = write_manifest(task, split, options, host)
    data = Data(name=str(written.path))
    with progress_bar(state, "checking") as progress:
        problems = check_dataset(host, data, task, progress=progress).problems
    if state.as_json:
        print_json({**written.document(), "problems": list(problems)})
    elif not state.quiet:
        for warning in written.fetched.warnings:
            click.echo(f"warning: {warning}")
        _print_problems(problems)
        click.echo(_describe(written))
        click.echo(
            f"\n{count_of(len(problems), 'problem')}"
            if problems
            else f"\nnext: rpx run --task {task} --data {written.path}"
        )
    return ExitCode.USAGE if problems else ExitCode.OK


def _describe(written: Written) -> str:
    count, total = len(written.fetched.samples), written.fetched.of_samples
    commit = written.fetched.commit[:12]
    of = f"{count} of {count_of(total, 'sample')} of {written.origin.repo_id}"
    return f"{of} at {commit}\n{written.path}"


def _print_problems(problems: Sequence[str]) -> None:
    for problem in problems[:MAX_PROBLEMS]:
        click.echo(problem)
    hidden = len(problems) - MAX_PROBLEMS
    if hidden > 0:
        click.echo(f"and {hidden} more")


@data.command(
    epilog="""\b
Examples:
  rpx data index folders /data/mine -o mine.json
  rpx data index kitti /data/kitti -o kitti.json --set split='"val"'
  rpx list datasets                           shows which layouts are known
  rpx list datasets kitti                     shows the options of one
"""
)
@click.argument("layout", shell_complete=complete("dataset"))
@click.argument("root", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--manifest",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write it. [default: manifest.json in ROOT]",
)
@click.option("--set", "settings", multiple=True, metavar="A=VALUE", help="Options of the layout.")
@common_options
def index(
    *, state: State, layout: str, root: Path, manifest: Path | None, settings: tuple[str, ...]
) -> None:
    """Write the manifest of folders in a known LAYOUT below ROOT."""
    from rpx_core.cli.settings import flags_layer
    from rpx_core.datasets import index_layout
    from rpx_core.documents import write_json
    from rpx_core.manifest import manifest_document

    options = {**flags_layer({"settings": settings}), "root": str(root)}
    found = index_layout(state.discover(), layout, options)
    path = manifest or root / "manifest.json"
    document = manifest_document(found, beside=path)
    write_json(path, document)
    for warning in found.warnings:
        state.console().print(f"warning: {warning}", markup=False)
    if state.as_json:
        print_json({"manifest": str(path), "samples": len(found.entries)})
    else:
        state.console().print(
            f"wrote {path}: {count_of(len(found.entries), 'sample')} in "
            f"{count_of(len(found.sequences()), 'sequence')}",
            markup=False,
            soft_wrap=True,
        )


@data.command(
    epilog="""\b
Examples:
  rpx data check set.json --task monocular_depth
  rpx data check lists/set.json --root /data/nyu
  rpx data check set.json --task monocular_depth --set options.max_depth=10
"""
)
@click.argument("manifest", shell_complete=complete("dataset"))
@click.option("--task", help="Only as this task reads it.", shell_complete=complete("task"))
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where its files are. [default: as it says, inside its own folder]",
)
@click.option(
    "--set", "settings", multiple=True, metavar="A.B=VALUE", help="As for `rpx run`: options, data."
)
@common_options
def check(
    *, state: State, manifest: str, task: str | None, root: Path | None, settings: tuple[str, ...]
) -> int:
    """Read every sample of MANIFEST as a run would and report each that fails.

    MANIFEST is whatever `rpx run --data` takes. Says with which scale depth was read. Exit code 2
    when anything is wrong.
    """
    from rpx_core.check import check_dataset
    from rpx_core.cli.progress import progress_bar
    from rpx_core.cli.settings import flags_layer
    from rpx_core.config import build_config, set_field

    layer = flags_layer({"data": manifest, "settings": settings})
    if root is not None:
        set_field(layer, "data.options.root", str(root))
    config = build_config(layer, source="command line")
    with progress_bar(state, "checking") as progress:
        checked = check_dataset(state.discover(), config.data, task, config.options, progress)
    if state.as_json:
        print_json(checked.document())
    elif not state.quiet:
        _print_problems(checked.problems)
        for line in checked.depth:
            click.echo(line)
        read, wrong = count_of(checked.samples, "sample"), len(checked.problems)
        click.echo(f"{read} read, {count_of(wrong, 'problem')}")
    return ExitCode.USAGE if checked.problems else ExitCode.OK
