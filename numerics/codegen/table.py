"""The accuracy and speed table: every kernel beside the calls it cannot avoid and beside the naive textbook code."""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import sympy as sp

from numerics.codegen.compile_c import build, compiler
from numerics.codegen.condition import CONTRACT, condition_errors, several, typical
from numerics.codegen.formulas import formula
from numerics.codegen.kernel import kernel
from numerics.codegen.verify import compare, implementations, measurable, truth

__all__ = ["accuracy_and_speed", "c_ratio", "lost_digits", "speed_ratios"]

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def _seconds(call: Callable[[], object], size: int) -> float:
    """Median processor seconds of one call: other work on the machine is none of the kernel's.

    The clock is read around batches of about 200 000 elements: reading it costs what two NumPy calls cost.
    """
    call()
    batch = max(1, 200_000 // size)
    spent = []
    for _ in range(max(9, min(60, int(6e6 / size / batch)))):
        begun = time.thread_time()
        for _ in range(batch):
            call()
        spent.append((time.thread_time() - begun) / batch)
    return median(spent)


def _arguments(name: str, size: int) -> list[np.ndarray]:
    """Typical arguments: signs mixed, ratios over six orders of magnitude."""
    if formula(name).outputs:
        return list(typical(tuple(formula(name).arguments.values()), size).T.copy())
    rng = np.random.default_rng(size)
    columns = []
    for argument in formula(name).arguments.values():
        magnitude = np.exp(rng.uniform(np.log(1e-3), np.log(1e3), size))
        if argument == "lam":
            magnitude = rng.uniform(-1.0, 1.0, size)
        elif argument in ("beta", "beta_pt", "z", "t"):
            magnitude *= rng.choice([-1.0, 1.0], size)
        columns.append(np.clip(magnitude, -300, 300) if argument == "t" else magnitude)
    return columns


#: The transcendental calls that a kernel of one result cannot avoid, where they are not one asinh and one sinh.
_CALLS = {
    **dict.fromkeys(("c_ft", "k", "sensitivity", "potential_second_derivative"), ("hypot",)),
    **dict.fromkeys(("dual_map", "dual_map_derivative"), ("sinh",)),
    "potential_derivative": ("asinh",),
    "pretraining_dependence": ("hypot", "asinh", "sinh"),
}


def _calls(name: str) -> tuple[str, ...]:
    return _CALLS.get(name, ("asinh", "sinh"))


def _raw(name: str, columns: list[np.ndarray]) -> Callable[[], object]:
    """The calls a kernel cannot avoid, on whole arrays: what its time is a multiple of."""
    first, other = columns[:2]
    if name == "c_ft_sensitivities":
        return lambda: np.hypot(first, other)
    if formula(name).outputs:  # the density, and three hyperbolic functions of the offset
        return lambda: (np.exp(-columns[3]), np.sinh(first), np.cosh(first), np.cosh(first))
    small = np.clip(first, -300.0, 300.0)
    usual = {
        "hypot": lambda: np.hypot(first, other),
        "asinh": lambda: np.arcsinh(first),
        "sinh": lambda: np.sinh(small),
    }
    chosen = [usual[call] for call in _calls(name)]
    return lambda: [call() for call in chosen]


def speed_ratios(name: str, sizes: Sequence[int] = SIZES) -> list[float]:
    """Time of the NumPy kernel over the time of the calls it cannot avoid, per array size."""
    function, ratios = kernel(name).function, []
    for size in sizes:
        columns = _arguments(name, size)
        ratios.append(_seconds(lambda c=columns: function(*c), size) / _seconds(_raw(name, columns), size))
    return ratios


def lost_digits(name: str, count: int = 2000) -> tuple[float, float]:
    """(decimal digits lost by the naive lambdify of the textbook form at worst, its time over the kernel's)."""
    held = kernel(name)
    naive = sp.lambdify(list(held.passes.arguments), held.formula, "numpy")
    true = truth(name, count)
    usual = (np.abs(true.value) > 1e-290) & (np.abs(true.value) < 1e290)
    with np.errstate(all="ignore"):
        error = np.abs(naive(*true.points[usual].T) - true.value[usual]) / np.abs(true.value[usual])
    worst = np.nanmax(np.where(np.isfinite(error), error, 1.0))
    columns = _arguments(name, 100_000)
    with np.errstate(all="ignore"):
        slower = _seconds(lambda: naive(*columns), 100_000) / _seconds(lambda: held.function(*columns), 100_000)
    return float(np.clip(16 + np.log10(max(worst, 1e-16)), 0, 16)), slower


C_LOOP = """
#include <math.h>
#include <stddef.h>
void calls(size_t n, const double *x, const double *y, double *out)
{
    (void)y;
    for (size_t i = 0; i < n; ++i) out[i] = @CALLS@;
}
"""
_IN_C = {"hypot": "hypot(x[i], y[i])", "asinh": "asinh(x[i] / y[i])", "sinh": "sinh(x[i])"}


def c_ratio(name: str = "potential", size: int = 100_000) -> float:
    """Time of the compiled C loop over that of a loop with the calls it cannot avoid, same compiler and flags."""
    held = kernel(name, "c")
    columns = _arguments(name, size)
    columns[0] = np.clip(columns[0], -30, 30)
    out = np.empty(size)
    calls = C_LOOP.replace("@CALLS@", " + ".join(_IN_C[call] for call in _calls(name)))
    times = []
    for text, header, function, given in (
        (held.source, held.header, f"ptft_{name}_array", columns),
        (calls, "", "calls", columns[:2]),
    ):
        with tempfile.TemporaryDirectory() as folder:
            library = ctypes.CDLL(str(build(text, header, Path(folder))))
        loop = getattr(library, function)
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (*given, out)]
        loop.argtypes, loop.restype = [ctypes.c_size_t, *map(type, pointers)], None
        times.append(_seconds(lambda call=loop, to=pointers: call(size, *to), size))
    return times[0] / times[1]


def accuracy_and_speed(names: Sequence[str], sizes: Sequence[int] = SIZES, count: int = 3000) -> str:
    """The table as Markdown: contract, error measured now per backend, speed ratios, digits the textbook form loses.

    Errors are in ulp; those of kernels with several results in roundings of their condition (`codegen.condition`).
    """
    head = ["kernel", "contract", "numpy", "torch", "c", *(f"time at {size:.0e}".replace("e+0", "e") for size in sizes)]
    rows = [[*head, "C time", "textbook loses", "textbook time"]]
    for name in names:
        if name in measurable():
            found = compare(implementations(name), truth(name, count))
            errors, contract = {b: each.ulp for b, each in found.items()}, f"{formula(name).ulp:g} ulp"
        elif name in several():
            found = condition_errors(name, implementations(name), max(10, count // 30))
            errors, contract = {b: each.units for b, each in found.items()}, f"{CONTRACT:g} roundings"
        else:
            continue
        ulps = [f"{errors[b]:.2f}" if b in errors else "-" for b in ("numpy", "torch", "c")]
        ratios = [f"{ratio:.1f}" for ratio in speed_ratios(name, sizes)]
        ratios.append(f"{c_ratio(name):.1f}" if compiler() and not formula(name).outputs else "-")
        lost = ["-", "-"]
        if not formula(name).implicit and not formula(name).outputs:
            digits, slower = lost_digits(name)
            lost = [f"{digits:.0f} digits", f"{slower:.1f}"]
        rows.append([name, contract, *ulps, *ratios, *lost])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
