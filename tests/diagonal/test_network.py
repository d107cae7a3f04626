"""The torch network, gradient descent in its variants, and the batched exact solver."""

import numpy as np
import pytest
import torch

from numerics.diagonal import gradient_flow, interpolate, simulate
from numerics.diagonal.batched import interpolate_batch
from numerics.diagonal.descent import Descent, DescentError, descend
from numerics.diagonal.interpolation import InterpolationError
from numerics.diagonal.network import DiagonalNetwork
from numerics.task import Initialization, Task

INIT = Initialization(c=0.5, lam=-0.4, gamma=0.7)
TASK = Task.from_overlap(rho_pt=0.1, rho_ft=0.1, omega=0.5)


def problems(seeds, n, dim, first=0):
    rngs = [np.random.default_rng(first + s) for s in range(seeds)]
    X = np.stack([rng.normal(size=(n, dim)) / np.sqrt(dim) for rng in rngs])
    beta = np.stack([rng.normal(size=dim) * (rng.random(dim) < 0.3) + 0.1 for rng in rngs])
    return torch.as_tensor(X), torch.as_tensor(np.einsum("snd,sd->sn", X, beta)), beta


def test_start_and_rebalancing():
    net = DiagonalNetwork(INIT, 6, 3)
    assert not net.beta.any()
    np.testing.assert_allclose(net.scale.detach(), 0.5)
    np.testing.assert_allclose((net.w_plus**2 - net.v_plus**2).detach(), -0.4 * 0.5)
    X, y, _ = problems(3, 4, 6)
    descend(net, X, y, lr=0.05, stop=1e-6)
    first = (net.w_plus + net.w_minus).detach().clone()
    net.rebalance(0.7)
    np.testing.assert_allclose(net.w_minus.detach(), first)
    np.testing.assert_allclose(net.v_minus.detach(), 0.7 / np.sqrt(2))
    assert not net.beta.any()


def test_the_update_is_the_gradient_that_autograd_finds():
    X, y, _ = problems(2, 4, 6)
    ours, theirs = DiagonalNetwork(INIT, 6, 2), DiagonalNetwork(INIT, 6, 2)
    optimiser = torch.optim.SGD(theirs.parameters(), lr=0.03, momentum=0.6)
    with pytest.raises(DescentError, match="after 7 steps"):
        descend(ours, X, y, lr=0.03, momentum=0.6, stop=1e-30, max_steps=7)
    for _ in range(7):
        optimiser.zero_grad()
        (0.5 * (y - theirs(X)).square().mean(dim=1)).sum().backward()
        optimiser.step()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(a.detach(), b.detach(), rtol=1e-12)


def test_small_steps_follow_the_flow():
    X, y, _ = problems(1, 4, 6)
    net, lr, steps = DiagonalNetwork(INIT, 6), 1e-3, 1000
    with pytest.raises(DescentError):
        descend(net, X, y, lr=lr, stop=1e-30, max_steps=steps)
    path = gradient_flow(X[0].numpy(), y[0].numpy(), INIT)  # its loss is the sum: time is lr * steps / n
    np.testing.assert_allclose(net.beta.detach()[0], path.beta_at(lr * steps / 4), atol=2e-4)


@pytest.mark.parametrize(("lr", "distance"), [(0.2, 1e-2), (0.04, 2e-3)])
def test_gradient_descent_tends_to_the_exact_limit_with_its_step(lr, distance):
    X, y, _ = problems(2, 4, 8)
    net = DiagonalNetwork(INIT, 8, 2)
    descend(net, X, y, lr=lr, stop=1e-14)
    for s in range(2):
        limit = interpolate(X[s].numpy(), y[s].numpy(), 0.5).beta
        assert np.linalg.norm(net.beta[s].detach().numpy() - limit) < distance * np.linalg.norm(limit)


def test_networks_of_a_batch_do_not_see_each_other():
    X, y, _ = problems(3, 4, 8)
    together = DiagonalNetwork(INIT, 8, 3)
    report = descend(together, X, y, lr=0.1, stop=1e-8)
    assert len(set(report.steps.tolist())) > 1  # each is frozen at its own time
    for s in range(3):
        alone = DiagonalNetwork(INIT, 8)
        single = descend(alone, X[s : s + 1], y[s : s + 1], lr=0.1, stop=1e-8)
        assert single.steps[0] == report.steps[s]
        np.testing.assert_allclose(alone.beta.detach()[0], together.beta.detach()[s], rtol=1e-9)


