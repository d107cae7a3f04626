"""Functions that sweeps call must be importable here and in worker processes: their folder goes onto sys.path."""

import sys
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).parent / "functions"
if str(FUNCTIONS) not in sys.path:
    sys.path.insert(0, str(FUNCTIONS))


@pytest.fixture
def calls(tmp_path):
    """A log that `sweep_functions.product` appends to, and a way to count its lines."""

    class Calls:
        path = str(tmp_path / "calls.log")

        def lines(self):
            log = tmp_path / "calls.log"
            return log.read_text().splitlines() if log.exists() else []

        def fresh(self):
            """Start counting anew."""
            (tmp_path / "calls.log").unlink(missing_ok=True)

    return Calls()
