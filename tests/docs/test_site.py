"""The whole site: it builds without a warning, its links hold, and a browser shows formulas without a network."""

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--no-first-run", "--disable-component-update", "--disable-sync", "--virtual-time-budget=20000",
    "--enable-logging=stderr",
]  # fmt: skip
COMPLAINT = re.compile(r"CONSOLE.*(error|fail|refused)", re.IGNORECASE)

pytestmark = pytest.mark.slow
browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built without executing notebooks (outputs that are there and fresh are shown).

    PTFT_SITE names one that `make docs` has just built.
    """
    if "PTFT_SITE" in os.environ:
        return Path(os.environ["PTFT_SITE"]).resolve(strict=True)
    out = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, ROOT / "docs" / "sphinx" / "build.py", "--no-notebooks", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr + done.stdout
    assert " 0 broken links" in done.stdout
    return out


def text_of(site, name):
    return (site / name).read_text(encoding="utf-8")


def test_every_derivation_public_name_and_command_has_its_place(site):
    import derivations
    import ptft_sym
    from ptft_sym.cli import COMMANDS

    assert {page.stem for page in (site / "theory").glob("*.html")} >= set(derivations.names())
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    assert not [name for name in ptft_sym.__all__ if not re.search(rf'id="[\w.]*\b{name}"', pages)]
    commands = text_of(site, "reference/cli.html")
    assert not [name for name in COMMANDS if f"ptft {name}" not in commands]


def test_verdicts_stand_beside_the_steps(site):
    import derivations

    page = html.unescape(text_of(site, "theory/metrics.html"))
    steps = derivations.derive("metrics").steps
    assert [step.name for step in steps if step.name not in page] == []
    assert page.count('proved">proved') == len(steps)


def test_the_conventions_are_those_of_the_readme(site):
    page = text_of(site, "docs/conventions.html")
    assert "effective fine-tuning scale" in page
    assert "<!--" not in page.split("<article")[1].split("</article")[0]


def show(page, folder, *flags):
    """(what the browser printed, what it logged) for one page."""
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout, done.stderr


PAGES = ["index.html", "docs/tutorial.html", "theory/metrics.html", "reference/index.html", "notebooks/index.html"]


@browser
@pytest.mark.parametrize("name", PAGES)
def test_a_browser_finds_nothing_to_complain_about(name, site, tmp_path):
    dom, log = show(site / name, tmp_path, "--dump-dom")
    assert "</html>" in dom
    assert [line for line in log.splitlines() if COMPLAINT.search(line)] == []
    if name.startswith("theory"):
        formulas = dom.count("<mjx-container")
        assert formulas > 10
        assert not re.search('<[^>]*(data-mjx-error|data-mml-node="merror")', dom)  # TeX that MathJax could not read
        assert formulas == len(re.findall(r'class="math[ "]', text_of(site, name)))


@browser
@pytest.mark.parametrize("width", [1280, 480])
def test_a_screenshot_is_a_page_and_not_a_blank(width, site, tmp_path):
    import numpy as np
    from PIL import Image

    picture = tmp_path / "shot.png"
    show(site / "theory" / "metrics.html", tmp_path, f"--screenshot={picture}", f"--window-size={width},1600")
    grey = np.asarray(Image.open(picture).convert("L"), float)
    assert grey.shape[1] == width
    assert 0.01 < (grey < 128).mean() < 0.5
