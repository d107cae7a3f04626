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
# # Phase diagrams: which initialisation for which task
#
# The paper's claims about when to reuse what pretraining learned, as maps with their boundaries: full overlap favours
# lam towards 1 (C8), no overlap lam towards -1 (C9), a fine-tuning support inside the pretraining support an
# intermediate lam (C10), and pretraining from few samples moves the best lam down even at full overlap (C11).
# Each map also says where the claim ends. Every cell asserts what it shows.

# %%
import io
import time

import numpy as np
from IPython.display import Image

import ptft_sym as pt
from numerics.sweep.axes import spaced
from ptft_sym import heatmaps

begun = time.monotonic()
LAM = spaced("lam", -0.99999, 0.99, 25, "one-plus-log")  # equal steps in log(1 + lam), where the effect is
ALPHA = np.array([0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5])


def show(ds, title, kind="best", **options):
    """A map as a picture."""
    value = {"best": "mse", "regimes": "regime"}.get(kind, options.get("value"))
    over = ["lam"] if kind == "best" else []
    figure = heatmaps.check_figure("map", {"kind": kind, **options}, dict(ds[value].sizes), list(ds.data_vars), over)
    buffer = io.BytesIO()
    heatmaps.draw(ds, figure, [buffer], title)
    return Image(data=buffer.getvalue(), width=1100 if kind == "best" else 560)


# %% [markdown]
# ## The regimes of one coordinate
#
# l-order and PD of a coordinate with beta_FT = beta_PT = 1, over relative and absolute scale. What is near one edge of
# the allowed triangle only is called uncertain; the thresholds (0.15 here) are arguments. With `c = 1e-3`, lam = 0 is
# regime II by these thresholds although its l-order is 1.887 only.

# %%
regimes = pt.regime_map(lam=spaced("lam", -0.999999, 0.99, 81, "one-plus-log"), c=np.geomspace(1e-6, 10, 71))
show(regimes, "regimes of one coordinate, beta_FT = beta_PT = 1, gamma = 0", "regimes")

# %%
assert set(np.unique(regimes["regime"])) == {"I", "II", "III", "IV", "uncertain"}
assert float(regimes["ell_order_plus_pd"].min()) >= 1.0 - 1e-12  # the trade-off: never below 1 ...
assert float(regimes["ell_order_plus_pd"].max()) <= 2.0 + 1e-12  # ... nor above 2
at_zero = pt.regime(1.0, 1.0, pt.Initialization(1e-3))
assert at_zero.name == "II"
assert abs(at_zero.ell_order - 1.887) < 5e-4
small = regimes.sel(c=1e-6, method="nearest")["regime"].values
assert list(dict.fromkeys(small[small != "uncertain"])) == ["I", "IV", "II"]  # in this order as lam rises

# %% [markdown]
# ## C8 and C9: from no overlap to full overlap
#
# One density (rho_PT = rho_FT = 0.1), overlap omega against the sample ratio; 25 values of lam, `c = 1e-3`, gamma = 0,
# perfect pretraining. Left: the best lam. Middle: its regime. Right: the margin, the share of the error of the best
# *other* regime that the best one removes. A dark right panel says that the choice hardly matters there.

# %%
overlap = pt.phase_diagram(
    rho_pt=0.1, rho_ft=0.1, omega=np.linspace(0.0, 1.0, 9), alpha=ALPHA, lam=LAM, workers=1
)
show(overlap, "rho_PT = rho_FT = 0.1", x="alpha", y="omega")

