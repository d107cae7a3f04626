"""What the shell offers for a value: each function takes the beginning that was typed and returns the words that fit.

The words come from the registries, none of which loads SymPy or torch: pressing Tab must not take seconds.
"""

from __future__ import annotations

__all__ = ["backends", "claims", "derivations", "formats", "kernels", "kinds", "maps", "methods", "values"]


def _fitting(words, beginning):
    return [word for word in words if word.startswith(beginning)]


def derivations(incomplete: str):
    from derivations import names

    return _fitting(names(), incomplete)


def kernels(incomplete: str):
    from numerics.codegen.formulas import FORMULAS

    return _fitting(FORMULAS, incomplete)


def claims(incomplete: str):
    from ptft_sym.claims.statements import STATEMENTS

    return _fitting(STATEMENTS, incomplete)


def backends(incomplete: str):
    from numerics.codegen import BACKENDS

    return _fitting(BACKENDS, incomplete)


def formats(incomplete: str):
    return _fitting(("md", "tex", "html"), incomplete)


def methods(incomplete: str):
    return _fitting(("exact", "flow", "gd"), incomplete)


def maps(incomplete: str):
    return _fitting(("regimes", "phases"), incomplete)


def values(incomplete: str):
    from ptft_sym.cli.map import VALUES

    return _fitting(VALUES, incomplete)


def scanned(incomplete: str):
    return _fitting(("lam",), incomplete)


def kinds(incomplete: str):
    """Networks that `ptft train` knows (numerics.networks.experiment.KINDS, which would load torch), and all."""
    return _fitting(("resnet", "transformer", "mlp", "all"), incomplete)
