"""What every generated NumPy kernel runs under: broadcasting, dtypes, blocks that fit the cache, silence.

A core is straight-line NumPy code on float64 arrays.  `elementwise` checks the domain, broadcasts, feeds the core
blocks of BLOCK elements (its temporaries then stay in the second-level cache) and returns the result in the arguments' dtype.
float32 arguments are computed in float64, block by block, and rounded once.
"""

import math

import numpy as np

BLOCK = 16384  # elements; 128 KiB a temporary
np.empty(
    1 << 21
)  # freed at once: glibc then keeps blocks of a temporary's size instead of handing them back every call
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
    arrays = [a if type(a) is np.ndarray and a.dtype is _DOUBLE else _as_real(n, a) for n, a in zip(names, arguments, strict=False)]
    guarded = [i for i, name in enumerate(names) if name in positive]
    plain = all(a.dtype is _DOUBLE for a in arrays)
    dtype = _DOUBLE if plain else _result_dtype(arguments, arrays)
    shapes = {a.shape for a in arrays if a.ndim}
    with np.errstate(**_QUIET):
        if len(shapes) > 1 or max(a.size for a in arrays) > BLOCK:
            return _in_blocks(core, arrays, dtype, names, guarded)
        for i in guarded:
            _refuse(names[i], arrays[i])
        shape = shapes.pop() if shapes else ()
        # a core writes over its own temporaries: they must all have the full shape
        full = [a if a.shape == shape and shape else np.broadcast_to(a, shape or (1,)) for a in arrays]
        out = core(*(full if plain else [a.astype(_DOUBLE) for a in full]))
        return _finished(out if shape else np.asarray(out).reshape(-1)[0], shape, dtype)


def broadcast(core, names, positive, arguments):
    """Apply a core with several outputs; each has the broadcast shape and the dtype that `elementwise` would give.

    The arguments are not broadcast before they reach the core: what depends on few of them is computed on their shape.
    """
    arrays = [_as_real(n, a) for n, a in zip(names, arguments, strict=False)]
    for name, array in zip(names, arrays, strict=False):
        if name in positive:
            _refuse(name, array)
    dtype = _result_dtype(arguments, arrays)
    arrays = [a.astype(_DOUBLE, copy=False) for a in arrays]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    size = math.prod(shape)
    with np.errstate(**_QUIET):
        if size <= BLOCK:
            return tuple(_finished(result, shape, dtype) for result in core(*arrays))
        step = max(1, BLOCK * shape[0] // size)
        outputs = ()
        for start in range(0, shape[0], step):
            rows = slice(start, start + step)
            results = core(*[a[rows] if a.ndim == len(shape) and len(a) > 1 else a for a in arrays])
            outputs = outputs or tuple(np.empty(shape, dtype) for _ in results)
            for output, result in zip(outputs, results, strict=False):
                output[rows] = result
        return outputs


def _finished(result, shape, dtype):
    """A result in its shape and dtype; one that does not depend on every argument is repeated."""
    result = np.asarray(result, dtype)
    return (result if result.shape == shape else np.broadcast_to(result, shape).copy())[()]


def _in_blocks(core, arrays, dtype, names, guarded):
    flags = ("external_loop", "buffered", "zerosize_ok", "delay_bufalloc")
    roles = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    types = [_DOUBLE] * len(arrays) + [dtype]
    walk = np.nditer([*arrays, None], flags, roles, op_dtypes=types, order="K", casting="same_kind", buffersize=BLOCK)
    with walk:
        walk.reset()
        for *inputs, out in walk:
            for i in guarded:  # here, where the block is in the cache
                _refuse(names[i], inputs[i])
            out[...] = core(*inputs)
        return walk.operands[-1][()]


def _as_real(name, value):
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        raise TypeError(f"{name} must be real numbers, got {value!r:.60} of uneven lengths") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype} from {type(value).__name__}")
    return array


def _result_dtype(arguments, arrays):
    """float32 if every array argument is at most that wide (and there is one); Python numbers do not count."""
    narrow = [a.dtype.kind == "f" and a.dtype.itemsize <= 4 for a in arrays]
    plain = [type(value) in (int, float) for value in arguments]
    single = any(narrow) and all(n or p for n, p in zip(narrow, plain, strict=True))
    return np.dtype(np.float32) if single else _DOUBLE


def _refuse(name, array):
    """Raise ValueError if an entry is not positive (NaN passes: the result is NaN)."""
    bad = array <= 0
    if bad.any():
        raise ValueError(f"{name} = {array[bad].flat[0]!r} is not allowed: it must be > 0")


def patch(out, where, core, *arguments):
    """Replace the elements of `out` selected by `where` with core(arguments there); nothing happens where none is."""
    if where.any():
        picked = [np.broadcast_to(a, where.shape)[where] for a in arguments]
        out = np.asarray(out)
        out[where] = core(*picked)
    return out


def horner(x, coefficients):
    """coefficients[0] + coefficients[1] x + ..., in place but for the first product."""
    *rest, last = coefficients
    total = x * last
    for coefficient in rest[:0:-1]:
        total += coefficient
        total *= x
    total += rest[0]
    return total


def hypot(a, b):
    """sqrt(a^2 + b^2): the plain form where the squares are in range (fast, 1 ulp), `np.hypot` elsewhere."""
    square = a * a + b * b
    return patch(np.sqrt(square), (square < 1e-290) | (square > 1e300), np.hypot, a, b)


def select(condition, a, b):
    """np.where for float64, by masks of bits: `np.where` itself branches, and a mixed mask defeats the predictor."""
    if np.ndim(condition) == 0:
        return np.where(condition, a, b)
    mask = np.negative(condition.view(np.int8), dtype=np.int64)
    a, b = (np.asarray(x, dtype=np.float64).view(np.int64) for x in (a, b))
    out = a & mask
    np.invert(mask, out=mask)
    mask &= b
    out |= mask
    return out.view(np.float64)
