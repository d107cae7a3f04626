"""Good arguments that every table of functions starts from, and the kinds of arguments they share."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from bad_input.values import NAN, Kind, array, number, these

import ptft_sym as pt

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((3, 6)), rng.standard_normal(3)
BETA = np.array([0.0, 1.0, -2.0, 0.5, 0.0, 1.0])
INIT = pt.Initialization(1e-2, -0.5, 0.1)
TASK = pt.Task(0.2, 0.5, 0.1)
VECTOR, MATRIX, TARGETS = BETA, X, Y


@cache
def curve():
    return pt.generalization_curve(TASK, INIT, [0.25, 0.5])


@cache
def simulation():
    return pt.simulate(TASK, INIT, [0.25, 0.5], dim=20, seeds=range(3))


@cache
def ruler():
    """A network whose bias is known, and probes for it."""
    from numerics.networks.probes import DiagonalModel, linear_probes

    beta_pt = np.repeat([1 / 1.5, 1.0, 1.5], 4)
    return DiagonalModel(beta_pt, INIT), linear_probes(np.eye(12), beta_pt, at=1.0, number=4)


class Row(NamedTuple):
    """`call` is tried with `good` arguments, one of which is replaced by a bad value; `kinds` covers the signature."""

    call: object
    good: object
    kinds: dict[str, Kind]
    aliases: dict = {}  # noqa: RUF012  (how a message may call the argument)
    works: bool = True


def weights(name):
    import torch

    return {name: torch.ones(2, 2)}


def symbols():
    from sympy import Symbol

    return [Symbol("x")]


def expression():
    return symbols()[0] ** 2


def lazy(function, /, **good):
    return function, lambda: {k: v() if callable(v) and not isinstance(v, type) else v for k, v in good.items()}


unit, ratio, size = number(0.0, 1.0), number(1e-4, 1e6), number(0.0, 1e12)
nearness = {name: number(0.0, 0.5, open_low=True) for name in ("rich", "lazy", "independent", "dependent")}
scales = {"c": number(1e-150, 1e150), "lam": number(-1.0, 1.0), "gamma": number(0.0, 1e75)}
design = {"x_pt": array(2, good=X), "y_pt": array(1, good=Y), "x_ft": array(2, good=X), "y_ft": array(1, good=Y)}
tests = {
    "x_test": array(2, good=X, optional=True).but(y_test=Y),
    "y_test": array(1, good=Y, optional=True).but(x_test=X),
}
ridges = {"ridge": number(0.0), "ridge_pt": number(0.0)}
where = these(number=3, NaN=NAN, list=[1])
progress = these(text="yes", number=3)


def axis(kind: Kind) -> Kind:
    """A parameter of a map: a number, or an axis; lists and None are then good, or bad in their own way."""
    bad = {k: v for k, v in kind.bad.items() if k not in ("list", "None")}
    return Kind(bad | {"falling and rising": [0.2, 0.1, 0.3], "NaN in axis": [0.1, NAN], "two axes": [[0.1, 0.2]]}, {})
