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
# # Nonlinear networks
#
# The theory is exact for diagonal linear networks. What is left of it where features are directions that a network has
# to find, and where activations are nonlinear? This notebook
#
# 1. reads the inductive bias off a network's behaviour (*the ruler*), first where the truth is known;
# 2. asks claims C8 and C9 of two-layer networks;
# 3. asks the ruler about a Transformer, which is not diagonal, and gets an honest answer;
# 4. fine-tunes a small ResNet and looks at what happened to its representation;
# 5. compares two checkpoints layer by layer.
#
# Effects over ten seeds, with standard errors and verdicts, are in `benchmarks/nonlinear.md`; here one seed shows how.

# %%
from dataclasses import replace

import numpy as np
import pandas as pd
import torch

import ptft_sym as pt
from numerics.networks.experiment import Intervention, run
from numerics.networks.presets import preset
from numerics.networks.probes import DiagonalModel, linear_probes

torch.set_num_threads(1)

# %% [markdown]
# ## 1. The ruler
#
# A *loading probe* shows two features equally that pretraining used unequally; a *recruitment probe* shows two
# features unequally that pretraining used equally. Fine-tune on one such input: how much of the target does each
# feature get? In a diagonal network the learned values are $\beta_d = c_d \sinh(2 a_d \nu)$ for loads $a_d$, so the
# first family gives the ratio of the scales $c_d$ and the second the scale itself, and with them $\ell$-order and PD.

# %%
regimes = {
    "I": (pt.Initialization(1e-3, -0.999999, 1e-6), 1.0),
    "II": (pt.Initialization(1e-6, 0.99), 0.01),
    "III": (pt.Initialization(1e-3, 0.0, 10.0), 1.0),
    "IV": (pt.Initialization(1e-3, -0.99), 1.0),
}
beta_pt = np.zeros(200)
beta_pt[:30] = np.repeat([1 / 1.5, 1.0, 1.5], 10)

rows = []
for name, (init, amplitude) in regimes.items():
    probes = linear_probes(np.eye(200)[:30], beta_pt[:30], at=1.0, amplitude=amplitude, nuisance=0.2, number=12)
    found = pt.estimate_bias(DiagonalModel(beta_pt, init), probes, amplitude=amplitude)
    true = float(pt.ell_order(amplitude, init.c_ft(1.0))), float(pt.pretraining_dependence(amplitude, 1.0, init))
    rows.append((name, *true, found.ell_order, found.pd, found.regime))
    print(name, found.message)
    assert abs(found.ell_order - true[0]) < 0.15
    assert abs(found.pd - true[1]) < 0.15
    assert found.regime == name
pd.DataFrame(rows, columns=["regime", "l-order", "PD", "estimated l-order", "estimated PD", "reported"]).round(3)

# %% [markdown]
# ## 2. Two-layer networks
#
# Teacher and student are two-layer networks; the fine-tuning teacher shares all or none of its hidden features with the
# pretraining teacher. `lam` moves scale between the layers before pretraining (negative: earlier layer smaller). Each
# pretrained network has a control that learned the fine-tuning task alone, at the same scales.

# %%
def two_layer(kind, lam, shared, features, n, scratch=False):
    base = preset(kind)
    return replace(
        base, model={**base.model, "lam": lam},
        data={**base.data, "shared": shared, "ft_features": features, "n_ft": n},
        intervention=Intervention(gamma=0.0, scratch=scratch),
    )


rows = []
for task, shared, features in (("full overlap", 4, 4), ("no overlap", 0, 1)):
    for lam in (-0.999, 0.0, 0.9):
        for scratch in (False, True):
            errors = [run(two_layer("mlp-linear", lam, shared, features, 12, scratch), s)["ft_loss"] for s in (0, 1)]
            rows.append((task, lam, "scratch" if scratch else "pretrained", np.mean(errors)))
table = pd.DataFrame(rows, columns=["task", "lam", "start", "test error"])
table = table.pivot_table(index=["task", "start"], columns="lam", values="test error", sort=False)
table.round(3)

# %%
full, none = table.loc["full overlap", "pretrained"], table.loc["no overlap", "pretrained"]
assert full[0.9] < 0.5 * full[-0.999]  # C8: all features shared, large lam (lazy, pretraining-dependent) is better
assert none[-0.999] < none[0.9]  # C9: none shared, small lam (pretraining-independent) is better
scratch = table.loc["full overlap", "scratch"]
assert scratch.max() < 1.5 * scratch.min()  # without pretraining lam makes no such difference

