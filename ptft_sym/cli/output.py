"""What every command prints with: tables for people, one JSON document for machines (`--json`), progress on stderr.

With ``--json`` stdout holds one object and nothing else: ``command`` and ``version``, then the fields that the
command's section of docs/cli.md lists. Numbers keep all their digits (``float(text)`` gives the same double back);
what JSON has no word for, NaN and the infinities, is null.
"""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

__all__ = ["AsJson", "Quiet", "console", "emit", "note", "plain", "progress_bar", "table"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text (docs/cli.md).")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress.")]


def emit(command: str, document: dict) -> None:
    """Print ``document`` as the JSON answer of a command."""
    from ptft_sym import __version__

    typer.echo(_lines(plain({"command": command, "version": __version__, **document}), 0))


def note(text: str, quiet: bool = False) -> None:
    """A line of progress: on stderr, so that stdout holds results only."""
    if not quiet:
        typer.echo(text, err=True)


def plain(value: object) -> object:
    """The value in JSON's types: arrays as lists, dataclasses as objects, NaN and infinities as None, others as text.

    Raises nothing: what is unknown is written as ``str(value)``.
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, of any kind
        return plain(value.tolist())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (list, tuple, set, frozenset)) or hasattr(value, "__next__"):
        return [plain(item) for item in value]
    return str(value)


def _lines(value: object, depth: int) -> str:
    """JSON with the first two levels spread over lines: a row of a table stays one line."""
    if depth == 2 or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, allow_nan=False)
    pad = "  " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_lines(item, depth + 1)}" for key, item in value.items()]
        left, right = "{}"
    else:
        parts, (left, right) = [_lines(item, depth + 1) for item in value], "[]"
    return f"{left}\n{pad}" + f",\n{pad}".join(parts) + f"\n{pad[2:]}{right}"


def console(stderr: bool = False, quiet: bool = False):
    """Rich's console: colours only on a terminal and not with NO_COLOR, as wide as the terminal, 80 without one."""
    from rich.console import Console

    return Console(stderr=stderr, quiet=quiet)


def table(names, rows, title=None) -> None:
    """Print a table: the names of its columns (a sequence, or words with spaces between) and rows of text."""
    from rich.table import Table

    made = Table(*(names.split() if isinstance(names, str) else names), title=title, title_justify="left")
    for row in rows:
        made.add_row(*row)
    console().print(made)


def progress_bar(quiet: bool = False):
    """A progress bar on stderr; none where stderr is no terminal or with ``quiet``."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    on = console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=on, disable=quiet or not on.is_terminal)
