"""Exact solutions at finite dimension: a good call, and the kind of every argument's bad values."""

from __future__ import annotations

import numpy as np
from bad_input.good import (
    INIT,
    TASK,
    VECTOR,
    Row,
    X,
    Y,
    curve,
    design,
    lazy,
    progress,
    ridges,
    simulation,
    tests,
    where,
)
from bad_input.values import INF, NAN, Kind, array, count, number, these, thing, word

import ptft_sym as pt


def rows() -> dict[str, Row]:
    initial = {"init": thing()}
    pair = {"X": array(2, good=X), "y": array(1, good=Y)}
    tuning = {**design, **initial}
    good = {"x_pt": X, "y_pt": Y, "x_ft": X, "y_ft": Y, "init": INIT}
    return {
        "interpolate": Row(
            *lazy(pt.interpolate, X=X, y=Y, c_ft=1.0),
            {**pair, "c_ft": Kind(array(good=np.ones(6), positive=True).bad | {
                "empty": [], "wrong shape": np.ones(5), "two axes": np.ones((2, 6)),
                "huge": 1e300, "tiny": 1e-300}, {}),
             "ridge": number(0.0), "max_iterations": count()},
        ),
        "gradient_flow": Row(
            *lazy(pt.gradient_flow, X=X, y=Y, init=INIT),
            {
                **pair, **initial, "X_ft": array(2, good=X, optional=True).but(y_ft=Y),
                "y_ft": array(1, good=Y, optional=True).but(X_ft=X), "beta_pt": array(1, good=VECTOR, optional=True),
                "variables": word(), "stop": number(0.0, 1.0, open_low=True),
                "rtol": number(1e-13, 1.0, optional=True),
            },
        ),
        "finetune": Row(*lazy(pt.finetune, **good), {**tuning, **tests, **ridges}),
        "finetune_scan": Row(
            *lazy(pt.finetune_scan, **good, lam=[0.0, 0.5]),
            {**tuning, "lam": Kind(array(good=[0.0, 0.5]).bad | {
                "empty": [], "two axes": [[0.1, 0.2]], "above": [1.5], "below": [-1.5]}, {}), **tests, **ridges},
        ),
        "simulate": Row(
            *lazy(pt.simulate, task=TASK, init=INIT, alpha=[0.25], dim=20, seeds=range(2)),
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
            *lazy(pt.compare, theory=curve, simulation=simulation),
            {
                "theory": these(None_given=None, number=3, text="text", empty=[], mapping={"mse": 1.0}),
                "simulation": these(None_given=None, number=3, text="text", empty=[], mapping={"mse": 1.0}),
                "level": number(0.0, 1.0),
            },
        ),
    }  # fmt: skip
