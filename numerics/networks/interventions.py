"""Changing the scale of layers of any `torch.nn.Module`, with a report of what was changed.

Three knobs of the theory, and what they mean on a network:

- **relative scale** ``kappa``: earlier layers times ``kappa``. *Plain*: nothing else changes, and neither the function
  nor the product of the layers is kept. *Output-preserving*: later layers are divided, so that only the balance between
  layers moves; this needs layers that are positively homogeneous (linear, convolution, ReLU, pooling; not softmax, not
  normalisation). It is the analogue of ``lam``: see :func:`lam_of_kappa`. Kappa < 1: earlier layers smaller, lam < 0.
- **absolute scale**: every floating parameter times ``factor``, the analogue of ``c``.
- **readout re-initialisation** at ``gamma``: new weights ``gamma N(0, 1/fan_in)``, biases zero.

Normalisation layers divide a factor in front of them out again. In training mode the scale of such a layer then moves
only its effective learning rate (as 1/kappa^2), and in evaluation mode outputs change until the running statistics
follow (:func:`refresh_statistics` makes them). ``through="affine"`` is the faithful variant: it scales the affine
parameters *behind* the normalisation, which set the size of the signal that the next layer sees. Reports name the
normalisation layers found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from numerics.networks.exponents import (
    NORMALISATION,
    affine_exponents,
    chain_exponents,
    kappa_of_lam,
    lam_of_kappa,
)
from numerics.validate import check_count, check_number

__all__ = [
    "ScaleReport", "absolute_scale", "apply_exponents", "chain_exponents", "kappa_of_lam", "lam_of_kappa",
    "refresh_statistics", "reinitialise_readout", "relative_scale", "relative_scale_of",
]  # fmt: skip


@dataclass(frozen=True)
class ScaleReport:
    """What an intervention did.

    Attributes
    ----------
    kind : "relative", "absolute" or "readout". factors : parameter name -> factor applied (NaN where drawn again).
    norms : parameter name -> (norm before, norm after).
    normalisation : names of the normalisation layers in the model.
    output_change : largest change of an output on the probe batch relative to the largest output, or None.
    message : one sentence.
    """

    kind: str
    factors: dict[str, float]
    norms: dict[str, tuple[float, float]]
    normalisation: tuple[str, ...]
    output_change: float | None
    message: str


def relative_scale_of(earlier: torch.Tensor, later: torch.Tensor) -> float:
    """``(||W1||^2 - ||W2||^2)/(||W1||^2 + ||W2||^2)`` of two layers: negative when the earlier one is smaller."""
    a, b = (float(t.detach().double().square().sum()) for t in (earlier, later))
    if a + b == 0.0:
        raise ValueError("earlier = later = 0: the relative scale of two zero layers is undefined")
    return (a - b) / (a + b)


def relative_scale(
    model: nn.Module,
    kappa: float,
    earlier: Iterable[str] | None = None,
    later: Iterable[str] | None = None,
    *,
    probe: torch.Tensor | None = None,
    tolerance: float = 1e-5,
    through: str = "weights",
) -> ScaleReport:
    """Multiply the earlier layers by ``kappa``, in place; divide later ones as well when they are given.

    Parameters
    ----------
    model : any module.
    kappa : factor in [1e-6, 1e6].
    earlier : module names, in the order of the forward pass. Without it the model's own ``scale_exponents()`` decide
        (all models of this package have one), which for homogeneous ones preserves the outputs.
    later : module names that share the inverse factor (output-preserving variant of a chain of layers); without it the
        variant is plain.
    probe : inputs on which outputs are compared before and after (in evaluation mode). With ``later`` or the model's
        own exponents, a change above ``tolerance`` is refused and undone.
    tolerance : allowed relative change of outputs when they are to be preserved.
    through : "weights", or "affine": the affine parameters of the normalisation layers inside ``earlier`` (plain
        variant only), which is where scale lives in a normalised network.

    Raises
    ------
    TypeError, ValueError
        For unknown names, layers named twice, kappa out of range, outputs that were not preserved.
    """
    kappa = check_number("kappa", kappa, 1e-6, 1e6)
    preserve = probe is not None and (later is not None or (earlier is None and _claims_to_preserve(model)))
    if through not in ("weights", "affine"):
        raise ValueError(f"through = {through!r} is not allowed: it must be 'weights' or 'affine'")
    if through == "affine":
        exponents, preserve = affine_exponents(model, earlier, later), False
    elif earlier is None:
        if later is not None:
            raise ValueError("later without earlier is not allowed: name the layers that are multiplied by kappa")
        if not hasattr(model, "scale_exponents"):
            raise ValueError(f"earlier must name layers: {type(model).__name__} has no scale_exponents() of its own")
        exponents = model.scale_exponents()
    else:
        exponents = chain_exponents(model, list(earlier), None if later is None else list(later))
    report = apply_exponents(model, exponents, kappa, probe)
    if preserve and not report.output_change <= tolerance:
        apply_exponents(model, exponents, 1.0 / kappa)
        raise ValueError(
            f"kappa = {kappa} changed the outputs by {report.output_change:.3g} of their size ({tolerance:g} allowed) "
            "and was undone: the layers between are not positively homogeneous, or a path misses its factor; name "
            "other layers, or leave `later` out for the plain variant"
        )
    return report


def _claims_to_preserve(model: nn.Module) -> bool:
    return hasattr(model, "scale_exponents") and not any(isinstance(m, nn.Embedding) for m in model.modules())


@torch.no_grad()
def apply_exponents(
    model: nn.Module, exponents: Mapping[str, float], kappa: float, probe: torch.Tensor | None = None
) -> ScaleReport:
    """Multiply each named parameter by ``kappa ** exponent``, in place."""
    kappa = check_number("kappa", kappa, 0.0, open_low=True)
    factors = {name: kappa**power for name, power in exponents.items()}
    return _scale(model, "relative", factors, probe, f"relative scale: kappa = {kappa:g}")


@torch.no_grad()
def absolute_scale(model: nn.Module, factor: float, *, probe: torch.Tensor | None = None) -> ScaleReport:
    """Multiply every floating parameter of the model by ``factor`` > 0, in place (the analogue of c).

    Running statistics of batch norms are not parameters and stay; see the module docstring for what that means.
    """
    factor = check_number("factor", factor, 0.0, open_low=True)
    names = [name for name, p in model.named_parameters() if p.is_floating_point()]
    return _scale(model, "absolute", dict.fromkeys(names, factor), probe, f"absolute scale: factor = {factor:g}")


def _scale(model: nn.Module, kind: str, factors: dict[str, float], probe: object, words: str) -> ScaleReport:
    before = _outputs(model, probe)
    parameters, norms = dict(model.named_parameters()), {}
    for name, factor in factors.items():
        if name not in parameters:
            raise ValueError(f"{name!r} is not a parameter of {type(model).__name__}")
        size = float(parameters[name].norm())
        parameters[name].mul_(factor)
        norms[name] = (size, float(parameters[name].norm()))
    return _report(model, kind, factors, norms, before, probe, f"{words} on {len(factors)} parameters")


@torch.no_grad()
def reinitialise_readout(
    model: nn.Module,
    gamma: float,
    layer: str | None = None,
    *,
    outputs: int | None = None,
    generator: torch.Generator | None = None,
    probe: torch.Tensor | None = None,
) -> ScaleReport:
    """Draw the readout again: weights ``gamma N(0, 1/fan_in)``, biases 0; optionally with another number of outputs.

    Parameters
    ----------
    model : any module. layer : name of its readout, an `nn.Linear` (default: ``model.readout``).
    gamma : non-negative scale; 0 gives a readout that starts at zero and is still trained.
    outputs : replace the layer by one with this many outputs (the classes of the fine-tuning task).
    generator : of the random weights; the default is torch's global one.
    probe : as :func:`relative_scale`.

    Raises
    ------
    TypeError, ValueError
        For a layer that does not exist or is not `nn.Linear`, or gamma < 0.
    """
    gamma = check_number("gamma", gamma, 0.0)
    layer = getattr(model, "readout", None) if layer is None else layer
    if not isinstance(layer, str):
        raise ValueError(f"layer must name the readout: {type(model).__name__} does not say which it is")
    try:
        old = model.get_submodule(layer)
    except AttributeError:
        raise ValueError(f"layer = {layer!r} is not a layer of {type(model).__name__}") from None
    if not isinstance(old, nn.Linear):
        raise TypeError(f"layer = {layer!r} is {type(old).__name__}: a readout must be nn.Linear")
    before, size = _outputs(model, probe), float(old.weight.norm())
    new = old
    if outputs is not None and outputs != old.out_features:
        like = {"device": old.weight.device, "dtype": old.weight.dtype}
        new = nn.Linear(old.in_features, check_count("outputs", outputs), old.bias is not None, **like)
        parent, _, child = layer.rpartition(".")
        setattr(model.get_submodule(parent), child, new)
    device = generator.device if generator is not None else new.weight.device
    draw = torch.randn(new.weight.shape, generator=generator, device=device, dtype=new.weight.dtype)
    new.weight.copy_(draw * (gamma * new.in_features**-0.5))
    if new.bias is not None:
        new.bias.zero_()
    factors = {f"{layer}.{n}": math.nan for n, _ in new.named_parameters()}
    norms = {f"{layer}.weight": (size, float(new.weight.norm()))}
    words = f"readout {layer!r} drawn again at gamma = {gamma:g}, {new.out_features} outputs"
    if before is not None and new.out_features != before.shape[-1]:
        before = probe = None  # nothing to compare
    return _report(model, "readout", factors, norms, before, probe, words)


@torch.no_grad()
def refresh_statistics(model: nn.Module, x: torch.Tensor, batch_size: int = 256) -> int:
    """Running statistics of all batch norms, measured again on the inputs ``x``; returns how many layers have them.

    After weights in front of a batch norm were scaled, its old statistics describe another signal: evaluation mode
    would show a function that training mode never had. Each layer ends with the average over the batches.
    """
    layers = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.track_running_stats]
    if not layers:
        return 0
    kept, modes = [m.momentum for m in layers], {m: m.training for m in model.modules()}
    model.eval()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a plain average
        layer.train()
    for i in range(0, len(x), check_count("batch_size", batch_size)):
        if len(x[i : i + batch_size]) > 1:
            model(x[i : i + batch_size])
    for layer, momentum in zip(layers, kept, strict=True):
        layer.momentum = momentum
    for module, mode in modes.items():
        module.training = mode
    return len(layers)


@torch.no_grad()
def _outputs(model: nn.Module, probe: torch.Tensor | None) -> torch.Tensor | None:
    """Outputs in evaluation mode; the mode of every submodule is put back."""
    if probe is None:
        return None
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        return model(probe).double()
    finally:
        for module, mode in modes.items():
            module.training = mode


def _report(model, kind, factors, norms, before, probe, words) -> ScaleReport:
    after = _outputs(model, probe)
    change = None
    if before is not None and after is not None:
        size = float(before.abs().max())
        change = float((after - before).abs().max()) / size if size > 0.0 else float((after - before).abs().max())
    found = tuple(name for name, m in model.named_modules() if isinstance(m, NORMALISATION))
    if found and kind != "readout":
        words += f"; {len(found)} normalisation layers: in training mode they divide out the scale of the layer before"
    return ScaleReport(kind, factors, norms, found, change, words)
