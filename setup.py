"""What pyproject.toml cannot say: wheels and source archives carry the git revision, wheels the stored experiments.

Both are written into what is being built, never into the checkout.
"""

import runpy
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
version = runpy.run_path(str(HERE / "ptft_sym" / "version.py"))


def stamp(package: Path) -> None:
    """Leave the revision beside the code (an unpacked source archive hands on the one it carries)."""
    found = version["revision"]()
    if found:
        (package / version["STAMP"]).write_text(f"{found}\n", encoding="utf-8")


class BuildPy(build_py):
    """Add the revision, and the page that claims C12 to C14 are read from (ptft_sym/claims/stored.py)."""

    def run(self):
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "ptft_sym"
            stamp(package)
            shutil.copy(HERE / "benchmarks" / "nonlinear.md", package / "claims" / "nonlinear.md")


class Sdist(sdist):
    """Add the revision."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        stamp(Path(base_dir) / "ptft_sym")


setup(cmdclass={"build_py": BuildPy, "sdist": Sdist})
