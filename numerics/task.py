"""The values that enter everywhere: how a network starts (`Initialization`) and what it learns (`Slab`, `Task`).

Conventions are those of THEORY sections 1 and 5: ``lam`` is normalised, ``gamma`` is divided by sqrt(2) when it
becomes a readout weight. Other people's conventions have named constructors, never a flag.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np

from numerics.law import GROUPS, Law, empirical_law, slab_law
from numerics.validate import as_array, check_count, check_number

__all__ = ["GROUPS", "Initialization", "Law", "Slab", "Task"]


@dataclass(frozen=True)
class Initialization:
    """Scales of a two-path diagonal network before pretraining and of its readout before fine-tuning.

    Parameters
    ----------
    c : float
        Absolute scale ``w(0)^2 + v(0)^2`` in ``[1e-150, 1e150]``.
    lam : float
        Relative scale ``(w(0)^2 - v(0)^2)/c`` in ``[-1, 1]``, normalised; negative: earlier layer smaller.
    gamma : float
        Readout re-initialisation scale in ``[0, 1e75]``; the fine-tuning readout starts at ``gamma/sqrt(2)``.

    Raises
    ------
    TypeError, ValueError
        For values outside these ranges, and for ``lam = -1`` with ``gamma = 0``: then ``c_FT = 0`` and fine-tuning
        cannot move.

    Source: THEORY sections 1 and 3.
    """

    c: float
    lam: float = 0.0
    gamma: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", check_number("c", self.c, 1e-150, 1e150))
        object.__setattr__(self, "lam", check_number("lam", self.lam, -1.0, 1.0))
        object.__setattr__(self, "gamma", check_number("gamma", self.gamma, 0.0, 1e75))
        if self.lam == -1.0 and self.gamma == 0.0:
            raise ValueError(
                "lam = -1.0 with gamma = 0.0 is not allowed: the first layer and the readout both start fine-tuning "
                "at zero (c_FT = 0), so the network cannot move; take lam > -1 or gamma > 0"
            )

    @classmethod
    def from_weights(cls, w0: float, v0: float, readout: float = 0.0) -> Initialization:
        """From raw initial weights: earlier layer ``w0``, readout ``v0``, and fine-tuning readout weight ``readout``.

        ``c = w0^2 + v0^2``, ``lam = (w0^2 - v0^2)/c``, ``gamma = sqrt(2) readout`` (THEORY section 3).
        """
        w0, v0 = check_number("w0", w0, -1e75, 1e75), check_number("v0", v0, -1e75, 1e75)
        readout = check_number("readout", readout, 0.0, 1e74)
        c = w0**2 + v0**2
        if c == 0.0:
            raise ValueError(f"w0 = {w0} and v0 = {v0} give c = 0: at least one weight must be non-zero")
        return cls(c, (w0 - v0) * (w0 + v0) / c, math.sqrt(2.0) * readout)

    @classmethod
    def from_unnormalised_lambda(cls, c: float, difference: float, gamma: float = 0.0) -> Initialization:
        """From the un-normalised relative scale ``difference = w(0)^2 - v(0)^2`` of some public code.

        ``lam = difference / c``; ``abs(difference) <= c`` is required (THEORY section 1).
        """
        c = check_number("c", c, 1e-150, 1e150)
        difference = check_number("difference", difference, -c, c)
        return cls(c, difference / c, gamma)

    @classmethod
    def from_readout(cls, c: float, lam: float, readout: float) -> Initialization:
        """From the convention in which the fine-tuning readout weight itself, ``v_FT(0) = readout``, is the scale.

        Then ``gamma = sqrt(2) readout`` here (THEORY section 3).
        """
        return cls(c, lam, math.sqrt(2.0) * check_number("readout", readout, 0.0, 1e74))

    def weights(self) -> tuple[float, float]:
        """Initial pretraining weights ``(w0, v0)``, both non-negative."""
        return math.sqrt(self.c * (1.0 + self.lam) / 2.0), math.sqrt(self.c * (1.0 - self.lam) / 2.0)

    def c_ft(self, beta_pt: object) -> np.ndarray:
        """Effective fine-tuning scale ``c (1+lam)(1 + sqrt(1 + (beta_pt/c)^2)) + gamma^2/2``, of beta_pt's shape.

        Source: THEORY section 3 (derivation ``fine_tuning``); evaluated by the generated kernel.
        """
        from numerics.kernels import c_ft

        return c_ft(as_array("beta_pt", beta_pt, allow_empty=True), self.c, self.lam, self.gamma)


@dataclass(frozen=True)
class Slab:
    """Law of the non-zero values of a spike-and-slab vector.

    Parameters
    ----------
    kind : {"point", "sign", "gaussian"}
        Point mass at ``scale``; ``+-scale`` with a fair random sign; centred Gaussian of standard deviation ``scale``.
    scale : float
        Positive for "sign" and "gaussian", non-zero for "point".
    """

    kind: str
    scale: float

    def __post_init__(self) -> None:
        if self.kind not in ("point", "sign", "gaussian"):
            raise ValueError(f"kind = {self.kind!r} is not allowed: it must be 'point', 'sign' or 'gaussian'")
        scale = check_number("scale", self.scale, -1e100 if self.kind == "point" else 0.0, 1e100)
        if scale == 0.0:
            raise ValueError("scale = 0.0 is not allowed: a slab is the law of the non-zero values")
        object.__setattr__(self, "scale", scale)

    @classmethod
    def point(cls, value: float = 1.0) -> Slab:
        """All non-zeros equal ``value``."""
        return cls("point", value)

    @classmethod
    def sign(cls, value: float = 1.0) -> Slab:
        """Non-zeros are ``+-value`` with equal probability."""
        return cls("sign", value)

    @classmethod
    def gaussian(cls, variance: float = 1.0) -> Slab:
        """Non-zeros are N(0, variance)."""
        return cls("gaussian", math.sqrt(check_number("variance", variance, 0.0, 1e200, open_low=True)))

    @property
    def second_moment(self) -> float:
        """E of the squared value."""
        return self.scale**2

    def atoms(self) -> list[tuple[float, float, float]]:
        """The law as a Gaussian mixture: rows (weight, mean, variance)."""
        if self.kind == "gaussian":
            return [(1.0, 0.0, self.scale**2)]
        if self.kind == "point":
            return [(1.0, self.scale, 0.0)]
        return [(0.5, self.scale, 0.0), (0.5, -self.scale, 0.0)]

    def sample(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw ``size`` independent values."""
        if self.kind == "gaussian":
            return self.scale * rng.standard_normal(size)
        if self.kind == "point":
            return np.full(size, self.scale)
        return self.scale * (2.0 * rng.integers(0, 2, size) - 1.0)


