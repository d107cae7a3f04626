"""Regimes and regime maps against the published reference points and mpmath."""

import mpmath as mp
import numpy as np
import pytest
import xarray as xr

import ptft_sym as pt
from numerics.regimes import Nearness, classify


@pytest.mark.parametrize(
    ("name", "beta_ft", "init", "order", "dependence"),
    [
        ("I", 1.0, (1e-3, -0.999999, 1e-6), 1.0740320032694, -0.073957934361118),
        ("II", 0.01, (1e-6, 0.99, 0.0), 1.9999957914154, -0.9999947914196),
        ("III", 1.0, (1e-3, 0.0, 10.0), 1.9999359373197, -0.019606192575616),
        ("IV", 1.0, (1e-3, -0.99, 0.0), 1.2298515450827, -0.22962169365256),
    ],
)
def test_the_reference_settings_are_in_their_regimes(name, beta_ft, init, order, dependence):
    found = pt.regime(beta_ft, 1.0, pt.Initialization(*init))
    assert found.name == str(found) == name
    # 1 + lam at lam = -0.999999 has lost six digits before anything of ours sees it
    np.testing.assert_allclose([found.ell_order, found.pd], [order, dependence], rtol=1e-11)
    words = {"I": "rich", "II": "lazy", "III": "lazy", "IV": "between"}
    assert words[name] in found.why


def test_what_is_between_two_regimes_is_uncertain_and_says_between_which():
    lazy = pt.regime(1.0, 1.0, pt.Initialization(0.5, 0.99, 0.0))  # l-order near 2, PD about -0.5
    assert lazy.name == "uncertain"
    assert "between regimes II and III" in lazy.why
    half = pt.regime(1.0, 0.0, pt.Initialization(0.05, 0.0, 0.0))  # beta_PT = 0: PD is exactly 0
    assert half.name == "uncertain"
    assert half.pd == 0.0
    assert "between regimes I and III" in half.why
    assert pt.regime(1.0, 0.0, pt.Initialization(0.05), lazy=0.4, rich=0.49).name in ("I", "III")


def test_classification_on_the_corners_edges_and_nan():
    order = [1.0, 2.0, 2.0, 1.5, 1.5, np.nan, 1.5, 1.15, 1.85, 1.85]
    dependence = [0.0, -1.0, 0.0, -0.5, 0.0, 0.0, np.nan, -0.15, -0.85, -0.15]
    expected = ["I", "II", "III", "IV", "uncertain", "uncertain", "uncertain", "I", "II", "III"]
    assert classify(order, dependence).tolist() == expected
    assert classify(1.2, -0.2).shape == ()
    assert classify(1.2, -0.2, Nearness(rich=0.25, independent=0.25)) == "I"
    assert classify(np.ones((3, 1)), np.zeros(2)).shape == (3, 2)
    for bad in (0.0, 0.5, -1.0, float("nan"), 7):
        with pytest.raises(ValueError, match="rich"):
            Nearness(rich=bad)


def _oracle(beta_ft, beta_pt, c, lam, gamma):
    """l-order and PD from their definitions: logarithmic derivatives of the textbook potential, at 50 digits."""
    with mp.workdps(50):
        def log_q(log_ft, log_pt):
            b = mp.exp(log_pt) / mp.mpf(c)
            scale = mp.mpf(c) * (1 + mp.mpf(lam)) * (1 + mp.sqrt(1 + b * b)) + mp.mpf(gamma) ** 2 / 2
            u = mp.exp(log_ft) / scale
            return mp.log(scale * (1 - mp.sqrt(1 + u * u) + u * mp.asinh(u)))

        at = (mp.log(mp.mpf(beta_ft)), mp.log(mp.mpf(beta_pt)))
        return float(mp.diff(lambda t: log_q(t, at[1]), at[0])), float(mp.diff(lambda t: log_q(at[0], t), at[1]))


def test_a_map_agrees_with_the_definitions_at_50_digits():
    lam, c, gamma = np.array([-0.999, -0.5, 0.9]), np.array([1e-4, 0.3]), np.array([0.0, 2.0])
    ds = pt.regime_map(0.7, 1.3, c=c, lam=lam, gamma=gamma)
    assert dict(ds.sizes) == {"c": 2, "lam": 3, "gamma": 2}
    for i, j, k in np.ndindex(2, 3, 2):
        point = ds.isel(c=i, lam=j, gamma=k)
        expected = _oracle(0.7, 1.3, c[i], lam[j], gamma[k])
        np.testing.assert_allclose([point.ell_order, point.pd], expected, rtol=1e-12, atol=1e-13)
        assert point.regime == classify(*expected)
        assert float(point.ell_order_plus_pd) == float(point.ell_order) + float(point.pd)


def test_dataarrays_keep_their_dimensions_and_lazy_equals_eager():
    run = xr.DataArray([0.1, 1.0, 2.0], dims="run", coords={"run": ["a", "b", "c"]})
    ds = pt.regime_map(run, run * 2, lam=[-0.9, 0.0])
    assert dict(ds.sizes) == {"run": 3, "lam": 2}
    assert ds["run"].values.tolist() == ["a", "b", "c"]
    single = pt.regime_map(1.0, 2.0, lam=[-0.9, 0.0])
    np.testing.assert_array_equal(ds["pd"].sel(run="b"), single["pd"])
    lazy = pt.regime_map(run, run * 2, lam=[-0.9, 0.0], chunks=2)
    assert lazy["pd"].chunks is not None
    xr.testing.assert_identical(lazy.compute(), ds)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lam": [-0.5, 1.5]}, r"lam\[1\] = 1\.5"),
        ({"lam": [-1.0, 0.0], "gamma": [0.0, 1.0]}, "lam = -1 meets gamma = 0"),
        ({"c": [0.0, 1.0]}, r"c\[0\] = 0\.0"),
        ({"c": np.ones((2, 2))}, r"c has shape \(2, 2\)"),
        ({"beta_ft": [1.0, np.nan]}, "beta_ft"),
        ({"beta_ft": xr.DataArray([1.0, np.nan], dims="x")}, "beta_ft = nan"),
        ({"beta_ft": xr.DataArray(["a"], dims="x")}, "beta_ft must hold real numbers"),
        ({"beta_ft": ["a", "b"]}, "beta_ft must hold numbers"),
        ({"gamma": [-1.0, 0.0]}, r"gamma\[0\] = -1"),
        ({"chunks": 0, "c": [1.0, 2.0]}, "chunks = 0"),
        ({"rich": 0.7}, "rich = 0.7"),
        ({"beta_ft": xr.DataArray([1.0, 2.0], dims="x"), "c": xr.DataArray([1.0, 2.0, 3.0], dims="x")}, "along 'x'"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        pt.regime_map(**arguments)


def test_scalars_make_a_map_of_one_point_and_odd_numbers_work():
    ds = pt.regime_map(1, 1, np.float32(0.5), lam=0, gamma=0)
    assert ds["ell_order"].shape == ()
    assert pt.regime_map(0.0, 0.0)["ell_order"] == 2.0  # beta_FT = 0: the potential is its own quadratic part
    assert pt.regime_map(-3.0, 1.0)["pd"] == pt.regime_map(3.0, -1.0)["pd"]
