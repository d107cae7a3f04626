"""The modules of the generator build on one another in one direction, imports inside functions included."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest


def graph(folder):
    """module -> the modules of the same package it imports, anywhere in its text."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        used = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("numerics.codegen"):
                tail = node.module.removeprefix("numerics.codegen").lstrip(".")
                used |= {tail} if tail else {alias.name for alias in node.names}
        found[path.stem] = used
    return {name: {other for other in used if other in found} for name, used in found.items()}


def test_no_module_imports_itself_through_others(root):
    modules = graph(root / "numerics" / "codegen")
    assert {"kernel", "verify", "report", "files", "headers"} <= set(modules)
    assert modules["verify"] >= {"kernel", "oracle"}
    order = tuple(TopologicalSorter(modules).static_order())
    assert order.index("kernel") < order.index("verify")


def test_a_circle_would_be_seen(tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    from numerics.codegen.b import g\n    return g\n")
    (tmp_path / "b.py").write_text("from numerics.codegen import a\n")
    with pytest.raises(CycleError):
        tuple(TopologicalSorter(graph(tmp_path)).static_order())
