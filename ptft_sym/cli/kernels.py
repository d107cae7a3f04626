"""`ptft kernels`: list the generated kernels, print their tables, write them into another project."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Kernels; all of them by default.")
    ] = None,
    backend: Annotated[str, typer.Option(help="numpy, torch, c or mpmath.")] = "numpy",
    out: Annotated[
        Path | None, typer.Option(help="Write a self-contained file here (C: the header beside it).")
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Accuracy and speed, measured on this machine now.")] = False,
    passes: Annotated[
        bool, typer.Option("--passes", help="Show the expression after each pass of the compiler.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
):
    """The generated kernels: formula, source, accuracy; `--out FILE` writes a file you can drop into another
    project.
    """
    from numerics.codegen import BACKENDS, kernel
    from numerics.codegen.formulas import FORMULAS

    if backend not in BACKENDS:
        raise ValueError(f"backend = {backend!r} is not allowed: choose one of {', '.join(BACKENDS)}")
    chosen = list(names or [name for name, row in FORMULAS.items() if backend in row.backends])
    kernels = [kernel(name, backend) for name in chosen]  # refuses unknown names before anything is written
    if table:
        from numerics.codegen.table import accuracy_and_speed

        typer.echo(accuracy_and_speed(chosen))
    elif passes:
        for each in kernels:
            typer.echo(f"{each.name}\n{each.passes}\n")
    elif out is not None:
        for path in write(chosen, backend, out, force):
            typer.echo(f"wrote {path}")
    else:
        for each in kernels:
            typer.echo(f"{each.name}({', '.join(each.arguments)}): {each.title}\n    {each.doc}\n    {each.accuracy}")


def write(names: list[str], backend: str, out: Path, force: bool) -> list[Path]:
    """Write the self-contained file (and the C header); the paths written.  Raises FileExistsError without `force`."""
    from numerics.codegen.export import c_header, source

    files = {out: source(names, backend, header_name=out.with_suffix(".h").name)}
    if backend == "c":
        files[out.with_suffix(".h")] = c_header(names)
    for path in files:
        if path.exists() and not force:
            raise FileExistsError(f"{path} exists: choose another name or pass --force")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(files)
