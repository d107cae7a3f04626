"""The ruler on diagonal networks, where the truth is known: exact without noise, calibrated with it, able to say no."""

import mpmath as mp
import numpy as np
import pytest

import ptft_sym as pt
from numerics.networks.estimators import estimate_bias
from numerics.networks.probes import DiagonalModel, Probe, linear_probes
from numerics.regimes import Nearness, classify

DIM = 200
# name -> (initialisation, |beta_PT|, |beta_FT|), as in the table of reference points
REGIMES = {
    "I": (pt.Initialization(1e-3, -0.999999, 1e-6), 1.0, 1.0),
    "II": (pt.Initialization(1e-6, 0.99, 0.0), 1.0, 0.01),
    "III": (pt.Initialization(1e-3, 0.0, 10.0), 1.0, 1.0),
    "IV": (pt.Initialization(1e-3, -0.99, 0.0), 1.0, 1.0),
}


def truth(init, beta_pt, beta_ft):
    """(l-order, PD) by differentiating the textbook potential at 50 digits; nothing of the package is used."""
    with mp.workdps(50):
        c, lam, gamma = mp.mpf(init.c), mp.mpf(init.lam), mp.mpf(init.gamma)

        def q(t, s):
            b = s * mp.mpf(beta_pt)
            c_ft = c * (1 + lam) * (1 + mp.sqrt(1 + (b / c) ** 2)) + gamma**2 / 2
            u = t * mp.mpf(beta_ft) / c_ft
            return c_ft / 2 * (1 - mp.sqrt(1 + u**2) + u * mp.asinh(u))

        base = q(mp.mpf(1), mp.mpf(1))
        return tuple(float(mp.diff(f, 1) / base) for f in (lambda t: q(t, 1), lambda s: q(1, s)))


def network(name, seed=0):
    """A pretrained network with ten features each at strength 1/1.5, 1 and 1.5, in random places."""
    init, at, amplitude = REGIMES[name]
    beta = np.zeros(DIM)
    places = np.random.default_rng(seed).permutation(DIM)[:30]
    beta[places] = at * np.repeat([1 / 1.5, 1.0, 1.5], 10)
    return DiagonalModel(beta, init), np.eye(DIM)[places], beta[places], at, amplitude


def measured(name, seed=0, nuisance=0.0, labels=False, number=12, **options):
    model, directions, strength, at, amplitude = network(name, seed)
    if labels:
        model = DiagonalModel(model.beta_pt, model.init, margin=amplitude)
    probes = linear_probes(
        directions, strength, at=at, amplitude=amplitude, nuisance=nuisance, number=number, labels=labels, seed=seed
    )
    return estimate_bias(model, probes, amplitude=amplitude, seed=seed, bootstrap=400, **options)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("name", REGIMES)
def test_without_noise_the_four_regimes_are_read_off(name, labels):
    order, dependence = truth(REGIMES[name][0], *REGIMES[name][1:])
    found = measured(name, labels=labels)
    assert found.ell_order == pytest.approx(order, abs=2e-4)
    assert found.pd == pytest.approx(dependence, abs=2e-3)  # S is a finite difference between strengths
    assert found.regime == name
    assert found.message.startswith("l-order")


def test_the_truth_of_this_test_is_the_table_of_reference_points():
    assert truth(REGIMES["I"][0], 1, 1) == pytest.approx((1.0740320032694, -0.073957934361118), rel=1e-10)
    assert truth(REGIMES["IV"][0], 1, 1) == pytest.approx((1.2298515450827, -0.22962169365256), rel=1e-10)


@pytest.mark.parametrize("name", REGIMES)
def test_bias_and_coverage(name):
    """Twenty noisy replicas a regime: small bias, and intervals that hold the truth most of the time."""
    true = truth(REGIMES[name][0], *REGIMES[name][1:])
    found = [measured(name, seed, nuisance=0.3) for seed in range(20)]
    values = np.array([(e.ell_order, e.pd) for e in found])
    assert np.all(np.abs(values.mean(0) - true) < 0.05)
    assert np.all(values.std(0) > 1e-4)  # the noise is real
    inside = [[lo <= t <= hi for t, (lo, hi) in zip(true, (e.ell_order_interval, e.pd_interval), strict=True)]
              for e in found]  # fmt: skip
    assert np.all(np.mean(inside, axis=0) >= 0.75)
    assert [e.regime for e in found].count(name) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", REGIMES)
def test_coverage_over_many_replicas(name):
    true = truth(REGIMES[name][0], *REGIMES[name][1:])
    found = [measured(name, seed, nuisance=0.3) for seed in range(200)]
    for k, interval in enumerate(("ell_order_interval", "pd_interval")):
        inside = np.mean([getattr(e, interval)[0] <= true[k] <= getattr(e, interval)[1] for e in found])
        assert 0.87 <= inside <= 1.0


