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
# # Metrics and regimes
#
# Pretraining changes how fine-tuning generalises in two ways: through the shape of the penalty on beta_FT (sparse or
# not: the l-order), and through how much that penalty depends on what pretraining found (the pretraining dependence,
# PD). Both follow from one formula for the effective scale c_FT, and they cannot be chosen independently.

# %%
import matplotlib.pyplot as plt
import numpy as np

import ptft_sym as pt

map_ = pt.derive("fine_tuning")
metrics = pt.derive("metrics")
regimes = pt.derive("regimes")

# %% [markdown]
# ## 1. From pretraining to fine-tuning
#
# After pretraining the first layer is w+ + w- = 2 w0 cosh(R). Keeping it, and drawing a new readout of size
# gamma/sqrt(2), starts a new stage of the same kind, with a scale for each coordinate.

# %%
map_["first layer after pretraining"]

# %%
map_["scale of fine-tuning"]

# %%
init = pt.Initialization(c=1e-3, lam=0.0, gamma=0.0)
scales = init.c_ft(np.array([0.0, 1.0]))
print("c_FT without and with pretraining signal:", scales)
assert abs(scales[0] - 2e-3) < 1e-15  # 2 c (1 + lam) at beta_PT = 0
assert abs(scales[1] - (1e-3 + np.hypot(1e-3, 1.0))) < 1e-15

# %% [markdown]
# ## 2. Two numbers per coordinate
#
# The l-order is the logarithmic slope of q in |beta_FT|, PD the one in |beta_PT|. In s = asinh(|beta_FT|/c_FT) the
# l-order is 1/(1 - tanh(s/2)/s), from which everything about it can be read.

# %%
metrics["short form"]

# %%
metrics["strictly decreasing"]

# %%
metrics["pretraining dependence"]

# %% [markdown]
# ## 3. The trade-off
#
# S, the sensitivity of c_FT, lies in [0, 1] and the l-order in [1, 2]. Then l-order + PD is in [1, 2]: a penalty that
# is as sparse as an l1 norm cannot depend on pretraining.

# %%
metrics["trade-off"]

# %%
metrics["trade-off, range"]

# %% [markdown]
# ## 4. The regimes are limits
#
# Three corners, each with its rate. The rich corner is reached only like 1/log: the statement below is proved by ball
# arithmetic, and says that coefficients eleven thousand times larger than their scale still have an l-order above 1.1.

# %%
regimes["I: how slowly the order falls"]

# %%
regimes["I: what slow means"]

# %%
regimes["II and III: error of the order"]

# %%
for derivation in (map_, metrics, regimes):
    counts = derivation.check().counts
    print(f"{derivation.name}: {counts}")
    assert counts["sampled"] == counts["failed"] == 0

# %% [markdown]
# ## 5. The plane of the two metrics
#
# Every initialisation is a point below the diagonal. The four marked ones are the regimes, with reference values that
# were computed at high precision elsewhere.

# %%
reference = {  # name: (beta_FT, beta_PT, c, lam, gamma, l-order, PD)
    "I": (1.0, 1.0, 1e-3, -0.999999, 1e-6, 1.0740320032694, -0.073957934361118),
    "II": (0.01, 1.0, 1e-6, 0.99, 0.0, 1.9999957914154, -0.9999947914196),
    "III": (1.0, 1.0, 1e-3, 0.0, 10.0, 1.9999359373197, -0.019606192575616),
    "IV": (1.0, 1.0, 1e-3, -0.99, 0.0, 1.2298515450827, -0.22962169365256),
}
rng = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(5.2, 4.4), layout="constrained")
orders, dependences = [], []
for _ in range(3000):
    some = pt.Initialization(c=10.0 ** rng.uniform(-6, 2), lam=1 - 2 * 10.0 ** rng.uniform(-6, 0) * rng.uniform(0.5, 1),
                             gamma=10.0 ** rng.uniform(-4, 1) * (rng.random() < 0.7))
    ft, before = 10.0 ** rng.uniform(-4, 2, size=2)
    orders.append(float(pt.ell_order(ft, some.c_ft(before))))
    dependences.append(float(pt.pretraining_dependence(ft, before, some)))
axes.scatter(orders, dependences, s=3, color="0.7", label="random initialisations")
axes.plot([1, 2], [0, -1], "k:", lw=1, label="l-order + PD = 1")
for name, (ft, before, c, lam, gamma, order, dependence) in reference.items():
    init = pt.Initialization(c=c, lam=lam, gamma=gamma)
    found = float(pt.ell_order(ft, init.c_ft(before))), float(pt.pretraining_dependence(ft, before, init))
    assert abs(found[0] - order) < 1e-9
    assert abs(found[1] - dependence) < 1e-9
    axes.plot(*found, "o")
    axes.annotate(name, found, textcoords="offset points", xytext=(6, 6))
axes.set(xlabel="l-order", ylabel="PD", title="the trade-off")
axes.legend(loc="lower left")
plt.show()

total = np.array(orders) + np.array(dependences)
print(f"{len(total)} points: l-order + PD between {total.min():.6f} and {total.max():.6f}")
assert total.min() > 1 - 1e-12
assert total.max() < 2 + 1e-12

# %% [markdown]
# ## 6. How slowly the rich regime is reached
#
# The law 1 + 1/(log(2u) - 1) against the exact l-order: the error is exponentially small in s, as the derivation says.

# %%
u = np.geomspace(10, 1e12, 12)
law = 1 + 1 / (np.log(2 * u) - 1)
exact = pt.ell_order(u, 1.0)
for ratio, approximate, order in zip(u[::3], law[::3], exact[::3], strict=True):
    print(f"u = {ratio:8.1e}: l-order {order:.6f}, law {approximate:.6f}")
assert np.all(np.diff(exact) < 0)
assert abs(law[-1] - exact[-1]) < 1e-9
assert exact[u < np.sinh(10)].min() > 1.1
