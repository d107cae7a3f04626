"""How the NumPy kernels behave as functions: shapes, dtypes, silence, refusals, threads, processes."""

import multiprocessing
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numerics.kernels as kernels
from numerics.codegen import BACKENDS, Kernel, kernel, names, table
from numerics.codegen.export import source
from numerics.codegen.formulas import FORMULAS
from numerics.kernels import _elementwise

ELEMENTWISE = [name for name, row in FORMULAS.items() if not row.outputs and row.measured]
SHAPES = st.sampled_from([(), (1,), (3,), (2, 3), (2, 1), (0,), (4, 0), (2, 1, 3)])


def arguments(name, shape=(), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.1, 0.9, shape) for _ in FORMULAS[name].arguments]


@pytest.mark.parametrize("name", ELEMENTWISE)
@given(first=SHAPES, second=SHAPES)
def test_shape_is_the_broadcast_shape(name, first, second):
    values = [np.full(first if i % 2 == 0 else second, 0.5) for i in range(len(FORMULAS[name].arguments))]
    try:
        shape = np.broadcast_shapes(*(v.shape for v in values))
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            kernel(name)(*values)
        return
    out = kernel(name)(*values)
    assert np.shape(out) == shape
    assert out.dtype == np.float64


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elements_do_not_depend_on_their_neighbours(name):
    """Blocks, strides, broadcasting and scalars give the same elements, bit for bit up to the vector units' last
    digit.
    """
    values = arguments(name, (40_000,))
    out = kernel(name)(*values)
    for index in (0, 7, 16_383, 16_384, 39_999):
        assert kernel(name)(*[v[index] for v in values]) == pytest.approx(out[index], rel=4e-16, abs=0)
    assert np.allclose(kernel(name)(*[v[::3] for v in values]), out[::3], rtol=4e-16, atol=0)
    assert np.allclose(kernel(name)(*[v.reshape(200, 200) for v in values]), out.reshape(200, 200), rtol=4e-16, atol=0)
    table = kernel(name)(values[0][:150, None], *[v[:300] for v in values[1:]])
    assert table.shape == (150, 300)
    assert table[3, 5] == pytest.approx(kernel(name)(values[0][3], *[v[5] for v in values[1:]]), rel=4e-16, abs=0)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_arguments_are_left_alone(name):
    values = arguments(name, (100,))
    before = [v.copy() for v in values]
    kernel(name)(*values)
    assert all((a == b).all() for a, b in zip(values, before, strict=True))


def test_scalars_lists_integers_and_float32():
    q = kernels.potential
    assert isinstance(q(1.0, 0.5), np.float64)
    assert isinstance(q(np.array(1.0), np.array(0.5)), np.float64)
    assert q([1, 2, 3], [1, 1, 1]).tolist() == q([1.0, 2.0, 3.0], 1.0).tolist()
    assert q(np.arange(3), 1).dtype == np.float64
    assert q(np.arange(5, dtype=np.float32), 10.0).dtype == np.float32
    assert q(np.float32(1), np.float64(1)).dtype == np.float64
    assert q(np.ones(5), 10.0).shape == (5,)
    assert q(np.array([]), 1.0).shape == (0,)
    assert q(True, 1) == q(1, 1)
    many = np.linspace(-5, 5, 50_000, dtype=np.float32)
    assert q(many, np.float32(1)).dtype == np.float32
    assert np.allclose(q(many, np.float32(1)), q(many.astype(float), 1.0), rtol=1e-7, atol=0)


@pytest.mark.parametrize("bad", [0, 0.0, -1.0, [1.0, 0.0], np.array([[1.0, -2.0]]), np.append(np.ones(50_000), 0.0)])
def test_a_scale_that_is_not_positive_is_refused(bad):
    with pytest.raises(ValueError, match=r"c_ft = .* is not allowed: it must be > 0"):
        kernels.potential(1.0, bad)


