"""A curve is solved from a few of its points: the answers are those of the points solved one by one."""

import numpy as np
import pytest

from numerics.replica import saddle_point
from numerics.replica.mixture import build
from numerics.replica.saddle_point import solve
from numerics.task import Initialization, Slab, Task

# task, init, noise, ridge, lowest and highest alpha
CURVES = [
    (Task.from_overlap(0.1, 0.04, 1.0), Initialization(1e-3), 0.0, 0.0, 0.01, 0.5),
    (Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3), 0.3, 0.0, 0.001, 0.999),
    (Task.from_overlap(0.1, 0.01, 1.0), Initialization(1e-6, -0.99), 0.0, 0.0, 0.01, 0.9),
    (Task(0.4, 0.2, 0.6, Slab.sign(3.0), Slab.gaussian(0.1)), Initialization(10.0, 0.5, 2.0), 0.1, 0.2, 0.05, 3.0),
]


@pytest.fixture
def used(monkeypatch):
    """Whether each curve got its starts by continuation."""
    seen, approach = [], saddle_point.approach

    def spy(*args):
        found = approach(*args)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(saddle_point, "approach", spy)
    return seen


@pytest.mark.parametrize("curve", CURVES)
def test_as_one_by_one(curve, used):
    task, init, noise, ridge, low, high = curve
    mixture, alpha = build(task.law, init), np.random.default_rng(0).uniform(low, high, 40)
    together = solve(mixture, alpha, noise, ridge)
    assert used == [True]
    alone = [solve(mixture, value, noise, ridge) for value in alpha]
    assert not any(used[1:])
    np.testing.assert_allclose(together.s2, [point.s2[0] for point in alone], rtol=1e-10)
    np.testing.assert_allclose(together.g, [point.g[0] for point in alone], rtol=1e-10)
    assert (together.residual <= 1e-11).all()


def test_few_evaluations_a_point():
    mixture = build(CURVES[0][0].law, CURVES[0][1])
    assert solve(mixture, np.linspace(0.01, 0.5, 100)).evaluations.mean() < 6


@pytest.mark.parametrize("hurt", [np.inf, np.nan, 3.0])
def test_a_wrong_start_costs_time_only(hurt, monkeypatch):
    mixture, alpha = build(CURVES[0][0].law, CURVES[0][1]), np.linspace(0.05, 0.5, 30)
    expected, approach = solve(mixture, alpha), saddle_point.approach

    def lame(*args):
        found = approach(*args)
        found[:, 3:5] += hurt
        return found

    monkeypatch.setattr(saddle_point, "approach", lame)
    found = solve(mixture, alpha)
    np.testing.assert_allclose(found.s2, expected.s2, rtol=1e-10)
    np.testing.assert_allclose(found.g, expected.g, rtol=1e-10)


@pytest.mark.parametrize("alpha", [np.full(30, 0.2), np.repeat(np.linspace(0.1, 0.3, 3), 10)])
def test_repeated_points_go_one_by_one(alpha, used):
    mixture = build(CURVES[0][0].law, CURVES[0][1])
    found = solve(mixture, alpha)
    assert used == [False]
    np.testing.assert_allclose(found.s2[-1], solve(mixture, alpha[-1]).s2[0], rtol=1e-12)
