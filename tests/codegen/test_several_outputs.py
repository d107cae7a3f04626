"""Kernels of several results on every backend, against the integrands written by hand and differentiated by mpmath."""

import ctypes
import shutil
import subprocess
import sys

import mpmath
import numpy as np
import pytest

from numerics.codegen import kernel
from numerics.codegen.compile_c import FLAGS, build
from numerics.codegen.condition import CONTRACT, condition_errors, several, typical
from numerics.codegen.export import c_header, source
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.verify import implementations
from ptft_sym.cli import main as command_line

torch = pytest.importorskip("torch")
BACKENDS = ("numpy", "torch", "c", "mpmath")
needs_compiler = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")


# --- the integrands by hand: z = c sinh(u) + (g/2)(u - start), x ~ N(a, tau2), z | x ~ N(x, s2) ---------------------
def given_z(u, a, start, c, g, s2, tau2):
    """(density of z, dz/du, xhat, variance of z, z - a)."""
    z, v = c * mpmath.sinh(u) + g / 2 * (u - start), s2 + tau2
    density = mpmath.exp(-((z - a) ** 2) / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v)
    return density, c * mpmath.cosh(u) + g / 2, c * mpmath.sinh(u), v, z - a


def mass(*at):
    density, slope, *_ = given_z(*at)
    return density * slope


def dof(u, a, start, c, g, s2, tau2):
    return given_z(u, a, start, c, g, s2, tau2)[0] * c * mpmath.cosh(u)


def slack(u, a, start, c, g, s2, tau2):
    return given_z(u, a, start, c, g, s2, tau2)[0] * g / 2


def error(u, a, start, c, g, s2, tau2):
    density, slope, x, v, off = given_z(u, a, start, c, g, s2, tau2)
    return density * slope * ((x - a - tau2 / v * off) ** 2 + s2 * tau2 / v)


def along(function, which, at):
    """Its derivative in one of (u, a, start, c, g, s2, tau2), everything else fixed."""
    index = ("u", "a", "start", "c", "g", "s2", "tau2").index(which)
    return mpmath.diff(lambda x: function(*at[:index], x, *at[index + 1 :]), at[index])


def moments(at):
    return (
        *(f(*at) for f in (mass, error, dof, slack)),
        *(along(f, which, at) for f in (error, dof) for which in ("g", "s2")),
    )


def observables(at, gap, var, cov):
    density, slope, x, v, off = given_z(*at)
    a, c = at[1], at[3]
    u = x / c
    q = c / 2 * (1 - mpmath.sqrt(1 + u * u) + u * mpmath.asinh(u))
    forgetting = (x - a - gap - cov / v * off) ** 2 + var - cov**2 / v
    return tuple(density * slope * part for part in (q, x * mpmath.asinh(u) / 2, forgetting))


def c_ft_sensitivities(*at):
    def c_ft(beta_pt, c, lam, gamma):
        return c * (1 + lam) * (1 + mpmath.sqrt(1 + (beta_pt / c) ** 2)) + gamma**2 / 2

    return tuple(mpmath.diff(lambda x, i=i: c_ft(*at[:i], x, *at[i + 1 :]), at[i]) for i in range(4))


def by_hand(name, point):
    """The true results of the kernel `name`, to about 30 digits."""
    with mpmath.workdps(90):
        values = tuple(map(mpmath.mpf, point))
        if name == "c_ft_sensitivities":
            return c_ft_sensitivities(*values)
        delta, u0, start, c, g, s2, tau2, *rest = values
        a = c * mpmath.sinh(u0) + g / 2 * (u0 - start)
        at = (u0 + delta, a, start, c, g, s2, tau2)
        if name == "channel_moments":
            return moments(at)
        if name == "channel_observables":
            return observables(at, *rest)
        if name == "channel_mass_sensitivities":
            return tuple(along(mass, which, at) for which in ("c", "g", "s2"))
        return tuple(along(f, which, at) for f in (error, dof) for which in ("c", "a", "tau2", "start"))