def test_other_refusals():
    with pytest.raises(TypeError, match="beta must be real numbers"):
        kernels.potential(1j, 1.0)
    with pytest.raises(TypeError, match="beta must be real numbers"):
        kernels.potential("1", 1.0)
    with pytest.raises(ValueError, match=r"g = .* it must be >= 0"):
        kernels.prox(1.0, -1.0, 1.0)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_silent_on_the_whole_domain(name):
    big, small = 1e300, 1e-300
    for first in (0.0, small, -small, 1.0, -1.0, big, -big):
        for scale in (small, 1.0, big):
            values = [first] + [scale] * (len(FORMULAS[name].arguments) - 1)
            if "lam" in FORMULAS[name].arguments:
                values = [first, *([1.0] if name == "pretraining_dependence" else []), scale, 0.5, 0.0]
            if name == "bregman" and abs(first) > 1e150 * min(scale, 1.0):
                continue  # outside its domain
            with np.errstate(all="raise"):
                out = kernel(name)(np.array(values[0]), *values[1:])
            assert not np.isnan(out), values


def test_nan_stays_where_it_is():
    out = kernels.ell_order([1.0, np.nan, 0.0, np.inf], 1.0)
    assert np.isnan(out).tolist() == [False, True, False, False]
    assert np.isnan(kernels.potential(1.0, np.nan))


@pytest.mark.parametrize("name", ["potential", "prox", "channel_moments"])
def test_pickle_round_trip(name):
    values = arguments(name)
    again = pickle.loads(pickle.dumps(kernel(name)))
    assert again is kernel(name)
    plain = pickle.loads(pickle.dumps(getattr(kernels, name)))
    assert np.array_equal(plain(*values), kernel(name)(*values))


def test_kernels_cross_processes():
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=_call_through_pickle, args=(there, pickle.dumps(kernel("potential")), 1.0))
    child.start()
    assert here.poll(60)
    assert here.recv() == kernels.potential(1.0, 0.5)
    child.join(30)


def _call_through_pickle(pipe, text, beta):
    pipe.send(pickle.loads(text)(beta, 0.5))


def test_threads_share_nothing():
    values = [arguments("ell_order", (30_000,), seed) for seed in range(16)]
    one_by_one = [kernels.ell_order(*v) for v in values]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda v: kernels.ell_order(*v), values))
    assert all((a == b).all() for a, b in zip(one_by_one, together, strict=True))


