"""The committed files, what people can take away, and the two commands."""

import hashlib
import json
import re
import subprocess
import sys

import mpmath
import numpy as np
import pytest

from numerics.codegen import accuracy, files, kernel
from numerics.codegen.__main__ import main
from numerics.codegen.export import c_header, execute, source
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.verify import measurable
from ptft_sym.cli import main as command_line


def ptft(words):
    """Run the command line; its exit code."""
    with pytest.raises(SystemExit) as stop:
        command_line(words)
    return stop.value.code or 0


def test_the_committed_kernels_are_what_the_generator_writes():
    assert files.check() == []


HASHES = """
import hashlib, sys
from numerics.codegen import files
from numerics.codegen.export import c_header, source
from numerics.codegen.formulas import FORMULAS
assert sys.flags.hash_randomization == int(sys.argv[1] != "0")
stale = files.check()
assert not stale, stale
names = list(FORMULAS)
texts = [source(names, backend) for backend in ("numpy", "torch", "c", "mpmath")] + [c_header(names)]
print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""
SEEDS = ("0", "1", "20260")


@pytest.fixture(scope="module")
def generators():
    """One Python for each hash seed, all at once, generating everything."""
    running = {
        seed: subprocess.Popen(
            [sys.executable, "-c", HASHES, seed],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in SEEDS
    }
    yield running
    for process in running.values():
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_hash_seed_gives_the_same_text(seed, generators):
    """0 turns the randomisation of hashes off; the others are two different orders of every set."""
    out, errors = generators[seed].communicate(timeout=280)
    assert generators[seed].returncode == 0, errors
    names = list(FORMULAS)
    texts = [source(names, backend) for backend in ("numpy", "torch", "c", "mpmath")] + [c_header(names)]
    assert out.strip() == hashlib.sha256("".join(texts).encode()).hexdigest()


def test_a_stale_and_an_unknown_file_are_found(tmp_path, capsys):
    files.write(tmp_path)
    assert files.write(tmp_path) == []
    (tmp_path / "potential.py").write_text("# edited by hand\n")
    (tmp_path / "stray.py").write_text("")
    assert files.check(tmp_path) == ["potential.py", "stray.py"]


def test_the_check_command(capsys):
    assert main(["--check"]) == 0
    assert "are up to date" in capsys.readouterr().out


def test_headers_say_where_a_kernel_comes_from_and_nothing_of_this_machine(root):
    for name, row in FORMULAS.items():
        text = (root / "numerics" / "kernels" / f"{name}.py").read_text()
        head = text.split('"""')[1]
        assert f"derivations.{row.source[0]}" in head
        assert "Accuracy:" in head
        assert "Generator: numerics.codegen" in head
        assert not re.search(r"/(home|work|tmp|usr)/|20\d\d-\d\d|\d\d:\d\d", text)


def test_the_accuracy_record_is_inside_every_contract():
    record = accuracy.load()
    assert set(record) == {"numpy", "torch", "c"}
    for name in measurable():
        for backend in set(FORMULAS[name].backends) & set(record):
            entry = record[backend][name]
            assert entry["ulp"] <= FORMULAS[name].ulp, (backend, name)
            assert entry["points"] > 50_000
        assert f"largest measured {record['numpy'][name]['ulp']} ulp" in kernel(name).accuracy


