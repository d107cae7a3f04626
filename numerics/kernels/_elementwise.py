"""What every generated NumPy kernel runs under: broadcasting, dtypes, blocks that fit the cache, silence.

A core is straight-line NumPy code on float64 arrays.  `elementwise` checks the domain, broadcasts, feeds the core
blocks of BLOCK elements (its temporaries then stay in the second-level cache) and returns the result in the
arguments' dtype.  float64 arrays of one shape, the usual case, go straight to the core: at a thousand elements a
kernel is a dozen NumPy calls, and everything around them has to cost less than one.
float32 arguments are computed in float64, block by block, and rounded once.
"""

import contextvars
import math
from functools import lru_cache

import numpy as np

BLOCK = 16384  # elements; 128 KiB a temporary
np.empty(
    1 << 21
)  # freed at once: glibc then keeps blocks of a temporary's size instead of handing them back every call
_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)
_QUIET = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}


def _quiet_context():
    """A context in which NumPy ignores floating-point errors; None where it keeps their state elsewhere (before 2.0)."""
    before, context = np.geterr(), contextvars.Context()
    context.run(np.seterr, **_QUIET)
    if np.geterr() == before:
        return context
    np.seterr(**before)
    return None


_idle = [_quiet_context()]  # those not in use: list.pop and append are atomic


def _silently(function, *arguments):
    """function(*arguments) without floating-point warnings or errors, whatever the caller's `np.errstate` says.

    Entering a context that stands ready costs a tenth of `np.errstate`.
    """
    try:
        context = _idle.pop()
    except IndexError:
        context = _quiet_context()
    try:
        if context is None:
            with np.errstate(**_QUIET):
                return function(*arguments)
        return context.run(function, *arguments)
    finally:
        _idle.append(context)


def elementwise(core, names, positive, arguments):
    """Apply `core` to broadcast arguments.

    names: the arguments' names, for messages; positive: those that must be > 0.
    Returns an array of the broadcast shape, or a NumPy scalar when all arguments are scalars (0-d).
    dtype: float32 if every argument is at most float32 (Python numbers do not count), else float64.

    Raises TypeError for complex or non-numeric arguments and ValueError for an argument out of its domain or
    shapes that do not broadcast.
    """
    shape = None
    for a in arguments:
        if type(a) is not _ARRAY or a.dtype is not _DOUBLE or (a.shape != shape and shape is not None):
            break
        shape = a.shape
    else:
        if shape and 0 < a.size <= BLOCK:
            for name in positive:
                a = arguments[names.index(name)]
                if not a.item(a.argmin()) > 0.0:  # or NaN
                    _refuse(name, a)
            return _silently(core, *arguments)
    return _silently(_any_arguments, core, names, positive, arguments)


def _check(names, positive, arguments):
    """ValueError if an entry that must be positive is not."""
    for name in positive:
        a = arguments[names.index(name)]
        if not a.item(a.argmin()) > 0.0:  # or NaN, which argmin takes for the smallest and _refuse lets pass
            _refuse(name, a)


def _direct(core, names, positive, arguments, out=None):
    _check(names, positive, arguments)
    return core(*arguments, out)


def _any_arguments(core, names, positive, arguments):
    """`elementwise` for lists, scalars, other dtypes, several shapes and arrays longer than a block."""
    arrays = [
        a if type(a) is np.ndarray and a.dtype is _DOUBLE else _as_real(n, a)
        for n, a in zip(names, arguments, strict=False)
    ]
    plain = all(a.dtype is _DOUBLE for a in arrays)
    dtype = _DOUBLE if plain else _result_dtype(arguments, arrays)
    shapes = {a.shape for a in arrays if a.ndim}
    size = max(a.size for a in arrays)
    if len(shapes) > 1:
        return _in_blocks(core, arrays, dtype, names, positive)
    shape = shapes.pop() if shapes else ()
    if size > BLOCK and all(a.flags.c_contiguous for a in arrays):
        return _in_slices(core, arrays, shape, dtype, names, positive)
    if size > BLOCK or 0 in shape:
        return _in_blocks(core, arrays, dtype, names, positive)
    # a core writes over its own temporaries: they must all have the full shape
    full = [_filled(a, shape or (1,)) if a.shape != shape or not shape else a.astype(_DOUBLE, copy=False) for a in arrays]
    out = _direct(core, names, positive, full)
    return _finished(out if shape else out.reshape(-1)[0], shape, dtype)


