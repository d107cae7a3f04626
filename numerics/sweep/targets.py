"""What a sweep can compute: each kind says its parameters, its outputs, and how a block of settings is evaluated.

    replica      predicted error of the infinite-dimensional limit (:mod:`numerics.replica`), whole blocks at once
    metrics      l-order and PD of one coordinate (:mod:`numerics.kernels`), whole blocks at once
    simulation   one cell of :func:`numerics.diagonal.simulate` a setting
    function     any importable ``module:function`` of keyword arguments that returns a dict of numbers (training runs)

A setting that raises becomes a sentence and NaN; the rest of its block is computed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from numerics.sweep import parameters as p
from numerics.sweep.axes import Axis, Block

__all__ = ["KINDS", "Target", "describe", "find", "pointwise", "version"]

#: Outcome of a block: output -> values of the block's shape; flat index of a failed setting -> its sentence.
Values = tuple[dict[str, np.ndarray], dict[int, str]]


@dataclass(frozen=True)
class Target:
    """One kind of computation.

    ``parameters`` is None where any name is allowed; ``shared`` lists those that are cheap only when a block has few of
    their values; ``settings`` is the usual size of a block; ``sources`` are the modules that decide the numbers.
    """

    parameters: dict[str, p.Parameter] | None
    outputs: dict[str, tuple[str, str]]
    evaluate: Callable[[Block, dict], Values]
    check: Callable[[tuple[Axis, ...], dict], None]
    settings: int
    sources: tuple[str, ...]
    shared: frozenset[str] = field(default_factory=frozenset)


def pointwise(function: Callable, outputs: tuple[str, ...], block: Block, fixed: dict) -> Values:
    """Call ``function(**setting)`` for every setting of the block; what it raises becomes that setting's sentence."""
    values = {name: np.full(block.size, np.nan) for name in outputs}
    messages = {}
    for flat in range(block.size):
        try:
            result = function(**block.setting(flat, fixed))
            numbers_ = {name: _number(result, name) for name in outputs}
        except Exception as error:
            messages[flat] = describe(error)
            continue
        for name, number in numbers_.items():
            values[name][flat] = number
    return {name: value.reshape(block.shape) for name, value in values.items()}, messages


def _number(result: object, name: str) -> float:
    if not isinstance(result, dict) or name not in result:
        raise TypeError(f"the function returned {result!r:.80}, which is not a dict with the output {name!r}")
    value = result[name]
    with contextlib.suppress(ValueError, RuntimeError, TypeError, AttributeError):
        value = value.item()  # NumPy and torch scalars
    if not isinstance(value, numbers.Real):
        raise TypeError(f"output {name!r} is {value!r:.80}, which is not a number")
    return float(value)


def describe(error: BaseException) -> str:
    """An exception as one line."""
    text = " ".join(str(error).split())
    plain = isinstance(error, (ValueError, RuntimeError)) and text
    return (text if plain else f"{type(error).__name__}: {text}".rstrip(": "))[:600]


# --- replica -----------------------------------------------------------------------------------------------------

def _replica(block: Block, fixed: dict) -> Values:
    """Whole block through :func:`numerics.replica.batch.predict`; alpha_pt and noise_pt are looped over."""
    from numerics.replica.batch import predict

    tasks, index = p.tasks(block, fixed)
    names = ("c", "lam", "gamma", "alpha", "noise", "ridge", "alpha_pt", "noise_pt")
    columns = {name: block.column(name, fixed) for name in names}
    flat = {
        name: np.broadcast_to(np.asarray(value, float), block.shape).reshape(-1)
        for name, value in columns.items()
        if value is not None
    }
    out = {name: np.full(block.size, np.nan) for name in REPLICA_OUTPUTS}
    messages: dict[int, str] = {}
    for alpha_pt, noise_pt, rows in _stages(flat, block.size):
        try:
            batch = predict(
                tasks, *(flat[name][rows] for name in ("c", "lam", "gamma", "alpha")), task_index=index[rows],
                alpha_pt=alpha_pt, noise=flat["noise"][rows], noise_pt=noise_pt, ridge=flat["ridge"][rows],
            )
        except Exception as error:
            messages |= dict.fromkeys(rows.tolist(), describe(error))
            continue
        for name in out:
            out[name][rows] = getattr(batch, name)
        messages |= {int(rows[i]): str(batch.message[i]) for i in np.flatnonzero(batch.message != "")}
    return {name: value.reshape(block.shape) for name, value in out.items()}, messages


def _stages(flat: dict[str, np.ndarray], size: int):
    """(alpha_pt, noise_pt, rows) for each distinct pretraining."""
    alpha_pt = flat.get("alpha_pt", np.full(size, -1.0))
    pairs, which = np.unique(np.stack([alpha_pt, flat["noise_pt"]], axis=1), axis=0, return_inverse=True)
    for number, (alpha, noise) in enumerate(pairs):
        yield (None if alpha < 0.0 else float(alpha)), float(noise), np.flatnonzero(which.reshape(-1) == number)


REPLICA_OUTPUTS = {
    "mse": ("predicted parameter error E (beta_hat - beta*)^2 per coordinate", "target variance units"),
    "s2": ("effective noise variance of the scalar channel", "target variance units"),
    "g": ("effective inverse curvature of the scalar channel", "target variance units"),
    "residual": ("undamped relative residual of the saddle point", "1"),
    "ell_order": ("q-weighted l-order of the learned solution", "1"),
    "pd": ("q-weighted pretraining dependence of the learned solution", "1"),
}


# --- metrics -----------------------------------------------------------------------------------------------------

