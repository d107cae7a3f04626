"""Names in docstrings led to where the site documents them."""

import builtins
from importlib import import_module

import ptft_sym

_OURS = ("derivations", "numerics", "ptft_sym")


def resolve(app, env, node, contnode):
    """Sphinx's hook for a reference it could not resolve: a docstring names things as its own module sees them.

    Returns the link to the public name or to the class documented beside it; the bare words for a builtin and for a
    name of ours that exists without a page; None, which is a warning, for anything else.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip("~.")
    last = target.rpartition(".")[2]
    known = env.domaindata["py"]["objects"]
    for name in (f"ptft_sym.{last}", *(name for name in known if name.endswith(f".{last}"))):
        if name in known:
            return env.get_domain("py").resolve_xref(
                env, node["refdoc"], app.builder, node["reftype"], name, node, contnode
            )
    return contnode if hasattr(builtins, target) or exists(target, node.get("py:module")) else None


def exists(target, module=None):
    """Whether a name is real: `package.module.name` (or `.Class.name`) of ours, or a name in `module`."""
    for path in (target, f"{module}.{target}" if module else target):
        where, _, last = path.rpartition(".")
        if where.split(".")[0] not in _OURS:
            continue
        try:
            return hasattr(import_module(where), last)
        except ImportError:
            if "." in where and exists(where):
                return True
    return last in ptft_sym.__all__
