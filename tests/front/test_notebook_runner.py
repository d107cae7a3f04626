"""The notebook runner fails, and says where, whatever way a cell has of going wrong."""

import subprocess
import sys

import pytest

pytest.importorskip("nbclient")

CASES = {
    "good": ("# %%\nx = 1\n# %%\nassert x == 1\n", 0, "ok      good.py"),
    "raises": ("# %%\nx = 1\n# %%\nassert x == 2, 'no'\n", 1, "raises.py, cell 2 (assert x == 2, 'no'), raised Assert"),
    "dies": ("# %%\nimport os; os._exit(3)\n", 1, "dies.py, cell 1 (import os; os._exit(3)), killed its kernel"),
    "hangs": ("# %%\nimport time\ntime.sleep(600)\n", 1, "hangs.py, cell 1 (import time), ran past its 2 s"),
    "empty": ("# %% [markdown]\n# nothing\n", 1, "no code cell"),
}


@pytest.mark.parametrize("name", CASES)
def test_outcome(tmp_path, root, name):
    source, code, text = CASES[name]
    (tmp_path / f"{name}.py").write_text(source)
    done = subprocess.run(
        [sys.executable, root / ".ci" / "notebooks.py", "--timeout", "2", tmp_path / f"{name}.py"],
        capture_output=True, text=True, timeout=100,
    )
    assert done.returncode == code, done.stderr
    assert text in done.stdout + done.stderr


def test_figures_are_kept_whatever_the_shell_says(tmp_path, root, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "figure.py").write_text("# %%\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n")
    subprocess.run([sys.executable, root / ".ci" / "notebooks.py", tmp_path / "figure.py"], check=True, timeout=100)
    assert '"image/png"' in (tmp_path / "figure.ipynb").read_text()