def points(name, count=6, seed=0):
    """Points whose density is no smaller than 1e-6: beyond, the exponent alone costs the thirteenth digit."""
    found = []
    for point in typical(tuple(FORMULAS[name].arguments.values()), 40 * count, seed).tolist():
        if name == "c_ft_sensitivities" or abs(by_hand("channel_mass_sensitivities", point[:7])[1]) > 1e-6:
            found.append(point)
    assert len(found) >= count
    return found[:count]


def call(name, backend, *values):
    held = kernel(name, backend)
    if backend == "torch":
        return held(*[torch.as_tensor(v, dtype=torch.float64) for v in values])
    return held(*values)


@pytest.mark.parametrize("name", several())
def test_every_backend_agrees_with_the_integrands_written_by_hand(name):
    for point in points(name):
        true = by_hand(name, point)
        for backend in BACKENDS:
            tolerance = mpmath.mpf(10) ** (-25 if backend == "mpmath" else -13)
            out = call(name, backend, *point)
            assert isinstance(out, tuple)
            for result, mine, exact in zip(FORMULAS[name].outputs, out, true, strict=True):
                mine = mine if backend == "mpmath" else mpmath.mpf(float(mine))
                assert abs(mine - exact) <= abs(exact) * tolerance + mpmath.mpf(10) ** -60, (backend, result, point)


