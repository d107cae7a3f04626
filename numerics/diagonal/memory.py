"""Memory that a simulation needs, compared with what the machine has before anything is drawn."""

from __future__ import annotations

import os

__all__ = ["check_memory", "designs_in_bytes"]


def designs_in_bytes(dim: int, samples: int, together: int = 1) -> int:
    """Bytes of the designs alone, in float64, for ``together`` seeds held at once.

    ``samples`` counts both stages. Two copies of the last one exist while it is being drawn and scaled, which is left
    out: this is what cannot be avoided.
    """
    return 8 * dim * samples * together


def check_memory(dim: int, samples: int, together: int = 1) -> None:
    """Raise ValueError, with the size, where the designs alone exceed the machine's memory."""
    have = _physical()
    needed = designs_in_bytes(dim, samples, together)
    if have is not None and needed > have:
        raise ValueError(
            f"dim = {dim} with {samples} samples and {together} seed(s) at once needs {needed / 2**30:.3g} GiB for the "
            f"designs alone: it must fit in this machine's {have / 2**30:.3g} GiB; lower dim, alpha or alpha_pt"
        )


def _physical() -> int | None:
    """Physical memory in bytes, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
