"""Mutation controls: every claim, damaged on purpose, must be refused by the checker.

For each step that carries a verdict: flipped signs, dropped factors, raised powers, swapped functions and symbols,
wrong limits, reversed and over-tightened inequalities. A damaged side counts only if it differs from the original at
independent points (a flipped sign of an even argument changes nothing), found here with mpmath and not by the checker.
"""

import dataclasses
import hashlib
import random

import mpmath
import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

import derivations
from derivations.ledger.check import relations, with_given
from derivations.symbols import DOMAIN

FEW, MANY = 1, 4  # damaged versions of an equation in every run, and of each of its sides in the slow one
TURNED = {sp.sinh: sp.cosh, sp.cosh: sp.sinh, sp.asinh: sp.sinh, sp.log: sp.sqrt, sp.tanh: sp.cosh, sp.erfc: sp.erf}


def sites(expr, rebuild=lambda new: new):
    """(node, function that puts a replacement in its place), not inside variables of derivatives, integrals, limits."""
    yield expr, rebuild
    inner = expr.args[:1] if isinstance(expr, (sp.Derivative, sp.Integral, sp.Limit, sp.Subs)) else expr.args
    if isinstance(expr, (sp.Determinant, AppliedUndef)):
        return
    for position, arg in enumerate(inner):

        def put(new, position=position):
            args = list(expr.args)
            args[position] = new
            return rebuild(expr.func(*args))

        yield from sites(arg, put)


def damage(node):
    """Replacements for one node."""
    if node.is_Add:
        yield sp.Add(-node.args[0], *node.args[1:])
        yield sp.Add(*node.args[:-1], -node.args[-1])
    if node.is_Mul:
        factors = [f for f in node.args if f not in (1, -1)]
        if len(factors) > 1:
            yield sp.Mul(*[f for f in node.args if f is not factors[-1]])
            yield -node
    if node.is_Pow and node.exp.is_number:
        yield node.base ** (node.exp + 1)
    if type(node) in TURNED:
        yield TURNED[type(node)](*node.args)
    if isinstance(node, sp.exp):
        yield sp.exp(-node.args[0])
    if isinstance(node, sp.Integer) and abs(node) > 1:
        yield node + 1


def swaps(side):
    """Two symbols exchanged."""
    symbols = sorted((s for s in side.free_symbols if isinstance(s, sp.Symbol)), key=str)
    if len(symbols) > 1:
        yield side.subs({symbols[0]: symbols[-1], symbols[-1]: symbols[0]}, simultaneous=True)


def chosen(candidates, seed):
    candidates = list(dict.fromkeys(candidates))
    random.Random(hashlib.sha256(seed.encode()).hexdigest()).shuffle(candidates)
    return candidates


def numbers(expr, relation_symbols):
    """Values of an expression at three points of this file's own; None where it cannot be evaluated."""
    expr = expr.doit()
    pieces = sorted(expr.atoms(sp.Derivative) | expr.atoms(AppliedUndef), key=lambda p: -sp.count_ops(p))
    for piece in pieces:
        expr = expr.subs(piece, sp.Symbol(f"_{piece}", real=True))
    symbols = sorted(expr.free_symbols | relation_symbols, key=str)
    function = sp.lambdify(symbols, expr, "mpmath")
    values = []
    for point in range(3):
        rng = random.Random(point)
        at = []
        for symbol in symbols:
            low, high = DOMAIN.get(symbol, (sp.Rational(1, 3) if symbol.is_nonnegative else -2, 3))
            value = mpmath.mpf(float(low) + (float(high) - float(low)) * rng.uniform(0.05, 0.95))
            at.append(mpmath.mpf(rng.randint(2, 6)) if symbol.is_integer else value)
        values.append(function(*at))
    return values


def differs(side, damaged, relation):
    """Does the damage change the value, with the step's givens inserted by the caller?"""
    try:
        with mpmath.workdps(30):
            symbols = {s for s in relation.free_symbols if isinstance(s, sp.Symbol)}
            old, new = numbers(side, symbols), numbers(damaged, symbols)
            return any(abs(a - b) > 1e-6 * (1 + abs(a)) for a, b in zip(old, new, strict=True))
    except (TypeError, ValueError, ZeroDivisionError, NameError, OverflowError, AttributeError, NotImplementedError):
        return False


