"""The root of `ptft`: a table of contents that loads nothing, and refusals that are one sentence."""

import importlib
import resource
import subprocess
import sys

import pytest

from ptft_sym import cli


def ptft(*args, **env):
    import os

    return subprocess.run(
        [sys.executable, "-m", "ptft_sym", *args], capture_output=True, text=True, timeout=120,
        env={**os.environ, "COLUMNS": "100", **env},
    )


def test_help_is_a_table_of_contents_and_quick():
    done = ptft("--help")
    assert done.returncode == 0
    for name, (_, line) in cli.COMMANDS.items():
        assert f"{name} " in done.stdout
        assert line in done.stdout
    assert min(_processor_seconds() for _ in range(3)) < 0.6


def _processor_seconds():
    """Of `ptft --help`: unlike the time on the clock, not that of whatever else the machine is doing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ptft("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from ptft_sym.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('sympy','torch','matplotlib','xarray','numpy','scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_loads_and_has_help(name):
    assert callable(importlib.import_module(cli.COMMANDS[name][0]).command)
    done = ptft(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: ptft {name}")


def test_version():
    import ptft_sym

    assert ptft("--version").stdout.strip().startswith(f"ptft_sym {ptft_sym.__version__}")


def test_unknown_command_and_option_exit_2():
    for args in (["nope"], ["demo", "--nope"], ["--nope"]):
        done = ptft(*args)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert "No such" in done.stderr


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("c = -1:\n must be > 0"), "c = -1: must be > 0"),
        (TypeError("x"), "x"),
        (KeyError("no derivation called 'x'"), "no derivation called 'x'"),
        (FileNotFoundError(2, "No such file or directory", "a.npy"), "a.npy: No such file or directory"),
        (RuntimeError(""), "RuntimeError"),
        (MemoryError(), "out of memory"),
        (MemoryError("9 TiB"), "not enough memory for this request; make it smaller (9 TiB)"),
        (
            ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"),
            "this needs torch, which is not installed: pip install 'ptft-sym[torch]'",
        ),
        (ModuleNotFoundError("No module named 'mine'", name="mine"), "No module named 'mine'"),
    ],
)
def test_refusals_are_one_sentence(error, text, monkeypatch, capsys):
    def fail(**_):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.delenv("PTFT_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 2
    assert capsys.readouterr().err == f"ptft: {text}\n"
    monkeypatch.setenv("PTFT_TRACEBACK", "1")
    with pytest.raises(type(error)):
        cli.main([])


def test_extras_are_those_of_the_project(root):
    import tomllib

    with open(root / "pyproject.toml", "rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    packages = {"sklearn": "scikit-learn", "flint": "python-flint"}
    for module, extra in cli.EXTRAS.items():
        assert any(row.startswith(packages.get(module, module)) for row in extras[extra]), module


@pytest.mark.parametrize("error", [KeyError("x"), AssertionError("x"), ZeroDivisionError()])
def test_our_own_bugs_keep_their_traceback(error, monkeypatch):
    def fail(**_):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(type(error)):
        cli.main([])
