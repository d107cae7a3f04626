"""Sweeps over many settings: grids, resumable stores, local and Dask executors, and the maps made with them.

Names are loaded when first used: a worker process needs the machinery, not the maps.
"""

from importlib import import_module as _import_module

_HOMES = {
    "Sweep": "numerics.sweep.spec",
    "open_store": "numerics.sweep.store",
    "phase_diagram": "numerics.sweep.phases",
    "regime_map": "numerics.sweep.maps",
    "run_sweep": "numerics.sweep.run",
    "sweep": "numerics.sweep.run",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'numerics.sweep' has no attribute {name!r}")
    value = getattr(_import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