def _metrics(block: Block, fixed: dict) -> Values:
    from numerics import kernels

    beta_pt, beta_ft, c, lam, gamma = (
        np.broadcast_to(np.asarray(block.column(name, fixed), float), block.shape)
        for name in ("beta_pt", "beta_ft", "c", "lam", "gamma")
    )
    order = kernels.ell_order(beta_ft, kernels.c_ft(beta_pt, c, lam, gamma))
    dependence = kernels.pretraining_dependence(beta_ft, beta_pt, c, lam, gamma)
    return {"ell_order": np.asarray(order), "pd": np.asarray(dependence)}, {}


# --- simulation --------------------------------------------------------------------------------------------------

def _cell(seed: int, dim: int, alpha: float, method: str, **setting: object) -> dict:
    """One cell of a simulation; full pretraining when ``alpha_pt`` is given."""
    from numerics.diagonal.simulate import simulate
    from numerics.task import Initialization

    task = p.task(setting)
    init = Initialization(setting["c"], setting["lam"], setting["gamma"])
    stages = "oracle" if setting["alpha_pt"] is None else "full"
    ds = simulate(
        task, init, alpha, int(dim), [int(seed)], stages, method, alpha_pt=setting["alpha_pt"],
        noise=setting["noise"], noise_pt=setting["noise_pt"], ridge=setting["ridge"],
    )
    return {name: float(ds[name].values[0, 0]) for name in SIMULATION_OUTPUTS}


SIMULATION_OUTPUTS = {
    "mse": ("mean over coordinates of (beta_hat - beta*)^2", "target variance units"),
    "mse_pt": ("the same error of the pretrained vector", "target variance units"),
    "ell_order": ("q-weighted l-order of the learned solution", "1"),
    "pd": ("q-weighted pretraining dependence of the learned solution", "1"),
    "residual": ("relative residual the method stopped at", "1"),
    "iterations": ("steps of the method in fine-tuning", "1"),
}


def _simulation(block: Block, fixed: dict) -> Values:
    return pointwise(_cell, tuple(SIMULATION_OUTPUTS), block, fixed)


_ROOMS = ("numerics.task", "numerics.validate", "numerics.kernels", "numerics.sweep.targets", "numerics.sweep.axes",
          "numerics.sweep.parameters")
KINDS = {
    "replica": Target(p.REPLICA, REPLICA_OUTPUTS, _replica, p.check_replica, 4096, (*_ROOMS, "numerics.replica"),
                      frozenset({*p.TASK, "alpha_pt", "noise_pt"})),
    "metrics": Target(p.METRICS, {name: REPLICA_OUTPUTS[name] for name in ("ell_order", "pd")}, _metrics,
                      p.check_metrics, 65536, _ROOMS),
    "simulation": Target(p.SIMULATION, SIMULATION_OUTPUTS, _simulation, p.check_simulation, 1,
                         (*_ROOMS, "numerics.diagonal")),
}


# --- any function ------------------------------------------------------------------------------------------------

def find(kind: str, function: str | None = None, outputs: tuple[str, ...] = ()) -> Target:
    """The target of a sweep. Raises ValueError, ImportError or TypeError naming ``kind``, ``function``, ``outputs``."""
    if kind == "function":
        return _of_function(function, tuple(outputs))
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind = {kind!r} is not allowed: it must be one of {', '.join([*KINDS, 'function'])}")
    if function is not None or outputs:
        raise ValueError(
            f"function = {function!r} and outputs = {list(outputs)!r} need kind = 'function', got kind = {kind!r}"
        )
    return KINDS[kind]


def _of_function(name: str | None, outputs: tuple[str, ...]) -> Target:
    if not isinstance(name, str) or name.count(":") != 1:
        raise ValueError(f"function = {name!r} is not allowed: write it as 'module:function'")
    if not outputs or not all(isinstance(o, str) and o.isidentifier() for o in outputs):
        raise ValueError(f"outputs = {list(outputs)!r} is not allowed: list the names of the numbers it returns")
    reserved = sorted({"status", "message"} & set(outputs))
    if reserved or len(set(outputs)) != len(outputs):
        raise ValueError(f"outputs = {list(outputs)!r} is not allowed: names must be distinct, not status or message")
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ImportError(f"function = {name!r}: cannot import {module_name!r} ({error})") from None
    function = getattr(module, attribute, None)
    if not callable(function):
        raise ValueError(f"function = {name!r}: there is no function {attribute!r} in {module_name!r}")

    def check(axes: tuple[Axis, ...], fixed: dict) -> None:
        given = {**fixed, **{column: None for axis in axes for column in axis.columns}}
        try:
            inspect.signature(function).bind(**given)
        except TypeError as error:
            raise ValueError(f"function = {name!r} does not fit the axes and fixed parameters: {error}") from None

    meaning = {o: (f"{o} as returned by {name}", "") for o in outputs}
    return Target(None, meaning, lambda block, fixed: pointwise(function, outputs, block, fixed), check, 1,
                  (module_name,))


def version(target: Target) -> str:
    """Hash of the package version and of every source file that decides the target's numbers.

    Of the package's own kinds it is taken once a process, since that is the code the process has loaded; of a person's
    module it is taken anew each time, since a session may edit and reload it.
    """
    from numerics import __version__

    return (_hash if target.parameters is None else _hash_once)(__version__, target.sources)


def _hash(release: str, sources: tuple[str, ...]) -> str:
    digest = hashlib.sha256(release.encode())
    for name in sources:
        for file in _files(name):
            digest.update(f"\n{name}/{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


_hash_once = functools.lru_cache(_hash)


def _files(module: str) -> list[Path]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return []
    file = Path(spec.origin)
    return sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]
