"""How good is the ruler? Bias and coverage on diagonal networks, where the truth is known; then two-layer networks.

    python benchmarks/ruler.py                 # writes benchmarks/ruler.md; about three minutes on one core
    python benchmarks/ruler.py --replicas 20   # a quick look
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ptft_sym as pt  # noqa: E402
from numerics.networks.mlp import Teacher, TwoLayer  # noqa: E402
from numerics.networks.probes import DiagonalModel, linear_probes  # noqa: E402
from numerics.networks.training import TrainConfig, fit  # noqa: E402
from numerics.networks.tuner import NetworkTuner  # noqa: E402

DIM = 200
REGIMES = {
    "I": (pt.Initialization(1e-3, -0.999999, 1e-6), 1.0, 1.0),
    "II": (pt.Initialization(1e-6, 0.99, 0.0), 1.0, 0.01),
    "III": (pt.Initialization(1e-3, 0.0, 10.0), 1.0, 1.0),
    "IV": (pt.Initialization(1e-3, -0.99, 0.0), 1.0, 1.0),
}
STRENGTH = np.array([1 / 1.5, 1 / 1.5, 1.0, 1.0, 1.0, 1.5, 1.5])


def diagonal(name, seed, nuisance):
    """One noisy replica of a regime: the estimate."""
    init, at, amplitude = REGIMES[name]
    beta = np.zeros(DIM)
    places = np.random.default_rng(seed).permutation(DIM)[:30]
    beta[places] = at * np.repeat([1 / 1.5, 1.0, 1.5], 10)
    probes = linear_probes(
        np.eye(DIM)[places], beta[places], at=at, amplitude=amplitude, nuisance=nuisance, seed=seed
    )
    return pt.estimate_bias(DiagonalModel(beta, init), probes, amplitude=amplitude, seed=seed, bootstrap=1000)


def covers(estimate, true):
    """Which of the two intervals hold the truth."""
    intervals = (estimate.ell_order_interval, estimate.pd_interval)
    return [low <= t <= high for t, (low, high) in zip(true, intervals, strict=True)]


def diagonal_rows(replicas):
    for nuisance in (0.1, 0.3, 1.0):
        for name, (init, at, amplitude) in REGIMES.items():
            true = float(pt.ell_order(amplitude, init.c_ft(at))), float(pt.pretraining_dependence(amplitude, at, init))
            found = [diagonal(name, seed, nuisance) for seed in range(replicas)]
            values = np.array([(e.ell_order, e.pd) for e in found]) - true
            inside = np.mean([covers(e, true) for e in found], axis=0)
            regimes = [e.regime for e in found]
            named, unsure = (regimes.count(word) / replicas for word in (name, "uncertain"))
            bias, spread = values.mean(0), values.std(0)
            yield (
                f"| {name} | {nuisance:g} | {true[0]:.3f}, {true[1]:.3f} | {bias[0]:+.3f}, {bias[1]:+.3f} "
                f"| {spread[0]:.3f}, {spread[1]:.3f} | {inside[0]:.1%}, {inside[1]:.1%} | {named:.0%} | {unsure:.0%} |"
            )


def two_layer(activation, lam, gamma, seed, number):
    """Pretrain a two-layer network on features of three strengths, and measure its bias."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((20, len(STRENGTH))))[0].T
    x = rng.standard_normal((1000, 20)).astype(np.float32)
    y = Teacher(directions, np.diag(STRENGTH), activation)(x).astype(np.float32)
    torch.manual_seed(seed)
    model = TwoLayer(20, 200, len(STRENGTH), activation, pt.Initialization(0.01, lam))
    fit(model, x, y, TrainConfig(lr=0.02, batch_size=1000, max_steps=4000, stop_loss=1e-4, loss="mse"))
    tuner = NetworkTuner(model, TrainConfig(lr=0.01, loss="mse", max_steps=5000, stop_loss=1e-4), gamma=gamma)
    probes = linear_probes(directions, STRENGTH, at=1.0, amplitude=0.3, nuisance=0.1, number=number, seed=seed)
    return pt.estimate_bias(tuner, probes, amplitude=0.3)


def network_rows(number):
    for activation in ("linear", "relu"):
        for lam, gamma in ((-0.999, 0.0), (-0.9, 0.0), (0.0, 0.0), (0.9, 0.0), (0.0, 3.0)):
            e = two_layer(activation, lam, gamma, 0, number)
            order, dependence = e.ell_order_interval, e.pd_interval
            yield (
                f"| {activation} | {lam:g} | {gamma:g} | {e.ell_order:.2f} [{order[0]:.2f}, {order[1]:.2f}] "
                f"| {e.pd:.2f} [{dependence[0]:.2f}, {dependence[1]:.2f}] | {e.sensitivity:.2f} "
                f"| {e.additivity:.2f} | {e.regime} |"
            )


INTRODUCTION = """# The ruler, measured

Written by `python benchmarks/ruler.py{arguments}` in {seconds:.0f} s on one thread of a shared machine.

## Diagonal networks, where the truth is known

D = 200, ten features each at strength 1/1.5, 1 and 1.5, twelve probes of each family, 95 % intervals; {replicas}
replicas. *Noise* is the root mean square length of the Gaussian nuisance added to every training and test input
(features have length 1). Pairs are (l-order, PD). *Named*: share of replicas in which the true regime was reported;
*uncertain*: share in which none was.

| regime | noise | truth | bias | standard deviation | coverage | named | uncertain |
|---|---|---|---|---|---|---|---|"""

NETWORKS = """
## Two-layer networks

Width 200, 20 inputs, c = 0.01, pretrained on seven orthonormal features of strengths 1/1.5, 1, 1.5 (one output a
feature); {number} probes of each family, amplitude 0.3, noise 0.1; one network each. No truth is known here: the
numbers are those of the diagonal network that allocates in the same way.

| network | lam | gamma | l-order | PD | S | additivity | regime |
|---|---|---|---|---|---|---|---|"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, default=200)
    parser.add_argument("--probes", type=int, default=12, help="of each family, for the two-layer networks")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "ruler.md")
    options = parser.parse_args()
    torch.set_num_threads(1)
    begun = time.perf_counter()
    rows = list(diagonal_rows(options.replicas))
    networks = list(network_rows(options.probes))
    arguments = " ".join(["", *sys.argv[1:]])
    head = INTRODUCTION.format(arguments=arguments, seconds=time.perf_counter() - begun, replicas=options.replicas)
    text = "\n".join([head, *rows, NETWORKS.format(number=options.probes), *networks]) + "\n"
    options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
