"""Checks at the door: every error names the argument, its value and the allowed range.

The inner layers trust what passed here, so a value is checked once. All functions return the checked value in
the form the numerics use (``float``, ``int`` or a C-contiguous float array).
"""

from __future__ import annotations

import math
import numbers
import os

import numpy as np

__all__ = [
    "as_array",
    "check_callable",
    "check_count",
    "check_dataset",
    "check_design",
    "check_flag",
    "check_number",
    "check_path",
]


def _interval(low: float, high: float, open_low: bool, open_high: bool) -> str:
    left = "(" if open_low or math.isinf(low) else "["
    right = ")" if open_high or math.isinf(high) else "]"
    return f"{left}{low:g}, {high:g}{right}"


def check_number(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return ``value`` as a finite float inside the interval.

    Raises
    ------
    TypeError
        If it is not a real number (booleans, strings, None and non-scalar arrays are not).
    ValueError
        If it is NaN, infinite or outside the interval; the sentence states argument, value and range.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a real number, got {value!r} of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    allowed = _interval(low, high, open_low, open_high)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if not math.isfinite(number) or below or above:
        raise ValueError(f"{name} = {value!r} is not allowed: it must be a finite number in {allowed}")
    return number


def check_count(name: str, value: object, low: int = 1, high: int | None = None) -> int:
    """Return ``value`` as an int in ``[low, high]``; floats such as 10.0 are refused.

    Raises
    ------
    TypeError, ValueError
        As :func:`check_number`.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} = {number} is not allowed: it must be an integer in [{low}, {high or 'inf'}]")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return ``value``, which must be True or False. Raises TypeError otherwise."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r:.60} of type {type(value).__name__}")
    return bool(value)


def check_callable(name: str, value: object, *, optional: bool = True) -> object:
    """Return a function (or None where it is optional). Raises TypeError otherwise."""
    if not (callable(value) or (optional and value is None)):
        raise TypeError(f"{name} must be a function, got {value!r:.60} of type {type(value).__name__}")
    return value


def check_path(name: str, value: object) -> object:
    """Return a path, text or ``os.PathLike``, that is not empty. Raises TypeError or ValueError otherwise."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a path, got {value!r:.60} of type {type(value).__name__}")
    if not os.fspath(value):
        raise ValueError(f"{name} = {value!r} is not allowed: it must be a path")
    return value


def check_dataset(name: str, value: object, *variables: str) -> object:
    """Return an xarray.Dataset that holds the variables. Raises TypeError or ValueError otherwise."""
    if not (hasattr(value, "data_vars") and hasattr(value, "attrs")):
        raise TypeError(f"{name} must be an xarray.Dataset, got {value!r:.60} of type {type(value).__name__}")
    missing = [v for v in variables if v not in value.variables]
    if missing:
        raise ValueError(f"{name} has no variable {missing[0]!r}: it must hold {', '.join(variables)}")
    return value


def as_array(
    name: str,
    value: object,
    *,
    ndim: int | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    allow_empty: bool = False,
) -> np.ndarray:
    """Return ``value`` as a float64 array with finite entries in ``[low, high]``.

    Raises
    ------
    TypeError
        If it cannot be read as real numbers.
    ValueError
        For masked entries (their values are no data), a wrong number of dimensions, an empty array, NaN, infinities
        or entries out of range; the sentence names the first offending entry.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        hidden = int(np.ma.getmaskarray(value).sum())
        raise ValueError(f"{name} has {hidden} masked entries of {value.size}: every entry must be a number")
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise TypeError
        array = np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of real numbers, got {type(value).__name__}: {value!r:.80}") from None
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}: it must have {ndim} dimension(s)")
    if array.size == 0 and not allow_empty:
        raise ValueError(f"{name} has shape {array.shape}: it must not be empty")
    bad = ~np.isfinite(array) | (array > high) | ((array <= low) if open_low else (array < low))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        allowed = _interval(low, high, open_low, False)
        raise ValueError(
            f"{name}{list(where) if where else ''} = {float(array[where])!r} is not allowed: "
            f"entries must be finite numbers in {allowed} ({int(bad.sum())} offending)"
        )
    return array


def check_design(X: object, y: object, x_name: str = "X", y_name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Return a design ``X`` of shape (n, D) and targets ``y`` of shape (n,), finite and matching.

    Raises
    ------
    TypeError, ValueError
        As :func:`as_array`, and when the numbers of rows differ.
    """
    X = as_array(x_name, X, ndim=2)
    y = as_array(y_name, y, ndim=1)
    if len(X) != len(y):
        raise ValueError(f"{x_name} has {len(X)} rows and {y_name} has {len(y)} entries: they must be equal")
    return X, y
