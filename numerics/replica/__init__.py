"""Replica-symmetric prediction of the generalisation error (THEORY section 6)."""

from numerics.replica.batch import Batch, predict
from numerics.replica.curves import generalization_curve
from numerics.replica.optimum import Optimum, optimal_initialization
from numerics.replica.saddle_point import ConvergenceError

__all__ = ["Batch", "ConvergenceError", "Optimum", "generalization_curve", "optimal_initialization", "predict"]
