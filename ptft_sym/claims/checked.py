"""What the checker of the derivations says, as evidence."""

from __future__ import annotations

from ptft_sym.claims import Evidence

__all__ = ["derivation"]


def derivation(name: str, *steps: str) -> Evidence:
    """The checker's word on a derivation, or on some of its steps."""
    import derivations

    derived = derivations.derive(name)
    if steps:
        levels = [derived[step].verdict.level for step in steps]
        text = f"{name}: " + ", ".join(f"{s} {v}" for s, v in zip(steps, levels, strict=True))
        return Evidence("derivation", text, False if "failed" in levels else set(levels) == {"proved"} or None)
    ledger = derived.check()
    counts = ", ".join(f"{n} {level}" for level, n in ledger.counts.items() if n)
    return Evidence("derivation", f"{name}: {counts}", ledger.ok)
