"""Every public function: a good call, and for every argument the kind of its bad values.

The test walks `ptft_sym.__all__` and every signature: a function or an argument without a row here fails it.
"""

from __future__ import annotations

import numpy as np
from bad_input import finite, sweeps, theory, tools
from bad_input.good import INIT, TASK, VECTOR, Row, lazy, nearness, scales, unit
from bad_input.values import array, count, number, these, thing, word

import ptft_sym as pt

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


def rows() -> dict[str, Row]:
    """Name -> Row, in the order of the page."""
    table = {
        "Initialization": Row(*lazy(pt.Initialization, c=1.0, lam=0.0, gamma=0.0), scales),
        "Initialization.from_weights": Row(
            *lazy(pt.Initialization.from_weights, w0=1.0, v0=1.0, readout=0.0),
            {"w0": number(-1e75, 1e75), "v0": number(-1e75, 1e75), "readout": number(0.0, 1e74)},
        ),
        "Initialization.from_unnormalised_lambda": Row(
            *lazy(pt.Initialization.from_unnormalised_lambda, c=1.0, difference=0.5, gamma=0.0),
            {"c": scales["c"], "difference": number(-1.0, 1.0), "gamma": scales["gamma"]},
        ),
        "Initialization.from_readout": Row(
            *lazy(pt.Initialization.from_readout, c=1.0, lam=0.0, readout=0.0),
            {"c": scales["c"], "lam": scales["lam"], "readout": number(0.0, 1e74)},
        ),
        "Initialization.c_ft": Row(*lazy(INIT.c_ft, beta_pt=VECTOR), {"beta_pt": array(good=VECTOR)}),
        "Slab": Row(
            *lazy(pt.Slab, kind="sign", scale=1.0), {"kind": word(), "scale": number(0.0, 1e100, open_low=True)}
        ),
        "Slab.point": Row(*lazy(pt.Slab.point, value=1.0), {"value": number(-1e100, 1e100)}, {"value": "scale"}),
        "Slab.sign": Row(
            *lazy(pt.Slab.sign, value=1.0), {"value": number(0.0, 1e100, open_low=True)}, {"value": "scale"}
        ),
        "Slab.gaussian": Row(*lazy(pt.Slab.gaussian, variance=1.0), {"variance": number(0.0, 1e200, open_low=True)}),
        "Task": Row(
            *lazy(pt.Task, rho_pt=0.2, rho_shared=0.5, rho_new=0.1),
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
            *lazy(pt.Task.from_overlap, rho_pt=0.2, rho_ft=0.1, omega=0.5),
            {"rho_pt": unit, "rho_ft": number(0.0, 1.0, open_low=True), "omega": unit, "slabs": these()},
        ),
        "Task.from_samples": Row(
            *lazy(pt.Task.from_samples, beta_pt=VECTOR, beta_ft=VECTOR),
            {"beta_pt": array(1, good=VECTOR), "beta_ft": array(1, good=VECTOR)},
        ),
        "Task.sample": Row(
            *lazy(TASK.sample, dim=5, rng=np.random.default_rng(0)),
            {"dim": count(), "rng": these(None_given=None, number=3, text="text")},
        ),
        "potential": Row(
            *lazy(pt.potential, beta=VECTOR, c_ft=1.0),
            {"beta": array(good=VECTOR), "c_ft": array(good=[1.0, 2.0], positive=True).but(beta=1.0)},
        ),
        "ell_order": Row(
            *lazy(pt.ell_order, beta=VECTOR, c_ft=1.0),
            {"beta": array(good=VECTOR), "c_ft": array(good=[1.0, 2.0], positive=True).but(beta=1.0)},
        ),
    }
    for name in ("pretraining_dependence", "solution_metrics"):
        table[name] = Row(
            *lazy(getattr(pt, name), beta_ft=VECTOR, beta_pt=VECTOR, init=INIT),
            {"beta_ft": array(good=VECTOR), "beta_pt": array(good=VECTOR), "init": thing()},
        )
    regime_good = {"beta_ft": VECTOR, "beta_pt": VECTOR, "init": INIT}
    table["regime"] = Row(
        *lazy(pt.regime, **regime_good),
        {"beta_ft": array(good=VECTOR), "beta_pt": array(good=VECTOR), "init": thing(),
         **{n: k for n, k in {**nearness, "threshold": number(0.0, 0.5, open_low=True),
                               "near": thing(optional=True)}.items()
            if n in _parameters(pt.regime)}},
    )  # fmt: skip
    table |= theory.rows() | finite.rows() | sweeps.rows() | tools.rows()
    return table


def _parameters(function) -> list[str]:
    import inspect

    return list(inspect.signature(function).parameters)
