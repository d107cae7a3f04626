"""Rigorous enclosures: narrow, around the reference values, and refusing what is no root."""

import numpy as np
import pytest
from oracles import SECTION_9

from numerics.replica import generalization_curve
from numerics.task import Initialization, Slab, Task

flint = pytest.importorskip("flint")
from numerics.replica.certify import certify  # noqa: E402
from numerics.replica.enclosure import enclose  # noqa: E402


@pytest.mark.parametrize("row", SECTION_9)
def test_section_9_is_enclosed(row):
    rho_pt, rho_ft, omega, c, lam, gamma, alpha, mse, s2, g = row
    ds = generalization_curve(Task.from_overlap(rho_pt, rho_ft, omega), Initialization(c, lam, gamma), alpha)
    bounds = certify(ds)
    for name, reference in (("mse", mse), ("s2", s2), ("g", g)):
        low, high = bounds[name].values[0]
        assert 0 < high - low <= 1e-10 * high
        # the printed reference is a rounded quadrature result (residual < 1e-14), not the root itself
        assert low * (1 - 1e-12) <= reference <= high * (1 + 1e-12)
        assert low * (1 - 1e-12) <= float(ds[name][0]) <= high * (1 + 1e-12)


def test_signs_noise_and_ridge():
    task = Task(0.2, 0.3, 0.1, Slab.sign(2.0), Slab.sign(1.5), 0.5)
    ds = generalization_curve(task, Initialization(1e-2, -0.5, 0.1), [0.3, 1.2], noise=0.1, ridge=0.05)
    bounds = certify(ds, alpha=1.2)
    low, high = bounds.mse.values[0]
    assert 0 < high - low < 1e-10 * high
    assert low * (1 - 1e-12) <= float(ds.mse[1]) <= high * (1 + 1e-12)
    assert bounds.sizes["alpha"] == 1


def test_a_wrong_point_is_refused():
    task, init = Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3)
    ds = generalization_curve(task, init, 0.3)
    with pytest.raises(ArithmeticError, match="Krawczyk test failed"):
        enclose(task, init, 0.3, float(ds.s2[0]) * (1 + 1e-6), float(ds.g[0]))
    with pytest.raises(ValueError, match="both must be positive"):
        enclose(task, init, 1.5, 0.0, 0.0)


def test_scope_is_stated():
    init = Initialization(1e-3)
    continuous = generalization_curve(Task(0.1, 0.2, 0.1, pt_slab=Slab.gaussian(1.0)), init, 0.3)
    with pytest.raises(ValueError, match="Gaussian pretraining slab"):
        certify(continuous)
    with pytest.raises(ValueError, match=r"alpha_pt = 0\.5"):
        certify(generalization_curve(Task.from_overlap(0.1, 0.1, 0.5), init, 0.3, alpha_pt=0.5))
    with pytest.raises(ValueError, match=r"alpha = 0\.9 is not in the curve"):
        certify(generalization_curve(Task.from_overlap(0.1, 0.1, 0.5), init, 0.3), alpha=0.9)


def test_tail_bound_covers_what_is_cut_off(monkeypatch):
    """Cutting the range at 6 standard deviations widens the enclosure and keeps the value inside."""
    from numerics.replica import enclosure as module

    task, init = Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-1)
    ds = generalization_curve(task, init, 0.4, noise=0.1)
    point = (float(ds.s2[0]), float(ds.g[0]))
    narrow = enclose(task, init, 0.4, *point, noise=0.1)
    monkeypatch.setattr(module, "_REACH", 7.5)
    wide = enclose(task, init, 0.4, *point, noise=0.1)
    assert wide.mse[0] <= narrow.mse[0] <= narrow.mse[1] <= wide.mse[1]
    assert np.diff(wide.mse)[0] > 5 * np.diff(narrow.mse)[0]


def test_stiff_channels_are_enclosed_in_a_smaller_box():
    """c_FT far below g: balls of relative radius 1e-9 overestimate the Jacobian too much, smaller ones do not."""
    task = Task(0.0, 0.02, 0.02, ft_slab=Slab.point(1.0))
    ds = generalization_curve(task, Initialization(1.0, -1.0, 0.0009118819655545162), 0.5)
    low, high = certify(ds).mse.values[0]
    assert 0 < high - low < 1e-10 * high
    assert low * (1 - 1e-9) <= float(ds.mse[0]) <= high * (1 + 1e-9)