def test_much_noise_is_uncertain():
    names = [measured("III", seed, nuisance=2.0, number=4).regime for seed in range(6)]
    assert names.count("uncertain") >= 4
    assert measured("IV", nuisance=0.3, width=1e-3).regime == "uncertain"


def test_label_noise_alone_does_not_move_the_estimate():
    """It changes how much is learned, not how it is divided: the scale that explains the division is the same."""
    model, directions, strength, at, amplitude = network("IV")
    noisy = DiagonalModel(model.beta_pt, model.init, noise=0.2)
    probes = linear_probes(directions, strength, at=at, amplitude=amplitude)
    found = estimate_bias(noisy, probes, bootstrap=200)
    assert np.ptp(found.allocation.sum(1)) > 0.1
    assert found.ell_order == pytest.approx(truth(REGIMES["IV"][0], 1, 1)[0], abs=1e-3)


def test_a_model_that_follows_the_loads_exactly_is_lazy_and_one_that_takes_all_is_rich():
    class Fixed:
        def __init__(self, second):
            self.second = second

        def finetune(self, x, y):
            beta = np.array([0.5, 0.5] if x[0, 0] == x[0, 1] else [1 - self.second, self.second])
            return lambda inputs: inputs @ beta

    probes = [Probe("loading", np.ones((1, 2)), np.ones(1), np.eye(2), (1, 1), (1, 2))] * 3
    probes += [Probe("recruitment", np.array([[1, 0.5]]), np.ones(1), np.eye(2), (1, 0.5), (1, 1))] * 3
    lazy, rich = (estimate_bias(Fixed(v), probes) for v in (0.4, 0.0))
    assert (lazy.saturated, rich.saturated) == ("lazy", "rich")
    assert lazy.ell_order == pytest.approx(2.0, abs=1e-6)
    assert rich.ell_order < 1.05
    assert lazy.pd == rich.pd == pytest.approx(0.0, abs=1e-12)  # equal allocation whatever the strength
    assert (lazy.regime, rich.regime) == ("III", "I")
    with pytest.raises(ValueError, match="was the model trained"):
        estimate_bias(type("Zero", (), {"finetune": lambda *_: lambda i: np.zeros(2)})(), probes)
    with pytest.raises(ValueError, match="two finite numbers"):
        estimate_bias(type("Bad", (), {"finetune": lambda *_: lambda i: np.full(2, np.nan)})(), probes)


def test_features_that_do_not_share_the_target_are_uncertain():
    class Saturating:  # answers 1 to anything: the parts add up to more than the whole
        def finetune(self, x, y):
            return lambda inputs: np.ones(len(inputs))

    model, directions, strength, at, _ = network("IV")
    probes = linear_probes(directions, strength, at=at, number=4)
    found = estimate_bias(Saturating(), probes, width=2.0)
    assert found.additivity == pytest.approx((2.0 + 1.5) / 2)
    assert found.regime == "uncertain"
    assert "do not share the target" in found.message
    assert estimate_bias(model, probes).additivity == pytest.approx(1.0)


class Given:
    """Allocates as told: (load 1, load 1) by ``even``, (load 1, load 1/2) by ``uneven``."""

    def __init__(self, even, uneven):
        self.even, self.uneven = np.array(even), np.array(uneven)

    def finetune(self, x, y):
        beta = self.even if x[0, 0] == x[0, 1] else self.uneven
        return lambda inputs: inputs @ beta


EVEN = [Probe("loading", np.ones((1, 2)), np.ones(1), np.eye(2), (1, 1), (1, 2))] * 3
UNEVEN = [Probe("recruitment", np.array([[1, 0.5]]), np.ones(1), np.eye(2), (1, 0.5), (1, 1))] * 3


@pytest.mark.parametrize(
    ("even", "uneven", "name", "word"),
    [
        ((1 / 3, 2 / 3), (0.8, 0.4), "II", "regime II"),  # shares follow the strengths, and the loads
        ((1 / 2, 1 / 2), (0.8, 0.4), "III", "regime III"),
        ((1 / 3, 2 / 3), (0.985, 0.03), "IV", "regime IV"),
        ((1 / 2, 1 / 2), (1.0, 1e-7), "I", "regime I"),
        ((0.414, 0.586), (0.8, 0.4), "uncertain", "between regimes II and III"),  # S = 1/2
        ((1 / 2, 1 / 2), (0.9, 0.2), "uncertain", "between regimes I and III"),
    ],
)
def test_the_regimes_are_those_of_the_rest_of_the_package(even, uneven, name, word):
    found = estimate_bias(Given(even, uneven), EVEN + UNEVEN)
    assert found.regime == name
    assert word in found.message
    assert found.regime == classify(found.ell_order, found.pd)