def damaged_equations(relation, step, per_side):
    """Equations with one damaged side."""
    left, right = relation.args
    if isinstance(left, sp.MatrixExpr):
        return [sp.Eq(left, 2 * right, evaluate=False), sp.Eq(-left, right, evaluate=False)]
    found = []
    for index, side in ((1, right), (0, left)):
        if found and per_side == FEW:
            break
        if side.atoms(sp.Limit) or side.atoms(sp.Integral):
            continue
        candidates = [put(new) for node, put in sites(side) for new in damage(node)] + list(swaps(side))
        candidates += [-side, 2 * side, side + 1] if index or not candidates else []
        kept = 0
        for new in chosen(candidates, f"{step.name}{index}"):
            pair = [left, right]
            pair[index] = new
            mutant = sp.Eq(*pair, evaluate=False)
            before, after = with_given(relation, step.given).args[index], with_given(mutant, step.given).args[index]
            if differs(before, after, relation):
                found.append(mutant)
                kept += 1
            if kept == per_side:
                break
    if right in (sp.oo, -sp.oo):
        found += [sp.Eq(left, -right, evaluate=False), sp.Eq(left, 0, evaluate=False)]
    if isinstance(left, sp.Limit):
        found += wrong_points(left, right)
    return found


def wrong_points(limit, value):
    """The limit taken at the other end of the half line, where the expression is somewhere else."""
    expr, variable, point, _ = limit.args
    other = sp.oo if point == 0 else sp.Integer(0)
    near = sp.Integer(10) ** 9 if other == sp.oo else sp.Rational(1, 10**9)
    try:
        with mpmath.workdps(60):
            there = numbers(expr.subs(variable, near), value.free_symbols)
            claimed = numbers(value, expr.free_symbols - {variable})
            if all(abs(a - b) > 0.05 * (1 + abs(b)) for a, b in zip(there, claimed, strict=True)):
                return [sp.Eq(sp.Limit(expr, variable, other, "+"), value, evaluate=False)]
    except (TypeError, ValueError, ZeroDivisionError, NameError, OverflowError, AttributeError):
        pass
    return []


def damaged_inequalities(relation):
    """The reversed claim, and one that asks for twice the gap it has."""
    left, right = relation.args
    turned = {sp.Gt: sp.Lt, sp.Lt: sp.Gt, sp.Ge: sp.Lt, sp.Le: sp.Gt}[relation.func]
    return [
        turned(left, right, evaluate=False),
        relation.func(left, right + 2 * (left - right), evaluate=False),
        relation.func(2 * right - left, right, evaluate=False),
    ]


def mutants(step, per_side):
    """Steps like this one with one relation damaged."""
    parts = relations(step.claim)
    for index, relation in enumerate(parts):
        equation = isinstance(relation, sp.Eq)
        for bad in damaged_equations(relation, step, per_side) if equation else damaged_inequalities(relation):
            claim = sp.And(*parts[:index], bad, *parts[index + 1 :], evaluate=False) if len(parts) > 1 else bad
            yield dataclasses.replace(step, claim=claim)


@pytest.mark.parametrize("name", derivations.names())
@pytest.mark.parametrize("per_side", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_every_damaged_claim_is_refused(name, per_side):
    refused, accepted, untouched = 0, [], []
    for step in derivations.derive(name):
        if step.kind in ("definition", "assumption"):
            continue
        count = 0
        for mutant in mutants(step, per_side):
            count += 1
            if mutant.verdict.level == "failed":
                refused += 1
            else:
                accepted.append(f"{step.name}: {mutant.claim}: {mutant.verdict}")
        if count == 0:
            untouched.append(step.name)
    print(f"{name}: {refused} of {refused + len(accepted)} damaged claims refused")
    assert not accepted, "\n".join(accepted)
    assert not untouched, f"no damage was found for {untouched}: do these claims say anything?"
