"""What must hold for every derivation: nothing failed, nothing merely sampled, no floats, one place for symbols."""

import re
from pathlib import Path

import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

import derivations
from derivations import symbols
from derivations.ledger.step import KINDS


def flat(value):
    """The entries of a value of symbols.py: a symbol, or a container of them."""
    if isinstance(value, (tuple, list, set, frozenset, dict)):
        return [entry for part in value for entry in flat(part)]
    return [value]


VALUES = [entry for value in vars(symbols).values() for entry in flat(value)]
DECLARED = {s for value in VALUES if isinstance(value, sp.Basic | sp.MatrixBase) for s in value.free_symbols}
FUNCTIONS = {value for value in VALUES if isinstance(value, sp.core.function.UndefinedFunction)}
FUNCTIONS |= {f.func for value in VALUES if isinstance(value, sp.Basic) for f in value.atoms(AppliedUndef)}


@pytest.fixture(scope="module", params=derivations.names())
def derivation(request):
    return derivations.derive(request.param)


def test_every_step_is_proved_or_says_that_it_is_assumed(derivation):
    for step, verdict in derivation.check():
        expected = "assumed" if step.kind in ("definition", "assumption") else "proved"
        assert verdict.level == expected, f"{step.name}: {verdict}"
        if expected == "proved":
            assert verdict.points, f"{step.name} has no numerical guard"
            assert "not sampled" not in verdict.evidence, f"{step.name}: {verdict}"


def test_no_float_stands_anywhere(derivation):
    for expr in [step.claim for step in derivation] + [derivation.result, *derivation.results.values()]:
        assert not expr.atoms(sp.Float)


def test_symbols_come_from_the_one_place(derivation):
    for expr in [step.claim for step in derivation] + list(derivation.results.values()):
        used = {s for s in expr.free_symbols if isinstance(s, sp.Symbol)}
        assert used <= DECLARED, f"declared nowhere: {used - DECLARED}"
        assert {f.func for f in expr.atoms(AppliedUndef)} <= FUNCTIONS


def test_every_step_is_explained(derivation):
    assert derivation.title
    assert derivation.summary
    assert len(derivation.steps) >= 3
    assert derivation.result in derivation.results.values()
    for step in derivation:
        assert step.kind in KINDS
        assert len(step.reason) > 10
        assert step.source


def test_assumptions_are_where_they_are_expected():
    found = {
        (name, step.name)
        for name in derivations.names()
        for step in derivations.derive(name)
        if step.kind == "assumption"
    }
    assert {
        ("replica", "replica symmetry"),
        ("replica", "continuation and exchange of limits"),
        ("replica", "Gordon's comparison"),
        ("pretraining_channel", "independent stages"),
    } <= found


def test_no_symbol_is_made_elsewhere():
    folder = Path(derivations.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name != "symbols.py" and path.parent.name != "ledger":
            made = re.search(r"\b(symbols|Symbol|Function|Dummy|IndexedBase|MatrixSymbol)\(", path.read_text())
            assert not made, f"{path}: {made}"


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no derivation; choose one of gradient_flow"):
        derivations.derive("gradientflow")
