"""The published logging: one logger for the package, a banner, and nothing at import."""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

from rpx_core.errors import ConfigError

ROOT = "rpx"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def get_logger(name: str = ROOT) -> logging.Logger:
    """The logger `rpx`, or one below it: `get_logger("loader")` is `rpx.loader`."""
    inside = name == ROOT or name.startswith(f"{ROOT}.")
    return logging.getLogger(name if inside else f"{ROOT}.{name}")


def configure_logging(
    level: int | str = "INFO", *, force: bool = False, use_rich: bool = False
) -> logging.Logger:
    """Write the messages of `rpx` loggers from this level on to stderr; returns their logger.

    RPX_LOG_LEVEL in the environment wins over `level`. A second call changes the level alone, and
    with `force` the handler too. `use_rich` colours the lines. Raises ConfigError for an unknown
    level, naming where it came from.
    """
    logger = logging.getLogger(ROOT)
    logger.setLevel(_read_level(level))
    ours = [handler for handler in logger.handlers if handler.get_name() == ROOT]
    if ours and not force:
        return logger
    for handler in ours:
        logger.removeHandler(handler)
    logger.addHandler(_make_handler(use_rich=use_rich))
    # The handlers of the program's root logger would print everything a second time.
    logger.propagate = False
    return logger


def show_banner(
    *,
    context: str | None = None,
    subtitle: str | None = None,
    enabled: bool = True,
    file: TextIO | None = None,
) -> None:
    """Print the name and version of the package, what is being done, and a line below it.

    To stderr unless `file` says otherwise; nothing where RPX_NO_BANNER is set, or not `enabled`.
    """
    if not enabled or os.environ.get("RPX_NO_BANNER"):
        return
    from rpx_core import __version__

    title = f"RPX {__version__}" + (f" | {context}" if context else "")
    lines = [title, *([subtitle] if subtitle else [])]
    rule = "=" * max(len(line) for line in lines)
    print("\n".join([rule, *lines, rule]), file=file if file is not None else sys.stderr)


def _read_level(level: int | str) -> int:
    named = os.environ.get("RPX_LOG_LEVEL")
    wanted = named or level
    if isinstance(wanted, int):
        return wanted
    number = logging.getLevelNamesMapping().get(wanted.strip().upper())
    if number is None:
        where = "RPX_LOG_LEVEL" if named else "level"
        raise ConfigError(f"{where} is {wanted!r}", hint=f"one of {', '.join(_LEVELS)}")
    return number


def _make_handler(*, use_rich: bool) -> logging.Handler:
    handler: logging.Handler
    if use_rich:
        from rich.console import Console
        from rich.logging import RichHandler

        handler = RichHandler(console=Console(stderr=True), show_path=False)
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(_FORMAT))
    handler.set_name(ROOT)
    return handler
