"""Runs the code blocks of a Markdown page as a reader would: in order, in one folder, with one Python session."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(text):
    """The (language, code, line) of each fenced block that is Python or a console."""
    return [(m.group(1), m.group(2), text[: m.start()].count("\n") + 1) for m in _BLOCK.finditer(text)]


def run(page, folder):
    """What went otherwise than the page says, as sentences; blocks run in `folder`, in one namespace."""
    said, names, here = [], {}, Path.cwd()
    os.chdir(folder)
    try:
        for language, code, line in blocks(page.read_text(encoding="utf-8")):
            if language == "python":
                said += _python(code, names, f"{page.name}:{line}")
            else:
                said += [f"{page.name}:{line}: {sentence}" for sentence in _console(code)]
    finally:
        os.chdir(here)
    return said


def _python(code, names, where):
    if ">>>" not in code:
        exec(compile(code, where, "exec"), names)  # our own page; a failure is its own message
        return []
    test = doctest.DocTestParser().get_doctest(code, names, where, None, 0)
    test.globs = names  # the parser copied it, and the next block goes on where this one ended
    report = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append, clear_globs=False)
    return [f"{where}: {''.join(report)}"] if report else []


def _console(code):
    for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", code, re.M):
        done = subprocess.run(
            command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "160"},
        )  # fmt: skip
        if not doctest.OutputChecker().check_output(wanted, done.stdout, OPTIONS):
            yield f"`{command}` (exit code {done.returncode}) gave\n{done.stdout}\nand not\n{wanted}"
