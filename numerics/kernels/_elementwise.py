"""What every generated NumPy kernel runs under: broadcasting, dtypes, blocks that fit the cache, silence.

A core is straight-line NumPy code on float64 arrays.  `elementwise` checks the domain, broadcasts, feeds the core
blocks of BLOCK elements (its temporaries then stay in the second-level cache) and returns the result in the arguments' dtype.
float32 arguments are computed in float64, block by block, and rounded once.
"""

import numpy as np

BLOCK = 8192  # elements; 64 KiB a temporary
_DOUBLE = np.dtype(np.float64)
_QUIET = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}


def elementwise(core, names, positive, arguments):
    """Apply `core` to broadcast arguments.

    names: the arguments' names, for messages; positive: those that must be > 0.
    Returns an array of the broadcast shape, or a NumPy scalar when all arguments are scalars (0-d).
    dtype: float32 if every argument is at most float32 (Python numbers do not count), else float64.

    Raises TypeError for complex or non-numeric arguments and ValueError for an argument out of its domain or
    shapes that do not broadcast.
    """
    arrays = [a if type(a) is np.ndarray and a.dtype is _DOUBLE else _as_real(n, a) for n, a in zip(names, arguments)]
    for name, array in zip(names, arrays):
        if name in positive and (array <= 0).any():
            _refuse(name, array)
    plain = all(a.dtype is _DOUBLE for a in arrays)
    dtype = _DOUBLE if plain else _result_dtype(arguments, arrays)
    shapes = {a.shape for a in arrays if a.ndim}
    with np.errstate(**_QUIET):
        if len(shapes) > 1 or max(a.size for a in arrays) > BLOCK:
            return _in_blocks(core, arrays, dtype)
        if plain:
            return core(*arrays)[()]
        return core(*[a.astype(_DOUBLE) for a in arrays]).astype(dtype)[()]


def _in_blocks(core, arrays, dtype):
    flags = ("external_loop", "buffered", "zerosize_ok", "delay_bufalloc")
    roles = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    types = [_DOUBLE] * len(arrays) + [dtype]
    walk = np.nditer([*arrays, None], flags, roles, op_dtypes=types, order="K", casting="same_kind", buffersize=BLOCK)
    with walk:
        walk.reset()
        for *inputs, out in walk:
            out[...] = core(*inputs)
        return walk.operands[-1][()]


def _as_real(name, value):
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype} from {type(value).__name__}")
    return array


def _result_dtype(arguments, arrays):
    if all(a.dtype.kind == "f" and a.dtype.itemsize <= 4 or type(v) in (int, float) for v, a in zip(arguments, arrays)):
        if any(a.dtype.kind == "f" and a.dtype.itemsize <= 4 for a in arrays):
            return np.dtype(np.float32)
    return _DOUBLE


def _refuse(name, array):
    value = array[array <= 0].flat[0]
    raise ValueError(f"{name} = {value!r} is not allowed: it must be > 0")


def patch(out, where, core, *arguments):
    """Replace the elements of `out` selected by `where` with core(arguments there); nothing happens where none is."""
    if where.any():
        picked = [np.broadcast_to(a, where.shape)[where] for a in arguments]
        out = np.asarray(out)
        out[where] = core(*picked)
    return out
