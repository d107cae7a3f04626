"""How pretraining shapes the inductive bias of fine-tuning: the public names, each loaded when first used.

`import ptft_sym as pt` costs a few milliseconds: neither SymPy nor torch nor matplotlib is touched until a name that
needs it is (PEP 562). A name's home is its row in `_HOMES`; nothing else has to change when one is added.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

# public name -> (module, name there)
_HOMES = {
    # the values that enter everywhere
    "Initialization": ("numerics.task", "Initialization"),
    "Slab": ("numerics.task", "Slab"),
    "Task": ("numerics.task", "Task"),
    # the potential and its metrics
    "ell_order": ("numerics.kernels", "ell_order"),
    "potential": ("numerics.kernels", "potential"),
    "pretraining_dependence": ("numerics.metrics", "pretraining_dependence"),
    "solution_metrics": ("numerics.metrics", "solution_metrics"),
    # derivations and the code generated from them
    "derivations": ("derivations", "names"),
    "derive": ("derivations", "derive"),
    "generate": ("numerics.codegen", "generate"),
    "kernel": ("numerics.codegen", "kernel"),
    # the prediction in the limit of infinite dimension
    "ConvergenceError": ("numerics.replica", "ConvergenceError"),
    "certify": ("numerics.replica.certify", "certify"),
    "generalization_curve": ("numerics.replica", "generalization_curve"),
    "optimal_initialization": ("numerics.replica", "optimal_initialization"),
    # regimes, and sweeps over many settings
    "open_sweep": ("numerics.sweep", "open_store"),
    "phase_diagram": ("numerics.sweep", "phase_diagram"),
    "regime": ("numerics.regimes", "regime"),
    "regime_map": ("numerics.sweep", "regime_map"),
    "sweep": ("numerics.sweep", "sweep"),
    # exact solutions at finite dimension
    "compare": ("numerics.diagonal", "compare"),
    "finetune": ("numerics.diagonal.finetune", "finetune"),
    "finetune_scan": ("numerics.diagonal.finetune", "scan"),
    "gradient_flow": ("numerics.diagonal", "gradient_flow"),
    "interpolate": ("numerics.diagonal", "interpolate"),
    "simulate": ("numerics.diagonal", "simulate"),
    # the paper's claims, with evidence
    "claims": ("ptft_sym.claims", "claims"),
    # nonlinear networks
    "drift": ("numerics.networks.drift", "drift"),
    "estimate_bias": ("numerics.networks.estimators", "estimate_bias"),
}

__all__ = sorted(_HOMES)


def _refuse_hidden_packages():
    """Our two other packages have everyday names: say so when another folder is found in their place."""
    import os
    import sys
    from importlib.util import find_spec

    ours = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    for name in ("derivations", "numerics"):
        if name in sys.modules and getattr(sys.modules[name], "__spec__", None) is None:
            found = getattr(sys.modules[name], "__file__", None)  # find_spec would raise its own riddle here
        else:
            spec = find_spec(name)
            places = list((spec and spec.submodule_search_locations) or [])
            found = (spec and spec.origin) or (places and places[0]) or None
        expected = os.path.join(ours, name, "__init__.py")
        if found is None:
            raise ImportError(f"ptft_sym needs its own package {name!r} ({expected}), but it is gone: reinstall it")
        if os.path.realpath(found) != expected:
            raise ImportError(
                f"ptft_sym needs its own package {name!r} ({expected}), but {found} hides it: "
                "rename or move that one, or run from another folder"
            )


_refuse_hidden_packages()


def __getattr__(name):
    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'ptft_sym' has no attribute {name!r}") from None
    value = getattr(_import_module(module), attribute)
    globals()[name] = value  # the next access is an ordinary one
    return value


def __dir__():
    return sorted([*__all__, "__version__"])
