"""The torch kernels: dtype and device, first and second derivatives against mpmath, branch points, vmap."""

import mpmath
import numpy as np
import pytest

import numerics.kernels as numpy_kernels
from numerics.codegen import kernel
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.verify import compare, implementations, measurable, truth

torch = pytest.importorskip("torch")

ON_TORCH = [name for name in measurable() if "torch" in FORMULAS[name].backends]


@pytest.mark.parametrize("name", ON_TORCH)
def test_contract(name):
    pytest.importorskip("flint")
    found = compare(implementations(name, ("torch",)), truth(name, 600, seed=4, extreme=800))["torch"]
    assert found.holds, str(found)


@pytest.mark.parametrize("name", ON_TORCH)
def test_dtype_device_and_shape(name):
    count = len(FORMULAS[name].arguments)
    for dtype in (torch.float32, torch.float64):
        values = [torch.full((2, 3), 0.5, dtype=dtype) for _ in range(count)]
        out = kernel(name, "torch")(*values)
        assert out.dtype == dtype
        assert out.device == values[0].device
        assert out.shape == (2, 3)
    mixed = kernel(name, "torch")(torch.full((4, 1), 0.5), *([torch.full((3,), 0.5)] * (count - 1)))
    assert mixed.shape == ((4, 3) if count > 1 else (4, 1))


def test_python_number_beside_a_tensor():
    beta = torch.tensor(1.0, requires_grad=True)
    out = kernel("potential", "torch")(beta, 1.0 / 2)
    assert out.dtype == torch.float32
    assert out.item() == pytest.approx(0.41280074, rel=1e-7, abs=0)
    out.backward()
    assert beta.grad.item() == pytest.approx(0.72181774, rel=1e-7, abs=0)
    double = kernel("potential", "torch")(torch.tensor(1.0, dtype=torch.float64), 0.1)
    assert double.item() == pytest.approx(
        numpy_kernels.potential(1.0, 0.1), rel=4e-16, abs=0
    )  # 0.1 was not rounded to float32


def q(beta, c):
    u = beta / c
    return c / 2 * (1 - mpmath.sqrt(1 + u * u) + u * mpmath.asinh(u))


def order(beta, c):
    u = beta / c
    return u * mpmath.asinh(u) / (1 - mpmath.sqrt(1 + u * u) + u * mpmath.asinh(u))


@pytest.mark.parametrize(("name", "formula"), [("potential", q), ("ell_order", order)])
@pytest.mark.parametrize("c", [1.0, 1e-3, 0.7, 1e150])
@pytest.mark.parametrize("u", [1e-12, 1e-3, 0.0624, 0.0626, 0.1249, 0.1251, 1.0, 30.0, 1e10, 1e29, 2e30, 1e40])
def test_first_and_second_derivatives(name, formula, c, u):
    """Along beta, against differences at 400 digits; on both sides of every branch point."""
    x = torch.tensor(u * c, dtype=torch.float64, requires_grad=True)
    y = kernel(name, "torch")(x, c)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (bend,) = torch.autograd.grad(slope, x)
    with mpmath.workdps(400):
        at, scale = mpmath.mpf(u * c), mpmath.mpf(c)
        h = at * mpmath.mpf(10) ** -50
        below, here, above = (formula(t, scale) for t in (at - h, at, at + h))
        first, second = (above - below) / (2 * h), (above - 2 * here + below) / h**2
    assert slope.item() == pytest.approx(float(first), rel=2e-14, abs=1e-300)
    assert bend.item() == pytest.approx(float(second), rel=3e-13, abs=1e-300)


@pytest.mark.parametrize(
    ("name", "slope", "bend"),
    [("potential", 0.0, 0.25), ("ell_order", 0.0, -1 / 12), ("potential_derivative", 0.25, 0.0)],
)
def test_derivatives_at_zero(name, slope, bend):
    x = torch.zeros((), dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(kernel(name, "torch")(x, 2.0), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert first.item() == pytest.approx(slope, abs=1e-16)
    assert second.item() == pytest.approx(bend, rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("name", ON_TORCH)
def test_gradcheck_in_every_argument(name):
    values = []
    for i, argument in enumerate(FORMULAS[name].arguments.values()):
        column = (
            torch.tensor([0.3, -1.7, 0.02, 5.0], dtype=torch.float64)
            if i == 0
            else torch.tensor([0.4, 1.1, 0.9, 0.3], dtype=torch.float64)
        )
        if argument == "lam":
            column = torch.tensor([-0.9, 0.0, 0.5, 0.9], dtype=torch.float64)
        values.append(column.requires_grad_())
    assert torch.autograd.gradcheck(kernel(name, "torch"), values)
    assert torch.autograd.gradgradcheck(kernel(name, "torch"), values)


@pytest.mark.parametrize("name", ON_TORCH)
def test_no_nan_gradient_from_a_dead_branch(name):
    first = torch.tensor([0.0, 1e-300, 1e-8, 1.0, -1.0, 1e8, 1e200, -1e200], dtype=torch.float64, requires_grad=True)
    others = [torch.ones(8, dtype=torch.float64, requires_grad=True) for _ in range(len(FORMULAS[name].arguments) - 1)]
    if name in ("k", "bregman"):  # a square: 1e200 overflows, rightly; beyond 1e150 c_ft there is no divergence
        first = torch.tensor(
            [0.0, 1e-300, 1e-8, 1.0, -1.0, 1e8, 1e100, -1e100], dtype=torch.float64, requires_grad=True
        )
    if name in ("dual_map", "dual_map_derivative"):
        first = torch.tensor([0.0, 1e-300, 1.0, 350.0, 351.0, -352.0], dtype=torch.float64, requires_grad=True)
        others = [torch.full((6,), 1e-10, dtype=torch.float64, requires_grad=True)]
    out = kernel(name, "torch")(first, *others)
    gradients = torch.autograd.grad(out.sum(), [first, *others])
    assert torch.isfinite(out).all()
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("name", ON_TORCH)
def test_vmap_and_functional_derivatives(name):
    count = len(FORMULAS[name].arguments)
    values = [torch.linspace(0.2, 0.8, 5, dtype=torch.float64) + 0.01 * i for i in range(count)]
    held = kernel(name, "torch").function
    assert torch.allclose(torch.func.vmap(held)(*values), held(*values), rtol=1e-15, atol=0)
    slopes = torch.func.vmap(torch.func.grad(held))(*values)
    leaf = values[0].clone().requires_grad_()
    (expected,) = torch.autograd.grad(held(leaf, *values[1:]).sum(), leaf)
    assert torch.allclose(slopes, expected, rtol=1e-13, atol=0)


def test_outside_the_domain_is_nan():
    out = kernel("potential", "torch")(torch.ones(3), torch.tensor([1.0, 0.0, -1.0]))
    assert torch.isnan(out).tolist() == [False, True, True]


@pytest.mark.parametrize("name", ON_TORCH)
def test_agrees_with_numpy(name):
    rng = np.random.default_rng(7)
    values = [rng.uniform(0.05, 0.95, 1000) for _ in FORMULAS[name].arguments]
    mine = kernel(name, "torch")(*map(torch.from_numpy, values)).numpy()
    assert np.allclose(mine, kernel(name)(*values), rtol=2e-15, atol=0)
