"""Phase diagrams: the published spot values, the reductions against brute force, and what failed predictions do."""

import numpy as np
import pytest
import xarray as xr

import ptft_sym as pt
from numerics.sweep.phases import REGIMES, best

LAM = [-1 + 1e-6, -0.9999, -0.999, -0.99, -0.9, -0.5, 0.0, 0.5, 0.99]


@pytest.mark.parametrize(
    ("task", "alpha", "mse", "lam", "place", "regime"),
    [
        ({"rho_ft": 0.1, "omega": 1.0}, 0.1,
         [0.6079, 0.5190, 0.4553, 0.3715, 0.2612, 0.1719, 0.1353, 0.1163, 0.1047], 0.99, "highest", "II"),
        ({"rho_ft": 0.1, "omega": 0.0}, 0.3,
         [0.1158, 0.1463, 0.1720, 0.2132, 0.2882, 0.3837, 0.4403, 0.4769, 0.5033], -1 + 1e-6, "lowest", "I"),
        ({"rho_ft": 0.01, "omega": 1.0}, 0.03,
         [0.3189, 0.2724, 0.2521, 0.2459, 0.2889, 0.3975, 0.4746, 0.5256, 0.5613], -0.99, "interior", "IV"),
    ],
)
def test_the_spot_values_of_claims_8_to_10(task, alpha, mse, lam, place, regime):
    ds = pt.phase_diagram(rho_pt=0.1, **task, alpha=alpha, lam=LAM)
    np.testing.assert_allclose(ds["mse"], mse, atol=6e-5)
    assert (float(ds["best_lam"]), str(ds["lam_place"].values), str(ds["best_regime"].values)) == (lam, place, regime)


def test_claim_11_imperfect_pretraining_moves_the_best_lam_inside():
    ds = pt.phase_diagram(rho_pt=0.1, rho_ft=0.1, omega=1.0, alpha=0.2, alpha_pt=[0.25, 0.5], lam=LAM[1:2] + LAM[3:])
    expected = [[0.3023, 0.2797, 0.2795, 0.3035, 0.3285, 0.3492, 0.3668],
                [0.1533, 0.0820, 0.0448, 0.0267, 0.0226, 0.0212, 0.0207]]
    np.testing.assert_allclose(ds["mse"], expected, atol=6e-5)
    assert ds["best_lam"].values.tolist() == [-0.9, 0.99]
    assert ds["lam_place"].values.tolist() == ["interior", "highest"]


def test_the_diagram_is_what_brute_force_finds():
    ds = pt.phase_diagram(
        rho_pt=0.1, rho_shared=[0.2, 1.0], rho_new=[0.0, 0.05], alpha=[0.1, 0.3], lam=[-0.9999, -0.9, 0.9],
        c=[1e-4, 1.0], gamma=[0.0, 3.0], by=["c"],
    )
    assert ds["best_mse"].dims == ("rho_shared", "rho_new", "alpha", "c")
    flat = ds["mse"].stack(inner=("lam", "gamma"))
    at = flat.argmin("inner")
    np.testing.assert_array_equal(ds["best_mse"], flat.min("inner"))
    np.testing.assert_array_equal(ds["best_lam"], flat["lam"].values[at])
    np.testing.assert_array_equal(ds["best_gamma"], flat["gamma"].values[at])
    for point in np.ndindex(*ds["best_mse"].shape):
        here = ds.isel(dict(zip(ds["best_mse"].dims, point, strict=True)))
        init = pt.Initialization(float(here["c"]), float(here["best_lam"]), float(here["best_gamma"]))
        assert pt.regime(1.0, 1.0, init).name == here["best_regime"]
        by_hand = {}
        for lam in ds["lam"].values:
            for gamma in ds["gamma"].values:
                name = pt.regime(1.0, 1.0, pt.Initialization(float(here["c"]), lam, gamma)).name
                by_hand.setdefault(name, []).append(float(here["mse"].sel(lam=lam, gamma=gamma)))
        for name in REGIMES:
            least = float(here["mse_by_regime"].sel(regime=name))
            assert (np.isnan(least) and name not in by_hand) or least == min(by_hand[name])
        others = [min(v) for name, v in by_hand.items() if name != here["best_regime"]]
        margin = min(others) - float(here["best_mse"]) if others else np.nan
        np.testing.assert_array_equal(float(here["margin"]), margin)


