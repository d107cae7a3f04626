"""What Hypothesis draws: coordinates, scales, tasks and small designs, and their one-line source.

Everything drawn has a repr that is valid Python after `import numpy as np, ptft_sym as pt, strategies`; `attempt` notes
the whole call, so that a failing example prints a line to paste.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from hypothesis import note, settings
from hypothesis import strategies as st

import ptft_sym as pt

#: Ends of the documented domain of c (and of coordinates that keep the potential in range).
LOWEST, HIGHEST = 1e-150, 1e150


def examples(share=1.0, least=5):
    """Settings with a share of the profile's examples: costly properties take fewer, in every profile."""
    return settings(max_examples=max(least, int(settings.default.max_examples * share)))


def source(value) -> str:
    """Python source of a value; arrays and this package's values included."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, (pt.Task, pt.Initialization, pt.Slab, Problem)):
        kind = type(value)
        home = "strategies" if kind is Problem else "pt"
        shown = [f for f in fields(value) if f.repr and f.init]
        return f"{home}.{kind.__name__}({', '.join(f'{f.name}={source(getattr(value, f.name))}' for f in shown)})"
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value)


def line(name, args, kwargs) -> str:
    """The call `pt.name(*args, **kwargs)` as one line."""
    parts = [source(a) for a in args] + [f"{key}={source(value)}" for key, value in kwargs.items()]
    return f"pt.{name}({', '.join(parts)})"


def attempt(name, *args, **kwargs):
    """Call the public function after noting the line that reproduces the call; `kernel:NAME` calls a kernel."""
    kind, _, which = name.partition(":")
    note("reproduce: " + line(f"kernel({which!r})" if which else kind, args, kwargs))
    function = pt.kernel(which) if which else getattr(pt, kind)
    return function(*args, **kwargs)


def _log(low, high):
    """Log-uniform floats, with the ends and 1 likely."""
    ends = st.sampled_from([low, high, min(max(1.0, low), high)])
    return st.one_of(st.floats(np.log(low), np.log(high)).map(lambda t: float(np.clip(np.exp(t), low, high))), ends)


def positive(low=LOWEST, high=HIGHEST):
    """Positive numbers of every magnitude in [low, high]."""
    return _log(low, high)


def coordinates(low=LOWEST, high=HIGHEST):
    """Coordinate values: zero, both signs, every magnitude."""
    return st.one_of(st.just(0.0), st.builds(lambda s, v: s * v, st.sampled_from([1.0, -1.0]), _log(low, high)))


def relative_scales(closest=1e-12):
    """lam in [-1 + closest, 1], dense in log(1 + lam)."""
    return _log(closest, 2.0).map(lambda t: min(1.0, t - 1.0))


@st.composite
def initializations(draw, c=(LOWEST, HIGHEST), gamma=(1e-75, 1e75), closest=1e-12):
    """Initialization over the given ranges of c and gamma (0 included), lam = -1 only with gamma > 0."""
    readout = draw(st.one_of(st.just(0.0), _log(*gamma)))
    lam = draw(relative_scales(closest) if readout == 0.0 else st.one_of(st.just(-1.0), relative_scales(closest)))
    return pt.Initialization(draw(_log(*c)), lam, readout)


def documented_initializations():
    """Scales on which the replica solver is documented to work: c in [1e-12, 1e12], lam >= -1 + 1e-12, gamma <= 1e6."""
    return initializations(c=(1e-12, 1e12), gamma=(1e-6, 1e6), closest=1e-12)


def slabs(kinds=("point", "sign", "gaussian"), low=0.01, high=100.0):
    """Slabs of every kind, point masses of both signs."""
    sign = st.sampled_from([1.0, -1.0])
    return st.builds(
        lambda kind, scale, sign: pt.Slab(kind, scale * (sign if kind == "point" else 1.0)),
        st.sampled_from(kinds), _log(low, high), sign,
    )  # fmt: skip


@st.composite
def tasks(draw, pt_kinds=("point", "sign", "gaussian"), least=0.02):
    """Spike-and-slab tasks: densities in [0, 1] with at least a share `least` of dimensions active in fine-tuning."""
    share = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.01, 1.0))
    rho_pt, shared, new = draw(share), draw(share), draw(share)
    if rho_pt * shared + (1 - rho_pt) * new < least:
        shared, new = max(shared, least), max(new, least)
    pt_slab, ft_slab = draw(slabs(pt_kinds)), draw(slabs())
    free = not (ft_slab.kind == "point" or (ft_slab.kind == "sign" and pt_slab.kind == "gaussian"))
    correlation = draw(st.sampled_from([0.0, 0.5, -0.8, 1.0])) if free else 0.0
    return pt.Task(rho_pt, shared, new, pt_slab, ft_slab, correlation)


def ratios(low=1e-3, high=0.98):
    """Sample ratios below 1, where the initialisation matters, dense near 0."""
    return _log(low, high)


@dataclass(frozen=True)
class Problem:
    """A design problem that is its own source: data follow from the seed and the sizes."""

    seed: int
    n: int
    dim: int
    spread: float = 1.0
    scale: float = 1.0

    @property
    def data(self):
        """(X, y, c_ft): X ~ N(0, 1/D), sparse teacher, scales spread over `spread` decades around `scale`."""
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.dim)) / self.dim**0.5
        beta = rng.standard_normal(self.dim) * (rng.random(self.dim) < 0.4)
        beta[rng.integers(self.dim)] += 1.0
        c_ft = self.scale * 10.0 ** (self.spread * rng.uniform(-0.5, 0.5, self.dim))
        return X, X @ beta, c_ft


@st.composite
def problems(draw, most=20, n=None):
    """Under-determined problems with 1 <= n < D <= most."""
    dim = draw(st.integers(2, most))
    rows = n or draw(st.integers(1, dim - 1))
    return Problem(draw(st.integers(0, 2**32 - 1)), rows, dim, draw(st.floats(0.0, 6.0)), draw(_log(1e-8, 1e4)))
