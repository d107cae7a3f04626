"""Writing the kernel files, and checking that what is written is what the generator says today."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from numerics.codegen.export import torch_module, trace_of
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.headers import header
from numerics.codegen.print_balls import print_balls
from numerics.codegen.print_channel_table import print_channel_table
from numerics.codegen.print_numpy import print_module
from numerics.codegen.print_prox import print_solver

__all__ = ["check", "files", "write"]

KERNELS = Path(__file__).resolve().parent.parent / "kernels"


def init_text() -> str:
    """The re-exports of `numerics.kernels`."""
    names = sorted(FORMULAS)
    imports = "\n".join(f"from numerics.kernels.{name} import {name}" for name in names)
    listed = "\n".join(f'    "{name}",' for name in names)
    doc = (
        '"""The generated NumPy kernels (`python -m numerics.codegen --write`); each file says formula, source and '
        'accuracy."""'
    )
    return f"{doc}\n\n{imports}\n\n__all__ = [\n{listed}\n]\n"


@cache
def files() -> dict[str, str]:
    """File name -> text of every generated file, in a fixed order."""
    texts = {"__init__.py": init_text()}
    for row in FORMULAS.values():
        trace = trace_of(row.name)
        trace.check()
        texts[f"{row.name}.py"] = print_module(row, trace, header(row, trace, "numpy"))
    texts["balls.py"] = print_balls()
    texts["channel_table.py"] = print_channel_table()
    texts["_prox.py"] = print_solver()
    texts["torch_kernels.py"] = torch_module()
    return texts


def write(folder: Path = KERNELS) -> list[str]:
    """Write the files that changed; their names."""
    changed = []
    for name, text in files().items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            changed.append(name)
    return changed


def check(folder: Path = KERNELS) -> list[str]:
    """The names of files that differ from what the generator writes today, or that it does not know."""
    texts = files()
    stale = [
        name for name, text in texts.items() if not (folder / name).exists() or (folder / name).read_text() != text
    ]
    known = {*texts, "_elementwise.py"}
    return stale + sorted(path.name for path in folder.glob("*.py") if path.name not in known)
