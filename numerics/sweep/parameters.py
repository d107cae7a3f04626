"""The parameters a sweep may set, each with its check: what is wrong is refused by its key, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from numerics.sweep.axes import Axis, Block
from numerics.task import Initialization, Slab, Task
from numerics.validate import check_count, check_number

__all__ = ["METRICS", "REPLICA", "SIMULATION", "TASK", "Parameter", "check_all", "task", "tasks"]

REQUIRED = object()


class Parameter(NamedTuple):
    """``check(key, value)`` returns the value or raises; ``default`` is REQUIRED where a sweep must set it."""

    check: Callable[[str, object], object]
    default: object = REQUIRED


def _number(low: float, high: float, default: object = REQUIRED, *, optional: bool = False) -> Parameter:
    def check(key: str, value: object) -> object:
        return None if optional and value is None else check_number(key, value, low, high)

    return Parameter(check, default)


def _count(low: int, high: int, default: object = REQUIRED) -> Parameter:
    return Parameter(lambda key, value: check_count(key, value, low, high), default)


def _word(*words: str) -> Callable[[str, object], object]:
    def check(key: str, value: object) -> object:
        if value not in words:
            raise ValueError(f"{key} = {value!r} is not allowed: it must be one of {', '.join(words)}")
        return value

    return check


def slab(key: str, value: object) -> Slab | None:
    """A Slab from "point:VALUE", "sign:VALUE" or "gaussian:VARIANCE" (or a Slab, or None for the default)."""
    if value is None or isinstance(value, Slab):
        return value
    makers = {"point": Slab.point, "sign": Slab.sign, "gaussian": Slab.gaussian}
    kind, _, size = str(value).partition(":")
    try:
        return makers[kind](float(size))
    except (KeyError, ValueError):
        raise ValueError(
            f"{key} = {value!r} is not allowed: write point:VALUE, sign:VALUE or gaussian:VARIANCE"
        ) from None


def _slab_word(key: str, value: object) -> str | None:
    """The word for a slab, so that a sweep's settings stay plain text."""
    found = slab(key, value)
    if found is None:
        return None
    return f"{found.kind}:{found.scale**2 if found.kind == 'gaussian' else found.scale!r}"


#: Parameters of the task; rho_shared, rho_new and rho_ft, omega are the two ways to say the same.
TASK = {
    "rho_pt": _number(0.0, 1.0),
    "rho_shared": _number(0.0, 1.0, None, optional=True),
    "rho_new": _number(0.0, 1.0, None, optional=True),
    "rho_ft": _number(0.0, 1.0, None, optional=True),
    "omega": _number(0.0, 1.0, None, optional=True),
    "correlation": _number(-1.0, 1.0, 0.0),
    "pt_slab": Parameter(_slab_word, None),
    "ft_slab": Parameter(_slab_word, None),
}
INIT = {
    "c": _number(1e-150, 1e150),
    "lam": _number(-1.0, 1.0, 0.0),
    "gamma": _number(0.0, 1e75, 0.0),
}
REPLICA = {
    **TASK,
    **INIT,
    "alpha": _number(1e-4, 1e6),
    "alpha_pt": _number(1e-4, 1e6, None, optional=True),
    "noise": _number(0.0, 1e12, 0.0),
    "noise_pt": _number(0.0, 1e12, 0.0),
    "ridge": _number(0.0, 1e12, 0.0),
}
METRICS = {"beta_pt": _number(-1e150, 1e150, 1.0), "beta_ft": _number(-1e150, 1e150, 1.0), **INIT}
SIMULATION = {
    **REPLICA,
    "dim": _count(1, 10**7, 1000),
    "seed": _count(0, 2**63 - 1, 0),
    "method": Parameter(_word("exact", "flow", "gd"), "exact"),
}


def check_all(parameters: dict[str, Parameter], axes: tuple[Axis, ...], fixed: dict) -> dict:
    """Refuse unknown, missing, doubly set and out-of-range parameters; return ``fixed`` with defaults filled in."""
    swept = {name: f"axes.{axis.name}" for axis in axes for name in axis.columns}
    for name in [*swept, *fixed]:
        where = swept.get(name, f"fixed.{name}")
        if name not in parameters:
            raise ValueError(f"{where}: unknown parameter {name!r}; known are {', '.join(parameters)}")
        if name in swept and name in fixed:
            raise ValueError(f"fixed.{name}: {where} already changes it, give one of them")
    for axis in axes:
        for name, column in axis.columns.items():
            key = f"axes.{axis.name}" + ("" if name == axis.name else f".{name}")
            for i, value in enumerate(column.tolist()):
                parameters[name].check(f"{key}[{i}]", value)
    full = {}
    for name, parameter in parameters.items():
        if name in fixed:
            full[name] = parameter.check(f"fixed.{name}", fixed[name])
        elif name not in swept:
            if parameter.default is REQUIRED:
                raise ValueError(f"{name} is missing: give it as an axis or a fixed value")
            full[name] = parameter.default
    return full


