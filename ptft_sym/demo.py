"""The whole trip in one run: derive, load the kernels, predict, simulate at finite dimension, try real images.

The four regimes are those of THEORY section 10: for each, an initialisation that lies in it and a task that favours
it. Every task is run from all four initialisations, so that the claim "this regime is best here" can fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np

import ptft_sym as pt

RHO_PT, C = 0.1, 1e-3
#: regime -> (lam, gamma) of its initialisation, and (omega, rho_ft) of the task that favours it
INITS = {"I": (-0.99999, 1e-6), "II": (0.0, 0.0), "III": (0.0, 10.0), "IV": (-0.99, 0.0)}
TASKS = {"I": (0.0, 0.01), "II": (1.0, 0.1), "III": (0.0, 0.9), "IV": (1.0, 0.01)}
WORDS = {
    "I": "rich, pretraining-independent", "II": "lazy, pretraining-dependent",
    "III": "lazy, pretraining-independent", "IV": "rich, pretraining-dependent",
}
#: regime -> (D, simulated sample ratios, the one at which initialisations are ranked, end of the drawn curve). The
#: sparse tasks need large D (few active dimensions fluctuate much) and become easy soon: few samples are simulated.
SIMULATED = {
    "I": (4000, (0.03, 0.04, 0.05, 0.07), 0.05, 0.15),
    "II": (2000, (0.05, 0.08, 0.1, 0.15), 0.1, 0.25),
    "III": (1000, (0.05, 0.1, 0.2, 0.35), 0.2, 0.4),
    "IV": (4000, (0.02, 0.03, 0.04, 0.05), 0.03, 0.1),
}
LAM = (-0.9999, -0.9997, -0.999, -0.997, -0.99, -0.97, -0.9, -0.7, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 0.99)


def init(regime):
    """The initialisation of a regime."""
    return pt.Initialization(C, *INITS[regime])


def task(regime):
    """The task that favours a regime."""
    omega, rho_ft = TASKS[regime]
    return pt.Task.from_overlap(RHO_PT, rho_ft, omega)


def derive(step):
    """Every derivation checked: name -> its verdict counts. `step(text)` is told of progress."""
    found = {}
    for name in pt.derivations():
        step(f"checking the derivation {name}")
        ledger = pt.derive(name).check()
        if not ledger.ok:
            raise RuntimeError(f"the derivation {name} has failed steps:\n{ledger}")
        found[name] = ledger.counts
    return found


def kernels():
    """Name -> the accuracy it states, of every generated NumPy kernel; all of them are loaded."""
    found = {name: pt.kernel(name) for name in import_module("numerics.kernels").__all__}
    return {name: kernel.accuracy for name, kernel in found.items() if callable(kernel.function)}


class Cell(NamedTuple):
    """One task from one initialisation: the curve over `alpha`, and at the simulated ratios what was found."""

    alpha: np.ndarray
    theory: np.ndarray
    comparison: object


def predict(step):
    """(task, initialisation) -> predicted Dataset over a fine grid and the simulated ratios."""
    found = {}
    for t, (_, at, _, end) in SIMULATED.items():
        alpha = np.unique(np.round(np.concatenate([np.linspace(0.01, end, 41), at]), 12))
        for i in INITS:
            step(f"predicting task {t} from initialisation {i}")
            found[t, i] = pt.generalization_curve(task(t), init(i), alpha)
    return found


def simulate(predicted, seeds, step):
    """(task, initialisation) -> Cell; the initialisations of one task see the same data, the tasks different data."""
    found = {}
    for number, (t, (dim, at, _, _)) in enumerate(SIMULATED.items()):
        own = range(1000 * number, 1000 * number + seeds)
        for i in INITS:
            step(f"simulating task {t} from initialisation {i}")
            theory = predicted[t, i]
            run = pt.simulate(task(t), init(i), at, dim=dim, seeds=own)
            found[t, i] = Cell(theory["alpha"].values, theory["mse"].values, pt.compare(theory, run))
    return found


@dataclass(frozen=True)
class Agreement:
    """Chi-square of the points of the favoured pairs, how many they are, its probability if the theory holds."""

    chi_square: float
    points: int
    p_value: float
    largest: float

    @property
    def sentence(self):
        """The summary in words."""
        verdict = "agree" if self.p_value >= 1e-3 else "DISAGREE"
        return (
            f"Theory and simulation {verdict}: chi-square {self.chi_square:.1f} for {self.points} points "
            f"(p = {self.p_value:.2g}), largest |z| = {self.largest:.2f}."
        )


def agreement(cells):
    """Over the pairs of a task and the regime it favours: independent data, unlike those of one task's four runs."""
    from scipy.stats import chi2

    z = np.concatenate([cells[r, r].comparison.z for r in TASKS])
    total = float(np.sum(z**2))
    return Agreement(total, len(z), float(chi2.sf(total, len(z))), float(np.max(np.abs(z))))


