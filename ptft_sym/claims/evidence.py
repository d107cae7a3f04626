"""How each claim is put to the test. Every function returns (evidence, arrays for a figure or None)."""

from __future__ import annotations

import numpy as np

from ptft_sym.claims import Evidence

__all__ = ["EVALUATE"]


def _derivation(name: str, *steps: str) -> Evidence:
    """The checker's word on a derivation, or on some of its steps."""
    import derivations

    derivation = derivations.derive(name)
    if steps:
        verdicts = [derivation[step].verdict for step in steps]
        levels = [v.level for v in verdicts]
        text = f"{name}: " + ", ".join(f"{s} {v}" for s, v in zip(steps, levels, strict=True))
        return Evidence("derivation", text, False if "failed" in levels else set(levels) == {"proved"} or None)
    ledger = derivation.check()
    counts = ", ".join(f"{n} {level}" for level, n in ledger.counts.items() if n)
    return Evidence("derivation", f"{name}: {counts}", ledger.ok)


def _problem(seed: int = 0, dim: int = 12, n: int = 5):
    rng = np.random.default_rng(seed)
    X, beta = rng.standard_normal((n, dim)) / np.sqrt(dim), rng.standard_normal(dim)
    return X, X @ beta


def _c1(_):
    from numerics.diagonal import gradient_flow
    from numerics.task import Initialization

    trajectory = gradient_flow(*_problem(), Initialization(0.05, 0.4))
    text = f"the four weight vectors integrated (D = 12, {trajectory.steps} steps): conserved quantities drift by "
    return [
        _derivation("gradient_flow"),
        Evidence("flow", f"{text}{trajectory.drift:.1e} at most", bool(trajectory.drift <= 1e-10)),
    ], None


def _c2(_):
    from numerics.diagonal import gradient_flow, interpolate
    from numerics.task import Initialization

    X, y = _problem(1)
    init = Initialization(0.02, -0.3)
    limit = gradient_flow(X, y, init).limit
    size = np.linalg.norm(limit)
    right = np.linalg.norm(interpolate(X, y, init.c).beta - limit) / size
    wrong = np.linalg.norm(interpolate(X, y, 2.0 * init.c).beta - limit) / size
    return [
        _derivation("implicit_bias"),
        Evidence(
            "flow",
            f"flow of the weights against the minimiser (D = 12, n = 5): relative distance {right:.1e}; "
            f"a potential with twice the scale is {wrong:.1e} away",
            bool(right < 1e-8 < 1e-3 < wrong),
        ),
    ], None


def _c3(_):
    from numerics.diagonal import gradient_flow, interpolate
    from numerics.task import Initialization

    (X, y), (X_ft, y_ft) = _problem(2), _problem(3)
    init = Initialization(0.05, -0.4, 0.3)
    both = gradient_flow(X, y, init, X_ft, y_ft)
    beta_pt = both.pretraining.limit
    size = np.linalg.norm(both.limit)
    right = np.linalg.norm(interpolate(X_ft, y_ft, init.c_ft(beta_pt)).beta - both.limit) / size
    other = Initialization.from_readout(init.c, init.lam, init.gamma)  # v = gamma instead of gamma/sqrt(2)
    wrong = np.linalg.norm(interpolate(X_ft, y_ft, other.c_ft(beta_pt)).beta - both.limit) / size
    return [
        _derivation("fine_tuning"),
        Evidence(
            "flow",
            f"both stages integrated: {right:.1e} from the minimiser with c_FT; the other readout convention is "
            f"{wrong:.1e} away",
            bool(right < 1e-7 < 1e-4 < wrong),
        ),
    ], None


def _random_metrics(count: int = 200_000):
    from numerics import kernels

    rng = np.random.default_rng(0)
    beta_ft, beta_pt, c = 10 ** rng.uniform(-12, 12, (3, count))
    lam, gamma = -1 + 10 ** rng.uniform(-12, 0.301, count), 10 ** rng.uniform(-12, 6, count)
    scale = kernels.c_ft(beta_pt, c, lam, gamma)
    return kernels.ell_order(beta_ft, scale), kernels.pretraining_dependence(beta_ft, beta_pt, c, lam, gamma)


def _c4(_):
    order, dependence = _random_metrics()
    inside = bool((order >= 1).all() and (order <= 2).all() and (dependence >= -1).all() and (dependence <= 0).all())
    text = f"200 000 random settings: l-order in [{order.min():.6f}, {order.max():.6f}], "
    text += f"PD in [{dependence.min():.6f}, {dependence.max():.6f}]"
    return [
        _derivation("metrics", "above 1", "below 2", "range of PD"),
        Evidence("solver", text, inside),
    ], None