# %% [markdown]
# C10 (an intermediate `lam` is best when few of the pretrained features are used) does **not** carry over to two-layer
# linear networks: their hidden layer may turn, so there is no sparse bias over given features to gain from. The ruler
# says the same: at `lam` near -1 they are independent of pretraining, with an l-order near 2 (`benchmarks/ruler.md`).
#
# ## 3. The ruler on a Transformer
#
# On modular arithmetic the features are characters of $a + b$ and $a - b$. Pretraining regresses four of them, each
# times its strength; a probe shows two residues that differ in two characters, and asks how these share the new target.
# Response to a feature: the projection of the learned function on it. The two characters together explain the response
# (`additivity` near 1), so the question makes sense; but the one that was stronger in pretraining gets more than in any
# diagonal network (`slope` above 1). The honest answer is then "uncertain".

# %%
from numerics.networks.modular_probes import character_task
from numerics.networks.training import TrainConfig, fit
from numerics.networks.transformer import Transformer
from numerics.networks.tuner import NetworkTuner

task = character_task(0)
torch.manual_seed(0)
transformer = Transformer(task.modulus + 1, len(task.values))
pretraining = TrainConfig("adamw", 2e-3, batch_size=256, max_steps=2000, stop_loss=0.01, loss="mse")
print(fit(transformer, task.x, task.targets, pretraining).message)
tuning = TrainConfig(lr=0.01, max_steps=6000, stop_loss=1e-3, loss="mse", clip=1.0)
asked = pt.estimate_bias(NetworkTuner(transformer, tuning, gamma=0.1), task.probes(6))
print(asked.message)
print(f"additivity {asked.additivity:.2f}, slope {asked.slope:.2f}")

# %%
assert 0.75 < asked.additivity < 1.25
assert asked.slope_interval[0] > 1.25
assert asked.regime == "uncertain"

# %% [markdown]
# ## 4. A ResNet
#
# Eight channels, digits: pretrained on ten classes, fine-tuned on parity from 30 images.

# %%
base = preset("resnet")
variants = {
    "pretrained": Intervention(),
    "readout scale 10": Intervention(gamma=10.0),
    "scratch": Intervention(scratch=True),
}
records = {name: run(replace(base, intervention=v), 0) for name, v in variants.items()}
resnet = pd.DataFrame(records).T
resnet[["ft_accuracy", "pr_before", "pr_after", "ensd", "cka", "ft_reason"]]

# %%
assert resnet.loc["pretrained", "ft_accuracy"] > resnet.loc["scratch", "ft_accuracy"] + 0.05
assert resnet.loc["pretrained", "pr_after"] < resnet.loc["pretrained", "pr_before"]  # fewer dimensions ...
assert resnet.loc["pretrained", "cka"] > resnet.loc["scratch", "cka"] + 0.2  # ... and still those of pretraining

# %% [markdown]
# The signature of rich, pretraining-dependent fine-tuning: the participation ratio falls, and what is left is still
# shared with the pretrained state (points close to the diagonal).

# %%
from numerics.networks.figures import signature_figure

resnet["name"] = resnet.index
signature_figure(resnet.astype({"pr_before": float, "pr_after": float, "ensd": float, "scratch": bool}))

# %% [markdown]
# ## 5. Two checkpoints
#
# `pt.drift` (or `ptft drift BEFORE AFTER`) compares two checkpoints of any architecture: state dictionaries or files,
# read lazily and never unpickled.

# %%
from numerics.networks.experiment import build, stages_of, start_fine_tuning

stages = stages_of(base, 0)
model = build(base, stages.pt, 0)
fit(model, stages.pt.x, stages.pt.y, base.pt)
before = {k: v.clone() for k, v in model.state_dict().items()}
start_fine_tuning(model, base, stages.ft, 0)
fit(model, stages.ft.x, stages.ft.y, base.ft)
comparison = pt.drift(model, before, model, stages.ft.x_test[:200])
print(comparison)

# %%
assert comparison.table["weight_drift"].dropna().between(0, 1).all()
assert (comparison.table["ensd"] <= np.sqrt(comparison.table["pr_before"] * comparison.table["pr_after"]) + 1e-6).all()
comparison.plot()