def test_what_each_backend_promises():
    assert "4 roundings of the condition" in kernel("channel_moments", "c").accuracy
    assert "to the digits asked for" in kernel("prox", "mpmath").accuracy
    assert "ulp in float64 wherever" in kernel("potential", "c").accuracy  # there is no float32 in the C files
    assert "ulp in float64 and float32 wherever" in kernel("potential", "torch").accuracy
    for backend in ("numpy", "torch", "c", "mpmath"):
        assert kernel("potential", backend).accuracy[:60] in " ".join(source(["potential"], backend).split())


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_an_exported_file_works_without_this_project(tmp_path, backend):
    if backend == "torch":
        pytest.importorskip("torch")
    out = tmp_path / "mine.py"
    assert ptft(["kernels", "potential", "ell_order", "--backend", backend, "--out", str(out)]) == 0
    array = "torch.tensor([1.0, 2.5], dtype=torch.float64)" if backend == "torch" else "np.array([1.0, 2.5])"
    code = (
        "import sys; sys.path = ['.', *[p for p in sys.path if 'site-packages' in p or 'python3' in p]]; "
        f"import numpy as np, {backend}; import mine; x = {array}; "
        "print(float(mine.potential(x, 0.5)[0]), float(mine.ell_order(x, 0.5)[0])); "
        "ours = {m.split('.')[0] for m in sys.modules} & {'numerics', 'ptft_sym', 'derivations'}; assert not ours, ours"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    q, order = map(float, run.stdout.split())
    assert q == pytest.approx(0.41280074321445774714, rel=5e-16, abs=0)
    assert order == pytest.approx(1.7485863324001, rel=1e-13, abs=0)


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_every_exported_module_is_complete(backend):
    """One file for each kernel and one for all of them, run without imports of this project: the same numbers."""
    if backend == "torch":
        pytest.importorskip("torch")
    everything = source(list(FORMULAS), backend)
    assert not re.search(r"^\s*(from|import) (numerics|derivations|ptft_sym)", everything, re.M)
    for name, row in FORMULAS.items():
        values = [0.3 + 0.05 * i for i in range(len(row.arguments))]
        true = [float(part) for part in _parts(kernel(name, backend)(*values))]
        for text in (source([name], backend), everything):
            mine = [float(part) for part in _parts(execute(text, name)(*values))]
            assert mine == true, name


def _parts(out):
    return out if isinstance(out, tuple) else (out,)


def test_export_refuses_to_overwrite(tmp_path, capsys):
    out = tmp_path / "k.c"
    ptft(["kernels", "potential", "--backend", "c", "--out", str(out)])
    assert '#include "k.h"' in out.read_text()
    assert "ptft_potential_array" in (tmp_path / "k.h").read_text()
    assert ptft(["kernels", "potential", "--backend", "c", "--out", str(out)]) == 2
    assert "exists: choose another name" in capsys.readouterr().err
    assert ptft(["kernels", "potential", "--backend", "c", "--out", str(out), "--force"]) == 0


def test_listing_and_passes(capsys):
    ptft(["kernels", "potential"])
    assert "the implicit-bias potential q" in capsys.readouterr().out
    ptft(["kernels", "ell_order", "--passes"])
    assert "logarithmic slope" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["kernels", "nope"], ["kernels", "--backend", "fortran"], ["kernels", "nope", "--backend", "c"]],
)
def test_refusals_are_one_sentence_and_exit_code_two(words, capsys):
    assert ptft(words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_verify_reports_every_backend(capsys):
    assert ptft(["verify", "potential", "prox", "--points", "200"]) == 0
    out = capsys.readouterr().out
    assert "potential (numpy, float64)" in out
    assert "potential (c, float64)" in out
    assert "prox (numpy, float64)" in out
    assert "prox (torch, float64)" in out
    assert "prox (mpmath): the true values and the mpmath kernel are" in out
    assert "holds" in out


def test_verify_leaves_out_what_cannot_run_here(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("numerics.codegen.verify.compiler", list)
    assert ptft(["verify", "potential_derivative", "--points", "50"]) == 0
    out = capsys.readouterr().out
    assert "left out: torch, because PyTorch is not installed" in out
    assert "left out: c, because there is no C compiler" in out
    assert "(numpy, float64)" in out
    assert "(torch, float64)" not in out
    assert "(c, float64)" not in out


def test_verify_measures_kernels_of_several_results(capsys):
    assert ptft(["verify", "c_ft_sensitivities", "--points", "300"]) == 0
    out = capsys.readouterr().out
    for backend in ("numpy", "torch", "c"):
        assert f"c_ft_sensitivities ({backend}, float64)" in out
    assert out.count("roundings of the condition") == 3


def test_verify_fails_when_the_two_oracles_differ(capsys, monkeypatch):
    from numerics.codegen import verify

    monkeypatch.setattr(verify, "kernel", lambda name, backend: lambda *point: mpmath.mpf(1))
    monkeypatch.setattr("numerics.codegen.findings.implementations", lambda name: {})
    assert ptft(["verify", "potential", "--points", "20"]) == 1
    assert "broken: potential (mpmath)" in capsys.readouterr().err


def test_verify_fails_when_a_contract_is_broken(capsys, monkeypatch):
    from dataclasses import replace

    monkeypatch.setitem(FORMULAS, "potential", replace(FORMULAS["potential"], ulp=0.1))
    assert ptft(["verify", "potential", "--points", "100"]) == 1
    assert "broken: potential (numpy)" in capsys.readouterr().err


def test_speed_table_has_a_row_for_each_kernel():
    from numerics.codegen.table import accuracy_and_speed

    text = accuracy_and_speed(["potential_derivative", "soft_dof", "c_ft_sensitivities"], sizes=(1000,), count=50)
    rows = text.splitlines()
    assert len(rows) == 4  # head, rule, two kernels: the closed form of a limit has no contract
    assert rows[2].startswith("| potential_derivative | 3 ulp |")
    assert rows[3].startswith("| c_ft_sensitivities | 4 roundings |")
    assert len({row.count("|") for row in rows}) == 1


def test_the_record_is_sorted_json(root):
    text = accuracy.RECORD.read_text()
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n"
    assert np.isfinite([e["ulp"] for kernels in json.loads(text).values() for e in kernels.values()]).all()
