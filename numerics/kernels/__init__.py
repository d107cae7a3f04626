"""The generated NumPy kernels (`python -m numerics.codegen --write`); each file says formula, source and accuracy."""

from numerics.kernels.c_ft import c_ft
from numerics.kernels.c_ft_sensitivities import c_ft_sensitivities
from numerics.kernels.channel_mass_sensitivities import channel_mass_sensitivities
from numerics.kernels.channel_moments import channel_moments
from numerics.kernels.channel_observables import channel_observables
from numerics.kernels.channel_offset import channel_offset
from numerics.kernels.channel_sensitivities import channel_sensitivities
from numerics.kernels.dual_map import dual_map
from numerics.kernels.ell_order import ell_order
from numerics.kernels.k import k
from numerics.kernels.least_squares_s2 import least_squares_s2
from numerics.kernels.potential import potential
from numerics.kernels.potential_derivative import potential_derivative
from numerics.kernels.potential_second_derivative import potential_second_derivative
from numerics.kernels.pretraining_dependence import pretraining_dependence
from numerics.kernels.sensitivity import sensitivity
from numerics.kernels.training_error import training_error

__all__ = [
    "c_ft",
    "c_ft_sensitivities",
    "channel_mass_sensitivities",
    "channel_moments",
    "channel_observables",
    "channel_offset",
    "channel_sensitivities",
    "dual_map",
    "ell_order",
    "k",
    "least_squares_s2",
    "potential",
    "potential_derivative",
    "potential_second_derivative",
    "pretraining_dependence",
    "sensitivity",
    "training_error",
]
