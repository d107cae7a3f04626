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
# # The replica prediction, derived
#
# In the limit of many dimensions the interpolator of least potential has a sharp test error. This notebook derives the
# two equations that give it, twice: by the replica method, which assumes replica symmetry and exchanges limits (listed
# as assumptions), and by the convex Gaussian min-max theorem. Then it solves them and compares with exact solutions of
# finite size.

# %%
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # many small systems: threads would only wait for each other

import matplotlib.pyplot as plt
import numpy as np

import ptft_sym as pt

replica = pt.derive("replica")
channel = pt.derive("scalar_channel")
for step in replica:
    if step.kind == "assumption":
        print(f"assumed: {step.name}. {step.reason}\n")
assert sum(step.kind == "assumption" for step in replica) == 3

# %% [markdown]
# ## 1. Averaging over the design
#
# The average of the n-th power of the partition function factorises over samples; for one sample it is a Gaussian
# integral over the residuals of n replicas, hence the determinant of an n by n matrix. With replica symmetry it is
# A I + C J, whose inverse and determinant are known for every n, and the limit n -> 0 can be taken.

# %%
replica["average over one row"]

# %%
replica["inverse of the replica matrix"]

# %%
replica["determinant: one more replica"]

# %%
replica["n -> 0"]

# %% [markdown]
# ## 2. One coordinate
#
# The conjugate order parameters turn each coordinate into a denoising problem: it sees z = x + sqrt(s2) Z and answers
# with a proximal map of step g. At zero temperature the integral over its value becomes a minimum.

# %%
replica["a scalar channel appears"]

# %%
replica["energy of the order parameters"]

# %%
channel["no root finding"]

# %% [markdown]
# ## 3. Stationarity
#
# Four derivatives of the free energy vanish; two unknowns remain.

# %%
replica.result

# %%
replica["first saddle-point equation"]

# %%
replica["second saddle-point equation"]

# %% [markdown]
# ## 4. The same again, without replicas
#
# Gordon's comparison leads to a functional of two numbers. With two of the replica parameters eliminated it is the same
# function, and its stationary points are the same.

# %%
replica["the two functionals agree"]

# %%
replica["min-max: stationary in tau and b_norm"]

# %%
counts = replica.check().counts
print(counts)
assert counts["sampled"] == counts["failed"] == 0

# %% [markdown]
# ## 5. A limit that can be checked by hand
#
# For a quadratic penalty the equations close, and the result is the one of random matrix theory: the Marchenko-Pastur
# law. For an l1 penalty they give the phase transition of basis pursuit, in parametric form.

# %%
limits = pt.derive("limits")
limits["same error"]

# %%
limits["critical sample ratio"]

# %%
from derivations.symbols import threshold

a = 1.0
at = [float(limits.results[name].subs(threshold, a)) for name in ("critical_alpha", "critical_ratio")]
print(f"a = {a}: delta = {at[0]:.6f}, rho = {at[1]:.6f}")
density, tail = np.exp(-0.5) / np.sqrt(2 * np.pi), 0.15865525393145707
assert abs(at[0] - 2 * density / (a + 2 * (density - a * tail))) < 1e-12
assert abs(at[1] - (1 - a * tail / density)) < 1e-12

# %% [markdown]
# ## 6. Numbers
#
# One curve: a tenth of the coordinates active in pretraining and in fine-tuning, half of them shared. The equations are
# solved by the generated kernels; the reference values were obtained by dense quadrature. The points are exact
# interpolators at D = 1000, averaged over eight seeds.

# %%
task = pt.Task.from_overlap(rho_pt=0.1, rho_ft=0.1, omega=0.5)
init = pt.Initialization(c=1e-3, lam=0.0, gamma=0.0)
alpha = np.linspace(0.05, 0.5, 19)
curve = pt.generalization_curve(task, init, alpha)
check = pt.generalization_curve(task, init, [0.1, 0.3, 0.5])
assert np.allclose(check.mse, [0.845110563669696, 0.09116575965807505, 0.0010834835707541285], rtol=1e-9)
assert float(np.max(check.residual)) < 1e-11

points, dim, seeds = [0.05, 0.1, 0.15, 0.2], 1000, range(8)
measured = []
for ratio in points:
    errors = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        before, truth = task.sample(dim, rng)
        X = rng.normal(size=(round(ratio * dim), dim)) / np.sqrt(dim)
        errors.append(np.mean((pt.interpolate(X, X @ truth, init.c_ft(before)).beta - truth) ** 2))
    measured.append((np.mean(errors), np.std(errors, ddof=1) / np.sqrt(len(errors))))
    print(f"alpha {ratio}: measured {measured[-1][0]:.4f} +- {measured[-1][1]:.4f}")

# %%
figure, axes = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
axes.semilogy(alpha, curve.mse, label="saddle point")
mean, error = np.array(measured).T
axes.errorbar(points, mean, 2 * error, fmt="o", label=f"exact solutions, D = {dim}")
axes.set(xlabel="samples per dimension", ylabel="mse", title="half of the support is shared")
axes.legend()
plt.show()

predicted = pt.generalization_curve(task, init, points).mse.values
z = (mean - predicted) / error
print("z-scores:", np.round(z, 2))
assert np.all(np.abs(z) < 4)
assert np.all(np.abs(mean / predicted - 1) < 0.25)
