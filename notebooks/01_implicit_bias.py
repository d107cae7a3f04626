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
# # The implicit bias of gradient flow
#
# A linear model with more unknowns than equations has many exact solutions. Which one does gradient descent find? For
# a diagonal network, beta = w+ v+ - w- v- elementwise, the answer is exact: the interpolator of least potential
# Q(beta) = sum of q(beta_d). This notebook derives q, step by step; every step is checked by the computer while you
# read it, and the last cells compare the result with a network that is actually trained.

# %%
import matplotlib.pyplot as plt
import numpy as np

import ptft_sym as pt

flow = pt.derive("gradient_flow")
bias = pt.derive("implicit_bias")
print(flow.summary)
print(bias.summary)


# %% [markdown]
# ## 1. What the flow conserves
#
# One coordinate has four weights. Write r for minus the derivative of the loss by beta_d. Then the flow is bilinear,
# and four products of weights never change. These are the steps; each shows its claim and its verdict.

# %%
flow["flow"]

# %%
flow["conserved: parallel product"]

# %% [markdown]
# ## 2. Exponential modes, and the sinh law
#
# Sums and differences of a path's weights only grow or shrink, by exp(R) or exp(-R), where R is the integral of r.
# Multiplying them out gives the central formula of the theory.

# %%
flow["mode w+ + v+"]

# %%
flow["beta = c sinh 2R"]

# %% [markdown]
# ## 3. The potential
#
# At the end of training R = X^T nu for some vector nu, because R is a sum of rows of X at all times. So q'(beta), the
# inverse of the sinh law, equals X^T nu: that is the stationarity condition of min Q subject to X beta = y.

# %%
bias["potential"]

# %%
bias["curvature"]

# %%
bias["stationarity (KKT)"]

# %% [markdown]
# A stationary point is the minimiser because q lies strictly above its tangents. The checker proves an inequality by
# a derivative of known sign, never by trying points.

# %%
bias["above the tangent, to the right"]

# %% [markdown]
# ## 4. The whole ledger
#
# Nothing is called proved that was only evaluated at points; definitions are listed as such.

# %%
for derivation in (flow, bias):
    ledger = derivation.check()
    print(f"{derivation.name}: {ledger.counts}")
    assert ledger.counts["sampled"] == ledger.counts["failed"] == 0
assert bias.check().counts["proved"] == 22

# %% [markdown]
# The checker can also refuse. Here a step of the derivation with its sign flipped:

# %%
import dataclasses

import sympy as sp

step = bias["curvature"]
wrong = dataclasses.replace(step, claim=sp.Eq(step.claim.lhs, -step.claim.rhs, evaluate=False))
print(wrong.verdict)
assert wrong.verdict.level == "failed"

# %% [markdown]
# ## 5. Between a square and an absolute value
#
# Far below its scale c the potential is a parabola, far above it an absolute value times a logarithm. The kernel that
# draws the figure was generated from the formula above; the asserted numbers come from arbitrary-precision arithmetic.

# %%
scales = [1e-3, 1e-2, 1e-1, 1.0]
beta = np.linspace(-1, 1, 401)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for scale in scales:
    left.plot(beta, pt.potential(beta, scale) / pt.potential(1.0, scale), label=f"c = {scale:g}")
left.plot(beta, np.abs(beta), "k:", lw=1)
left.plot(beta, beta**2, "k:", lw=1)
left.set(xlabel="beta", ylabel="q(beta) / q(1)", title="shape of the penalty")
left.legend()
u = np.geomspace(1e-4, 1e8, 300)
right.semilogx(u, pt.ell_order(u, 1.0))
right.axhline(2, color="k", ls=":", lw=1)
right.axhline(1, color="k", ls=":", lw=1)
right.set(xlabel="|beta| / c", ylabel="l-order", title="from 2 to 1, slowly")
plt.show()

assert abs(pt.potential(1.0, 0.5) - 0.41280074321445774714) < 1e-15
assert abs(pt.potential(1e-3, 5e3) - 4.99999999999998e-11) < 1e-24
assert abs(pt.ell_order(1.0, 0.5) - 1.7485863324001) < 1e-12

# %% [markdown]
# ## 6. A network that is trained
#
# Five samples in twelve dimensions. The stiff integrator follows the four weight vectors to the end of training; the
# exact solution minimises Q on the affine space X beta = y by Newton's method in five variables. They agree, and a
# wrong scale would be noticed.

# %%
rng = np.random.default_rng(1)
X = rng.normal(size=(5, 12)) / np.sqrt(12)
y = X @ np.where(np.arange(12) < 2, 1.0, 0.0)
c = 1e-2
path = pt.gradient_flow(X, y, pt.Initialization(c=c))
exact = pt.interpolate(X, y, np.full(12, c))
other = pt.interpolate(X, y, np.full(12, 3 * c))
distance = np.max(np.abs(path.limit - exact.beta))
print(f"flow against the minimiser: {distance:.1e}; against the minimiser at three times the scale: "
      f"{np.max(np.abs(path.limit - other.beta)):.1e}")
assert distance < 1e-8
assert np.max(np.abs(path.limit - other.beta)) > 1e-3
assert np.sum(pt.potential(exact.beta, c)) < np.sum(pt.potential(other.beta, c))
