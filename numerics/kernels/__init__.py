"""The generated NumPy kernels (`python -m numerics.codegen --write`); each file says formula, source and accuracy."""

from numerics.kernels.bregman import bregman
from numerics.kernels.c_ft import c_ft
from numerics.kernels.c_ft_sensitivities import c_ft_sensitivities
from numerics.kernels.channel_mass_sensitivities import channel_mass_sensitivities
from numerics.kernels.channel_moments import channel_moments
from numerics.kernels.channel_observables import channel_observables
from numerics.kernels.channel_offset import channel_offset
from numerics.kernels.channel_sensitivities import channel_sensitivities
from numerics.kernels.critical_alpha import critical_alpha
from numerics.kernels.critical_ratio import critical_ratio
from numerics.kernels.dual_map import dual_map
from numerics.kernels.dual_map_derivative import dual_map_derivative
from numerics.kernels.ell_order import ell_order
from numerics.kernels.k import k
from numerics.kernels.least_squares_s2 import least_squares_s2
from numerics.kernels.minimum_norm_mse import minimum_norm_mse
from numerics.kernels.moreau_envelope import moreau_envelope
from numerics.kernels.potential import potential
from numerics.kernels.potential_derivative import potential_derivative
from numerics.kernels.potential_second_derivative import potential_second_derivative
from numerics.kernels.pretraining_dependence import pretraining_dependence
from numerics.kernels.prox import prox
from numerics.kernels.prox_derivative_c_ft import prox_derivative_c_ft
from numerics.kernels.prox_derivative_g import prox_derivative_g
from numerics.kernels.prox_derivative_z import prox_derivative_z
from numerics.kernels.ridge_mse import ridge_mse
from numerics.kernels.sensitivity import sensitivity
from numerics.kernels.soft_dof import soft_dof
from numerics.kernels.soft_error import soft_error
from numerics.kernels.training_error import training_error

__all__ = [
    "bregman",
    "c_ft",
    "c_ft_sensitivities",
    "channel_mass_sensitivities",
    "channel_moments",
    "channel_observables",
    "channel_offset",
    "channel_sensitivities",
    "critical_alpha",
    "critical_ratio",
    "dual_map",
    "dual_map_derivative",
    "ell_order",
    "k",
    "least_squares_s2",
    "minimum_norm_mse",
    "moreau_envelope",
    "potential",
    "potential_derivative",
    "potential_second_derivative",
    "pretraining_dependence",
    "prox",
    "prox_derivative_c_ft",
    "prox_derivative_g",
    "prox_derivative_z",
    "ridge_mse",
    "sensitivity",
    "soft_dof",
    "soft_error",
    "training_error",
]