@pytest.mark.parametrize("options", [{"momentum": 0.5}, {"batch_size": 3}, {}])
def test_variants_reach_the_interpolant_and_repeat(options):
    kwargs = {"alpha": 0.3, "dim": 30, "seeds": range(2), "method": "gd", "lr": 0.1, "stop": 1e-10, **options}
    first, second = simulate(TASK, Initialization(0.1), **kwargs), simulate(TASK, Initialization(0.1), **kwargs)
    np.testing.assert_array_equal(first.mse, second.mse)
    assert float(first.train_mse.max()) <= 1e-10
    assert float(first.distance.max()) < 0.02


def test_both_stages_by_descent_are_both_stages_by_newton():
    kwargs = {"alpha": 0.4, "dim": 20, "seeds": range(2), "stages": "full", "alpha_pt": 0.6}
    slow = simulate(TASK, INIT, method="gd", lr=0.1, stop=1e-12, **kwargs)
    fast = simulate(TASK, INIT, **kwargs)
    np.testing.assert_allclose(slow.mse, fast.mse, rtol=0.1)
    np.testing.assert_allclose(slow.mse_pt, fast.mse_pt, rtol=0.1)


def test_early_stopping_is_reported_as_such():
    kwargs = {"alpha": 0.5, "dim": 60, "seeds": range(2), "method": "gd", "lr": 1.0}
    early = simulate(TASK, Initialization(1e-3), stop=1e-2, **kwargs)
    late = simulate(TASK, Initialization(1e-3), stop=1e-6, **kwargs)
    assert float(early.distance.min()) > 3 * float(late.distance.max())
    report = Descent(np.array([64]), np.array([9e-5]), 1e-4, np.array([0.17]))
    assert "17 % of ||beta|| away from the limit (early stopping, not the interpolant)" in report.message


def test_float32():
    ds = simulate(TASK, Initialization(0.1), 0.3, dim=30, seeds=range(2), method="gd", stop=1e-6, dtype="float32")
    assert float(ds.distance.max()) < 0.05


def test_refusals_of_descent():
    X, y, _ = problems(1, 4, 8)
    with pytest.raises(DescentError, match=r"diverged at step .* lr = 500"):
        descend(DiagonalNetwork(INIT, 8), X, y, lr=500.0)
    for change, words in (
        ({"lr": 0.0}, "lr = 0.0"), ({"momentum": 1.0}, "momentum = 1.0"), ({"batch_size": 5}, "batch_size = 5"),
        ({"stop": 0.0}, "stop = 0.0"), ({"max_steps": 0}, "max_steps = 0"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            descend(DiagonalNetwork(INIT, 8), X, y, **change)
    with pytest.raises(ValueError, match="dtype = 'half'"):
        simulate(TASK, INIT, 0.3, dim=20, seeds=[0], method="gd", dtype="half")


@pytest.mark.parametrize("inner", ["cholesky", "mixed", "cg"])
@pytest.mark.parametrize("c", [1.0, 1e-3])
def test_batched_solutions_are_the_single_ones(inner, c):
    X, y, beta = problems(3, 15, 50)
    scale = Initialization(c).c_ft(beta)
    found = interpolate_batch(X, y, scale, inner=inner)
    assert found.residual.max() <= 1e-10
    for s in range(3):
        single = interpolate(X[s].numpy(), y[s].numpy(), scale[s])
        np.testing.assert_allclose(found.beta[s], single.beta, atol=1e-9)
        np.testing.assert_allclose(X[s].numpy().T @ found.nu[s], X[s].numpy().T @ single.nu, atol=1e-8)


def test_batched_simulation_is_the_simulation():
    kwargs = {"alpha": [0.2, 0.4], "dim": 50, "seeds": range(3), "stages": "full"}
    for alpha_pt in (0.5, 1.5):
        one = simulate(TASK, Initialization(1e-3), alpha_pt=alpha_pt, **kwargs)
        many = simulate(TASK, Initialization(1e-3), alpha_pt=alpha_pt, inner="mixed", **kwargs)
        np.testing.assert_allclose(many.mse, one.mse, rtol=1e-7)


def test_refusals_of_the_batch():
    X, y, _ = problems(2, 4, 8)
    with pytest.raises(ValueError, match="inner = 'lu'"):
        interpolate_batch(X, y, 1.0, inner="lu")
    with pytest.raises(ValueError, match="n < D"):
        interpolate_batch(X[:, :, :4], y, 1.0)
    with pytest.raises(ValueError, match="finite"):
        interpolate_batch(X * torch.nan, y, 1.0)
    X[1, 3], y[1, 3] = X[1, 2], y[1, 2]
    with pytest.raises(InterpolationError, match="interpolate"):
        interpolate_batch(X, y, 1e-3)
    with pytest.raises(ValueError, match=r"ridge = 0.1 is not allowed with inner"):
        simulate(TASK, INIT, 0.3, dim=20, seeds=[0], inner="cg", ridge=0.1)
