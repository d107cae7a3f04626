"""Figures of maps: every odd dataset a sweep can give is drawn, and what is drawn is where it belongs."""

import io

import numpy as np
import pytest
import xarray as xr

from ptft_sym import heatmaps


def data(values, **coords):
    return xr.Dataset({"mse": (tuple(coords), np.asarray(values, float))}, coords)


def png(ds, **figure):
    checked = heatmaps.check_figure("f", figure, dict(ds["mse"].sizes), list(ds.data_vars))
    buffer = io.BytesIO()
    heatmaps.draw(ds, checked, [buffer], "title")
    assert buffer.getvalue()[:4] == b"\x89PNG"
    return buffer.getvalue()


@pytest.mark.parametrize("log", [False, True])
def test_odd_datasets_are_drawn(log):
    lam = [-0.9999, -0.99, 0.0, 0.9]
    png(data(np.full((2, 4), np.nan), alpha=[0.1, 0.2], lam=lam), log=log)
    png(data(np.zeros((2, 4)), alpha=[0.1, 0.2], lam=lam), log=log, contours=[0.5])
    png(data(np.ones((1, 1)), alpha=[0.1], lam=[0.5]), log=log, contours=[0.5, 1.0])
    png(data([[1.0, np.nan, 0.0, 1e-300]], seed=[3], lam=lam), log=log)
    png(data(np.arange(6.0).reshape(2, 3), method=["exact", "flow"], lam=[0.9, 0.0, -0.9]), log=log)


def test_a_third_axis_becomes_panels_and_a_selection_picks_the_nearest():
    values = np.arange(24.0).reshape(2, 3, 4)
    ds = data(values, omega=[0.0, 1.0], alpha=[0.1, 0.2, 0.3], c=[1e-6, 1e-4, 1e-2, 1.0])
    assert png(ds) != png(ds, select={"omega": 0.9})
    assert png(ds, select={"omega": 0.9}) == png(ds, select={"omega": 1.0})
    checked = heatmaps.check_figure("f", {}, dict(ds.sizes), ["mse"])
    assert (checked["x"], checked["y"], checked["facet"]) == ("c", "alpha", "omega")  # the longest two make the plane


def test_cells_surround_their_points_and_lam_is_spread_by_its_logarithm():
    ds = data(np.zeros((3, 3)), lam=[-0.999, -0.99, -0.9], c=[1e-4, 1e-2, 1.0])
    np.testing.assert_allclose(heatmaps._positions(ds, "lam"), [-3.0, -2.0, -1.0])
    np.testing.assert_allclose(heatmaps._positions(ds, "c"), [-4.0, -2.0, 0.0])
    np.testing.assert_allclose(heatmaps._edges(np.array([0.0, 1.0, 3.0])), [-0.5, 0.5, 2.0, 4.0])
    np.testing.assert_allclose(heatmaps._edges(np.array([7.0])), [6.5, 7.5])
    even = data(np.zeros((3, 1)), rho_ft=[0.01, 0.03, 0.09], x=[0.0])
    np.testing.assert_allclose(heatmaps._positions(even, "rho_ft"), np.log10([0.01, 0.03, 0.09]))
    plain = data(np.zeros((3, 1)), rho_ft=[0.01, 0.04, 0.09], x=[0.0])
    np.testing.assert_allclose(heatmaps._positions(plain, "rho_ft"), [0.01, 0.04, 0.09])


def test_a_regime_is_named_inside_its_region():
    ring = np.ones((7, 7), bool)
    ring[1:6, 1:6] = False
    assert ring[heatmaps._deepest(ring)[0], heatmaps._deepest(ring)[1]]  # the middle of the ring is not in it
    block = np.zeros((9, 9), bool)
    block[2:7, 0:5] = True
    assert tuple(heatmaps._deepest(block)) == (4, 2)
