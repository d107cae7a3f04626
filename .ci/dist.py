"""Build the source archive, and from that the wheel: `python .ci/dist.py [FOLDER]` (default: dist).

The wheel is built from the unpacked archive, in a new folder, so that it holds what the archive holds and nothing
that an earlier build left behind. Uses the setuptools of the environment; nothing is downloaded.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build(what: str, source: Path, folder: Path) -> Path:
    """Call the PEP 517 hook `build_sdist` or `build_wheel` of setuptools in `source`: the file it wrote."""
    code = f"import sys; from setuptools import build_meta; print(build_meta.{what}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=source, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{what} failed in {source}:\n{done.stdout}{done.stderr}")
    return folder / done.stdout.splitlines()[-1]


def main(folder: Path) -> tuple[Path, Path]:
    """Both files, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (ROOT / "ptft_sym.egg-info" / "SOURCES.txt").unlink(missing_ok=True)  # a list of files from another day
    archive = build("build_sdist", ROOT, folder)
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
        (source,) = Path(place).iterdir()
        wheel = build("build_wheel", source, folder)
    return archive, wheel


if __name__ == "__main__":
    for path in main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()):
        print(f"{path} ({path.stat().st_size / 1024:.0f} KiB)")