@pytest.mark.parametrize("name", several())
def test_the_error_is_within_the_condition(name):
    functions = implementations(name)
    assert set(functions) == {"numpy", "torch", "c"}
    for found in condition_errors(name, functions, count=40, seed=5).values():
        assert found.holds, str(found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_slopes_of_c_ft_where_squares_overflow(backend):
    """d c_FT/d beta = (1 + lam) sign(beta) and d c_FT/d lam = |beta| when |beta| >> c, whatever the sizes."""
    for beta, c in ((1.0, 1e-170), (-1e200, 1.0), (1e300, 1e-300), (3e-200, 1e-290)):
        slope, along_c, along_lam, along_gamma = map(float, call("c_ft_sensitivities", backend, beta, c, 0.5, 0.25))
        assert slope == pytest.approx(1.5 * np.sign(beta), rel=1e-15, abs=0)
        assert along_c == pytest.approx(1.5, rel=1e-15, abs=0)
        assert along_lam == pytest.approx(abs(beta), rel=1e-15, abs=0)
        assert along_gamma == 0.25


def test_measuring_sees_a_wrong_result():
    good = kernel("channel_moments")

    def wrong(*values):
        out = list(good(*values))
        out[4] = out[4] * (1 + 1e-12)
        return tuple(out)

    def nan(*values):
        return tuple(out * np.nan for out in good(*values))

    found = condition_errors("channel_moments", {"good": good, "wrong": wrong, "nan": nan}, count=20)
    assert found["good"].holds
    assert found["good"].units < CONTRACT
    assert found["wrong"].result == "error_g"
    assert not found["wrong"].holds
    assert not found["nan"].holds
    assert "BROKEN" in str(found["nan"])


@pytest.mark.parametrize("name", several())
def test_shapes_and_dtypes(name):
    count = len(FORMULAS[name].arguments)
    values = [np.full((4, 1), 0.3), *[np.full(3, 0.4)] * (count - 1)]
    compiled = kernel(name, "c")(*values)
    assert [part.shape for part in compiled] == [(4, 3)] * len(FORMULAS[name].outputs)
    assert all(np.ndim(part) == 0 for part in kernel(name, "c")(*[0.3] * count))
    assert kernel(name, "c")(np.empty(0), *[0.3] * (count - 1))[0].shape == (0,)
    for dtype in (torch.float32, torch.float64):
        tensors = [torch.tensor(v, dtype=dtype) for v in values]
        out = kernel(name, "torch")(*tensors)
        assert [tuple(part.shape) for part in out] == [(4, 3)] * len(FORMULAS[name].outputs)
        assert all(part.dtype == dtype for part in out)
        assert all(part.is_contiguous() for part in out)  # memory of its own, to write into


@pytest.mark.parametrize("name", several())
def test_outside_the_domain(name):
    values = dict.fromkeys(FORMULAS[name].arguments.values(), 0.3) | {FORMULAS[name].positive[0]: -1.0}
    assert all(np.isnan(part) for part in kernel(name, "c")(*values.values()))
    assert all(torch.isnan(part) for part in call(name, "torch", *values.values()))
    with pytest.raises(ValueError, match=f"{FORMULAS[name].positive[0]} = -1.0 is not allowed: it must be > 0"):
        kernel(name, "mpmath")(*values.values())


@pytest.mark.parametrize("name", several())
def test_gradcheck(name):
    columns = typical(tuple(FORMULAS[name].arguments.values()), 3, seed=2).T
    values = [torch.tensor(np.clip(column, -1.5, 1.5), requires_grad=True) for column in columns]
    assert torch.autograd.gradcheck(kernel(name, "torch"), values)
    assert torch.autograd.gradgradcheck(kernel(name, "torch"), values)


def test_autograd_of_c_ft_is_its_sensitivities():
    values = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in ([0.3, -2.0], [1.0, 0.1], 0.4, 0.7)]
    gradients = torch.autograd.grad(kernel("c_ft", "torch")(*values).sum(), values)
    direct = kernel("c_ft_sensitivities", "torch")(*values)
    for slope, part in zip(gradients, direct, strict=True):
        assert torch.allclose(slope, part.sum() if slope.ndim == 0 else part, rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", several())
def test_vmap(name):
    values = [torch.tensor(column) for column in typical(tuple(FORMULAS[name].arguments.values()), 5).T.copy()]
    held = kernel(name, "torch").function
    for mine, true in zip(torch.func.vmap(held)(*values), held(*values), strict=True):
        assert torch.allclose(mine, true, rtol=1e-14, atol=0)
    jacobian = torch.func.vmap(torch.func.jacrev(held, argnums=0))(*values)
    leaf = values[0].clone().requires_grad_()
    for mine, part in zip(jacobian, held(leaf, *values[1:]), strict=True):
        slope = torch.zeros(5, dtype=torch.float64)  # gamma, for one, does not depend on the first argument
        if part.requires_grad:
            (slope,) = torch.autograd.grad(part.sum(), leaf, retain_graph=True)
        assert torch.allclose(mine, slope, rtol=1e-12, atol=1e-300)


@needs_compiler
def test_one_c_file_of_everything_and_the_form_for_one_value(tmp_path):
    names = list(FORMULAS)
    library = ctypes.CDLL(str(build(source(names, "c"), c_header(names), tmp_path, (*FLAGS, "-pedantic"))))
    for name in several():
        row = FORMULAS[name]
        values = [0.3 + 0.05 * i for i in range(len(row.arguments))]
        results = [ctypes.c_double(np.nan) for _ in row.outputs]
        one = getattr(library, f"ptft_{name}")
        one.argtypes = [ctypes.c_double] * len(values) + [ctypes.POINTER(ctypes.c_double)] * len(results)
        one.restype = None
        one(*values, *map(ctypes.byref, results))
        arrays = kernel(name, "c")(*values)
        assert [result.value for result in results] == pytest.approx(arrays, rel=1e-15, abs=0)


@needs_compiler
def test_the_command_writes_c_that_compiles_on_its_own(tmp_path):
    out = tmp_path / "moments.c"
    with pytest.raises(SystemExit) as stop:
        command_line(["kernels", "channel_moments", "--backend", "c", "--out", str(out)])
    assert not stop.value.code
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "moments.h"\nint main(void)\n{\n    double r[8];\n'
        "    ptft_channel_moments(0.1, 0.2, 0.0, 0.5, 1.0, 0.3, 0.4,\n"
        "                         r, r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7);\n"
        '    for (int i = 0; i < 8; ++i) printf("%.17g\\n", r[i]);\n    return 0;\n}\n'
    )
    compiler = shutil.which("cc") or "gcc"
    subprocess.run(
        [compiler, "-std=c99", "-pedantic", "-Wall", "-Werror", "main.c", "moments.c", "-o", "main", "-lm"],
        cwd=tmp_path,
        check=True,
    )
    run = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True)
    true = by_hand("channel_moments", (0.1, 0.2, 0.0, 0.5, 1.0, 0.3, 0.4))
    assert [float(line) for line in run.stdout.split()] == pytest.approx([float(t) for t in true], rel=1e-13, abs=0)


