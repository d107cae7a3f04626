"""Wheel and source archive: what is in them, that one gives the other, and that they work away from the checkout."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def done(words, **options):
    ran = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, **options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A clone with the files as they are now, so that building leaves nothing in the checkout."""
    root, place = Path(__file__).resolve().parents[2], tmp_path_factory.mktemp("source") / "clone"
    if not (root / ".git").exists():
        pytest.skip("no checkout")
    done(["git", "clone", "-q", "--no-hardlinks", root, place])
    listed = done(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root).split("\0")
    for name in filter(None, listed):
        if (root / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place / name)
        else:
            (place / name).unlink(missing_ok=True)  # deleted, not yet committed
    return place


@pytest.fixture(scope="module")
def built(source):
    """(source archive, wheel), as `make dist` builds them."""
    lines = done([sys.executable, ".ci/dist.py", "out"], cwd=source).splitlines()
    return [Path(re.sub(r" \(\d+ KiB\)$", "", line)) for line in lines]


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """An environment that holds our wheel, and beside it only the path to what we depend on."""
    place = tmp_path_factory.mktemp("installed")
    done([sys.executable, "-m", "venv", "--without-pip", place / "env"])
    python = place / "env" / "bin" / "python"
    done([sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", built[1]])
    site = Path(done([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    # a line in a .pth file is a folder to search; .pth files in that folder are not read, so our checkout stays out
    (site / "dependencies.pth").write_text(str(Path(pytest.__file__).resolve().parents[1]) + "\n")
    (place / "elsewhere").mkdir()
    env = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(place), "OMP_NUM_THREADS": "1"}
    return lambda *words: done(words, cwd=place / "elsewhere", env=env), place / "elsewhere", site


def test_the_wheel_holds_the_packages_and_nothing_else(built, source):
    names = zipfile.ZipFile(built[1]).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"ptft_sym", "derivations", "numerics"}
    assert not [name for name in names if "test" in name or name.endswith((".pyc", ".ipynb"))]
    wanted = {
        "numerics/codegen/accuracy.json", "ptft_sym/py.typed", "derivations/py.typed", "numerics/py.typed",
        "ptft_sym/revision.txt", "ptft_sym/claims/nonlinear.md",
    }  # fmt: skip
    assert wanted <= set(names)
    code = {str(p.relative_to(source)) for top in ("ptft_sym", "derivations", "numerics") for p in
            (source / top).rglob("*.py")}  # fmt: skip
    assert code == {name for name in names if name.endswith(".py")}


def test_the_checkout_and_the_archive_give_the_same_wheel(built, source, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("out", "build", "*.egg-info"))
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    done([sys.executable, "-c", code, tmp_path], cwd=copy)
    (direct,) = tmp_path.glob("*.whl")
    contents = [{n: z.read(n) for n in z.namelist() if not n.endswith("RECORD")} for z in
                (zipfile.ZipFile(direct), zipfile.ZipFile(built[1]))]  # fmt: skip
    assert contents[0].keys() == contents[1].keys()
    assert [name for name in contents[0] if contents[0][name] != contents[1][name]] == []


def test_the_archive_is_enough_to_work_with(built):
    with tarfile.open(built[0]) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    wanted = {
        "Makefile", "constraints.txt", ".ci/venv", "tests/conftest.py", "tests/sweep/functions/sweep_functions.py",
        "docs/img/curves.png", "notebooks/03_replica.py", "benchmarks/nonlinear.md", "LICENSE",
    }  # fmt: skip
    assert wanted <= names, wanted - names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", "build"))]


def test_it_works_from_another_folder(installed):
    run, folder, site = installed
    where = "import ptft_sym, derivations, numerics; print(ptft_sym.__file__, derivations.__file__, numerics.__file__)"
    assert run("python", "-W", "error", "-c", where).split() == [
        str(site / name / "__init__.py") for name in ("ptft_sym", "derivations", "numerics")
    ]
    assert re.fullmatch(r"ptft_sym [\d.]+ \([0-9a-f]{12}( dirty)?\)\n", run("ptft", "--version"))
    assert "0.0559" in run("ptft", "curve", "--alpha", "0.1", "--out", "c.csv")
    run("ptft", "kernels", "potential", "--backend", "c", "--out", "q.c")
    assert {p.name for p in folder.iterdir()} == {"c.csv", "q.c", "q.h"}
    assert "largest measured" in run("ptft", "kernels", "potential")  # accuracy.json came along
    assert "proved" in run("ptft", "derive", "metrics")
    stored = run("ptft", "claims", "C12", "C14", "--json")
    assert "Written by" in stored
    assert "not run" not in stored
    if shutil.which("cc"):
        done(["cc", "-c", "-Wall", "-Werror", "q.c"], cwd=folder)


def test_help_and_import_are_quick(installed):
    run, _, _ = installed
    code = "import time; t = time.process_time(); import ptft_sym; print(time.process_time() - t)"
    assert min(float(run("python", "-c", code)) for _ in range(3)) < 0.3
    spent = []
    for _ in range(3):
        before = os.times()
        run("ptft", "--help")
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert min(spent) < 0.6
