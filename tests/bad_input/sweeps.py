"""Maps and sweeps: a good call, and the kind of every argument's bad values."""

from __future__ import annotations

from bad_input.good import INIT, Row, axis, lazy, nearness, progress, ratio, scales, size, unit, where
from bad_input.values import INF, NAN, Kind, count, number, these, word

import ptft_sym as pt


def rows() -> dict[str, Row]:
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
            *lazy(pt.regime_map, beta_ft=1.0, beta_pt=1.0, c=1e-3, lam=[-0.9, 0.0], gamma=0.0),
            {
                "beta_ft": axis(number(-1e150, 1e150)), "beta_pt": axis(number(-1e150, 1e150)),
                **{name: axis(kind) for name, kind in scales.items()}, **nearness,
                "chunks": these(zero=0, negative=-1, word="some", fraction=1.5, NaN=NAN, bool=True),
            },
        ),
        "phase_diagram": Row(
            *lazy(pt.phase_diagram, rho_pt=0.2, rho_shared=[0.2, 0.5], rho_new=0.1, alpha=0.3,
                   lam=[-0.9, 0.0], workers=1),
            {
                "candidates": these(number=3, text="text", empty={}, not_init={"a": 3}, with_lam={"a": INIT}),
                "by": these(unknown=("alpha",), not_an_axis=("c",), number=3, word="lam"), **nearness,
                "reference": these(one=(1.0,), NaN=(NAN, 1.0), text="text", None_given=None, three=(1.0, 2.0, 3.0)),
                **running, **{name: axis(kind)._replace(others=kind.others) for name, kind in parameters.items()},
                "pt_slab": slab_words, "ft_slab": slab_words, "parameters": these(unknown=1),
            },
        ),
        "sweep": Row(
            *lazy(pt.sweep, kind="metrics", axes={"lam": [-0.9, 0.0]}, fixed={"c": 1e-3}, workers=1),
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
            *lazy(pt.open_sweep, path="nowhere"),
            {"path": these(absent="nowhere", number=3, None_given=None, NaN=NAN, empty="", list=[]),
             "chunked": these(text="yes", number=3)}, works=False,
        ),
    }  # fmt: skip
