"""One direction of knowledge, read off the imports of every file: derivations -> numerics -> ptft_sym."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("derivations", "numerics", "ptft_sym")


def imports(source, package):
    """(line, dotted name) of every import in `source`, wherever it stands; relative ones resolved against `package`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            name = ".".join([*stem, *([node.module] if node.module else [])])
            yield node.lineno, name
            yield from ((node.lineno, f"{name}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
            "import_module", "__import__",
        ):
            yield from ((node.lineno, a.value) for a in node.args if isinstance(a, ast.Constant) and a.value)


def forbidden(path):
    """The top-level packages that the file at `path` (relative to the root) may not import, with the reason."""
    room = path.parts
    if room[0] == "derivations":
        return {"numerics": "derivations imports neither other package", "ptft_sym": "derivations imports neither"}
    if room[0] == "numerics":
        rules = {"ptft_sym": "numerics does not know the front door"}
        if room[1] != "codegen":
            rules |= dict.fromkeys(("derivations", "sympy"), "only numerics/codegen, at build time")
        return rules
    return {}


def violations(path, source):
    package = ".".join(path.parent.parts)
    rules = forbidden(path)
    for line, name in imports(source, package):
        top = name.split(".")[0]
        if top in rules:
            yield f"{path}:{line}: imports {name} ({rules[top]})"
        if path.parts[0] == "numerics" and path.parts[1] != "codegen" and name.startswith("numerics.codegen"):
            yield f"{path}:{line}: imports {name} (code generation happens at build time)"


def test_every_file_obeys_the_table():
    files = [p.relative_to(ROOT) for top in OURS for p in sorted((ROOT / top).rglob("*.py"))]
    assert len(files) > 10
    found = [v for p in files for v in violations(p, (ROOT / p).read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("derivations/a.py", "import numerics.task"),
        ("derivations/a.py", "def f():\n    from ptft_sym import x"),
        ("derivations/ledger/a.py", "from importlib import import_module\nimport_module('numerics')"),
        ("numerics/a.py", "import sympy as sp"),
        ("numerics/replica/a.py", "from derivations import derive"),
        ("numerics/replica/a.py", "from ..codegen import formulas"),
        ("numerics/a.py", "from . import codegen"),
        ("numerics/codegen/a.py", "import ptft_sym"),
    ],
)
def test_the_walk_sees_each_kind_of_violation(path, source):
    assert list(violations(Path(path), source))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("numerics/codegen/a.py", "import sympy\nimport derivations"),
        ("numerics/replica/a.py", "from ..kernels import potential\nfrom . import quadrature\nimport numpy"),
        ("ptft_sym/a.py", "import numerics, derivations"),
        ("derivations/a.py", "from . import symbols\nimport sympy"),
    ],
)
def test_the_walk_lets_the_allowed_ones_pass(path, source):
    assert not list(violations(Path(path), source))


def test_numerics_runs_without_sympy():
    """The table again, at run time: sympy made unimportable, every module of numerics but codegen still loads."""
    modules = sorted(
        ".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for p in (ROOT / "numerics").rglob("*.py")
        if "codegen" not in p.parts and p.name != "__main__.py"
    )
    code = f"""
import importlib, sys
sys.modules["sympy"] = sys.modules["derivations"] = None
for name in {modules!r}:
    importlib.import_module(name)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
