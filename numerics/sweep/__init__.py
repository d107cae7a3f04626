"""Sweeps over many settings: grids, resumable stores, local and Dask executors, and the maps made with them."""

from numerics.sweep.maps import regime_map
from numerics.sweep.phases import phase_diagram
from numerics.sweep.regimes import regime
from numerics.sweep.run import run, sweep
from numerics.sweep.spec import Sweep
from numerics.sweep.store import open_store

__all__ = ["Sweep", "open_store", "phase_diagram", "regime", "regime_map", "run", "sweep"]
