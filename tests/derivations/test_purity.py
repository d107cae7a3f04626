"""Importing does no work, and the same points are met in every process."""

import subprocess
import sys

import pytest


def run(code, seed="0"):
    env = {"PYTHONHASHSEED": seed, "PATH": ""}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_loads_no_sympy():
    assert run("import sys, derivations; derivations.names(); print('sympy' in sys.modules)").strip() == "False"


def test_a_formula_needs_neither_of_the_other_packages():
    code = "import sys, derivations; derivations.derive('metrics').check(); "
    code += "print({'numerics', 'ptft_sym'} & set(sys.modules))"
    assert run(code).strip() == "set()"


@pytest.mark.parametrize("name", ["metrics"])
def test_formulas_and_points_do_not_depend_on_the_hash_seed(name):
    code = (
        "import derivations, sympy as sp\n"
        f"d = derivations.derive({name!r})\n"
        "print({k: sp.srepr(v) for k, v in d.results.items()})\n"
        "print(d['trade-off'].verdict.points, d['trade-off'].verdict)\n"
    )
    assert run(code, "1") == run(code, "2")


def test_without_flint_a_ball_proof_falls_back_to_sampling():
    code = (
        "import sys; sys.modules['flint'] = None\n"
        "import derivations\n"
        "v = derivations.derive('regimes')['I: what slow means'].verdict\n"
        "print(v.level, 'not installed' in v.evidence)\n"
    )
    assert run(code).strip() == "sampled True"
