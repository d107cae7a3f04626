"""`ptft kernels`: list the generated kernels, print their tables, write them into another project."""

from pathlib import Path
from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Kernels; all of them by default.", autocompletion=complete.kernels
        ),
    ] = None,
    backend: Annotated[
        str, typer.Option(help="numpy, torch, c or mpmath.", autocompletion=complete.backends)
    ] = "numpy",
    out: Annotated[
        str | None, typer.Option(help="Write a self-contained file here (C: the header beside it).")
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Accuracy and speed, measured on this machine now.")] = False,
    passes: Annotated[
        bool, typer.Option("--passes", help="Show the expression after each pass of the compiler.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: AsJson = False,
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
    if out is not None and (table or passes):
        raise ValueError(f"--out {out} writes source files: leave out {'--table' if table else '--passes'}")
    found = {"backend": backend, "kernels": [_document(each, passes) for each in kernels], "written": []}
    if table:
        from numerics.codegen.table import accuracy_and_speed

        text = accuracy_and_speed(chosen)
        found["table"] = _rows(text)
    elif passes:
        text = "\n".join(f"{each.name}\n{each.passes}\n" for each in kernels)
    elif out is not None:
        found["written"] = write(chosen, backend, _target(out), force)
        text = "\n".join(f"written: {path}" for path in found["written"])
    else:
        text = "\n".join(
            f"{each.name}({', '.join(each.arguments)}): {each.title}\n    {each.doc}\n    {each.accuracy}"
            for each in kernels
        )
    if as_json:
        from ptft_sym.cli.output import emit

        emit("kernels", found)
    else:
        typer.echo(text)


def _target(out: str) -> Path:
    """A file that exists is refused further down, with its header."""
    from ptft_sym.files import output_file

    return output_file(out, force=True)


def _document(each, passes) -> dict:
    names = ("name", "title", "arguments", "doc", "accuracy")
    return {name: getattr(each, name) for name in names} | ({"passes": str(each.passes)} if passes else {})


def _rows(markdown: str) -> list[dict]:
    """The rows of a Markdown table, cells as they are printed."""
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines())
    return [dict(zip(head, row, strict=True)) for row in body]


def write(names: list[str], backend: str, out: Path, force: bool) -> list[Path]:
    """Write the self-contained file (and the C header); the paths written.  Raises FileExistsError without `force`."""
    from numerics.codegen.export import c_header, source
    from ptft_sym.files import write_text

    files = {out: source(names, backend, header_name=out.with_suffix(".h").name)}
    if backend == "c":
        files[out.with_suffix(".h")] = c_header(names)
    for path in files:
        if path.exists() and not force:
            raise FileExistsError(f"{path} exists: choose another name or pass --force")
    for path, text in files.items():
        write_text(path, text)
    return list(files)