def _c5(_):
    order, dependence = _random_metrics()
    total = order + dependence
    slack = 4e-16  # rounding of a sum of two correctly bounded numbers
    text = f"200 000 random settings: l-order + PD in [{total.min():.6f}, {total.max():.6f}]"
    return [
        _derivation("metrics", "trade-off", "trade-off, range"),
        Evidence("solver", text, bool(total.min() >= 1 - slack and total.max() <= 2 + slack)),
    ], {"kind": "plane", "order": order[:4000], "dependence": dependence[:4000]}


def _c6(_):
    import ptft_sym as pt

    settings = {  # CASES: a setting near each limit, and one in between
        "I": (1.0, 1.0, pt.Initialization(1e-3, -0.999999, 1e-6)),
        "II": (0.01, 1.0, pt.Initialization(1e-6, 0.99)),
        "III": (1.0, 1.0, pt.Initialization(1e-3, 0.0, 10.0)),
        "IV": (1.0, 1.0, pt.Initialization(1e-3, -0.99)),
    }
    found = {name: pt.regime(*setting) for name, setting in settings.items()}
    text = "; ".join(f"{name}: l-order {r.ell_order:.4f}, PD {r.pd:.4f}" for name, r in found.items())
    return [
        _derivation("regimes"),
        Evidence("solver", text, all(r.name == name for name, r in found.items())),
    ], None


_C7 = (  # task (rho_ft, omega), scales (c, lam, gamma), alphas, alpha_pt, noise_pt
    ((0.1, 0.5), (1e-3, 0.0, 0.0), (0.1, 0.2, 0.3), None, 0.0),
    ((0.04, 1.0), (1e-3, -0.9, 0.0), (0.1, 0.2), None, 0.0),
    ((0.1, 1.0), (1e-3, 0.0, 1.0), (0.1, 0.3), None, 0.0),
    ((0.1, 1.0), (1e-2, -0.5, 0.0), (0.2, 0.4), 0.4, 0.0),
    ((0.1, 1.0), (1e-2, -0.5, 0.0), (0.2, 0.4), 1.5, 0.05),
)


def _c7(seeds):
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
        text = f"rho_FT = {rho_ft}, omega = {omega}, (c, lam, gamma) = {scales}, {stage}, D = 800, {seeds} seeds: "
        text += "z = " + ", ".join(f"{z:+.1f}" for z in verdict.z) + f"; p = {verdict.p_value:.2f}"
        evidence.append(Evidence("simulation", text, bool(verdict.p_value > 1e-3)))
        panels.append({"theory": verdict.theory, "mean": verdict.mean[-1], "error": verdict.error[-1]})
    evidence.append(_derivation("replica"))
    return evidence, {"kind": "agreement", "panels": panels}


_LAMS = np.array([-1 + 1e-6, -0.9999, -0.999, -0.99, -0.9, -0.5, 0.0, 0.5, 0.99])


def _best_lam(rho_ft, omega, alpha, alpha_pt, expected):
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
        evidence.append(_paired(task, best, contrast, alpha, alpha_pt, seeds))
        return evidence, {"kind": "scan", "lam": _LAMS, "mse": np.array(mse), "best": (best.init.lam, best.mse)}

    return evaluate


def _paired(task, best, contrast, alpha, alpha_pt, seeds) -> Evidence:
    """Same seeds at the optimum and at another lam: is the difference what was predicted, and of the right sign?"""
    import ptft_sym as pt

    stages = "oracle" if alpha_pt is None else "full"
    other = pt.Initialization(1e-3, contrast)
    runs = [
        pt.simulate(task, init, [alpha], dim=800, seeds=range(seeds), stages=stages, alpha_pt=alpha_pt).mse.values
        for init in (other, best.init)
    ]
    gain = (runs[0] - runs[1]).ravel()
    mean, error = gain.mean(), gain.std(ddof=1) / np.sqrt(len(gain))
    expected = float(pt.generalization_curve(task, other, alpha, alpha_pt).mse[0]) - best.mse
    text = f"D = 800, {seeds} paired seeds: lam = {contrast} costs {mean:.4f} +- {error:.4f} more than the optimum "
    text += f"(predicted {expected:.4f})"
    return Evidence("simulation", text, True if mean > 2 * error else (None if mean > -2 * error else False))


def _stored(claim):
    def evaluate(_):
        from ptft_sym.claims.stored import read

        return read(claim), None

    return evaluate


EVALUATE = {
    "C1": _c1,
    "C2": _c2,
    "C3": _c3,
    "C4": _c4,
    "C5": _c5,
    "C6": _c6,
    "C7": _c7,
    "C8": _best_lam(0.1, 1.0, 0.1, None, lambda best, place: place == "upper"),
    "C9": _best_lam(0.1, 0.0, 0.3, None, lambda best, place: place == "lower"),
    "C10": _best_lam(0.01, 1.0, 0.03, None, lambda best, place: place == "interior"),
    "C11": _best_lam(0.1, 1.0, 0.2, 0.25, lambda best, place: place == "interior" and best.init.lam < 0),
    "C12": _stored("C12"),
    "C13": _stored("C13"),
    "C14": _stored("C14"),
}
