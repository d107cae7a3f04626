"""Compiling generated C with the system's compiler and calling it through ctypes, for tests and for `pt.kernel(name,
"c")`.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["build", "compiler", "load"]

#: The two -fno let a compiler vectorise square roots and selections; no result depends on them.
FLAGS = ("-std=c99", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")


def compiler() -> list[str]:
    """The command of the C compiler, $CC or cc or gcc; empty where there is none."""
    found = shutil.which("cc") or shutil.which("gcc")
    return shlex.split(os.environ.get("CC", "")) or ([found] if found else [])


def build(source: str, header: str, folder: Path, flags: tuple[str, ...] = FLAGS) -> Path:
    """Write and compile; the path of the shared library.  Raises RuntimeError with the compiler's words if it fails."""
    command = compiler()
    if not command:
        raise RuntimeError(
            "the C backend needs a C compiler (cc, gcc or $CC) to be callable from Python; .source is the text"
        )
    (folder / "ptft_kernels.h").write_text(header)
    (folder / "ptft_kernels.c").write_text(source)
    library = folder / "ptft_kernels.so"
    command += [*flags, str(folder / "ptft_kernels.c"), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the C compiler refused the generated source: {done.stderr[:2000]}")
    return library


def load(
    source: str, header: str, name: str, arguments: tuple[str, ...], outputs: tuple[str, ...] = ()
) -> Callable[..., object]:
    """A function of arrays that broadcasts its arguments and runs the compiled loop (float64 in, float64 out).

    It returns an array, or a tuple of them where the kernel has several `outputs`.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = ctypes.CDLL(str(build(source, header, Path(folder))))  # stays mapped when the folder is gone
    loop = getattr(library, f"ptft_{name}_array")
    pointer = ctypes.POINTER(ctypes.c_double)
    count = len(outputs) or 1
    loop.argtypes = [ctypes.c_size_t, *[pointer] * (len(arguments) + count)]
    loop.restype = None

    def call(*values, **named):
        values = (*values, *(named.pop(argument) for argument in arguments[len(values) :] if argument in named))
        if named or len(values) != len(arguments):
            got = " and ".join([str(len(values)), *named])
            raise TypeError(f"{name} takes {len(arguments)} arguments ({', '.join(arguments)}), got {got}")
        columns = [_real(argument, value) for argument, value in zip(arguments, values, strict=True)]
        arrays = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*columns)]
        shape = np.broadcast_shapes(*(np.shape(column) for column in columns))
        results = [np.empty(shape) for _ in range(count)]
        loop(results[0].size, *(a.ctypes.data_as(pointer) for a in (*arrays, *results)))
        found = tuple(out[()] for out in results)
        return found if outputs else found[0]

    call.__name__ = name
    return call


def _real(name: str, value) -> np.ndarray:
    """A float64 array; TypeError for what is not real numbers, as in the NumPy kernels."""
    array = np.asarray(value)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype} from {type(value).__name__}")
    return array.astype(np.float64, copy=False)