def _filled(value, shape):
    full = np.empty(shape)
    full.fill(value)
    return full


def _in_slices(core, arrays, shape, dtype, names, positive):
    """Contiguous arrays of one shape, and scalars, longer than a block."""
    out = np.empty(shape, dtype)
    flat, size = out.reshape(-1), out.size
    whole = [a.reshape(-1) if a.ndim else _filled(a, BLOCK) for a in arrays]
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        here = [w[start:stop] if a.ndim else w[: stop - start] for a, w in zip(arrays, whole, strict=True)]
        here = [h.astype(_DOUBLE, copy=False) for h in here]
        there = flat[start:stop]
        result = _direct(core, names, positive, here, there if dtype is _DOUBLE else None)
        if result is not there:
            there[...] = result
    return out


def broadcast(core, names, positive, arguments):
    """Apply a core with several outputs; each has the broadcast shape and the dtype that `elementwise` would give.

    The arguments are not broadcast before they reach the core: what depends on few of them is computed on their shape.
    """
    return _silently(_several, core, names, positive, arguments)


def _several(core, names, positive, arguments):
    arrays = [_as_real(n, a) for n, a in zip(names, arguments, strict=False)]
    for name, array in zip(names, arrays, strict=False):
        if name in positive:
            _refuse(name, array)
    dtype = _result_dtype(arguments, arrays)
    arrays = [a.astype(_DOUBLE, copy=False) for a in arrays]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    size = math.prod(shape)
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


def _in_blocks(core, arrays, dtype, names, positive):
    """Arrays of several shapes or any strides."""
    flags = ("external_loop", "buffered", "zerosize_ok", "delay_bufalloc")
    roles = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    types = [_DOUBLE] * len(arrays) + [dtype]
    walk = np.nditer([*arrays, None], flags, roles, op_dtypes=types, order="K", casting="same_kind", buffersize=BLOCK)
    with walk:
        walk.reset()
        for *inputs, out in walk:
            if out.size:  # the domain is checked here, where the block is in the cache
                out[...] = _direct(core, names, positive, inputs)
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


def beyond(x, bound):
    """Whether some |x| may exceed the bound (NaN counts): asked of every block, so no array is made."""
    item = x.item
    return not (item(x.argmax()) <= bound and item(x.argmin()) >= -bound)


def above(x, bound):
    """Whether some x may exceed the bound (NaN counts)."""
    return not x.item(x.argmax()) <= bound


def within(x, bound):
    """Whether some |x| may be below the bound (NaN counts)."""
    size = np.abs(x)
    return not size.item(size.argmin()) >= bound


def patch(out, where, core, *arguments):
    """Replace the elements of `out` selected by `where` with core(arguments there); nothing happens where none is."""
    if where.any():
        picked = [np.broadcast_to(a, where.shape)[where] for a in arguments]
        out = np.asarray(out)
        out[where] = core(*picked)
    return out


def constant(value):
    """A number as a NumPy operand: a third cheaper in a call than a Python float."""
    return np.array(value)


@lru_cache(maxsize=256)
def _constants(values):
    return tuple(map(np.array, values))


def horner(x, coefficients):
    """coefficients[0] + coefficients[1] x + ..., in place but for the first product."""
    first, *rest, last = _constants(coefficients)
    total = x * last
    for coefficient in reversed(rest):
        total += coefficient
        total *= x
    total += first
    return total


def hypot(a, b):
    """sqrt(a^2 + b^2): the plain form where the squares are in range (fast, 1 ulp), `np.hypot` elsewhere."""
    square = a * a + b * b
    return patch(np.sqrt(square), (square < 1e-290) | (square > 1e300), np.hypot, a, b)


_UPPER = np.array(-(1 << 27))  # keeps 26 bits of a double


def upper(x, out=None):
    """The upper 26 bits of float64 values: the product of two such is exact."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.bitwise_and(bits, _UPPER, None if out is None else out.view(np.int64)).view(np.float64)


def known(a, b):
    """a where it is a number, b where it is NaN; a itself where there is none."""
    return patch(+a, np.isnan(a), lambda x: x, b) if np.isnan(a.item(a.argmax())) else a


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
