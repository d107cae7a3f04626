"""Where the torch kernels compute: on the device of their tensors and nowhere else; float32 to its last digit."""

import numpy as np
import pytest

from numerics.codegen import kernel
from numerics.codegen.condition import typical
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.verify import implementations, measurable, measure

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

POTENTIAL = kernel("potential", "torch")


class Devices(TorchDispatchMode):
    """Collects the devices of every tensor that any operation reads or makes."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        tensors = [leaf for leaf in tree_leaves((args, kwargs, out)) if isinstance(leaf, torch.Tensor)]
        self.seen |= {tensor.device.type for tensor in tensors}
        return out


def parts(out):
    return out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize("name", FORMULAS)
def test_everything_stays_on_the_device(name):
    """The meta device has shapes and no memory: an operation that needs a value, or the CPU, fails or is seen."""
    count = len(FORMULAS[name].arguments)
    first = torch.ones(4, 1, device="meta", requires_grad=True)
    rest = [torch.ones(3, device="meta")] * (count - 1)
    if rest:
        rest[-1] = 0.5  # a number goes where the tensors are
    with Devices() as devices:
        out = parts(kernel(name, "torch")(first, *rest))
        (slope,) = torch.autograd.grad(out[0].sum(), first)
    assert devices.seen == {"meta"}
    assert {part.device.type for part in out} == {"meta"}
    assert {tuple(part.shape) for part in out} == {(4, 3 if count > 2 else 1)}
    assert slope.shape == first.shape


def test_devices_are_seen_by_the_test():
    with Devices() as devices:
        torch.ones(2) + torch.ones((), device="cpu")
    assert devices.seen == {"cpu"}


def test_numbers_and_cpu_scalars_follow_the_tensors():
    there = torch.ones(3, device="meta")
    for scale in (0.5, torch.tensor(0.5), torch.tensor(0.5, device="meta"), np.float64(0.5)):
        assert POTENTIAL(there, scale).device.type == "meta"
        assert POTENTIAL(torch.tensor(1.0), there).device.type == "meta"
    assert POTENTIAL(torch.tensor(1.0), torch.ones((), device="meta")).device.type == "meta"
    assert POTENTIAL(torch.tensor(1.0), torch.tensor(0.5)).device.type == "cpu"


@pytest.mark.parametrize("name", ["potential", "prox", "channel_moments"])
def test_tensors_on_two_devices_are_refused_by_name(name):
    arguments = tuple(FORMULAS[name].arguments.values())
    values = [torch.ones(3) for _ in arguments]
    values[-1] = torch.ones(3, device="meta")
    told = ", ".join([*(f"{argument} on cpu" for argument in arguments[:-1]), f"{arguments[-1]} on meta"])
    with pytest.raises(ValueError, match=f"all tensors must be on one device, got {told}"):
        kernel(name, "torch")(*values)


def test_what_is_not_real_numbers_is_refused():
    with pytest.raises(TypeError, match=r"beta must be real numbers, got torch.complex64"):
        POTENTIAL(torch.ones(2, dtype=torch.complex64), 1.0)
    with pytest.raises(TypeError, match=r"c_ft must be real numbers, got 1j"):
        POTENTIAL(torch.ones(2), 1j)
    for bad in ("1", None, [1j], 10**400, np.ones(2, complex)):
        with pytest.raises(TypeError, match=r"c_ft must be real numbers, got "):
            POTENTIAL(1.0, bad)


@pytest.mark.parametrize("name", ["potential", "prox", "channel_moments"])
def test_one_graph_without_breaks(name):
    """torch.compile traces the whole kernel: nothing in it depends on a value."""
    values = [torch.rand(5, dtype=torch.float64) + 0.2 for _ in FORMULAS[name].arguments]
    held = kernel(name, "torch").function
    compiled = torch.compile(held, backend="eager", fullgraph=True)
    assert all(torch.equal(a, b) for a, b in zip(parts(compiled(*values)), parts(held(*values)), strict=True))


@pytest.mark.parametrize("name", measurable())
def test_float32_to_one_ulp(name):
    """The contract is 4; computing in float64 and rounding once leaves a little more than a half."""
    pytest.importorskip("flint")
    through = implementations(name, ("torch",))["torch"]
    found = measure(name, through, "torch", count=300, seed=2, extreme=500, dtype=np.float32)
    assert found.ulp <= 1.0, str(found)
    assert found.points > 100


@pytest.mark.parametrize("name", [name for name, row in FORMULAS.items() if name not in measurable()])
def test_float32_of_the_other_kernels(name):
    """Against the mpmath kernel where the result is normal in float32 and no closed form of a limit has cancelled."""
    points = typical(tuple(FORMULAS[name].arguments.values()), 30, seed=3).astype(np.float32)
    if name == "minimum_norm_mse":
        points[:, 0] = points[:, 0] / 11  # alpha < 1
    if name == "least_squares_s2":
        points[:, 0] = points[:, 0] + 1
    mine = parts(kernel(name, "torch")(*map(torch.from_numpy, points.T.copy())))
    oracle, compared = kernel(name, "mpmath"), 0
    for i, point in enumerate(points.astype(float).tolist()):
        for out, true in zip(mine, parts(oracle(*point)), strict=True):
            if np.finfo(np.float32).tiny < abs(true) < np.finfo(np.float32).max:
                assert out.dtype == torch.float32
                assert abs(float(out[i]) - true) <= np.spacing(np.float32(abs(true))), (name, point)
                compared += 1
    assert compared >= 15


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_agrees_with_the_cpu():
    for name in FORMULAS:
        values = [torch.tensor(c) for c in typical(tuple(FORMULAS[name].arguments.values()), 200).T.copy()]
        there = parts(kernel(name, "torch")(*[v.cuda() for v in values]))
        for mine, true in zip(there, parts(kernel(name, "torch")(*values)), strict=True):
            assert mine.device.type == "cuda"
            assert torch.allclose(mine.cpu(), true, rtol=1e-12, atol=0, equal_nan=True), name
