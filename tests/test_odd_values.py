"""Values that people hand over: other array types, masks, arrays changed later, extreme units, several threads."""

import threading

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import ptft_sym as pt

TASK, INIT = pt.Task(0.2, 0.5, 0.1), pt.Initialization(1e-2, -0.5, 0.1)


@pytest.mark.parametrize(
    "wrap",
    [tuple, np.array, lambda v: pd.Series(v, index=[5, 7]), lambda v: xr.DataArray(v, dims="z"),
     lambda v: np.array(v, ">f8"), lambda v: np.repeat(v, 3)[::3], lambda v: np.ma.array(v)],
    ids=["tuple", "array", "series", "dataarray", "big endian", "strided", "no mask"],
)  # fmt: skip
def test_containers_of_the_same_numbers_give_the_same_curve(wrap):
    expected = pt.generalization_curve(TASK, INIT, [0.2, 0.3]).mse.values
    np.testing.assert_array_equal(pt.generalization_curve(TASK, INIT, wrap([0.2, 0.3])).mse.values, expected)


def test_masked_entries_are_no_numbers():
    hidden = np.ma.array([0.2, 0.3], mask=[False, True])
    with pytest.raises(ValueError, match="alpha has 1 masked entries of 2: every entry must be a number"):
        pt.generalization_curve(TASK, INIT, hidden)
    with pytest.raises(ValueError, match="y has 1 masked"):
        pt.interpolate(np.eye(2, 3), hidden, 1.0)


def test_a_task_keeps_its_samples_when_the_array_changes():
    beta = np.array([0.0, 1.0, 2.0])
    task = pt.Task.from_samples(beta, beta)
    before = pt.generalization_curve(task, INIT, 0.3).mse.values
    beta[:] = 5.0
    np.testing.assert_array_equal(task.samples[0], [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(pt.generalization_curve(task, INIT, 0.3).mse.values, before)
    with pytest.raises(ValueError, match="read-only"):
        task.samples[1][0] = 1.0


def test_samples_in_extreme_units():
    """1e100 times everything: the error grows by its square; beyond, a refusal and no overflow."""
    beta, big = np.array([0.0, 1.0, 0.5]), pt.Initialization(1e98, -0.5, 1e49)
    here = pt.generalization_curve(pt.Task.from_samples(beta, beta), INIT, 0.3).mse.values
    there = pt.generalization_curve(pt.Task.from_samples(1e100 * beta, 1e100 * beta), big, 0.3).mse.values
    np.testing.assert_allclose(there, 1e200 * here, rtol=1e-9)
    with pytest.raises(ValueError, match=r"beta_pt\[1\] = 1e\+150 is not allowed: .* \[-1e\+100, 1e\+100\]"):
        pt.Task.from_samples(1e150 * beta, beta)


def test_designs_below_the_smallest_normal_numbers_are_refused():
    X = 1e-310 * np.random.default_rng(0).standard_normal((3, 6))
    with pytest.raises(ValueError, match=r"max\|X\| = .* at least 1e-290"):
        pt.interpolate(X, X[:, 0], 1e-2)


def test_bytes_are_no_seeds():
    with pytest.raises(TypeError, match="seeds must be a sequence of integers"):
        pt.simulate(TASK, INIT, 0.5, dim=20, seeds=b"ab")


@pytest.mark.parametrize("name", ["ridge", "noise", "c", "rho_new", "ft_slab_scale"])
def test_a_curve_without_its_attributes_is_not_certified(name):
    pytest.importorskip("flint")
    ds = pt.generalization_curve(TASK, INIT, 0.3)
    del ds.attrs[name]
    with pytest.raises(ValueError, match=f"ds has no attribute '{name}': it must be a curve"):
        pt.certify(ds)


def test_threads_do_not_disturb_each_other():
    """Ball arithmetic and mpmath have global precision, kernels have work arrays."""
    inits = [pt.Initialization(10.0**-i, -0.1 * i, 0.05 * i) for i in range(4)]

    def work(i):
        ds = pt.generalization_curve(TASK, inits[i], [0.2, 0.5], noise=0.1)
        return ds.mse.values.tolist() + pt.interpolate(np.eye(2, 4) + i, [1.0, 2.0], 10.0**-i).beta.tolist()

    alone, together = [work(i) for i in range(4)], [None] * 4
    threads = [threading.Thread(target=lambda i=i: together.__setitem__(i, work(i))) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