def task(setting: dict) -> Task:
    """The Task of one setting, in whichever of the two ways it is written."""
    slabs = {name: slab(name, setting[name]) for name in ("pt_slab", "ft_slab")}
    if setting["rho_ft"] is not None:
        return Task.from_overlap(
            setting["rho_pt"], setting["rho_ft"], setting["omega"], correlation=setting["correlation"], **slabs
        )
    return Task(
        setting["rho_pt"], setting["rho_shared"], setting["rho_new"], correlation=setting["correlation"], **slabs
    )


def tasks(block: Block, fixed: dict) -> tuple[list[Task], np.ndarray]:
    """The distinct tasks of a block, and for each of its settings (flattened) the number of its task."""
    places = [i for i, axis in enumerate(block.axes) if any(name in TASK for name in axis.columns)]
    shape = [len(block.axes[i]) for i in places]
    number = np.arange(math.prod(shape)).reshape(
        [len(axis) if i in places else 1 for i, axis in enumerate(block.axes)]
    )
    found = []
    for flat in range(number.size):
        where = dict(zip(places, np.unravel_index(flat, shape), strict=True)) if places else {}
        setting = {name: fixed[name] for name in TASK if name in fixed}
        for place, i in where.items():
            setting |= {k: column[i] for k, column in block.axes[place].columns.items() if k in TASK}
        found.append(task({k: v.item() if isinstance(v, np.generic) else v for k, v in setting.items()}))
    return found, np.ascontiguousarray(np.broadcast_to(number, block.shape)).reshape(-1)


def _whole(axes: tuple[Axis, ...]) -> Block:
    return Block((0,) * len(axes), tuple(slice(0, len(axis)) for axis in axes), axes)


def _check_task(axes: tuple[Axis, ...], fixed: dict) -> None:
    """Both ways of writing a task are complete in themselves and exclude each other; every combination is feasible."""
    named = {name for axis in axes for name in axis.columns} | {k for k, v in fixed.items() if v is not None}
    pairs = (("rho_shared", "rho_new"), ("rho_ft", "omega"))
    used = [pair for pair in pairs if named & set(pair)]
    if len(used) != 1:
        given = ", ".join(sorted(named & {n for pair in pairs for n in pair})) or "none of them"
        raise ValueError(f"rho_shared and rho_new, or rho_ft and omega, must be given: got {given}")
    for name in used[0]:
        if name not in named:
            raise ValueError(f"{name} is missing: {' and '.join(used[0])} go together")
    law = [axis for axis in axes if any(name in TASK for name in axis.columns)]
    keys = ", ".join(f"axes.{axis.name}" for axis in law) or "fixed"
    try:
        # the mixture itself refuses combinations of slabs and correlation that have none
        for each in tasks(_whole(tuple(law)), fixed)[0]:
            _ = each.law
    except ValueError as error:
        raise ValueError(f"{keys}: {error}") from None


def _check_start(axes: tuple[Axis, ...], fixed: dict) -> None:
    """lam = -1 with gamma = 0 cannot move: refused wherever the two meet."""
    scales = tuple(axis for axis in axes if any(name in INIT for name in axis.columns))
    block = _whole(scales)
    lam, gamma = (np.asarray(block.column(name, fixed), float) for name in ("lam", "gamma"))
    if np.any((lam == -1.0) & (gamma == 0.0)):
        key = "axes.lam" if block.has("lam") else "fixed.lam"
        try:
            Initialization(1.0, -1.0, 0.0)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None


def check_metrics(axes: tuple[Axis, ...], fixed: dict) -> None:
    """Everything that only a combination of parameters can show to be wrong."""
    _check_start(axes, fixed)


def check_replica(axes: tuple[Axis, ...], fixed: dict) -> None:
    """As :func:`check_metrics`, for tasks and both stages."""
    _check_start(axes, fixed)
    _check_task(axes, fixed)
    block = _whole(axes)
    if not block.has("alpha_pt") and fixed["alpha_pt"] is None:
        if _any(block.column("noise_pt", fixed)):
            raise ValueError("noise_pt needs alpha_pt: perfect pretraining has no noise")
    elif _any(np.asarray(block.column("alpha_pt", fixed)) == 1.0) and _any(block.column("noise_pt", fixed)):
        raise ValueError("alpha_pt = 1 with noise_pt > 0 is not allowed: the pretraining error diverges there")


def check_simulation(axes: tuple[Axis, ...], fixed: dict) -> None:
    """As :func:`check_replica`, for a finite dimension."""
    check_replica(axes, fixed)
    block = _whole(axes)
    if _any(block.column("ridge", fixed)) and np.any(np.asarray(block.column("method", fixed)) != "exact"):
        raise ValueError("ridge > 0 needs method = 'exact': the other methods have no ridge")
    dims = np.asarray(block.column("dim", fixed))
    for name in ("alpha", "alpha_pt"):
        ratio = block.column(name, fixed)
        if ratio is not None and np.any(np.min(ratio) * np.min(dims) < 0.5):
            raise ValueError(f"{name} = {np.min(ratio):g} with dim = {np.min(dims)} gives no sample: raise one of them")


def _any(value: Iterable | float) -> bool:
    return bool(np.any(np.asarray(value)))