def test_paired_probes_are_the_same_task_for_a_diagonal_network():
    """x -> y and -x -> -y: the flow of a linear model is that of one of them."""
    model, directions, strength, at, amplitude = network("IV")
    options = {"at": at, "amplitude": amplitude, "nuisance": 0.2, "number": 4}
    single, paired = (
        estimate_bias(model, linear_probes(directions, strength, paired=p, **options)) for p in (False, True)
    )
    assert paired.allocation == pytest.approx(single.allocation, abs=1e-6)
    assert paired.ell_order == pytest.approx(single.ell_order, abs=1e-6)


def test_paired_probes_do_not_see_even_responses():
    class WithBias:  # follows the loads, and answers 0.7 to everything
        def finetune(self, x, y):
            beta = np.abs(y[0]) * x[0] / (x[0] @ x[0])
            return lambda inputs: inputs @ beta + 0.7

    directions = np.eye(4)
    strength = np.array([0.8, 1.25, 1.0, 1.0])
    found = estimate_bias(WithBias(), linear_probes(directions, strength, at=1.0, paired=True, number=3))
    assert found.additivity == pytest.approx(1.0)
    assert (found.regime, found.saturated) == ("III", "lazy")
    blind = estimate_bias(WithBias(), linear_probes(directions, strength, at=1.0, number=3))
    assert blind.additivity > 1.25
    assert blind.regime == "uncertain"


def test_copies_and_shapes_of_probes():
    directions, strength = np.eye(6)[:4], np.array([0.8, 1.0, 1.0, 1.25])
    options = {"at": 1.0, "nuisance": 0.3, "number": 2}
    bad = ({"shape": (1, 2, 2)}, {"copies": 0}, {"shape": (-1, 6)}, {"shape": 6}, {"paired": "no"}, {"labels": 1})
    for wrong in bad:
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            linear_probes(directions, strength, **options, **wrong)
    probes = linear_probes(directions, strength, **options, paired=True, copies=5, shape=(1, 2, 3))
    for probe in probes:
        assert probe.x.shape == (10, 1, 2, 3)
        assert np.array_equal(probe.x[5:], -probe.x[:5])
        assert np.array_equal(probe.y[5:], -probe.y[:5])
        assert len(np.unique(probe.x[:5, 0, 0, 0])) == 5
        assert probe.x_test.shape == (4, 1, 2, 3)


@pytest.mark.parametrize("slope", [-1.0, 2.5])
def test_a_division_that_no_diagonal_network_makes_is_uncertain(slope):
    weak = 1 / (1 + 2.0**slope)
    found = estimate_bias(Given((weak, 1 - weak), (0.8, 0.4)), EVEN + UNEVEN)
    assert found.slope == pytest.approx(slope)
    assert found.sensitivity == np.clip(slope, 0, 1)
    assert found.regime == "uncertain"
    assert "slope" in found.message


def test_how_near_counts_is_an_argument():
    model, directions, strength, at, _ = network("IV")  # l-order 1.23, PD -0.23
    probes = linear_probes(directions, strength, at=at, number=4)
    assert estimate_bias(model, probes).regime == "IV"
    assert estimate_bias(model, probes, near=Nearness(rich=0.3, independent=0.3)).regime == "I"


def test_refusals():
    model, directions, strength, at, _ = network("IV")
    probes = linear_probes(directions, strength, at=at, number=3)
    with pytest.raises(ValueError, match="holds 0 of kind 'loading'"):
        estimate_bias(model, [p for p in probes if p.kind == "recruitment"])
    for options in ({"amplitude": 0.0}, {"level": 1.0}, {"bootstrap": 3}, {"width": -1.0}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            estimate_bias(model, probes, **options)
    with pytest.raises(TypeError, match="near must be a Nearness"):
        estimate_bias(model, probes, near=0.15)
    with pytest.raises(ValueError, match="none of the 30 features"):
        linear_probes(directions, strength, at=5.0)
    with pytest.raises(ValueError, match="must be equal"):
        linear_probes(directions, strength[:3], at=1.0)
    one, two = np.ones((1, 2)), np.eye(2)
    for load, size, kind in (((1, 2), (1, 1), "recruitment"), ((1, 1), (1, 1), "loading"), ((2, 1), (1, 2), "loading"),
                             ((1, 0), (1, 1), "recruitment"), ((2, 1), (1, 1), "other")):  # fmt: skip
        with pytest.raises(ValueError, match=r"probe needs|load|kind"):
            Probe(kind, one, np.ones(1), two, load, size)
    for read_out in (np.eye(3), np.full((2, 2), np.nan), np.ones(2)):
        with pytest.raises(ValueError, match="read_out"):
            Probe("loading", one, np.ones(1), two, (1, 1), (1, 2), read_out)
    with pytest.raises(ValueError, match="one example"):
        DiagonalModel(model.beta_pt, model.init, margin=1.0).finetune(np.ones((2, DIM)), np.ones(2))


def test_public_name():
    assert pt.estimate_bias is estimate_bias
