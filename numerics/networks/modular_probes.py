"""The ruler's probes on modular arithmetic: features are characters of a + b and of a - b.

On tokens ``a b =`` of Z_N a character ``sqrt(2) cos(2 pi k (a + sign b - shift)/N)`` has mean 0 and mean square 1, and
different ones are orthogonal over all pairs. Pretraining regresses them, each times its own strength: a graded
beta_PT. A probe shows all pairs with ``a + sign b = s`` labelled +, and those with ``s + N/2`` labelled -:

- a character with odd k has opposite values on the two: its load is its value at s;
- even ones have equal values, and characters of the other sign average to zero: none of them explains the labels.

With k coprime to N and N divisible by 6, a shift of N/6 changes a load from 1 to 1/2 of the largest: two characters
shifted against each other have loads 2 to 1 at one s and 1 to 2 at another. Frequencies coprime to N are equivalent
(multiplying the residues by a unit permutes them), so that none is easier. Response to a feature: the projection of
the learned function on it over all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from numerics.networks.data import modular
from numerics.networks.probes import Probe
from numerics.validate import check_count, check_flag, check_number

__all__ = ["CharacterTask", "character_task", "character_values"]


def character_values(x: np.ndarray, modulus: int, sign: int, frequency: int, shift: int) -> np.ndarray:
    """``sqrt(2) cos(2 pi frequency (a + sign b - shift) / modulus)`` of token rows (n, 3): shape (n,)."""
    turns = (frequency * (x[:, 0] + sign * x[:, 1] - shift)) % modulus
    return np.sqrt(2.0) * np.cos(2.0 * np.pi * turns / modulus)


@dataclass(frozen=True)
class CharacterTask:
    """Pretraining targets with features of known strength, and the probes that ask for them.

    Attributes
    ----------
    modulus : N. x : (N^2, 3) all token rows. values : (4, N^2) the characters.
    strength : (4,) of the two of the loading probes, then of the two of the recruitment probes.
    signs : (4,) +1 for a + b, -1 for a - b. frequencies, shifts : (4,).
    """

    modulus: int
    x: np.ndarray
    values: np.ndarray
    strength: np.ndarray
    signs: tuple[int, ...]
    frequencies: tuple[int, ...]
    shifts: tuple[int, ...]

    @property
    def targets(self) -> np.ndarray:
        """(N^2, 4) float32: each character times its strength."""
        return (self.strength[:, None] * self.values).T.astype(np.float32)

    def probes(
        self, number: int = 12, amplitude: float = 1.0, share: float = 0.8, labels: bool = False, seed: int = 0
    ) -> list[Probe]:
        """``number`` probes of each family.

        Parameters
        ----------
        amplitude : coefficient that one feature alone would get. share : of the pairs of each residue that are shown,
            in (0, 1]; which ones is drawn anew for each probe. labels : targets +-1, for classification.
        """
        amplitude = check_number("amplitude", amplitude, 0.0, open_low=True)
        share = check_number("share", share, 0.0, 1.0, open_low=True)
        size = 1.0 if check_flag("labels", labels) else amplitude * float(np.sqrt(2.0))
        rng = np.random.default_rng([check_count("seed", seed, 0), 2607])
        probes = []
        for kind, pair in (("loading", [0, 1]), ("recruitment", [2, 3])):
            for i in range(check_count("number", number)):
                order = pair[:: 1 if i % 2 == 0 else -1]  # recruitment: each feature is the stronger one in turn
                probes.append(self._probe(kind, order, size, share, rng))
        return probes

    def _probe(self, kind, order, target, share, rng) -> Probe:
        place = (self.x[:, 0] + self.signs[order[0]] * self.x[:, 1] - self.shifts[order[0]]) % self.modulus
        rows, y = [], []
        for residue, label in ((0, 1.0), (self.modulus // 2, -1.0)):
            found = rng.permutation(np.flatnonzero(place == residue))
            rows += found[: max(1, round(share * len(found)))].tolist()
            y += [label] * (len(rows) - len(y))
        size = float(np.sqrt(2.0))  # of a character where it is largest
        load = (size, size) if kind == "loading" else (size, size / 2.0)
        facing = np.sign(self.values[order][:, place == 0][:, :1])
        read_out = facing * self.values[order] / len(self.x)
        used = tuple(float(s) for s in self.strength[order])
        return Probe(kind, self.x[rows], target * np.array(y), self.x, load, used, read_out)


def character_task(
    seed: int, modulus: int = 30, strength: tuple[float, ...] = (1 / 1.5, 1.5, 1.0, 1.0)
) -> CharacterTask:
    """Four characters: two of one sign for loading probes, two of the other for recruitment probes.

    Parameters
    ----------
    seed : decides the signs, frequencies and shifts. modulus : divisible by 6, with four frequencies coprime to it.
    strength : (weak, strong, equal, equal).

    Raises
    ------
    TypeError, ValueError
        For a modulus without such frequencies, or strengths that are not of this pattern.
    """
    modulus = check_count("modulus", modulus, 6)
    units = [k for k in range(1, modulus // 2) if gcd(k, modulus) == 1]
    if modulus % 6 or len(units) < 4:
        raise ValueError(f"modulus = {modulus} is not allowed: it must be a multiple of 6, 24 or larger")
    if not isinstance(strength, Sequence) or isinstance(strength, str):
        raise TypeError(f"strength must be four numbers, got {strength!r:.60} of type {type(strength).__name__}")
    values = [check_number("strength", s, 0.0, open_low=True) for s in strength]
    if len(values) != 4 or values[0] == values[1] or values[2] != values[3]:
        raise ValueError(f"strength = {strength} is not allowed: it must be (weak, strong, equal, equal)")
    rng = np.random.default_rng([check_count("seed", seed, 0), 2608])
    frequencies = tuple(int(k) for k in rng.choice(units, 4, replace=False))
    sign = int(rng.choice([-1, 1]))
    first, second = (int(s) for s in rng.integers(modulus, size=2))
    signs, shifts = (sign, sign, -sign, -sign), (first, first, second, second + modulus // 6)
    x = modular(modulus, modulus).x
    features = [character_values(x, modulus, *parts) for parts in zip(signs, frequencies, shifts, strict=True)]
    return CharacterTask(modulus, x, np.array(features), np.array(values), signs, frequencies, shifts)