@pytest.mark.parametrize("backend", ["torch", "mpmath"])
def test_an_exported_module_needs_nothing_of_this_project(tmp_path, backend):
    (tmp_path / "mine.py").write_text(source(["channel_moments", "prox"], backend))
    values = "0.1, 0.2, 0.0, 0.5, 1.0, 0.3, 0.4"
    values = f"*torch.tensor([{values}], dtype=torch.float64)" if backend == "torch" else values
    code = (
        f"import sys, {backend}, mine; print(*[float(part) for part in mine.channel_moments({values})]); "
        "print(float(mine.prox(1.0, 1.0, 0.5))); "
        "assert not {m.split('.')[0] for m in sys.modules} & {'numerics', 'ptft_sym', 'derivations'}"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    first, second = run.stdout.splitlines()
    true = by_hand("channel_moments", (0.1, 0.2, 0.0, 0.5, 1.0, 0.3, 0.4))
    assert [float(word) for word in first.split()] == pytest.approx([float(t) for t in true], rel=1e-13, abs=0)
    assert float(second) == pytest.approx(0.53499548264371747, rel=1e-15, abs=0)


@needs_compiler
@pytest.mark.parametrize("name", several())
def test_c_arrays_have_the_bits_of_one_value_also_over_arguments(name, tmp_path):
    """300 elements, a scale out of the domain among them; then with the results written over the first arguments."""
    library = ctypes.CDLL(str(build(source([name], "c"), c_header([name]), tmp_path)))
    names, count = tuple(FORMULAS[name].arguments.values()), len(FORMULAS[name].outputs)
    columns = typical(names, 300).T.copy()
    scale = names.index(FORMULAS[name].positive[0])
    columns[scale, [5, 200]] = -1.0, 0.0
    one, loop = getattr(library, f"ptft_{name}"), getattr(library, f"ptft_{name}_array")
    pointer = ctypes.POINTER(ctypes.c_double)
    one.argtypes, one.restype = [ctypes.c_double] * len(names) + [pointer] * count, None
    loop.argtypes, loop.restype = [ctypes.c_size_t] + [pointer] * (len(names) + count), None
    expected = np.empty((count, 300))
    for i, point in enumerate(columns.T.tolist()):
        values = [ctypes.c_double() for _ in range(count)]
        one(*point, *map(ctypes.byref, values))
        expected[:, i] = [value.value for value in values]
    assert np.isnan(expected[:, [5, 200]]).all()
    out = np.empty((count, 300))
    loop(300, *(row.ctypes.data_as(pointer) for row in (*columns, *out)))
    assert np.array_equal(out, expected, equal_nan=True)
    if count <= len(names):
        over = [scale, *(i for i in range(len(names)) if i != scale)][:count]
        given = [columns[i] for i in range(len(names))]
        loop(300, *(row.ctypes.data_as(pointer) for row in (*given, *(given[i] for i in over))))
        assert np.array_equal([given[i] for i in over], expected, equal_nan=True)
