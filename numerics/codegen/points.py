"""Where kernels are tested: seeded points over the whole domain, and adversarial ones.

A third of the points have magnitudes log-uniform over 1e-300..1e300, a third are moderate, a third are near the
diagonal where an argument
and its scale are comparable; the adversarial ones are products of zeros, powers of two and their neighbours, the edges
of the subnormal range and the bounds at which a kernel changes its form.
"""

from __future__ import annotations

import itertools

import numpy as np

__all__ = ["adversarial", "seeded"]

HUGE, TINY = 1e300, 1e-300
NORMAL = np.finfo(float).tiny


def seeded(arguments: tuple[str, ...], count: int, seed: int = 0) -> np.ndarray:
    """Points of shape (count, arguments); the column of each argument lies in its domain."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, count)
    wide, near = np.log(HUGE), np.log(1e3)
    common = rng.uniform(-wide, wide, count)
    columns = []
    for name in arguments:
        exponent = np.where(kind == 0, rng.uniform(-wide, wide, count), rng.uniform(-near, near, count))
        exponent = np.where(kind == 2, np.clip(common + rng.uniform(-near, near, count), -wide, wide), exponent)
        columns.append(_column(name, np.exp(exponent), kind, rng))
    points = np.stack(columns, axis=1)
    if "beta0" in arguments:  # a third of the pairs lie close together
        close = kind == 1
        shift = 10.0 ** rng.uniform(-16, 0, count) * rng.choice([-1.0, 1.0], count)
        points[close, arguments.index("beta0")] = (points[:, arguments.index("beta")] * (1.0 + shift))[close]
    return _together(points, arguments)


def _together(points: np.ndarray, arguments: tuple[str, ...]) -> np.ndarray:
    """Keep what the kernels of (beta_pt, c, lam, gamma) ask of their arguments together: c_FT normal, |beta_pt| /
    c_FT finite.
    """
    if "beta0" in arguments:
        scale = points[:, [arguments.index("c_ft")]]
        points = points[(np.abs(points[:, :2]) < 1e150 * np.minimum(scale, 1e150)).all(axis=1)]
    if "lam" in arguments and "gamma" in arguments:
        beta, c, lam, gamma = (points[:, arguments.index(name)] for name in ("beta_pt", "c", "lam", "gamma"))
        beta, root = np.abs(beta), gamma * np.sqrt(0.5)
        still = (1.0 + lam) * np.maximum(beta, c)  # at least half of c_FT - gamma^2/2
        points = points[
            ((lam > -1.0) | (gamma == 0.0) | (root > np.sqrt(beta) * 1e-150)) & ((still > 1e-300) | (root > 1e-150))
        ]
    return points


def _column(name: str, magnitude: np.ndarray, kind: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    count = len(magnitude)
    sign = np.where(rng.random(count) < 0.5, -1.0, 1.0)
    if name in ("c", "c_ft", "g"):
        return magnitude
    if name == "lam":
        edge = sign * (1.0 - 10.0 ** rng.uniform(-16, 0, count))
        return np.where(kind == 0, edge, np.where(rng.random(count) < 0.1, -1.0, rng.uniform(-1.0, 1.0, count)))
    if name == "gamma":
        return np.where(rng.random(count) < 0.3, 0.0, np.clip(np.sqrt(magnitude), None, 1e140))
    if name == "t":
        return sign * np.where(
            kind == 0, rng.uniform(0, 720, count), np.exp(rng.uniform(np.log(1e-12), np.log(30), count))
        )
    if name in ("delta", "u0", "start"):
        return sign * np.exp(rng.uniform(np.log(1e-9), np.log(20), count))
    return sign * magnitude


def adversarial(arguments: tuple[str, ...], limit: int = 5_000) -> np.ndarray:
    """The product of the special values of each argument (thinned evenly when there are more than `limit`)."""
    grid = list(itertools.product(*(_special(name, len(arguments)) for name in arguments)))
    keep = np.unique(np.linspace(0, len(grid) - 1, min(limit, len(grid))).astype(int))
    return _together(np.array([grid[i] for i in keep], float).reshape(len(keep), len(arguments)), arguments)


def _special(name: str, arguments: int) -> list[float]:
    below, above = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)
    if name == "lam":
        return [-1.0, np.nextafter(-1.0, 0.0), -0.999, -0.5, -1e-17, 0.0, 1e-300, 0.5, below, 1.0]
    if name == "gamma":
        return [0.0, 1e-150, 1e-8, 1.0, 10.0, 1e140]
    if name == "t":
        return [
            s * v
            for v in (0.0, NORMAL, 1e-8, 0.5, 349.9999, 350.0, 354.9, 355.1, 400.0, 700.0, 720.0)
            for s in (1.0, -1.0)
        ]
    if name in ("delta", "u0", "start"):
        return [0.0, 1e-300, 1e-8, -1e-8, 0.5, -0.5, 5.0, -5.0, 30.0]
    magnitudes = [
        NORMAL,
        5e-324,
        TINY,
        1e-160,
        1e-150,
        1e-30,
        1e-8,
        0.1,
        0.5,
        below,
        1.0,
        above,
        1.175,
        2.0,
        3.0,
        1e3,
        1e8,
        2.0**53,
    ]
    magnitudes += [1e30, 1e150, 1e160, HUGE]
    if arguments > 2:
        magnitudes = [NORMAL, TINY, 1e-150, 1e-8, 0.5, 1.0, above, 3.0, 1e8, 1e150, HUGE]
    if name in ("c", "c_ft", "g"):
        return [m for m in magnitudes if m >= NORMAL]
    return [0.0, *magnitudes, *(-m for m in magnitudes[:: 2 if arguments > 2 else 1])]
