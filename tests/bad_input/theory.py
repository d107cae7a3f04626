"""Prediction, optimum and certificate: a good call, and the kind of every argument's bad values."""

from __future__ import annotations

from bad_input.good import INIT, TASK, Row, curve, lazy, ratio, size
from bad_input.values import INF, NAN, Kind, array, count, number, these, thing

import ptft_sym as pt


def rows() -> dict[str, Row]:
    stage = {
        "alpha_pt": number(1e-4, 1e6, optional=True), "noise": size,
        "noise_pt": number(0.0, 1e12).but(alpha_pt=0.5), "ridge": size,
    }  # fmt: skip
    return {
        "generalization_curve": Row(
            *lazy(pt.generalization_curve, task=TASK, init=INIT, alpha=[0.25, 0.5]),
            {
                "task": thing(), "init": thing(),
                "alpha": Kind(array(good=[0.25, 0.5], positive=True).bad | {
                    "empty": [], "two axes": [[0.1, 0.2]], "huge": [1e300], "below": [1e-9]}, {}),
                **stage, "start": number(-1e6, 1e6), "sensitivities": these(text="yes", number=3, None_given=None),
                "step": number(1e-3, 0.3), "tolerance": number(1e-13, 1e-6),
            },
        ),
        "optimal_initialization": Row(
            *lazy(pt.optimal_initialization, task=TASK, alpha=0.3, c=1e-2, gamma=0.1, lam=None),
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
            *lazy(pt.certify, ds=curve, alpha=0.25),
            {
                "ds": these(None_given=None, number=3, text="text", empty=[], mapping={"mse": 1.0}),
                "alpha": these(NaN=NAN, inf=INF, negative=-0.25, absent=0.3, text="text", two_axes=[[0.25]],
                               mapping={"a": 1}, complex=1j, empty=[]),
            },
        ),
    }  # fmt: skip
