"""Derivations, generated code, claims and networks: a good call, and the kind of every argument's bad values."""

from __future__ import annotations

import numpy as np
from bad_input.good import Row, expression, lazy, progress, ruler, symbols, weights
from bad_input.values import INF, NAN, Kind, count, number, these, thing, word

import ptft_sym as pt


def rows() -> dict[str, Row]:
    table = {
        "derivations": Row(pt.derivations, dict, {}),
        "generate": Row(
            *lazy(pt.generate, expr=expression, args=symbols, backend="numpy", name="f"),
            {
                "expr": these(text="x**2", number=3, None_given=None, NaN=NAN, empty=[]),
                "args": these(number=3, text="x", words=["x"], empty=[], None_given=None, NaN=NAN),
                "backend": word(), "name": these(empty="", keyword="lambda", no_name="a b", number=3, None_given=None),
            },
        ),
        "derive": Row(*lazy(pt.derive, name="metrics"), {"name": word()}),
        "kernel": Row(*lazy(pt.kernel, name="potential"), {"name": word(), "backend": word()}),
        "claims": Row(
            *lazy(pt.claims, only=["C4"], seeds=4),
            {
                "only": these(unknown=["C99"], number=3, NaN=NAN, empty_word=[""], text="C99", empty=[]),
                "seeds": count(2, 1000), "progress": progress,
            },
        ),
        "drift": Row(
            *lazy(pt.drift, model=None, before=lambda: weights("w"), after=lambda: weights("w")),
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
