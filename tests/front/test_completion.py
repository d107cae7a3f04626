"""What the shell is offered: commands, options and values, through the scripts that the shells are given."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import derivations
from numerics.codegen.formulas import FORMULAS
from ptft_sym.claims import names as claim_names
from ptft_sym.cli import COMMANDS, complete

BIN = Path(sys.executable).parent


def ptft(tmp_path, **env):
    env = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path), **env}
    done = subprocess.run(["ptft"], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def offered(tmp_path):
    def ask(line):
        words = line.split(" ")
        return ptft(
            tmp_path, _PTFT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
        ).split()

    return ask


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ptft ", list(COMMANDS)),
        ("ptft de", ["demo", "derive"]),
        ("ptft derive im", ["implicit_bias"]),
        ("ptft derive metrics --form", ["--format"]),
        ("ptft derive metrics --format ", ["md", "tex", "html"]),
        ("ptft kernels potential_", ["potential_derivative", "potential_second_derivative"]),
        ("ptft kernels potential ell", ["ell_order"]),
        ("ptft kernels --backend ", ["numpy", "torch", "c", "mpmath"]),
        ("ptft claims C1", ["C1", "C10", "C11", "C12", "C13", "C14"]),
        ("ptft map ", ["regimes", "phases"]),
        ("ptft map regimes --value ell", ["ell_order", "ell_order_plus_pd"]),
        ("ptft simulate --method ", ["exact", "flow", "gd"]),
        ("ptft curve --noise", ["--noise", "--noise-pt"]),
        ("ptft finetune --scan ", ["lam"]),
        ("ptft train t", ["transformer"]),
        ("ptft verify pot", ["potential", "potential_derivative", "potential_second_derivative"]),
    ],
)
def test_words(offered, line, words):
    assert offered(line) == words


def test_words_are_those_of_the_registries():
    from derivations.ledger.show import FORMATS
    from numerics.codegen import BACKENDS
    from numerics.diagonal.simulate import METHODS

    expected = {
        "derivations": derivations.names(), "kernels": FORMULAS, "claims": claim_names(), "backends": BACKENDS,
        "formats": FORMATS, "methods": METHODS,
    }  # fmt: skip
    for name, words in expected.items():
        assert getattr(complete, name)("") == list(words)


def test_networks_are_those_of_the_experiments():
    pytest.importorskip("torch")
    assert complete.kinds("") == [*importlib.import_module("numerics.networks.experiment").KINDS, "all"]


def test_no_tab_waits_for_sympy_or_torch(tmp_path):
    code = (
        "import sys; from ptft_sym.cli import complete\n"
        "for name in complete.__all__: getattr(complete, name)('')\n"
        "print([m for m in ('sympy', 'torch', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_bash_itself_completes(tmp_path):
    """The installed script, sourced by a real bash that then asks for completions."""
    home = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    run = lambda text: subprocess.run(  # noqa: E731
        ["bash", "--noprofile", "--norc", "-c", text], env=home, capture_output=True, text=True, timeout=60
    )
    installed = run("ptft --install-completion; echo code $?")  # a second command: bash stays, and is what is found
    if "not supported" in installed.stderr:
        pytest.skip("the shell that runs the tests cannot be told from inside")
    assert "code 0" in installed.stdout, installed.stderr
    asked = "COMP_WORDS=(ptft kernels --backend t); COMP_CWORD=3; _ptft_completion ptft; echo \"${COMPREPLY[@]}\""
    done = run(f"source ~/.bashrc; {asked}; complete -p ptft")
    assert done.stdout.splitlines() == ["torch", "complete -o default -F _ptft_completion ptft"], done.stderr
    assert "_ptft_completion()" in run("ptft --show-completion; true").stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_get_script_and_words(tmp_path, shell):
    script = ptft(tmp_path, _PTFT_COMPLETE=f"source_{shell}")
    assert f"complete_{shell}" in script
    assert "_TYPER_COMPLETE_ARGS" in script
    words = {"_TYPER_COMPLETE_ARGS": "ptft derive im", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert "implicit_bias" in ptft(tmp_path, _PTFT_COMPLETE=f"complete_{shell}", **words)
    assert os.listdir(tmp_path) == []
