"""The page docs/bad_input.md, written from the tables: `python tests/bad_input/page.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent


def signs(value) -> list[str]:
    """Any of these in a sentence shows the value: itself, an entry of it, its type or its shape."""
    found = [repr(value)[:50], str(value)[:50], type(value).__name__]
    if isinstance(value, (int, float)):
        found += ["shape ()", "spans"]  # a number where an array belongs; a scale shown in the problem's units
    if isinstance(value, (list, tuple, np.ndarray)):
        if isinstance(value, (list, tuple)) and not value:
            found += ["empty", "at least", "must hold", "holds 0", "shape (0"]
        try:
            array = np.asarray(value)
            found += [f"shape {array.shape}", f"{array.size} "]
            found += [repr(v)[:40] for v in array.ravel().tolist()]
        except ValueError:
            pass
    if isinstance(value, dict):
        found += [str(part) for item in value.items() for part in item]
        found += [repr(v)[:40] for part in value.values() if isinstance(part, (list, tuple)) for v in part]
        found += ["{}", "axis", "missing", "at least one", "its keys: )"] if not value else ["share no"]
    if isinstance(value, float) and value == int(value) if isinstance(value, float) and np.isfinite(value) else False:
        found += [str(int(value)), f"{value:g}"]
    if value is None:
        found += ["None", "NoneType", "must be given", "missing"]
    return [f for f in found if f]


def text() -> str:
    """The page."""
    from bad_input import commands, functions

    rows = functions.rows()
    count = sum(len(kind.bad) for row in rows.values() for kind in row.kinds.values()) - len(functions.ACCEPTED)
    methods = sum(len(bad) for table in commands.METHODS.values() for bad in table.values())
    lines = [
        "# What is refused", "",
        "Written by `python tests/bad_input/page.py` from the tables that `tests/test_bad_input.py` runs; do not edit.",
        "",
        f"{count} calls of public functions and {len(commands.cases()) + methods + len(commands.TRAINING)} of commands "
        "(contents of training files included), each with one argument spoiled. "
        "A function raises `ValueError`, `TypeError`, `OSError` or `ImportError` with a sentence that "
        "names the argument, its value and what is allowed; a command prints that sentence, exits with code 2 and "
        "writes nothing.",
        "", "## Functions", "",
    ]  # fmt: skip
    lines += ["| function | argument | refused |", "| --- | --- | --- |"]
    for name, row in rows.items():
        for argument, kind in row.kinds.items():
            bad = [label for label in kind.bad if (name, argument, label) not in functions.ACCEPTED]
            if bad:
                lines.append(f"| `{name}` | `{argument}` | {', '.join(bad)} |")
    lines += ["", "## Commands", "", "| command | parameter | refused |", "| --- | --- | --- |"]
    for name, table in commands.BAD.items():
        for parameter, bad in table.items():
            shown = ", ".join(f"{label} (`{value}`)" if value.strip("=") else label for label, value in bad.items())
            lines.append(f"| `ptft {name}` | `{parameter}` | {shown} |")
    for method, table in commands.METHODS.items():
        for parameter, bad in table.items():
            shown = ", ".join(f"{label} (`{value}`)" if value else label for label, value in bad.items())
            lines.append(f"| `ptft simulate --method {method}` | `{parameter}` | {shown} |")
    shown = ", ".join(f"{label} (`{text}`)".replace("\n", " ") for label, (text, _) in commands.TRAINING.items())
    lines.append(f"| `ptft train --config` | the file's content | {shown} |")
    lines += [
        "",
        "`2.0` for a whole number counts as 2 on the command line (not in Python), and so is no row of this table.",
    ]
    lines += ["", "## Accepted, and why", "", "| function | argument | value | why |", "| --- | --- | --- | --- |"]
    lines += [f"| `{n}` | `{a}` | {label} | {why} |" for (n, a, label), why in functions.ACCEPTED.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    (ROOT / "docs" / "bad_input.md").write_text(text(), encoding="utf-8")
