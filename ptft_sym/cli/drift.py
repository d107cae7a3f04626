"""`ptft drift`: what fine-tuning changed between two checkpoints, layer by layer."""

from typing import Annotated

import typer

from ptft_sym.cli.output import AsJson, emit


def command(
    before: Annotated[str, typer.Argument(help=".safetensors, .pt, .pth, .bin, .ckpt, or a folder of shards.")],
    after: Annotated[str, typer.Argument(help="The same network, later.")],
    model: Annotated[str, typer.Option(help="package.module:function that builds the network (its code is run).")] = "",
    batch: Annotated[str, typer.Option(help="Inputs (first axis): .npy, .npz, .safetensors or .pt.")] = "",
    layers: Annotated[str, typer.Option(help="Names of modules, with commas between; default: all with weights.")] = "",
    center: Annotated[bool, typer.Option(help="Remove each unit's mean before PR, ENSD and CKA.")] = True,
    out: Annotated[str, typer.Option(help="Folder for drift.csv and drift.png.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace files of these names in --out.")] = False,
    as_json: AsJson = False,
):
    """Weight drift of every layer; with --model and --batch also drift, PR, ENSD and CKA of their features.

    Files are read lazily and never unpickled.
    """
    try:
        from numerics.networks.drift import drift
    except ModuleNotFoundError as error:
        raise ImportError(f"ptft drift needs {error.name}: pip install 'ptft-sym[torch]'") from None
    if bool(model) != bool(batch):
        raise ValueError("--model and --batch go together: features need a network and inputs for it")
    if layers and not model:
        raise ValueError("--layers needs --model and --batch: without them only weights are compared")
    from ptft_sym.files import refuse_folder

    refuse_folder(out or None, force)
    inputs = _read_batch(batch) if batch else None
    names = [name.strip() for name in layers.split(",") if name.strip()] or None
    found = drift(model or None, before, after, inputs, layers=names, center=center)
    written = _write(found, out, force) if out else []
    if as_json:
        rows = found.table.reset_index().to_dict("records")
        ratios = {name: getattr(found, name) for name in ("early_late_before", "early_late_after")}
        emit("drift", {"layers": rows, **ratios, "notes": found.notes, "written": written})
        return
    typer.echo(str(found))
    if written:
        typer.echo(f"\ntable and figure in {written[0].parent}")


def _write(found, out, force):
    """Table and figure; returns their paths."""
    from ptft_sym.files import replacing, result_folder

    folder = result_folder(out, "ptft-drift", force)
    with replacing(folder / "drift.csv") as partial:
        found.table.to_csv(partial)
    found.plot(folder / "drift.png")
    return [folder / "drift.csv", folder / "drift.png"]


def _read_batch(text):
    """The array in a file, or its first array; names x, inputs and batch come before others."""
    from pathlib import Path

    path = Path(text)
    if not path.is_file():
        raise FileNotFoundError(f"--batch {path}: there is no such file")
    if path.suffix.lower() in (".npy", ".npz"):
        return _read_numpy(path)
    from numerics.networks.weights import LOADERS, open_weights

    if path.suffix.lower() not in LOADERS:
        raise ValueError(f"--batch {path}: its name must end in .npy, .npz, {', '.join(LOADERS)}")
    if path.suffix.lower() != ".safetensors":
        import torch

        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            raise ValueError(f"--batch {path}: not readable with weights_only ({type(error).__name__})") from None
        if isinstance(content, torch.Tensor):
            return content
    stored = open_weights(path, "--batch")
    return stored[_choose(stored.names)]


def _read_numpy(path):
    import numpy as np

    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        with content:
            return content[_choose(content.files)]
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"--batch {path}: not readable as an array ({error})") from None


def _choose(names):
    if not names:
        raise ValueError("--batch: the file holds no array")
    return next((name for name in ("x", "inputs", "batch") if name in names), names[0])
