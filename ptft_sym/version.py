"""Which version this is: the number, and the git revision of a checkout or of the checkout a wheel was built from.

Nothing here runs unless somebody asks (`ptft --version`): the answer may call git.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["describe", "revision"]

PACKAGE = Path(__file__).resolve().parent
#: Written by setup.py into wheels and source archives, never into a checkout.
STAMP = "revision.txt"


def describe() -> str:
    """The version, with the revision in parentheses where one is known."""
    from ptft_sym import __version__

    found = revision()
    return f"{__version__} ({found})" if found else __version__


def revision() -> str | None:
    """Twelve hex digits, followed by "dirty" where tracked files differ; None where nobody knows. Raises nothing."""
    root = PACKAGE.parent
    if (root / ".git").exists():  # of this folder itself: an environment may lie inside somebody else's repository
        return _from_git(root)
    try:
        return (PACKAGE / STAMP).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _from_git(root: Path) -> str | None:
    try:
        commit = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):  # no git, no commit yet, somebody else's folder, a slow disk
        return None
    return f"{commit} dirty" if changed else commit


def _git(root: Path, *words: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # a hook points elsewhere
    done = subprocess.run(
        ["git", "--no-optional-locks", "-C", str(root), *words], env=own, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=True, timeout=5,
    )  # fmt: skip
    return done.stdout.strip()