class Images(NamedTuple):
    """The digits: rows (lam, l-order, PD, mse, se, share of wrong signs, se) over draws, controls, and their sizes."""

    table: np.ndarray
    controls: dict  # name -> (share of wrong signs, se)
    gain: tuple  # best of the controls minus best lam, paired over draws: (name, lam, difference, se)
    sizes: tuple  # (n_pt, D, n_ft, n_test)
    message: str


def images(draws, step):
    """Fine-tune the digits from `draws` choices of six images; standard errors over the choices."""
    from ptft_sym import digits

    start = pt.Initialization(C)
    independent = {
        "lazy, pretraining-independent (III)": pt.Initialization(C, 0.0, 100.0),
        "rich, pretraining-independent (I)": pt.Initialization(C, -1.0, 1e-4),
    }
    rows, control = [], {name: [] for name in (*independent, "pretrained only")}
    for draw in range(draws):
        step(f"digits, choice {draw + 1} of {draws}")
        d = digits.load(draw=draw)
        train, test = (d.x_pt, d.y_pt, d.x_ft, d.y_ft), {"x_test": d.x_test, "y_test": d.y_test}
        solved = pt.finetune_scan(*train, start, LAM, **test)
        rows.append([(s.ell_order, s.pd, s.test.mse, s.test.misclassified) for s in solved])
        control["pretrained only"].append(solved[0].test_before.misclassified)
        for name, one in independent.items():
            control[name].append(pt.finetune(*train, one, **test).test.misclassified)
    rows = np.array(rows)
    mean, se = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(draws)
    table = np.column_stack([LAM, mean[:, 0], mean[:, 1], mean[:, 2], se[:, 2], mean[:, 3], se[:, 3]])
    best = int(np.argmin(mean[:, 3]))
    rival = min(control, key=lambda name: np.mean(control[name]))
    difference = np.array(control[rival]) - rows[:, best, 3]
    gain = (rival, LAM[best], float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(draws)))
    spread = {n: (float(np.mean(v)), float(np.std(v, ddof=1) / np.sqrt(draws))) for n, v in control.items()}
    return Images(table, spread, gain, (*d.x_pt.shape, len(d.x_ft), len(d.x_test)), d.message)


def regime_marks(beta_ft=1.0, beta_pt=1.0):
    """l-order and PD of one coordinate at (beta_ft, beta_pt): the curve over lam at gamma = 0, and each setting."""
    lam = -1.0 + np.logspace(-6, np.log10(1.999), 200)
    order = np.array([pt.ell_order(beta_ft, pt.Initialization(C, v).c_ft(beta_pt)) for v in lam])
    dependence = np.array([pt.pretraining_dependence(beta_ft, beta_pt, pt.Initialization(C, v)) for v in lam])
    marks = {
        r: {
            "lam": INITS[r][0],
            "ell_order": float(pt.ell_order(beta_ft, init(r).c_ft(beta_pt))),
            "pd": float(pt.pretraining_dependence(beta_ft, beta_pt, init(r))),
            "shown": INITS[r][1] <= 1e-6,
            "label": f"{r}: lam = {INITS[r][0]:g}, gamma = {INITS[r][1]:g}",
        }
        for r in INITS
    }
    return lam, order, dependence, marks
