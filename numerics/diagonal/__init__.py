"""Diagonal networks at finite dimension: exact limits, paths, gradient descent, and comparison with the theory."""

# The functions are bound here at once: a lazy lookup would find the submodules of the same name instead.
from numerics.diagonal.compare import Comparison, compare
from numerics.diagonal.gradient_flow import check_scale, gradient_flow
from numerics.diagonal.interpolation import Interpolation, InterpolationError, interpolate
from numerics.diagonal.simulate import simulate

__all__ = [
    "Comparison",
    "Interpolation",
    "InterpolationError",
    "check_scale",
    "compare",
    "gradient_flow",
    "interpolate",
    "simulate",
]
