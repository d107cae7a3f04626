"""One figure a claim, from the arrays that its evaluation kept."""

from __future__ import annotations

from ptft_sym.claims import draw_flow, draw_metrics, draw_results

__all__ = ["draw"]

_DRAW = {
    "conservation": draw_flow.conservation,
    "minimiser": draw_flow.minimiser,
    "scale": draw_flow.scale,
    "ranges": draw_metrics.ranges,
    "plane": draw_metrics.plane,
    "regimes": draw_metrics.regimes,
    "agreement": draw_results.agreement,
    "scan": draw_results.scan,
    "comparisons": draw_results.comparisons,
}


def draw(claim, path) -> bool:
    """Write the claim's figure to ``path``; False where it has none."""
    if not claim.figure:
        return False
    _DRAW[claim.figure["kind"]](claim, path)
    return True