# %%
few = overlap.sel(alpha=slice(0.0, 0.25))
assert (overlap["status"] == 1).all()
# C8: with full overlap the largest lam wins (regime II), as long as samples are few
assert (few["lam_place"].sel(omega=1.0) == "highest").all()
assert (few["best_regime"].sel(omega=1.0) == "II").all()
# C9: with no overlap the smallest lam wins (regime I), at every alpha of the map
assert (overlap["lam_place"].sel(omega=0.0) == "lowest").all()
assert (overlap["best_regime"].sel(omega=0.0) == "I").all()
# in between the best lam is inside the interval, in regime IV, and rises with the overlap
middle = few.sel(alpha=slice(0.05, 0.1))
assert (middle["lam_place"].sel(omega=slice(0.3, 0.9)) == "interior").all()
assert (np.diff(middle["best_lam"].values, axis=0) >= 0.0).all()
# where C8 ends: once samples suffice to find a sparse vector by itself, sparse is best whatever the overlap
assert (overlap["best_regime"].sel(alpha=[0.4, 0.5]) == "I").all()
print(overlap["best_lam"].to_pandas().round(4))

# %% [markdown]
# One regime for the whole map would have to be IV; the map below says what it would cost, in units of the error.

# %%
assert overlap.attrs["single_regime"] == "IV"
assert float(overlap["gain"].min()) >= 0.0
assert float(overlap["gain"].max()) > 0.01
show(overlap, "error of regime IV everywhere, minus the least error", "heat", value="gain")

# %% [markdown]
# ## C10: a fine-tuning support inside the pretraining support
#
# Full overlap (omega = 1), but only a share of what pretraining used is needed: rho_FT from 0.005 to rho_PT = 0.1.

# %%
subset = pt.phase_diagram(
    rho_pt=0.1, rho_ft=np.geomspace(0.005, 0.1, 9), omega=1.0, alpha=ALPHA, lam=LAM, workers=1
)
show(subset, "omega = 1, rho_PT = 0.1", x="alpha", y="rho_ft")

# %%
# the published point: rho_FT = .01, alpha = .03, best at lam = -.99, regime IV, by 0.2459 against 0.3189 and 0.5613
spot = pt.phase_diagram(
    rho_pt=0.1, rho_ft=0.01, omega=1.0, alpha=0.03, lam=[-1 + 1e-6, -0.9999, -0.999, -0.99, -0.9, -0.5, 0.0, 0.5, 0.99]
)
assert np.allclose(spot["mse"], [0.3189, 0.2724, 0.2521, 0.2459, 0.2889, 0.3975, 0.4746, 0.5256, 0.5613], atol=6e-5)
assert (str(spot["best_regime"].values), float(spot["best_lam"])) == ("IV", -0.99)
# a band of regime IV separates few samples with many features (II) from enough samples (I), and moves with rho_FT
inside = subset["best_regime"] == "IV"
sparse = subset["rho_ft"].values < 0.05
assert inside.values[sparse].any(axis=1)[1:].all()
first_sparse = [float(subset["alpha"][int(np.argmax(row == "I"))]) for row in subset["best_regime"].values[:6]]
assert first_sparse == sorted(first_sparse)
assert first_sparse[0] < first_sparse[-1]

# %% [markdown]
# ## C11: imperfect pretraining
#
# Full overlap, but pretraining saw `alpha_PT` noiseless samples per dimension. What it got wrong is not worth keeping.

# %%
imperfect = pt.phase_diagram(
    rho_pt=0.1, rho_ft=0.1, omega=1.0, alpha_pt=[0.2, 0.25, 0.3, 0.4, 0.5], alpha=[0.05, 0.1, 0.15, 0.2, 0.3],
    lam=LAM[4::2], workers=1,
)
show(imperfect, "omega = 1, rho_PT = rho_FT = 0.1", x="alpha", y="alpha_pt")

# %%
at = imperfect.sel(alpha=0.2)
assert float(at["best_lam"].sel(alpha_pt=0.25)) < -0.5  # negative, and inside: -0.9 on the published grid
assert str(at["lam_place"].sel(alpha_pt=0.25).values) == "interior"
assert str(at["lam_place"].sel(alpha_pt=0.5).values) == "highest"  # enough pretraining: C8 again
assert (np.diff(imperfect["best_lam"].values, axis=0) >= 0.0).all()  # the less pretraining knew, the smaller lam

# %%
seconds = time.monotonic() - begun
print(f"{overlap['mse'].size + subset['mse'].size + imperfect['mse'].size} predictions, {seconds:.0f} s")
