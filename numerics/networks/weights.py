"""Reading state dictionaries lazily: one tensor at a time, never unpickled.

A source is a mapping, a module, or a file; files are opened by a loader chosen by suffix (`LOADERS`,
`register_loader`). safetensors files are read tensor by tensor; torch files are memory-mapped with ``weights_only``, so
that a checkpoint larger than memory can be compared with another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import torch
from torch import nn

__all__ = ["LOADERS", "Weights", "open_weights", "register_loader"]

PREFIXES = ("module.", "_orig_mod.")  # what DataParallel and torch.compile put in front of every name
WRAPPERS = ("state_dict", "model_state_dict", "model", "module", "net")


class Weights:
    """Names of tensors, each fetched when asked for: ``names``, ``weights[name]``, ``shape(name)``."""

    def __init__(
        self,
        names: Iterable[str],
        fetch: Callable[[str], torch.Tensor],
        shape: Callable[[str], tuple[int, ...]],
        source: str,
    ) -> None:
        names = list(names)
        start = next((p for p in PREFIXES if names and all(n.startswith(p) for n in names)), "")
        self._stored = {n.removeprefix(start): n for n in names}
        self.names, self._fetch, self._shape, self.source = list(self._stored), fetch, shape, source

    def __contains__(self, name: object) -> bool:
        return name in self._stored

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> torch.Tensor:
        return self._fetch(self._stored[name])

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape without reading the data."""
        return self._shape(self._stored[name])


def _from_mapping(mapping: Mapping[str, torch.Tensor], source: str) -> Weights:
    for _ in range(3):  # {"state_dict": {...}}, {"model": {...}, "step": 3}: the usual wrappings
        tensors = {k: v for k, v in mapping.items() if isinstance(k, str) and isinstance(v, torch.Tensor)}
        inside = [k for k in WRAPPERS if isinstance(mapping.get(k), Mapping)]
        if tensors and not inside:
            break
        if not inside:
            raise ValueError(f"{source}: it holds no tensors by name (its keys: {', '.join(map(str, mapping))[:120]})")
        mapping = mapping[inside[0]]
    return Weights(list(tensors), tensors.__getitem__, lambda name: tuple(tensors[name].shape), source)


def _torch_file(path: Path) -> Weights:
    """Zip files (torch >= 1.6) are memory-mapped; older ones are read whole; neither is unpickled freely."""
    content = None
    for mapped in (True, False):
        try:
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
            break
        except Exception as error:
            if mapped and "mmap" in str(error):
                continue
            first = (str(error).strip().splitlines() or [""])[0]
            raise ValueError(
                f"{path}: not readable with weights_only ({type(error).__name__}: {first[:100]}); save the state_dict "
                "alone, or convert it to safetensors"
            ) from None
    if not isinstance(content, Mapping):
        raise ValueError(f"{path}: it holds {type(content).__name__}, a state dictionary is needed")
    return _from_mapping(content, str(path))


def _safetensors_file(path: Path) -> Weights:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise ImportError("safetensors files need the package safetensors: pip install 'ptft-sym[torch]'") from None
    try:
        handle = safe_open(path, framework="pt", device="cpu")
    except SafetensorError as error:
        raise ValueError(f"{path}: not a safetensors file ({error})") from None
    return Weights(
        list(handle.keys()), handle.get_tensor, lambda name: tuple(handle.get_slice(name).get_shape()), str(path)
    )


#: suffix -> function of a path that gives Weights
LOADERS: dict[str, Callable[[Path], Weights]] = {
    ".safetensors": _safetensors_file,
    **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt", ".tar"), _torch_file),
}


def register_loader(suffix: str, loader: Callable[[Path], Weights | Mapping[str, torch.Tensor]]) -> None:
    """Read files of another kind: ``loader(path)`` gives :class:`Weights` or a mapping from names to tensors."""
    if not suffix.startswith(".") or not callable(loader):
        raise ValueError(f"suffix = {suffix!r} must begin with a dot, and loader must be callable")
    LOADERS[suffix.lower()] = loader


def open_weights(source: object, name: str = "weights") -> Weights:
    """Open a mapping, a module, a file, or a folder of safetensors shards.

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        With a sentence that names the argument.
    """
    if isinstance(source, Weights):
        return source
    if isinstance(source, nn.Module):
        return _from_mapping(source.state_dict(), type(source).__name__)
    if isinstance(source, Mapping):
        return _from_mapping(source, name)
    if not isinstance(source, (str, Path)):
        raise TypeError(f"{name} must be a file, a state dictionary or a module, got {type(source).__name__}")
    path = Path(source)
    if path.is_dir():
        return _shards(path, name)
    if not path.is_file():
        raise FileNotFoundError(f"{name} {path}: there is no such file")
    if path.suffix.lower() not in LOADERS:
        raise ValueError(f"{name} {path}: its name must end in one of {', '.join(LOADERS)} (see register_loader)")
    loaded = LOADERS[path.suffix.lower()](path)
    return loaded if isinstance(loaded, Weights) else _from_mapping(loaded, str(path))


def _shards(folder: Path, name: str) -> Weights:
    parts = [_safetensors_file(file) for file in sorted(folder.glob("*.safetensors"))]
    if not parts:
        raise ValueError(f"{name} {folder}: the folder holds no .safetensors file")
    home = {key: part for part in parts for key in part.names}
    return Weights(list(home), lambda key: home[key][key], lambda key: home[key].shape(key), str(folder))
