"""`import ptft_sym`: what it loads, what it offers, and what it says when our neighbours are hidden."""

import importlib
import subprocess
import sys
import tomllib

import pytest

import ptft_sym

HEAVY = ("sympy", "torch", "matplotlib", "xarray", "numpy", "scipy", "mpmath", "pandas", "sklearn", "typer", "rich")


def python(code, cwd=None, **more):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=cwd, capture_output=True, text=True, timeout=120, **more
    )


def test_import_loads_nothing_heavy():
    done = python(f"import sys, ptft_sym; dir(ptft_sym); print([m for m in {HEAVY!r} if m in sys.modules])")
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_import_takes_milliseconds():
    code = "import time; t = time.process_time(); import ptft_sym; print(time.process_time() - t)"
    assert min(float(python(code).stdout) for _ in range(3)) < 0.3


def test_every_row_of_the_table_resolves():
    for name, (module, attribute) in ptft_sym._HOMES.items():
        home = importlib.import_module(module)
        # a name that is also a subpackage may be bound to that instead (see the test below)
        assert getattr(ptft_sym, name) in (getattr(home, attribute), home)
        assert callable(getattr(ptft_sym, name))


def test_a_public_name_that_is_also_a_subpackage_stays_callable(root):
    """Importing `ptft_sym.claims` binds the package to the name `claims`, whatever the table says."""
    both = [n for n in ptft_sym.__all__ if (root / "ptft_sym" / n).is_dir() or (root / "ptft_sym" / f"{n}.py").exists()]
    for name in both:
        code = f"import ptft_sym.{name} as m, ptft_sym as pt; assert callable(pt.{name}); m.__path__"
        assert python(code).returncode == 0, name


def test_dir_star_and_version(root):
    names = dir(ptft_sym)
    assert {"Task", "Initialization", "interpolate", "derive", "__version__"} <= set(names)
    assert set(ptft_sym.__all__) <= set(names)
    with open(root / "pyproject.toml", "rb") as file:
        assert ptft_sym.__version__ == tomllib.load(file)["project"]["version"]


def test_every_package_is_shipped(root):
    """pyproject.toml names the packages one by one: a forgotten one would be missing from the wheel only."""
    with open(root / "pyproject.toml", "rb") as file:
        named = tomllib.load(file)["tool"]["setuptools"]["packages"]
    found = {
        ".".join(p.parent.relative_to(root).parts)
        for top in ("derivations", "numerics", "ptft_sym")
        for p in (root / top).rglob("*.py")
    }
    assert sorted(named) == sorted(found)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'ptft_sym' has no attribute 'tsak'"):
        ptft_sym.tsak  # noqa: B018


@pytest.mark.parametrize("name", ["derivations", "numerics"])
@pytest.mark.parametrize("kind", ["package", "file", "folder"])
def test_a_hidden_neighbour_is_one_clear_sentence(tmp_path, name, kind):
    if kind == "file":
        hiding = tmp_path / f"{name}.py"
        hiding.write_text("")
    else:
        hiding = tmp_path / name
        hiding.mkdir()
        (hiding / ("__init__.py" if kind == "package" else "notes.txt")).write_text("")
    done = python("import ptft_sym", cwd=tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    if kind == "folder" and done.returncode == 0:
        return  # an installed package beats a plain folder; an editable install may lose to it
    assert done.returncode == 1
    assert last.startswith(f"ImportError: ptft_sym needs its own package '{name}'")
    assert str(hiding) in last


def test_a_neighbour_already_imported_from_elsewhere_is_noticed(tmp_path):
    code = "import sys, types; sys.modules['numerics'] = types.ModuleType('numerics'); import ptft_sym"
    assert "ptft_sym needs its own package 'numerics'" in python(code, cwd=tmp_path).stderr.splitlines()[-1]
