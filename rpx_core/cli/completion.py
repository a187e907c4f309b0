"""`rpx completion`: code that makes a shell complete commands, flags and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(
    epilog="""\b
Examples:
  rpx completion bash >> ~/.bashrc
  rpx completion zsh >> ~/.zshrc
  rpx completion fish > ~/.config/fish/completions/rpx.fish
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(*, shell: str) -> None:
    """Print the completion code of a shell; add it to the shell's start-up file."""
    from rpx_core.cli import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(cli, {}, "rpx", "_RPX_COMPLETE").source())
