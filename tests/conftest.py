"""What every test runs under: deterministic Hypothesis, a quiet matplotlib, mpmath at its default precision."""

import os
import sys
from pathlib import Path

import pytest

os.environ["MPLBACKEND"] = "Agg"  # before anybody imports matplotlib: no test may need a display
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # small matrices: threads only add noise to the timings

sys.path.insert(0, str(Path(__file__).parent))  # tests/oracles.py and tests/strategies.py, shared by every folder
sys.path.insert(0, str(Path(__file__).parent.parent))  # before tests/, whose folder `derivations` is no package

from hypothesis import HealthCheck, settings  # noqa: E402  (after the environment is set)

# `ci`: the same examples every time, so that a red run is reproduced by running it again.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, database=None, print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# `explore`: new random examples, many of them, kept in .hypothesis/ when they fail (`make explore`).
settings.register_profile(
    "explore", deadline=None, max_examples=2000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def _mpmath_default_precision():
    """mpmath's precision is global: a test that raises it must not decide the digits of the next one."""
    import mpmath

    mpmath.mp.dps = 15
    mpmath.iv.dps = 15
    yield
    mpmath.mp.dps = 15
    mpmath.iv.dps = 15


@pytest.fixture
def root():
    """The repository's root folder."""
    return Path(__file__).resolve().parent.parent
