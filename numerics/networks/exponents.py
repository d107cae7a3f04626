"""Which parameters carry which power of kappa when scale moves between layers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from torch import nn

from numerics.validate import check_number

__all__ = ["NORMALISATION", "affine_exponents", "chain_exponents", "kappa_of_lam", "lam_of_kappa"]

NORMALISATION = (
    nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm, nn.RMSNorm,
)  # fmt: skip


def lam_of_kappa(kappa: float) -> float:
    """Relative scale of a balanced two-layer network after ``w -> kappa w, v -> v/kappa``, i.e. tanh(2 log kappa).

    From ``lam = (w^2 - v^2)/(w^2 + v^2)`` with ``w = v`` before (THEORY section 1): negative for kappa < 1.
    """
    return math.tanh(2.0 * math.log(check_number("kappa", kappa, 0.0, open_low=True)))


def kappa_of_lam(lam: float) -> float:
    """The inverse of :func:`lam_of_kappa`, for ``lam`` in (-1, 1)."""
    return math.exp(0.5 * math.atanh(check_number("lam", lam, -1.0, 1.0, open_low=True, open_high=True)))


def chain_exponents(model: nn.Module, earlier: Sequence[str], later: Sequence[str] | None = None) -> dict[str, float]:
    """Powers of kappa for layers named in forward order along one chain.

    Each earlier layer gets 1, the later ones share the opposite of the sum. A bias is added to a signal that already
    carries all factors before it, so its power is the running total in the output-preserving variant; in the plain one
    weights and biases alike are multiplied once.
    """
    later = [] if later is None else list(later)
    names = [*earlier, *later]
    if not earlier or len(set(names)) != len(names):
        raise ValueError(f"earlier = {list(earlier)}, later = {later}: layers must be named, each once")
    powers = [1.0] * len(earlier) + [-len(earlier) / max(len(later), 1)] * len(later)
    exponents, total = {}, 0.0
    for name, power in zip(names, powers, strict=True):
        total += power
        for parameter in _parameters(model, name):
            is_bias = parameter.rpartition(".")[2] == "bias"
            exponents[parameter] = (total if later else power) if is_bias else power
    return {name: power for name, power in exponents.items() if abs(power) > 1e-12}


def _parameters(model: nn.Module, name: str) -> list[str]:
    """Full names of the floating parameters of the module called ``name``."""
    try:
        module = model.get_submodule(name)
    except AttributeError:
        known = ", ".join(n for n, m in model.named_modules() if n and any(True for _ in m.parameters(recurse=False)))
        raise ValueError(f"{name!r} is not a layer of {type(model).__name__}; it has {known}") from None
    found = [f"{name}.{n}" for n, p in module.named_parameters() if p.is_floating_point()]
    if not found:
        raise ValueError(f"{name!r} has no parameters, so it has no scale")
    return found


def affine_exponents(model: nn.Module, earlier: Iterable[str] | None, later: object) -> dict[str, float]:
    """Power 1 for the affine parameters of the normalisation layers inside the named modules (default: all)."""
    if later is not None:
        raise ValueError("later is not allowed with through = 'affine': the variant is plain")
    roots = [""] if earlier is None else list(earlier)
    exponents = {}
    for root in roots:
        for name, module in model.get_submodule(root).named_modules(prefix=root):
            if isinstance(module, NORMALISATION):
                exponents |= {f"{name}.{n}": 1.0 for n, _ in module.named_parameters(recurse=False)}
    if not exponents:
        raise ValueError(f"through = 'affine' found no normalisation layer with affine parameters in {roots}")
    return exponents
