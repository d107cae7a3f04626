"""The version: with the revision of a checkout, with that of a build, and without either."""

import subprocess
import sys

import pytest

import ptft_sym
from ptft_sym import version


def git(folder, *words):
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *own, *words], cwd=folder, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder that stands for the installed package."""
    folder = tmp_path / "ptft_sym"
    folder.mkdir()
    monkeypatch.setattr(version, "PACKAGE", folder)
    return folder


@pytest.fixture
def checkout(package):
    try:
        git(package.parent, "init", "-q")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git")
    (package / "a.py").write_text("a\n")
    git(package.parent, "add", ".")
    git(package.parent, "commit", "-q", "-m", "one")
    return package


def test_nothing_known(package):
    assert version.revision() is None
    assert version.describe() == ptft_sym.__version__


def test_what_a_build_left(package):
    (package / "revision.txt").write_text("0123456789ab\n")
    assert version.describe() == f"{ptft_sym.__version__} (0123456789ab)"
    (package / "revision.txt").write_text("\n")
    assert version.revision() is None


def test_a_checkout(checkout, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as inside somebody's hook
    head = git_without_hook(checkout.parent)
    assert version.revision() == head[:12]
    (checkout / "untracked.txt").write_text("x")
    assert version.revision() == head[:12]
    (checkout / "a.py").write_text("b\n")
    assert version.revision() == f"{head[:12]} dirty"


def git_without_hook(folder):
    import os

    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, env=env, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_package_inside_somebody_elses_repository_has_no_revision(checkout, monkeypatch):
    inner = checkout / "env" / "ptft_sym"
    inner.mkdir(parents=True)
    monkeypatch.setattr(version, "PACKAGE", inner)
    assert version.revision() is None


def test_no_git_and_broken_git(checkout, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert version.revision() is None
    monkeypatch.undo()
    monkeypatch.setattr(version, "PACKAGE", checkout)
    (checkout.parent / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    assert version.revision() is None  # no commit


def test_only_who_asks_waits_for_git():
    code = "import sys; from ptft_sym.cli import main\ntry: main(['derive'])\nexcept SystemExit: pass\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print('ptft_sym.version' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "False"