@dataclass(frozen=True)
class Task:
    """Teacher pair of THEORY section 5: spike-and-slab vectors for pretraining and fine-tuning.

    Parameters
    ----------
    rho_pt : float
        Probability in ``[0, 1]`` that a dimension is active in pretraining.
    rho_shared, rho_new : float
        Probability in ``[0, 1]`` that a dimension is active in fine-tuning, given that it was / was not in pretraining.
    pt_slab, ft_slab : Slab, optional
        Laws of the non-zero values. Defaults: all ones; ``N(0, 1/rho_ft)``.
    correlation : float
        Coefficient in ``[-1, 1]`` between the two values on shared dimensions: +1 aligned, -1 opposite. For a Gaussian
        fine-tuning slab the value is ``sd_FT (correlation beta_PT / rms_PT + sqrt(1 - correlation^2) N(0, 1))``; for a
        random-sign slab the sign agrees with that of beta_PT with probability ``(1 + correlation)/2``; a point slab
        has no freedom left and accepts only 0.

    Raises
    ------
    TypeError, ValueError
        For values outside these ranges, or when no dimension can be active in fine-tuning.
    """

    rho_pt: float
    rho_shared: float
    rho_new: float
    pt_slab: Slab | None = None
    ft_slab: Slab | None = None
    correlation: float = 0.0
    samples: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False, compare=False)
    fingerprint: str = field(default="", repr=False)
    ft_slab_follows_rho: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("rho_pt", "rho_shared", "rho_new"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), 0.0, 1.0))
        object.__setattr__(self, "correlation", check_number("correlation", self.correlation, -1.0, 1.0))
        for name, slab in (("pt_slab", self.pt_slab), ("ft_slab", self.ft_slab)):
            if slab is not None and not isinstance(slab, Slab):
                raise TypeError(f"{name} must be a Slab, got {slab!r} of type {type(slab).__name__}")
        if not isinstance(self.fingerprint, str):
            raise TypeError(f"fingerprint must be text, got {self.fingerprint!r:.60}")
        if self.samples is not None:
            object.__setattr__(self, "samples", _check_samples(self.samples))
            return
        if self.rho_ft == 0.0:
            raise ValueError(
                f"rho_pt = {self.rho_pt}, rho_shared = {self.rho_shared}, rho_new = {self.rho_new} leave no dimension "
                "active in fine-tuning: rho_pt*rho_shared + (1-rho_pt)*rho_new must be positive"
            )
        if self.pt_slab is None:
            object.__setattr__(self, "pt_slab", Slab.point(1.0))
        if self.ft_slab is None:
            object.__setattr__(self, "ft_slab", Slab.gaussian(1.0 / self.rho_ft))
            object.__setattr__(self, "ft_slab_follows_rho", True)
        if self.ft_slab.kind == "point" and self.correlation != 0.0:
            raise ValueError(
                f"correlation = {self.correlation} is not allowed with ft_slab = {self.ft_slab}: all values are equal, "
                "so it must be 0; use Slab.sign or Slab.gaussian"
            )
        if self.ft_slab.kind == "sign" and self.pt_slab.kind == "gaussian" and self.correlation != 0.0:
            raise ValueError(
                f"correlation = {self.correlation} is not allowed with pt_slab gaussian and ft_slab sign: their joint "
                "law is no Gaussian mixture; use a gaussian ft_slab, or a sign or point pt_slab"
            )

    @classmethod
    def from_overlap(cls, rho_pt: float, rho_ft: float, omega: float, **slabs: object) -> Task:
        """From the fine-tuning density ``rho_ft`` and the share ``omega`` of its dimensions that pretraining used.

        ``rho_shared = omega rho_ft / rho_pt`` and ``rho_new = (1-omega) rho_ft / (1-rho_pt)`` (THEORY section 5).

        Raises
        ------
        ValueError
            If the combination needs a conditional probability above 1.
        """
        rho_pt = check_number("rho_pt", rho_pt, 0.0, 1.0)
        rho_ft = check_number("rho_ft", rho_ft, 0.0, 1.0, open_low=True)
        omega = check_number("omega", omega, 0.0, 1.0)
        shared, new = omega * rho_ft, (1.0 - omega) * rho_ft
        for part, room, words in (
            (shared, rho_pt, "omega*rho_ft <= rho_pt"),
            (new, 1.0 - rho_pt, "(1-omega)*rho_ft <= 1-rho_pt"),
        ):
            if part > room * (1.0 + 1e-12):
                raise ValueError(
                    f"rho_pt = {rho_pt}, rho_ft = {rho_ft}, omega = {omega} is infeasible: it must satisfy {words}, "
                    f"but {part:g} > {room:g}"
                )
        return cls(
            rho_pt,
            min(1.0, shared / rho_pt) if rho_pt > 0.0 else 0.0,
            min(1.0, new / (1.0 - rho_pt)) if rho_pt < 1.0 else 0.0,
            **slabs,
        )

    @classmethod
    def from_samples(cls, beta_pt: object, beta_ft: object) -> Task:
        """The empirical joint law of a person's own pair of vectors, both of shape (D,), copied; entries up to 1e100.

        Raises
        ------
        TypeError, ValueError
            For non-finite entries, different lengths, or a zero ``beta_ft``.
        """
        beta_pt, beta_ft = _check_samples((beta_pt, beta_ft))
        pt, ft = beta_pt != 0, beta_ft != 0
        shared = float(ft[pt].mean()) if pt.any() else 0.0
        new = float(ft[~pt].mean()) if (~pt).any() else 0.0
        fingerprint = hashlib.sha256(beta_pt.tobytes() + beta_ft.tobytes()).hexdigest()
        return cls(float(pt.mean()), shared, new, samples=(beta_pt, beta_ft), fingerprint=fingerprint)

    @property
    def rho_ft(self) -> float:
        """Probability that a dimension is active in fine-tuning."""
        return self.rho_pt * self.rho_shared + (1.0 - self.rho_pt) * self.rho_new

    @property
    def omega(self) -> float:
        """Share of the fine-tuning-active dimensions that are active in pretraining."""
        return self.rho_pt * self.rho_shared / self.rho_ft

    @property
    def law(self) -> Law:
        """Joint law of (beta_PT, beta_FT) of one coordinate as a Gaussian mixture."""
        return empirical_law(*self.samples) if self.samples is not None else slab_law(self)

    def sample(self, dim: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw ``(beta_pt, beta_ft)``, each of shape (dim,), with independent coordinates.

        A task made from samples returns its own vectors when ``dim`` is their length, and resamples coordinates
        with replacement otherwise.
        """
        dim = check_count("dim", dim)
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy.random.Generator, got {rng!r:.60} of type {type(rng).__name__}")
        if self.samples is not None:
            pt, ft = self.samples
            pick = slice(None) if dim == len(pt) else rng.integers(0, len(pt), dim)
            return pt[pick].copy(), ft[pick].copy()
        in_pt = rng.random(dim) < self.rho_pt
        in_ft = rng.random(dim) < np.where(in_pt, self.rho_shared, self.rho_new)
        beta_pt = np.where(in_pt, self.pt_slab.sample(dim, rng), 0.0)
        value = self.ft_slab.sample(dim, rng)
        if self.correlation != 0.0:
            value = np.where(in_pt, _correlate(self, beta_pt, value, rng), value)
        return beta_pt, np.where(in_ft, value, 0.0)


def _check_samples(samples: object) -> tuple[np.ndarray, np.ndarray]:
    """The two vectors of a task made from samples."""
    if not isinstance(samples, tuple) or len(samples) != 2:
        raise TypeError(f"samples must be a pair (beta_pt, beta_ft), got {samples!r:.60}; see Task.from_samples")
    beta_pt, beta_ft = (
        as_array(name, v, ndim=1, low=-1e100, high=1e100).copy()  # the caller's array may change later, a task may not
        for name, v in zip(("beta_pt", "beta_ft"), samples, strict=True)
    )
    if beta_pt.shape != beta_ft.shape:
        raise ValueError(f"beta_pt has shape {beta_pt.shape} and beta_ft {beta_ft.shape}: they must be equal")
    if not beta_ft.any():
        raise ValueError("beta_ft = 0 in every entry is not allowed: there is nothing to fine-tune")
    for vector in (beta_pt, beta_ft):
        vector.flags.writeable = False
    return beta_pt, beta_ft


def _correlate(task: Task, beta_pt: np.ndarray, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Fine-tuning values on shared dimensions, correlated with ``beta_pt`` as :class:`Task` defines it."""
    q = task.correlation
    if task.ft_slab.kind == "gaussian":
        return q * task.ft_slab.scale * beta_pt / abs(task.pt_slab.scale) + math.sqrt(1.0 - q * q) * value
    agree = np.where(rng.random(beta_pt.shape) < (1.0 + q) / 2.0, 1.0, -1.0)
    return agree * np.sign(beta_pt) * abs(task.ft_slab.scale)
