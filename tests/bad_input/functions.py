"""Every public function: a good call, and for every argument the kind of its bad values.

The test walks `ptft_sym.__all__` and every signature: a function or an argument without a row here fails it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from bad_input.values import INF, NAN, Kind, array, count, number, these, thing, word

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


#: Public names without an argument to spoil: an exception that solvers raise.
WITHOUT_ARGUMENTS = ("ConvergenceError",)

_LIMIT = "kernels are defined there, as NumPy functions are: the limit, or NaN for NaN"
#: What looks bad and is good: (function, argument, label) -> why.
ACCEPTED = {
    (name, argument, label): _LIMIT
    for name in ("potential", "ell_order")
    for argument, labels in (("beta", ("NaN", "inf", "-inf")), ("c_ft", ("NaN", "inf")))
    for label in labels
}


def weights(name):
    import torch

    return {name: torch.ones(2, 2)}


def symbols():
    from sympy import Symbol

    return [Symbol("x")]


def expression():
    return symbols()[0] ** 2


def _lazy(function, /, **good):
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


def _axis(kind: Kind) -> Kind:
    """A parameter of a map: a number, or an axis; lists and None are then good, or bad in their own way."""
    bad = {k: v for k, v in kind.bad.items() if k not in ("list", "None")}
    return Kind(bad | {"falling and rising": [0.2, 0.1, 0.3], "NaN in axis": [0.1, NAN], "two axes": [[0.1, 0.2]]}, {})


def rows() -> dict[str, Row]:
    """Name -> Row, in the order of the page."""
    table = {
        "Initialization": Row(*_lazy(pt.Initialization, c=1.0, lam=0.0, gamma=0.0), scales),
        "Initialization.from_weights": Row(
            *_lazy(pt.Initialization.from_weights, w0=1.0, v0=1.0, readout=0.0),
            {"w0": number(-1e75, 1e75), "v0": number(-1e75, 1e75), "readout": number(0.0, 1e74)},
        ),
        "Initialization.from_unnormalised_lambda": Row(
            *_lazy(pt.Initialization.from_unnormalised_lambda, c=1.0, difference=0.5, gamma=0.0),
            {"c": scales["c"], "difference": number(-1.0, 1.0), "gamma": scales["gamma"]},
        ),
        "Initialization.from_readout": Row(
            *_lazy(pt.Initialization.from_readout, c=1.0, lam=0.0, readout=0.0),
            {"c": scales["c"], "lam": scales["lam"], "readout": number(0.0, 1e74)},
        ),
        "Initialization.c_ft": Row(*_lazy(INIT.c_ft, beta_pt=VECTOR), {"beta_pt": array(good=VECTOR)}),
        "Slab": Row(
            *_lazy(pt.Slab, kind="sign", scale=1.0), {"kind": word(), "scale": number(0.0, 1e100, open_low=True)}
        ),
        "Slab.point": Row(*_lazy(pt.Slab.point, value=1.0), {"value": number(-1e100, 1e100)}, {"value": "scale"}),
        "Slab.sign": Row(
            *_lazy(pt.Slab.sign, value=1.0), {"value": number(0.0, 1e100, open_low=True)}, {"value": "scale"}
        ),
        "Slab.gaussian": Row(*_lazy(pt.Slab.gaussian, variance=1.0), {"variance": number(0.0, 1e200, open_low=True)}),
        "Task": Row(
            *_lazy(pt.Task, rho_pt=0.2, rho_shared=0.5, rho_new=0.1),
            {
                "rho_pt": unit,
                "rho_shared": unit,
                "rho_new": unit,
                "pt_slab": thing(optional=True),
                "ft_slab": thing(optional=True),
                "correlation": number(-1.0, 1.0),
                "samples": these(text="text", number=3, three=([1.0], [1.0], [1.0]), list_of_two=[[1.0], [1.0]]),
                "fingerprint": these(number=3),
            },
        ),
        "Task.from_overlap": Row(
            *_lazy(pt.Task.from_overlap, rho_pt=0.2, rho_ft=0.1, omega=0.5),
            {"rho_pt": unit, "rho_ft": number(0.0, 1.0, open_low=True), "omega": unit, "slabs": these()},
        ),
        "Task.from_samples": Row(
            *_lazy(pt.Task.from_samples, beta_pt=VECTOR, beta_ft=VECTOR),
            {"beta_pt": array(1, good=VECTOR), "beta_ft": array(1, good=VECTOR)},
        ),
        "Task.sample": Row(
            *_lazy(TASK.sample, dim=5, rng=np.random.default_rng(0)),
            {"dim": count(), "rng": these(None_given=None, number=3, text="text")},
        ),
        "potential": Row(
            *_lazy(pt.potential, beta=VECTOR, c_ft=1.0),
            {"beta": array(good=VECTOR), "c_ft": array(good=[1.0, 2.0], positive=True).but(beta=1.0)},
        ),
        "ell_order": Row(
            *_lazy(pt.ell_order, beta=VECTOR, c_ft=1.0),
            {"beta": array(good=VECTOR), "c_ft": array(good=[1.0, 2.0], positive=True).but(beta=1.0)},
        ),
    }
    for name in ("pretraining_dependence", "solution_metrics"):
        table[name] = Row(
            *_lazy(getattr(pt, name), beta_ft=VECTOR, beta_pt=VECTOR, init=INIT),
            {"beta_ft": array(good=VECTOR), "beta_pt": array(good=VECTOR), "init": thing()},
        )
    regime_good = {"beta_ft": VECTOR, "beta_pt": VECTOR, "init": INIT}
    table["regime"] = Row(
        *_lazy(pt.regime, **regime_good),
        {"beta_ft": array(good=VECTOR), "beta_pt": array(good=VECTOR), "init": thing(),
         **{n: k for n, k in {**nearness, "threshold": number(0.0, 0.5, open_low=True),
                               "near": thing(optional=True)}.items()
            if n in _parameters(pt.regime)}},
    )  # fmt: skip
    table |= _theory() | _finite() | _sweeps() | _rest()
    return table


def _parameters(function) -> list[str]:
    import inspect

    return list(inspect.signature(function).parameters)


def _theory() -> dict[str, Row]:
    stage = {
        "alpha_pt": number(1e-4, 1e6, optional=True), "noise": size,
        "noise_pt": number(0.0, 1e12).but(alpha_pt=0.5), "ridge": size,
    }  # fmt: skip
    return {
        "generalization_curve": Row(
            *_lazy(pt.generalization_curve, task=TASK, init=INIT, alpha=[0.25, 0.5]),
            {
                "task": thing(), "init": thing(),
                "alpha": Kind(array(good=[0.25, 0.5], positive=True).bad | {
                    "empty": [], "two axes": [[0.1, 0.2]], "huge": [1e300], "below": [1e-9]}, {}),
                **stage, "start": number(-1e6, 1e6), "sensitivities": these(text="yes", number=3, None_given=None),
                "step": number(1e-3, 0.3), "tolerance": number(1e-13, 1e-6),
            },
        ),
        "optimal_initialization": Row(
            *_lazy(pt.optimal_initialization, task=TASK, alpha=0.3, c=1e-2, gamma=0.1, lam=None),
            {
                "task": thing(), "alpha": ratio, "c": number(1e-150, 1e150, optional=True),
                "lam": number(-1.0, 1.0, optional=True).but(gamma=None), "gamma": number(0.0, 1e75, optional=True),
                "bounds": these(text="text", number=3, unknown={"alpha": (0, 1)}, one_number={"lam": 0.5},
                                reversed={"lam": (0.5, -0.5)}, NaN={"lam": (NAN, 0.5)}, outside={"lam": (-2.0, 0.5)},
                                inf={"lam": (0.0, INF)}, three={"lam": (0.0, 0.1, 0.2)}, words={"lam": ("a", "b")}),
                **stage, "starts": count(1, 64),
            },
        ),
        "certify": Row(
            *_lazy(pt.certify, ds=curve, alpha=0.25),
            {
                "ds": these(None_given=None, number=3, text="text", empty=[], mapping={"mse": 1.0}),
                "alpha": these(NaN=NAN, inf=INF, negative=-0.25, absent=0.3, text="text", two_axes=[[0.25]],
                               mapping={"a": 1}, complex=1j, empty=[]),
            },
        ),
    }  # fmt: skip


def _finite() -> dict[str, Row]:
    initial = {"init": thing()}
    pair = {"X": array(2, good=X), "y": array(1, good=Y)}
    tuning = {**design, **initial}
    good = {"x_pt": X, "y_pt": Y, "x_ft": X, "y_ft": Y, "init": INIT}
    return {
        "interpolate": Row(
            *_lazy(pt.interpolate, X=X, y=Y, c_ft=1.0),
            {**pair, "c_ft": Kind(array(good=np.ones(6), positive=True).bad | {
                "empty": [], "wrong shape": np.ones(5), "two axes": np.ones((2, 6)),
                "huge": 1e300, "tiny": 1e-300}, {}),
             "ridge": number(0.0), "max_iterations": count()},
        ),
        "gradient_flow": Row(
            *_lazy(pt.gradient_flow, X=X, y=Y, init=INIT),
            {
                **pair, **initial, "X_ft": array(2, good=X, optional=True).but(y_ft=Y),
                "y_ft": array(1, good=Y, optional=True).but(X_ft=X), "beta_pt": array(1, good=VECTOR, optional=True),
                "variables": word(), "stop": number(0.0, 1.0, open_low=True),
                "rtol": number(1e-13, 1.0, optional=True),
            },
        ),
        "finetune": Row(*_lazy(pt.finetune, **good), {**tuning, **tests, **ridges}),
        "finetune_scan": Row(
            *_lazy(pt.finetune_scan, **good, lam=[0.0, 0.5]),
            {**tuning, "lam": Kind(array(good=[0.0, 0.5]).bad | {
                "empty": [], "two axes": [[0.1, 0.2]], "above": [1.5], "below": [-1.5]}, {}), **tests, **ridges},
        ),
        "simulate": Row(
            *_lazy(pt.simulate, task=TASK, init=INIT, alpha=[0.25], dim=20, seeds=range(2)),
            {
                "task": thing(), **initial,
                "alpha": Kind(array(good=[0.25], positive=True).bad | {
                    "empty": [], "two axes": [[0.1, 0.2]], "twice": [0.25, 0.25], "no sample": [1e-9],
                    "huge": [1e300]}, {}),
                "dim": Kind(count().bad | {"huge": 10**30}, {}),
                "seeds": these(negative=[-1], fraction=[0.5], twice=[1, 1], empty=[], None_given=None, text="text",
                               NaN=[NAN], inf=INF, mapping={"a": 1}, number=1.5),
                "stages": word(), "method": word(),
                "alpha_pt": number(0.0, INF, open_low=True, optional=True).but(stages="full"), "noise": number(0.0),
                "noise_pt": number(0.0).but(stages="full", alpha_pt=0.5), "ridge": number(0.0),
                "store": where, "progress": progress, "options": these(unknown=1),
            },
        ),
        "compare": Row(
            *_lazy(pt.compare, theory=curve, simulation=simulation),
            {
                "theory": these(None_given=None, number=3, text="text", empty=[], mapping={"mse": 1.0}),
                "simulation": these(None_given=None, number=3, text="text", empty=[], mapping={"mse": 1.0}),
                "level": number(0.0, 1.0),
            },
        ),
    }  # fmt: skip


def _sweeps() -> dict[str, Row]:
    running = {
        "store": where, "workers": Kind(count(1, 4096, optional=True).bad, {}),
        "scheduler": these(number=3, with_workers="tcp://host:8786"), "progress": progress,
    }  # fmt: skip
    parameters = {
        "rho_pt": unit, "alpha": ratio, "alpha_pt": number(1e-4, 1e6, optional=True), "noise": size,
        "noise_pt": number(0.0, 1e12).but(alpha_pt=0.5), "ridge": size, "correlation": number(-1.0, 1.0),
        "rho_shared": unit, "rho_new": unit, "c": scales["c"], "gamma": scales["gamma"],
        "lam": scales["lam"].but(gamma=[0.0, 0.1]),
    }  # fmt: skip
    slab_words = these(no_size="point", unknown="cauchy:1", NaN="point:nan", negative="gaussian:-1", number=3)
    return {
        "regime_map": Row(
            *_lazy(pt.regime_map, beta_ft=1.0, beta_pt=1.0, c=1e-3, lam=[-0.9, 0.0], gamma=0.0),
            {
                "beta_ft": _axis(number(-1e150, 1e150)), "beta_pt": _axis(number(-1e150, 1e150)),
                **{name: _axis(kind) for name, kind in scales.items()}, **nearness,
                "chunks": these(zero=0, negative=-1, word="some", fraction=1.5, NaN=NAN, bool=True),
            },
        ),
        "phase_diagram": Row(
            *_lazy(pt.phase_diagram, rho_pt=0.2, rho_shared=[0.2, 0.5], rho_new=0.1, alpha=0.3,
                   lam=[-0.9, 0.0], workers=1),
            {
                "candidates": these(number=3, text="text", empty={}, not_init={"a": 3}, with_lam={"a": INIT}),
                "by": these(unknown=("alpha",), not_an_axis=("c",), number=3, word="lam"), **nearness,
                "reference": these(one=(1.0,), NaN=(NAN, 1.0), text="text", None_given=None, three=(1.0, 2.0, 3.0)),
                **running, **{name: _axis(kind)._replace(others=kind.others) for name, kind in parameters.items()},
                "pt_slab": slab_words, "ft_slab": slab_words, "parameters": these(unknown=1),
            },
        ),
        "sweep": Row(
            *_lazy(pt.sweep, kind="metrics", axes={"lam": [-0.9, 0.0]}, fixed={"c": 1e-3}, workers=1),
            {
                "kind": word(),
                "axes": these(None_given=None, number=3, text="text", empty={}, no_values={"lam": []},
                              NaN={"lam": [0.1, NAN]}, outside={"lam": [0.0, 2.0]}, unknown={"lambda": [0.0]},
                              words={"lam": ["a"]}, twice={"lam": [0.1, 0.1]}),
                "fixed": these(number=3, text="text", NaN={"c": NAN}, zero={"c": 0.0}, negative={"c": -1.0},
                               inf={"c": INF}, unknown={"c": 1e-3, "d": 1.0}, missing={}, swept={"c": 1.0, "lam": 0.0},
                               words={"c": "a"}, huge={"c": 1e300}),
                "function": these(not_wanted="math:sqrt", number=3), "outputs": these(not_wanted=("a",), number=3),
                "chunk": count(1, 10**8, optional=True), **running,
            },
        ),
        "open_sweep": Row(
            *_lazy(pt.open_sweep, path="nowhere"),
            {"path": these(absent="nowhere", number=3, None_given=None, NaN=NAN, empty="", list=[]),
             "chunked": these(text="yes", number=3)}, works=False,
        ),
    }  # fmt: skip


def _rest() -> dict[str, Row]:
    table = {
        "derivations": Row(pt.derivations, dict, {}),
        "generate": Row(
            *_lazy(pt.generate, expr=expression, args=symbols, backend="numpy", name="f"),
            {
                "expr": these(text="x**2", number=3, None_given=None, NaN=NAN, empty=[]),
                "args": these(number=3, text="x", words=["x"], empty=[], None_given=None, NaN=NAN),
                "backend": word(), "name": these(empty="", keyword="lambda", no_name="a b", number=3, None_given=None),
            },
        ),
        "derive": Row(*_lazy(pt.derive, name="metrics"), {"name": word()}),
        "kernel": Row(*_lazy(pt.kernel, name="potential"), {"name": word(), "backend": word()}),
        "claims": Row(
            *_lazy(pt.claims, only=["C4"], seeds=4),
            {
                "only": these(unknown=["C99"], number=3, NaN=NAN, empty_word=[""], text="C99", empty=[]),
                "seeds": count(2, 1000), "progress": progress,
            },
        ),
        "drift": Row(
            *_lazy(pt.drift, model=None, before=lambda: weights("w"), after=lambda: weights("w")),
            {
                "model": these(number=3, no_function="math", absent="nowhere:build",
                               NaN=NAN).but(batch=np.ones((3, 2))),
                "before": these(None_given=None, number=3, absent="nowhere.pt", empty={}, other=weights("v"),
                                ending=__file__),
                "after": these(None_given=None, number=3, absent="nowhere.pt", empty={}, other=weights("v")),
                "batch": these(without_model=np.ones((3, 2))), "layers": these(without_model=["w"]),
                "center": these(text="yes", number=3, None_given=None),
            },
        ),
        "estimate_bias": Row(
            pt.estimate_bias, lambda: dict(zip(("model", "probes"), ruler(), strict=True)),
            {
                "model": these(None_given=None, number=3, text="text"),
                "probes": these(None_given=None, number=3, empty=[], words=["a", "b"], NaN=NAN),
                "amplitude": number(0.0, INF, open_low=True), "level": number(0.0, 1.0, open_low=True),
                "bootstrap": Kind(count(100).bad | {"below": 99}, {}), "width": number(0.0, 2.0, open_low=True),
                "near": thing(optional=True), "seed": count(0),
            },
        ),
    }  # fmt: skip
    return table