def test_calling_a_kernel_loads_no_sympy():
    code = (
        "import sys; from numerics.codegen import kernel; q = kernel('potential'); q(1.0, 0.5); q.accuracy; repr(q); "
        "assert 'sympy' not in sys.modules and 'torch' not in sys.modules; q.formula; assert 'sympy' in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


def test_names_and_unknown_names():
    assert names()[:2] == ("potential", "potential_derivative")
    assert set(names()) <= set(kernels.__all__)
    with pytest.raises(ValueError, match="name = 'nope' is no kernel; choose one of potential"):
        kernel("nope")
    with pytest.raises(ValueError, match="backend = 'fortran' is not allowed"):
        kernel("potential", "fortran")


def test_a_row_without_a_backend_refuses_it(monkeypatch):
    monkeypatch.setitem(FORMULAS, "bregman", replace(FORMULAS["bregman"], backends=("numpy",)))
    with pytest.raises(ValueError, match="kernel 'bregman' has no c backend; it has numpy"):
        Kernel("bregman", "c")
    with pytest.raises(ValueError, match="no torch backend for bregman"):
        source(["potential", "bregman"], "torch")


def test_every_kernel_has_every_backend():
    assert {row.backends for row in FORMULAS.values()} == {BACKENDS}


@pytest.mark.parametrize("rows", [1, 3, 700])
def test_several_outputs_have_the_broadcast_shape(rows):
    delta = np.linspace(-2, 2, 64)[None] + np.zeros((rows, 1))
    row = np.full((rows, 1), 0.3)
    out = kernels.channel_moments(delta, row, 0.0, row, row, row, row)
    assert len(out) == 8
    assert all(part.shape == (rows, 64) and part.dtype == np.float64 for part in out)
    single = kernels.channel_moments(delta[0, 5], 0.3, 0.0, 0.3, 0.3, 0.3, 0.3)
    assert np.allclose([part[-1, 5] for part in out], single, rtol=1e-14, atol=0)


def test_the_callers_error_state_is_neither_asked_nor_changed():
    before = np.geterr()
    with np.errstate(all="raise"):
        inside = np.geterr()
        kernels.potential(np.array([1e-200, 1e300]), np.array([1e200, 1e-300]))
        with pytest.raises(ValueError, match="c_ft"):
            kernels.potential(np.ones(3), np.array([1.0, -1.0, 1.0]))
        kernels.potential(np.array([1e-200]), np.array([1e200]))
        assert np.geterr() == inside
        with pytest.raises(FloatingPointError):
            np.array([1e-200]) * 1e-200
    assert np.geterr() == before


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_any_memory_gives_the_same_elements(name):
    """Transposed, reversed, read-only, of the other byte order, of a subclass: the values decide, not how they lie."""
    values = arguments(name, (60, 40))
    out = kernel(name)(*values)
    variants = {
        "columns first": [np.asfortranarray(v) for v in values],
        "one of each": [v if i % 2 else np.asfortranarray(v) for i, v in enumerate(values)],
        "other byte order": [v.astype(">f8") for v in values],
        "subclass": [v.view(np.recarray) for v in values],
    }
    for variant, alike in variants.items():
        assert np.allclose(kernel(name)(*alike), out, rtol=9e-16, atol=0), variant
    assert np.allclose(kernel(name)(*[v[::-1, ::-1] for v in values])[::-1, ::-1], out, rtol=9e-16, atol=0)
    for v in values:
        v.flags.writeable = False
    assert np.array_equal(kernel(name)(*values), out)


def test_the_result_is_the_callers_own():
    z, g, c_ft = np.ones(4), np.zeros(4), np.ones(4)
    out = kernels.prox(z, g, c_ft)
    out[:] = 7.0
    assert z.tolist() == [1.0] * 4


@pytest.mark.parametrize("name", ["potential", "prox", "pretraining_dependence"])
def test_sizes_around_a_block(name):
    """Empty, one, one block and its neighbours, with scalars among the arguments: the same elements."""
    block = _elementwise.BLOCK
    values = arguments(name, (2 * block + 1,))
    out = kernel(name)(*values)
    for size in (0, 1, 2, block - 1, block, block + 1, 2 * block):
        assert np.allclose(kernel(name)(*[v[:size] for v in values]), out[:size], rtol=9e-16, atol=0)
    mixed = kernel(name)(values[0], *[0.5] * (len(values) - 1))
    assert np.allclose(mixed[-9:], kernel(name)(values[0][-9:], *[0.5] * (len(values) - 1)), rtol=9e-16, atol=0)


def test_threads_through_every_driver():
    calls = [lambda n=n: kernels.prox(np.linspace(-3, 3, n), 0.7, np.full(n, 0.3)) for n in (3, 900, 40_000)] * 8
    one_by_one = [call() for call in calls]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda call: call(), calls))
    assert all(np.array_equal(a, b) for a, b in zip(one_by_one, together, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["potential", "potential_derivative", "ell_order", "c_ft", "sensitivity"])
def test_time_of_ten_thousand_elements_against_the_calls_a_kernel_cannot_avoid(name):
    """The bar is 3 (docs/kernels.md); processor time, because other work on the machine is none of the kernel's."""
    columns = table._arguments(name, 10_000)

    def seconds(call):
        spent = []
        for _ in range(300):
            begun = time.thread_time_ns()
            call()
            spent.append(time.thread_time_ns() - begun)
        return np.median(spent)

    ratio = seconds(lambda: kernel(name)(*columns)) / seconds(table._raw(name, columns))
    assert ratio < 3.6
