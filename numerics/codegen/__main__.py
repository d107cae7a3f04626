"""`python -m numerics.codegen --write | --check | --measure`."""

from __future__ import annotations

import argparse
import sys


def main(argv: list[str] | None = None) -> int:
    """Run; the exit code is 1 when --check finds a stale file."""
    parser = argparse.ArgumentParser(prog="python -m numerics.codegen", description="Generate numerics/kernels/*.py.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the kernel files that changed")
    action.add_argument("--check", action="store_true", help="fail if a kernel file is not what the generator writes")
    action.add_argument("--measure", action="store_true", help="renew accuracy.json, which the headers quote (minutes)")
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME", help="with --measure: these kernels")
    options = parser.parse_args(argv)
    if options.measure:
        from numerics.codegen.renewal import renew

        renew(only=tuple(options.only))
        return 0
    from numerics.codegen import files

    if options.write:
        changed = files.write()
        print("written: " + ", ".join(changed) if changed else "nothing changed")
        return 0
    stale = files.check()
    print("stale: " + ", ".join(stale) if stale else f"{len(files.files())} files are up to date")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
