"""The saddle point against published digits: THEORY sections 8 and 9, CASES (dense quadrature, other code)."""

import numpy as np
import pytest
from oracles import SECTION_9

from numerics.replica import generalization_curve
from numerics.task import Initialization, Task


@pytest.mark.parametrize("row", SECTION_9)
def test_theory_section_9(row):
    rho_pt, rho_ft, omega, c, lam, gamma, alpha, mse, s2, g = row
    ds = generalization_curve(Task.from_overlap(rho_pt, rho_ft, omega), Initialization(c, lam, gamma), alpha)
    assert float(ds.mse[0]) == pytest.approx(mse, rel=1e-12)
    assert float(ds.s2[0]) == pytest.approx(s2, rel=1e-12)
    assert float(ds.g[0]) == pytest.approx(g, rel=1e-12)
    assert float(ds.residual[0]) <= 1e-12


def test_curve_of_cases():
    alpha = [0.059, 0.108, 0.157, 0.255, 0.353, 0.402, 0.451]
    ds = generalization_curve(Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3), alpha)
    expected = [1.047407721, 0.802192012, 0.556219863, 0.189382185, 0.030638383, 0.009668625, 0.003072345]
    np.testing.assert_allclose(ds.mse, expected, rtol=0, atol=5.1e-10)  # nine decimals are printed
    alpha = np.linspace(0.01, 0.5, 3)
    whole = generalization_curve(Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3), alpha)
    one = [float(generalization_curve(Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3), a).mse[0]) for a in alpha]
    np.testing.assert_allclose(whole.mse, one, rtol=1e-12)


LAMS = [-1 + 1e-6, -0.9999, -0.999, -0.99, -0.9, -0.5, 0, 0.5, 0.99]
# claims C8-C11: task overlap (rho_ft, omega), alpha, alpha_pt, lams, printed digits, where the best lam is
CLAIMS = {
    "C8": (0.1, 1, 0.1, None, LAMS, ".6079 .5190 .4553 .3715 .2612 .1719 .1353 .1163 .1047", 8),
    "C9": (0.1, 0, 0.3, None, LAMS, ".1158 .1463 .1720 .2132 .2882 .3837 .4403 .4769 .5033", 0),
    "C10": (0.01, 1, 0.03, None, LAMS, ".3189 .2724 .2521 .2459 .2889 .3975 .4746 .5256 .5613", 3),
    "C11": (0.1, 1, 0.2, 0.25, [-0.9999, *LAMS[3:]], ".3023 .2797 .2795 .3035 .3285 .3492 .3668", 2),
    "C11, better pretraining": (0.1, 1, 0.2, 0.5, [-0.9999, *LAMS[3:]], ".1533 .0820 .0448 .0267 .0226 .0212 .0207", 6),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_spot_values_of_the_claims(name):
    rho_ft, omega, alpha, alpha_pt, lams, printed, best = CLAIMS[name]
    task = Task.from_overlap(0.1, rho_ft, omega)
    mse = [float(generalization_curve(task, Initialization(1e-3, lam), alpha, alpha_pt).mse[0]) for lam in lams]
    np.testing.assert_allclose(mse, [float(digit) for digit in printed.split()], rtol=0, atol=0.51e-4)
    assert int(np.argmin(mse)) == best


@pytest.mark.parametrize(("alpha_pt", "digits"), [(0.25, 0.06543), (0.5, 0.001402)])
def test_pretraining_error_of_the_theory_page(alpha_pt, digits):
    """A task whose fine-tuning stage *is* pretraining from scratch gives the quoted pretraining error."""
    from numerics.replica.pretraining import pretrain

    channel = pretrain(Task.from_overlap(0.1, 0.1, 1).law, 1e-3, alpha_pt)
    assert channel.s2 * alpha_pt == pytest.approx(digits, rel=4e-4)
