"""The notebooks as pages: executed ones with their outputs; `.ci/notebooks.py` executes, this only writes down.

An executed notebook is used again while it is newer than its master and than every module it could have used.
"""

import base64
import html
import re
import subprocess
import sys

import jupytext
import nbformat

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotExecuted(RuntimeError):
    """A notebook that did not run to its end."""


def write(root, folder, execute=True):
    """Pages of all notebooks and their index; with `execute` those whose outputs are stale are executed first."""
    masters = sorted((root / "notebooks").glob("[0-9]*.py"))
    if execute:
        stale = [master for master in masters if not fresh(master, root)]
        if stale and subprocess.run([sys.executable, root / ".ci" / "notebooks.py", *stale]).returncode:
            raise NotExecuted("a notebook did not run to its end: see above")
    folder.mkdir(parents=True, exist_ok=True)
    titles = []
    for master in masters:
        executed = fresh(master, root)
        notebook = nbformat.read(master.with_suffix(".ipynb"), 4) if executed else jupytext.read(master)
        lines = page(notebook, master.stem, folder, executed)
        (folder / f"{master.stem}.md").write_text("\n".join(lines), encoding="utf-8")
        titles.append((master.stem, "" if executed else " (without outputs in this build)"))
    index = [
        "# The notebooks", "",
        "The derivations as lectures. Each is executed by the checks of the project, and asserts the numbers it shows; "
        "`make notebooks` leaves them as `notebooks/*.ipynb`.", "",
        *(f"- [](<{stem}.md>){note}" for stem, note in titles), "",
        "```{toctree}", ":hidden:", "", *(stem for stem, _ in titles), "```", "",
    ]  # fmt: skip
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


def fresh(master, root):
    """Whether the executed notebook is there, whole, of this master's cells, and newer than the code it ran."""
    done = master.with_suffix(".ipynb")
    if not done.exists():
        return False
    sources = [master, *(f for name in ("derivations", "numerics", "ptft_sym") for f in (root / name).rglob("*.py"))]
    if done.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        return False
    cells = nbformat.read(done, 4).cells
    return [c.source for c in cells] == [c.source for c in jupytext.read(master).cells] and all(
        cell.cell_type != "code" or (cell.execution_count and not _failed(cell)) for cell in cells
    )


def _failed(cell):
    return any(output.output_type == "error" for output in cell.outputs)


def page(notebook, stem, folder, executed=True):
    """The lines of one page; pictures go beside it."""
    lines = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "markdown":
            lines += [cell.source, ""]
        elif cell.cell_type == "code":
            lines += ["```python", cell.source, "```", ""]
            for place, output in enumerate(cell.get("outputs", []), 1):
                lines += _output(output, f"{stem}-{number}-{place}.png", folder)
    if not executed:
        note = ["```{note}", "Built without outputs; `make docs` without `--no-notebooks` has them.", "```", ""]
        at = next((i for i, line in enumerate(lines) if line.startswith("# ")), -1) + 1
        split = lines[at - 1].split("\n", 1) if at else [""]
        lines[max(at - 1, 0) : at] = [split[0], "", *note, *split[1:]]
    return lines


def _output(output, picture, folder):
    """One output in the richest form that a page can show: picture, formulas, table, words."""
    if output.output_type == "stream":
        return _words(output.text)
    data = output.get("data", {})
    if "image/png" in data:
        (folder / picture).write_bytes(base64.b64decode(data["image/png"]))
        return [f"![output of the cell above]({picture})", ""]
    if "text/markdown" in data:
        return [data["text/markdown"], ""]
    if "text/html" in data:
        body = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.S)
        return ["```{raw} html", f'<div class="output">{body}</div>', "```", ""]
    if "text/latex" in data:
        return ["$$", data["text/latex"].strip().strip("$").replace(r"\displaystyle", "").strip(), "$$", ""]
    return _words(html.unescape(data.get("text/plain", "")))


def _words(text):
    if not text.strip():
        return []
    return ["````{container} output-block", "```text", _ANSI.sub("", text).rstrip("\n"), "```", "````", ""]
