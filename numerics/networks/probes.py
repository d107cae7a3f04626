"""Small fine-tuning tasks that reveal a network's inductive bias: which of two candidate features does it use?

Each probe is one input that shows two features at once, with a target that either could explain; the test inputs show
one feature alone. How much of the target each feature received is the *allocation*.

- A **loading probe** shows two features equally, but pretraining used them unequally (``strength``, size of beta_PT).
- A **recruitment probe** shows two features unequally (``load``), and pretraining used them equally.

Networks with biases or ReLU also answer with a constant. *Paired* probes show every input with both signs and opposite
targets, and read the odd part of the response; for a diagonal network that is the same task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from numerics.diagonal.interpolation import interpolate
from numerics.task import Initialization
from numerics.validate import as_array, check_count, check_flag, check_number

__all__ = ["DiagonalModel", "Probe", "Tunable", "linear_probes"]


class Tunable(Protocol):
    """What the ruler needs of a model: fine-tune a copy of it on (x, y), and give its function."""

    def finetune(self, x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Inputs (n, ...) and targets (n,) to a function of inputs (m, ...) with outputs (m,)."""


@dataclass(frozen=True)
class Probe:
    """One small fine-tuning task.

    Attributes
    ----------
    kind : "loading" or "recruitment".
    x, y : (n, ...) inputs and (n,) targets of the task.
    x_test : (2, ...) inputs that show one candidate feature each, at unit load and with the sign they have in ``x``; or
        (m, ...) inputs whose responses are weighted by ``read_out`` (2, m) to the response to each feature.
    load : the two features' loads in ``x``, positive. strength : their sizes of beta_PT, positive.

    A loading probe has equal loads and different strengths; a recruitment probe has different loads, the larger one
    first, and equal strengths.
    """

    kind: str
    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    load: tuple[float, float]
    strength: tuple[float, float]
    read_out: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("loading", "recruitment"):
            raise ValueError(f"kind = {self.kind!r} is not allowed: it must be 'loading' or 'recruitment'")
        for name in ("load", "strength"):
            pair = tuple(check_number(name, value, 0.0, open_low=True) for value in getattr(self, name))
            if len(pair) != 2:
                raise ValueError(f"{name} = {pair} is not allowed: it must hold one number for each of two features")
            object.__setattr__(self, name, pair)
        (a, b), (s, t) = self.load, self.strength
        if self.kind == "loading" and (a != b or s == t):
            raise ValueError(f"a loading probe needs equal loads, unequal strengths; got {self.load}, {self.strength}")
        if self.kind == "recruitment" and not (a > b and s == t):
            raise ValueError(
                f"a recruitment probe needs loads (larger, smaller), equal strengths; got {self.load}, {self.strength}"
            )
        if len(self.x) != len(self.y) or (self.read_out is None and len(self.x_test) != 2):
            raise ValueError(
                f"x has {len(self.x)} rows, y {len(self.y)} and x_test {len(self.x_test)}: x and y must match, and "
                "x_test must have two rows unless read_out is given"
            )
        if self.read_out is not None:
            weights = as_array("read_out", self.read_out, ndim=2)
            if weights.shape != (2, len(self.x_test)):
                raise ValueError(f"read_out has shape {weights.shape}: it must be (2, {len(self.x_test)}), as x_test")
            object.__setattr__(self, "read_out", weights)

    def responses(self, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """(2,) what each feature received, given the function that fine-tuning added."""
        values = np.asarray(change(self.x_test), dtype=float).reshape(-1)
        return values * np.sign(np.sum(self.y)) if self.read_out is None else self.read_out @ values


@dataclass(frozen=True)
class DiagonalModel:
    """A pretrained two-path diagonal network, fine-tuned exactly: the network whose bias is known.

    Attributes
    ----------
    beta_pt : (D,) what pretraining learned. init : scales. noise : standard deviation of label noise in fine-tuning.
    margin : with a number, targets are labels +-1 and training stops when the (single) example has this margin. For one
        example the path of the flow is the same for every loss, so this is logistic regression, stopped.
    seed : of the label noise.
    """

    beta_pt: np.ndarray
    init: Initialization
    noise: float = 0.0
    margin: float | None = None
    seed: int = 0

    def finetune(self, x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The exact limit of gradient flow from this network on (x, y)."""
        x, y = as_array("x", x, ndim=2), as_array("y", y, ndim=1)
        if self.margin is not None:
            if len(x) != 1 or not np.isin(y, (-1.0, 1.0)).all():
                raise ValueError(f"with a margin the task must be one example labelled +-1, got {len(x)} and {y!r:.40}")
            y = y * check_number("margin", self.margin, 0.0, open_low=True)
        if self.noise:
            bits = np.frombuffer(np.ascontiguousarray(x[0]).tobytes()[:16], dtype=np.uint32)
            y = y + self.noise * np.random.default_rng([self.seed, *bits.tolist()]).standard_normal(len(y))
        beta = interpolate(x, y, self.init.c_ft(self.beta_pt)).beta
        return lambda inputs: np.asarray(inputs) @ beta


def linear_probes(
    directions: object,
    strength: object,
    *,
    at: float,
    spread: float = 1.5,
    ratio: float = 2.0,
    amplitude: float = 1.0,
    number: int = 12,
    nuisance: float = 0.0,
    labels: bool = False,
    paired: bool = False,
    copies: int = 1,
    shape: tuple[int, ...] | None = None,
    seed: int = 0,
) -> list[Probe]:
    """Both families for a model whose candidate features are directions of a vector input.

    Parameters
    ----------
    directions : (k, D) orthonormal feature directions. strength : (k,) positive sizes of beta_PT along them.
    at : strength at which the bias is measured; recruitment probes use pairs of features within 1 % of it, loading
        probes pairs (below, above) whose geometric mean is within 5 % of it and whose ratio is at most ``spread ** 2``.
    ratio : larger over smaller load of recruitment probes, > 1. amplitude : the target. number : probes of each family.
    nuisance : standard deviation of independent Gaussian noise added to every entry of every input, times 1/sqrt(D).
    labels : targets +-1 with random sign (inputs take the sign), for classification; otherwise ``amplitude``.
    paired : every input with both signs. copies : examples of each sign, which differ in their nuisance.
    shape : of one input, for models that take images; default (D,).
    seed : of pairs, signs and nuisance.

    Raises
    ------
    TypeError, ValueError
        For arguments out of range, or strengths that offer no pair.
    """
    directions, strength = as_array("directions", directions, ndim=2), as_array("strength", strength, ndim=1, low=0.0)
    if len(directions) != len(strength):
        raise ValueError(f"directions has {len(directions)} rows and strength {len(strength)} entries: must be equal")
    at, ratio = check_number("at", at, 0.0, open_low=True), check_number("ratio", ratio, 1.0, open_low=True)
    amplitude = check_number("amplitude", amplitude, 0.0, open_low=True)
    nuisance, copies = check_number("nuisance", nuisance, 0.0), check_count("copies", copies)
    labels, paired = check_flag("labels", labels), check_flag("paired", paired)
    if shape is not None and not isinstance(shape, (list, tuple)):
        raise TypeError(f"shape must be a tuple of sides, got {shape!r:.60} of type {type(shape).__name__}")
    shape = directions.shape[1:] if shape is None else tuple(check_count("shape", side) for side in shape)
    if np.prod(shape) != directions.shape[1]:
        raise ValueError(f"shape = {shape} is not allowed: it must hold {directions.shape[1]} entries")
    rng = np.random.default_rng([check_count("seed", seed, 0), 2605])
    probes = []
    for kind in ("loading", "recruitment"):
        pairs = _pairs(strength, kind, at, check_number("spread", spread, 1.0, open_low=True))
        for _ in range(check_count("number", number)):
            i, j = pairs[rng.integers(len(pairs))]
            if kind == "recruitment" and rng.random() < 0.5:
                i, j = j, i
            load = (1.0, 1.0) if kind == "loading" else (1.0, 1.0 / ratio)
            sign = rng.choice([-1.0, 1.0]) if labels else 1.0
            noise = nuisance * directions.shape[1] ** -0.5 * rng.standard_normal((copies + 2, directions.shape[1]))
            x = sign * (load[0] * directions[i] + load[1] * directions[j]) + noise[:copies]
            x_test = sign * directions[[i, j]] + noise[copies:]
            y, read_out = np.full(copies, sign if labels else amplitude), None
            if paired:
                x, y, x_test = np.vstack([x, -x]), np.concatenate([y, -y]), np.vstack([x_test, -x_test])
                read_out = 0.5 * sign * np.hstack([np.eye(2), -np.eye(2)])
            used = (at, at) if kind == "recruitment" else (strength[i], strength[j])
            x, x_test = x.reshape(-1, *shape), x_test.reshape(-1, *shape)
            probes.append(Probe(kind, x, y, x_test, load, used, read_out))
    return probes


def _pairs(strength: np.ndarray, kind: str, at: float, spread: float) -> Sequence[tuple[int, int]]:
    """Index pairs that a family may use; the weaker feature first."""
    k = len(strength)
    if kind == "recruitment":
        near = np.flatnonzero(np.abs(strength / at - 1.0) < 0.01)
        pairs = [(i, j) for i in near for j in near if i < j]
    else:
        used = np.flatnonzero(strength > 0.0)
        pairs = [
            (i, j) for i in used for j in used
            if 1.02 < strength[j] / strength[i] <= spread**2 * 1.001
            and abs(np.sqrt(strength[i] * strength[j]) / at - 1.0) < 0.05
        ]  # fmt: skip
    if not pairs:
        raise ValueError(f"strength: none of the {k} features form a pair for a {kind} probe at {at:g}")
    return pairs
