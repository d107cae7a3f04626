"""Theory against simulation on random tasks: every example is its own experiment with error bars.

The mean over seeds at three dimensions is extrapolated in 1/D (`pt.compare`) and the test is at p = 1e-7 an example, so
that 2000 examples raise a false alarm once in five thousand runs. What the extrapolation leaves is of order 1/D^2.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import attempt, examples, initializations, line, note, ratios, tasks

import ptft_sym as pt

DIMS, SEEDS = (120, 240, 480), 16
scales = initializations(c=(1e-4, 10.0), gamma=(1e-2, 3.0), closest=1e-4)


@given(tasks(least=0.1), scales, ratios(0.1, 0.8), st.sampled_from([0.0, 0.1]), st.integers(0, 10**6))
@examples(0.1)
def test_random_tasks_are_learned_as_predicted(task, init, alpha, noise, seed):
    alpha = max(1, round(alpha * DIMS[0])) / DIMS[0]  # a whole number of samples at every dimension
    theory = attempt("generalization_curve", task, init, alpha, noise=noise)
    seeds = range(seed, seed + SEEDS)
    note("reproduce: " + line("simulate", (task, init, alpha, DIMS[0], seeds), {"noise": noise}))
    runs = [pt.simulate(task, init, alpha, dim, seeds, noise=noise) for dim in DIMS]
    assert max(float(run.residual.max()) for run in runs) <= 1e-10
    found = pt.compare(theory, runs, level=1e-7)
    left = (found.slope[0] / DIMS[0]) ** 2 / max(found.theory[0], 1e-300)  # (relative 1/D term)^2: the next order
    note(found.verdict)
    assert found.agrees or abs(found.value[0] - found.theory[0]) <= 4 * found.value_error[0] + left
    # the metrics of the learned solution converge to the predicted ones as well
    order, dependence = (runs[-1][name].values[:, 0] for name in ("ell_order", "pd"))
    for sample, predicted in ((order, float(theory.ell_order[0])), (dependence, float(theory.pd[0]))):
        error = sample.std(ddof=1) / SEEDS**0.5
        assert abs(sample.mean() - predicted) <= 7 * error + 8.0 / DIMS[-1] * np.log(DIMS[-1])
