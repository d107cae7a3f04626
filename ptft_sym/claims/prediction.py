"""C7 to C11: the replica prediction against exact simulations, and where it puts the best relative scale."""

from __future__ import annotations

import numpy as np

from ptft_sym.claims import Evidence
from ptft_sym.claims.checked import derivation

__all__ = ["agreement", "best_lam"]

_C7 = (  # task (rho_ft, omega), scales (c, lam, gamma), alphas, alpha_pt, noise_pt
    ((0.1, 0.5), (1e-3, 0.0, 0.0), (0.1, 0.2, 0.3), None, 0.0),
    ((0.04, 1.0), (1e-3, -0.9, 0.0), (0.1, 0.2), None, 0.0),
    ((0.1, 1.0), (1e-3, 0.0, 1.0), (0.1, 0.3), None, 0.0),
    ((0.1, 1.0), (1e-2, -0.5, 0.0), (0.2, 0.4), 0.4, 0.0),
    ((0.1, 1.0), (1e-2, -0.5, 0.0), (0.2, 0.4), 1.5, 0.05),
)
_LAMS = np.array([-1 + 1e-6, -0.9999, -0.999, -0.99, -0.9, -0.5, 0.0, 0.5, 0.99])


def agreement(seeds):
    """C7: five settings, D = 800, z-scores over seeds."""
    import ptft_sym as pt

    evidence, panels = [], []
    for (rho_ft, omega), scales, alpha, alpha_pt, noise_pt in _C7:
        task, init = pt.Task.from_overlap(0.1, rho_ft, omega), pt.Initialization(*scales)
        theory = pt.generalization_curve(task, init, list(alpha), alpha_pt, noise_pt=noise_pt)
        stages = "oracle" if alpha_pt is None else "full"
        found = pt.simulate(
            task, init, list(alpha), dim=800, seeds=range(seeds), stages=stages, alpha_pt=alpha_pt, noise_pt=noise_pt
        )
        verdict = pt.compare(theory, found)
        stage = "perfect pretraining" if alpha_pt is None else f"alpha_PT = {alpha_pt}, noise_PT = {noise_pt}"
        setting = f"rho_FT = {rho_ft}, omega = {omega}, (c, lam, gamma) = {scales}, {stage}"
        text = f"{setting}, D = 800, {seeds} seeds: "
        text += "z = " + ", ".join(f"{z:+.1f}" for z in verdict.z) + f"; p = {verdict.p_value:.2f}"
        evidence.append(Evidence("simulation", text, bool(verdict.p_value > 1e-3)))
        panels.append(
            {"label": setting, "theory": verdict.theory, "mean": verdict.mean[-1], "error": verdict.error[-1]}
        )
    evidence.append(derivation("replica"))
    return evidence, {"kind": "agreement", "panels": panels, "seeds": seeds}


def best_lam(rho_ft, omega, alpha, alpha_pt, expected, dim=800):
    """Evidence for where the best relative scale lies: predicted curve, optimum, and a paired simulation."""

    def evaluate(seeds):
        import ptft_sym as pt

        task = pt.Task.from_overlap(0.1, rho_ft, omega)
        mse = [float(pt.generalization_curve(task, pt.Initialization(1e-3, x), alpha, alpha_pt).mse[0]) for x in _LAMS]
        best = pt.optimal_initialization(task, alpha, c=1e-3, gamma=0.0, alpha_pt=alpha_pt)
        place = best.active.get("lam", "interior")
        text = f"c = 1e-3, alpha = {alpha}: predicted error {min(mse):.4f} (best of nine lam) to {max(mse):.4f}; "
        evidence = [Evidence("solver", text + best.message, expected(best, place))]
        contrast = 0.0 if place != "upper" else -0.9
        paired, points, gain = _paired(task, best, contrast, alpha, alpha_pt, seeds, dim)
        evidence.append(paired)
        stage = "perfect pretraining" if alpha_pt is None else f"alpha_PT = {alpha_pt}"
        setting = f"rho_FT = {rho_ft}, omega = {omega}, alpha = {alpha}, c = 0.001, gamma = 0, {stage}"
        optimum = (best.init.lam, best.mse)
        return evidence, {
            "kind": "scan", "lam": _LAMS, "mse": np.array(mse), "best": optimum, "points": points, "setting": setting,
            "seeds": seeds, "dim": dim, "gain": gain,
        }  # fmt: skip

    return evaluate


def _paired(task, best, contrast, alpha, alpha_pt, seeds, dim):
    """Same seeds at the optimum and at another lam: is the difference what was predicted, and of the right sign?

    Also (lam, mean, standard error) of both, and the difference with its standard error and prediction.
    """
    import ptft_sym as pt

    stages = "oracle" if alpha_pt is None else "full"
    other = pt.Initialization(1e-3, contrast)
    runs = [
        pt.simulate(task, init, [alpha], dim=dim, seeds=range(seeds), stages=stages, alpha_pt=alpha_pt).mse.values
        for init in (other, best.init)
    ]
    gain = (runs[0] - runs[1]).ravel()
    mean, error = gain.mean(), gain.std(ddof=1) / np.sqrt(len(gain))
    expected = float(pt.generalization_curve(task, other, alpha, alpha_pt).mse[0]) - best.mse
    text = f"D = {dim}, {seeds} paired seeds: lam = {contrast} costs {mean:.4f} +- {error:.4f} more than the optimum "
    text += f"(predicted {expected:.4f})"
    points = [
        (init.lam, float(run.mean()), float(run.std(ddof=1) / np.sqrt(run.size)))
        for init, run in zip((other, best.init), runs, strict=True)
    ]
    ok = True if mean > 2 * error else (None if mean > -2 * error else False)
    return Evidence("simulation", text, ok), points, (float(mean), float(error), expected)
