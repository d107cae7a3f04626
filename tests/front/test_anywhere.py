"""Commands from other folders: from the root, from one that cannot be written to, with results where --out says."""

import os
import subprocess
import sys

import pytest


def run(words, folder, **env):
    return subprocess.run(
        [sys.executable, "-m", "ptft_sym", *words], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, **env},
    )


@pytest.fixture
def closed(tmp_path):
    """A folder in which nothing can be made: not by root either, whom permissions do not stop."""
    if os.geteuid():
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o555)
        return folder
    if not os.path.isdir("/proc/self"):
        pytest.skip("root, and no folder that is closed to root")
    return "/proc"


def test_from_the_root(tmp_path):
    before = set(os.listdir("/"))
    assert run(["curve", "--alpha", "0.1", "--out", str(tmp_path / "a.csv")], "/").returncode == 0
    assert run(["kernels", "potential", "--out", str(tmp_path / "k.py")], "/").returncode == 0
    assert {p.name for p in tmp_path.iterdir()} == {"a.csv", "k.py"}
    assert set(os.listdir("/")) == before


def test_a_closed_folder_is_fine_with_out(tmp_path, closed):
    words = ["kernels", "potential", "--backend", "c", "--out", str(tmp_path / "q.c")]
    assert run(words, closed).returncode == 0
    assert {p.name for p in tmp_path.iterdir()} >= {"q.c", "q.h"}
    assert run(["curve", "--alpha", "0.1"], closed).returncode == 0


@pytest.mark.parametrize(
    "words",
    [["demo"], ["finetune"], ["map"], ["claims", "C4", "--out", "r"], ["curve", "--out", "a.csv"],
     ["derive", "metrics", "--out", "d.md"], ["kernels", "potential", "--out", "k.py"], ["simulate", "--out", "a.nc"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_closed_folder_is_refused_at_once(closed, words):
    done = run(words, closed)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "not writable: say with --out where results may go" in done.stderr
