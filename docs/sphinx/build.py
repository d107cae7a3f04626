"""Build the documentation site and check its links; any warning, failed derivation step or broken link fails.

    python docs/sphinx/build.py [--no-notebooks] [--out build/site]

Pages come from the repository's Markdown, the docstrings, the commands' own help, the derivations' own rendering and
the executed notebooks. Nothing is fetched, neither now nor by the browser that shows a page.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("MPLBACKEND", "Agg")
sys.dont_write_bytecode = True  # docs/ stays as it was cloned


def main(argv=None):
    """Stage, build, check; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-notebooks", action="store_true", help="execute none: pages of stale ones lack outputs")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="where the site goes (replaced)")
    options = parser.parse_args(argv)
    out = options.out.resolve()
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        print(f"--out {options.out}: a folder that is no built site is not replaced", file=sys.stderr)
        return 2
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ptft-docs-") as work:
        source = Path(work) / "source"
        failed = stage_all(source, execute=not options.no_notebooks, say=_teller(clock))
        if failed:
            print(f"derivations with a failed step: {', '.join(failed)}", file=sys.stderr)
            return 1
        shutil.rmtree(out, ignore_errors=True)
        if code := sphinx(source, out, Path(work) / "doctrees"):
            return code
    return report(out, clock)


def _teller(clock):
    return lambda what: print(f"[{time.perf_counter() - clock:5.1f} s] {what}", flush=True)


def stage_all(source, execute, say):
    """Write every page that Sphinx will read; returns the derivations that failed."""
    import cli
    import lectures
    import plan
    import reference
    import stage
    import theory

    source.mkdir(parents=True)
    say("pages of the repository")
    documents = stage.stage(ROOT, source)
    say("notebooks")
    lectures.write(ROOT, source / "notebooks", execute)
    say("derivations, each claim checked")
    failed = theory.write(source / "theory")
    conventions = source / "docs" / "conventions.md"
    stage.fill(conventions, "README: Conventions", stage.section(source / "index.md", "Conventions"))
    stage.fill(conventions, "symbols", f"## Symbols of the derivations\n\n{theory.symbol_table()}")
    say("reference")
    reference.write(source / "reference")
    cli.write(source / "reference" / "cli.rst")
    landing = source / "index.md"
    made = ["theory/index", "notebooks/index", "reference/index", "reference/cli"]
    landing.write_text(
        f"{landing.read_text(encoding='utf-8')}\n{plan.toctrees([*documents, *made])}\n", encoding="utf-8"
    )
    say("Sphinx")
    return failed


def sphinx(source, out, doctrees):
    """Sphinx's exit code, with warnings as errors; all of them are shown before it gives up."""
    from sphinx.cmd.build import main as sphinx_main

    here = str(Path(__file__).parent)
    strict = ["-q", "-W", "--keep-going"]
    return sphinx_main([*strict, "-b", "html", "-c", here, "-d", str(doctrees), str(source), str(out)])


def report(out, clock):
    """Check the links of what was built, list the external ones, and say how it went."""
    import links

    broken, external = links.check(out)
    for sentence in broken:
        print(f"broken link: {sentence}", file=sys.stderr)
    (out / "external-links.txt").write_text("\n".join([*external, ""]), encoding="utf-8")
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{pages} pages in {out}, {len(broken)} broken links, {len(external)} external links not fetched "
          f"(external-links.txt), {time.perf_counter() - clock:.0f} s")  # fmt: skip
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
