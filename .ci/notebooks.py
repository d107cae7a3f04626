"""Execute the notebooks: text masters (py:percent) -> .ipynb -> every cell run, in order, in a kernel of its own.

    python .ci/notebooks.py [NAMES ...] [--timeout SECONDS]

A cell that raises, a kernel that dies and a cell that runs past the time limit each fail the run, and the message names
the notebook and the cell with its first line. The executed .ipynb is left beside its master, for a person to open.
"""

import argparse
import os
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

import jupytext
import nbformat
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


class Failure(Exception):
    """A notebook that did not run to its end; the text says where and why."""


def run(master, timeout):
    """Execute one master; write the .ipynb beside it even when it fails, so that the outputs can be read."""
    with tempfile.TemporaryDirectory(prefix="nb") as sockets:
        _run(master, timeout, sockets)


def _run(master, timeout, sockets):
    notebook = jupytext.read(master)
    if not any(cell.cell_type == "code" for cell in notebook.cells):
        raise Failure(f"{master.name}: no code cell, so nothing would be checked")
    at = {"cell": None, "number": 0}

    def remember(cell, cell_index, **_):
        at.update(cell=cell, number=cell_index + 1)

    # The kernel is this very Python, whatever kernels are registered on the machine. The manager must be the
    # asynchronous one: with the blocking one nbclient cannot notice that a kernel died and waits for ever.
    kernel = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=40"]
    # Files as sockets, because another user of the machine could read what goes over TCP.
    files = {"transport": "ipc", "ip": f"{sockets}/k"} if os.name == "posix" else {}
    manager = AsyncKernelManager(kernel_cmd=kernel, **files)
    client = NotebookClient(
        notebook, km=manager, timeout=timeout, startup_timeout=120, on_cell_execute=remember,
        resources={"metadata": {"path": str(master.parent)}},
    )
    watchdog = threading.Timer(len(notebook.cells) * timeout + 180, _give_up, [master, at])
    watchdog.daemon = True
    watchdog.start()
    figures = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # shown, whatever the caller's shell says
    try:
        client.execute(env={**os.environ, **figures})
    except CellExecutionError as error:
        raise Failure(f"{_place(master, at)} raised {error.ename}: {error.evalue}\n{_plain(str(error))}") from None
    except CellTimeoutError:
        raise Failure(f"{_place(master, at)} ran past its {timeout} s") from None
    except DeadKernelError:
        raise Failure(f"{_place(master, at)} killed its kernel") from None
    finally:
        watchdog.cancel()
        run_sync(manager.shutdown_kernel)(now=True)  # nbclient leaves a manager that it was given to its giver
        nbformat.write(notebook, master.with_suffix(".ipynb"))


def _give_up(master, at):
    """The last resort, should nbclient itself hang: end the whole run rather than wait for CI's own limit."""
    print(f"FAILED  {_place(master, at)} hangs", file=sys.stderr, flush=True)
    os._exit(1)


def _place(master, at):
    if at["cell"] is None:
        return f"{master.name}, before its first cell,"
    first = (at["cell"].source.strip().splitlines() or [""])[0]
    return f"{master.name}, cell {at['number']} ({first}),"


def _plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("masters", nargs="*", type=Path, help="masters to run (default: notebooks/[0-9]*.py)")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that one cell may take")
    options = parser.parse_args(argv)
    masters = options.masters or sorted(FOLDER.glob("[0-9]*.py"))
    if not masters:
        print(f"no notebook found in {FOLDER}", file=sys.stderr)
        return 1
    failures = 0
    for master in masters:
        begun = time.perf_counter()
        try:
            run(master, options.timeout)
        except Failure as failure:
            failures += 1
            print(f"FAILED  {failure}", file=sys.stderr, flush=True)
        else:
            print(f"ok      {master.name}  {time.perf_counter() - begun:.1f} s", flush=True)
    print(f"{len(masters) - failures} notebooks ran to their end, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
