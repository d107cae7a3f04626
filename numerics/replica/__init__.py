"""Replica-symmetric prediction of the generalisation error (THEORY section 6)."""

from numerics.replica.curves import generalization_curve
from numerics.replica.saddle_point import ConvergenceError

__all__ = ["ConvergenceError", "generalization_curve"]