def test_candidates_and_the_gain_over_one_regime_for_all():
    candidates = {"sparse": pt.Initialization(1e-3, -0.99999, 1e-6), "reuse": pt.Initialization(1e-3, 0.0),
                  "plain": pt.Initialization(1e-3, 0.0, 10.0)}
    ds = pt.phase_diagram(rho_pt=0.1, rho_ft=0.1, omega=[0.0, 0.5, 1.0], alpha=[0.1, 0.3], candidates=candidates)
    assert dict(zip(ds["candidate"].values, ds["init_regime"].values, strict=True)) == {
        "sparse": "I", "reuse": "II", "plain": "III"}
    winner = ds["candidate"].values[ds["mse"].argmin("candidate")]
    np.testing.assert_array_equal(ds["best_candidate"], winner)
    curve = pt.generalization_curve(pt.Task.from_overlap(0.1, 0.1, 0.5), candidates["sparse"], [0.1, 0.3])
    np.testing.assert_allclose(ds["mse"].sel(omega=0.5, candidate="sparse"), curve["mse"], rtol=1e-9)
    mean = ds["mse"].mean(("omega", "alpha"))  # here every regime has one candidate
    single = str(ds["candidate"].values[int(np.argmin(mean.values))])
    assert ds.attrs["single_regime"] == {"sparse": "I", "reuse": "II", "plain": "III"}[single]
    np.testing.assert_array_equal(ds["gain"], ds["mse"].sel(candidate=single) - ds["mse"].min("candidate"))


def _made_up(mse):
    """A replica sweep over (alpha, lam) with given errors, some NaN."""
    mse = np.array(mse, dtype=float)
    dims = ("alpha", "lam")
    status = np.where(np.isnan(mse), 2, 1)
    data = {"mse": (dims, mse), "ell_order": (dims, mse), "pd": (dims, -mse), "status": (dims, status)}
    coords = {"alpha": np.arange(len(mse)) + 1.0, "lam": [-0.9999, -0.9, 0.9]}
    return xr.Dataset(data, coords, {"c": 1e-3, "gamma": 0.0})


def test_failed_predictions_never_win_and_are_counted():
    nan = np.nan
    ds = best(_made_up([[3.0, nan, 2.0], [nan, nan, nan], [0.0, 0.0, 0.0], [nan, 5.0, nan]]), ["lam"])
    np.testing.assert_array_equal(ds["best_mse"], [2.0, nan, 0.0, 5.0])
    assert ds["best_regime"].values.tolist() == ["II", "", "I", "IV"]
    assert ds["failed"].values.tolist() == [1, 3, 0, 2]
    np.testing.assert_array_equal(ds["margin"], [1.0, nan, 0.0, nan])
    np.testing.assert_array_equal(ds["relative_margin"], [1 / 3, nan, 0.0, nan])
    assert ds["lam_place"].values.tolist() == ["highest", "", "lowest", "interior"]
    assert ds.attrs["single_regime"] == ""  # no regime has a number at every point
    assert np.isnan(ds["gain"]).all()
    whole = best(_made_up([[3.0, 1.0, 2.0], [0.5, 1.0, 4.0]]), ["lam"])
    assert whole.attrs["single_regime"] == "IV"
    np.testing.assert_array_equal(whole["gain"], [0.0, 0.5])


def test_reducing_in_slabs_changes_nothing(monkeypatch):
    from numerics.sweep import phases

    data = _made_up(np.random.default_rng(3).random((7, 3)))
    whole = best(data, ["lam"])
    monkeypatch.setattr(phases, "_SLAB", 6)
    xr.testing.assert_identical(best(data, ["lam"]), whole)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rho": 0.1}, "no parameter 'rho'"),
        ({"lam": 0.0}, "single values"),
        ({"lam": []}, r"axes\.lam is empty"),
        ({"rho_ft": [0.05, 0.2]}, r"axes\.rho_ft.*infeasible"),
        ({"rho_shared": 0.1}, "rho_shared and rho_new, or rho_ft and omega"),
        ({"alpha": [0.1, np.nan]}, r"axes\.alpha\[1\] = nan"),
        ({"alpha": -0.1}, r"fixed\.alpha = -0\.1"),
        ({"by": ["alpha"]}, "by: 'alpha'"),
        ({"candidates": {}}, "candidates must map"),
        ({"candidates": {"a": 1}}, r"candidates\['a'\]"),
        ({"candidates": {"a": pt.Initialization(1.0)}, "lam": [0.0]}, "exclude each other"),
        ({"reference": (1.0, np.nan)}, "reference"),
        ({"dependent": 0.6}, "dependent = 0.6"),
    ],
)
def test_arguments_are_refused_by_name_before_anything_is_solved(arguments, words, monkeypatch):
    monkeypatch.setattr("numerics.sweep.phases.run_sweep", lambda *a, **k: pytest.fail("it ran"))
    good = {"rho_pt": 0.1, "rho_ft": 0.1, "omega": 1.0, "alpha": 0.1}
    with pytest.raises((TypeError, ValueError), match=words):
        pt.phase_diagram(**{**good, **arguments})
