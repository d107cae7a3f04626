# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Theory meets gradient descent
#
# A diagonal network is trained twice, and everything said about it is checked against the weights themselves: what
# gradient flow conserves, where it ends, how pretraining sets the scale of fine-tuning, how far gradient descent with
# early stopping is from that end, and whether the replica prediction is what one measures. Every cell asserts its
# numbers.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
import torch

import ptft_sym as pt
from numerics.diagonal import check_scale
from numerics.diagonal.descent import descend
from numerics.diagonal.network import DiagonalNetwork
from numerics.diagonal.weights import Weights

rng = np.random.default_rng(0)


def problem(n, dim):
    """Few samples of a sparse vector, in the theory's units."""
    X = rng.normal(size=(n, dim)) / np.sqrt(dim)
    return X, X @ (rng.normal(size=dim) * (rng.random(dim) < 0.5) + 0.1)


# %% [markdown]
# ## The flow of the four weight vectors (claims C1, C2, C3)
#
# A stiff integrator follows `w+, w-, v+, v-` through pretraining, re-balancing and fine-tuning. Four quantities do not
# move. Each stage ends at the interpolator of least potential, the first with scale `c`, the second with `c_FT`.

# %%
init = pt.Initialization(c=1e-2, lam=-0.5, gamma=0.1)
flow = pt.gradient_flow(*problem(6, 8), init, *problem(4, 8))
first = flow.pretraining
drift = max(first.drift, flow.drift)
c_ft = init.c_ft(first.limit)
ends = check_scale(first, init.c), check_scale(flow, c_ft)
print(f"drift of the conservation laws {drift:.1e}; distances from the exact limits "
      f"{ends[0].distance:.1e} (c), {ends[1].distance:.1e} (c_FT)")
assert drift < 1e-10
assert all(end.agrees for end in ends)

# %% [markdown]
# The check can say no: a scale 2 % off, and the two misreadings of the conventions, are rejected.

# %%
end = Weights(*(w[-1] for w in first.weights))
wrong = {
    "c_FT 2 % too large": check_scale(flow, 1.02 * c_ft),
    "lambda read as un-normalised": check_scale(flow, pt.Initialization(1e-2, -0.5 * 1e-2, 0.1).c_ft(first.limit)),
    "readout v = gamma": check_scale(flow, pt.Initialization.from_readout(1e-2, -0.5, 0.1).c_ft(first.limit)),
}
for name, verdict in wrong.items():
    print(f"{name}: distance {verdict.distance:.1e}")
    assert not verdict.agrees

# %% [markdown]
# ## The same path in n dimensions
#
# The mirror variable of a flow moves in the span of the n samples: n equations follow a network of any width.

# %%
task = pt.Task.from_overlap(rho_pt=0.1, rho_ft=0.1, omega=0.5)
beta_pt, beta_ft = task.sample(400, rng)
X = rng.normal(size=(120, 400)) / np.sqrt(400)
small = pt.Initialization(c=1e-3)
path = pt.gradient_flow(X, X @ beta_ft, small, beta_pt=beta_pt, variables="dual")
exact = pt.interpolate(X, X @ beta_ft, small.c_ft(beta_pt))
assert np.abs(path.limit - exact.beta).max() < 1e-8
print(f"{path.steps} steps of the flow; the exact solution: {exact.iterations} steps, residual {exact.residual:.0e}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.loglog(path.t[1:], path.loss[1:])
left.set(xlabel="time of the flow", ylabel="training loss", ylim=(1e-12, None))
right.semilogx(path.t[1:], path.ell_order[1:], label="l-order")
right.semilogx(path.t[1:], path.effective_rank[1:] / 400, label="effective rank / D")
right.set(xlabel="time of the flow")
right.legend()
plt.show()

# %%
# the potential loses its quadratic character as coordinates grow past their scale; the loss never rises
assert np.all(np.diff(path.loss) <= 0)
assert path.ell_order[1] > 1.9
assert 1.0 < path.ell_order[-1] < 1.5

# %% [markdown]
# ## Gradient descent on the weights
#
# With a finite step and a stopping rule, training error says little about the distance to the interpolant: at train
# MSE 1e-4 it is percents, and the step size leaves its own trace however long one waits.

# %%
target = torch.as_tensor(X @ beta_ft)[None]
rows = []
for lr, stop in ((0.5, 1e-2), (0.5, 1e-4), (0.5, 1e-6), (2.0, 1e-6)):
    network = DiagonalNetwork(small, 400).start_fine_tuning(torch.as_tensor(beta_pt)[None], small)
    begin = time.perf_counter()
    report = descend(network, torch.as_tensor(X)[None], target, lr=lr, stop=stop)
    beta = network.beta.detach().numpy()[0]
    far = np.linalg.norm(beta - exact.beta) / np.linalg.norm(exact.beta)
    rows.append((lr, stop, int(report.steps[0]), far))
    print(f"lr {lr:g}, train MSE {stop:.0e}: {report.steps[0]:6d} steps, {time.perf_counter() - begin:4.1f} s, "
          f"distance from the limit {far:.1e}")
assert rows[0][3] > rows[1][3] > rows[2][3]  # training on brings it closer
assert rows[1][3] > 1e-3  # train MSE 1e-4 is not the interpolant
assert rows[3][3] > rows[2][3]  # at equal training error, the larger step ends farther away
assert rows[2][2] > 100 * exact.iterations

# %% [markdown]
# ## The replica prediction (claim C7)
#
# Exact solutions over seeds at three dimensions; the finite-size effect is fitted as `slope / D` and removed.

# %%
alpha = [0.1, 0.2, 0.3]
theory = pt.generalization_curve(task, small, alpha)
clean = [pt.simulate(task, small, alpha, dim=d, seeds=range(s)) for d, s in ((400, 40), (800, 20), (1600, 8))]
result = pt.compare(theory, clean)
print(result.table())
print(result.verdict)
assert result.agrees
assert result.chi_square_per_point < 4

# %% [markdown]
# Pretraining from samples, with label noise in both stages, is no harder:

# %%
options = {"alpha_pt": 0.6, "noise_pt": 0.05, "noise": 0.05}
theory = pt.generalization_curve(task, init, alpha, **options)
sizes = ((300, 40), (600, 20))
runs = [pt.simulate(task, init, alpha, dim=d, seeds=range(s), stages="full", **options) for d, s in sizes]
noisy = pt.compare(theory, runs)
print(noisy.verdict)
assert noisy.agrees

# %% [markdown]
# A theory with the wrong scale would not have passed:

# %%
other = pt.generalization_curve(task, pt.Initialization(c=1e-3, lam=-0.99), alpha)
wrong = pt.compare(other, clean)
print(wrong.verdict)
assert not wrong.agrees
