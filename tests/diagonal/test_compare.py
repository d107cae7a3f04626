"""Comparison of theory and simulation: calibrated scores, the 1/D fit, and sentences that can say no."""

import numpy as np
import pytest
import xarray as xr

from numerics.diagonal.compare import compare

ALPHA = np.array([0.1, 0.2, 0.4])
TRUTH = np.array([0.8, 0.3, 0.01])


def theory(values=TRUTH):
    return xr.Dataset({"mse": ("alpha", values)}, {"alpha": ALPHA})


def run(dim, seeds, slope=0.0, seed=0, spread=0.1):
    rng = np.random.default_rng(seed)
    centre = TRUTH * (1 + slope / dim)
    mse = centre * (1 + spread * (100 / dim) ** 0.5 * rng.normal(size=(seeds, 3)))  # variance falls as 1/D
    n = np.rint(ALPHA * dim).astype(int)
    coords = {"seed": np.arange(seeds), "alpha": ALPHA, "n": ("alpha", n)}
    return xr.Dataset({"mse": (("seed", "alpha"), mse)}, coords, {"dim": dim})


@pytest.mark.parametrize("seeds", [4, 8, 30])
def test_scores_are_standard_normal_for_any_number_of_seeds(seeds):
    z = np.concatenate([compare(theory(), run(100, seeds, seed=s)).z for s in range(400)])
    assert np.mean(z**2) == pytest.approx(1.0, abs=4 * np.sqrt(2 / len(z)))
    assert abs(np.mean(z)) < 4 / np.sqrt(len(z))


def test_extrapolation_removes_a_finite_size_effect():
    runs = [run(d, 40, slope=60.0, seed=d) for d in (400, 100, 200)]
    result = compare(theory(), runs)
    assert result.agrees
    assert result.dims.tolist() == [100, 200, 400]
    np.testing.assert_allclose(result.slope, 60 * TRUTH, rtol=0.4)
    assert result.fit_freedom == 3
    assert not compare(theory(), runs[0]).agrees
    scores = [compare(theory(), [run(d, 40, 60.0, seed=1000 * k + d) for d in (100, 200, 400)]).z for k in range(200)]
    assert np.mean(np.square(scores)) == pytest.approx(1.0, abs=4 * np.sqrt(2 / 600))


def test_intercept_is_the_weighted_least_squares_line():
    runs = [run(d, 12, slope=30.0, seed=d) for d in (100, 200, 400)]
    result = compare(theory(), runs)
    for p in range(3):
        one = np.mean([r.attrs["dim"] * r.mse.values[:, p].var(ddof=1) for r in runs])  # D times the variance of a seed
        weight = np.sqrt(result.dims * 12 / one)
        line, cov = np.polyfit(1 / result.dims, result.mean[:, p], 1, w=weight, cov="unscaled")
        assert result.value[p] == pytest.approx(line[1], rel=1e-10)
        assert result.value_error[p] == pytest.approx(np.sqrt(cov[1, 1]), rel=1e-10)


def test_a_wrong_theory_is_called_wrong():
    result = compare(theory(TRUTH * [1, 1.2, 1]), run(100, 30))
    assert not result.agrees
    assert result.verdict.startswith("Theory and simulation DISAGREE at D = 100")
    assert "at alpha = 0.2" in result.verdict
    assert np.isfinite(compare(theory(TRUTH * 1e6), run(100, 30)).z).all()


def test_rows_and_table():
    result = compare(theory(), run(100, 9))
    assert [r["alpha"] for r in result.rows()] == ALPHA.tolist()
    assert result.table().count("\n") == 4
    assert "| 0.2 | 0.3 |" in result.table()
    assert result.chi_square_per_point == pytest.approx(np.mean(result.z**2))


def test_refusals():
    good = run(100, 5)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        compare(theory(), good.isel(seed=[0]))
    with pytest.raises(ValueError, match=r"theory has no alpha = 0.1"):
        compare(theory().isel(alpha=[1, 2]), good)
    with pytest.raises(ValueError, match=r"alpha\*dim an integer"):
        compare(theory(), run(103, 5))
    with pytest.raises(ValueError, match="each must be different"):
        compare(theory(), [good, good])
    with pytest.raises(ValueError, match="same alpha"):
        compare(theory(), [good, run(200, 5).isel(alpha=[0, 1])])
    with pytest.raises(ValueError, match="standard error of 0"):
        compare(theory(), run(100, 5, spread=0.0))
    with pytest.raises(ValueError, match="empty"):
        compare(theory(), [])
