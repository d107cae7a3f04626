"""The checker refuses what is wrong, what says nothing, and what its hint does not prove."""

import dataclasses

import pytest
import sympy as sp

from derivations.ledger.ball import Ball, Number, Split
from derivations.ledger.bounds import AnyOf, BothSigns, Factors, Falling, Rising, Same, Signs, Times
from derivations.ledger.check import check_step
from derivations.ledger.proof import Algebra, ByLimit, Match, MatrixAlgebra, Substitute
from derivations.ledger.step import Derivation, Step, both, eq, ge, gt, le, lt
from derivations.symbols import X, beta, c, dof, ell, h, mu, p, s, t, u, vec_b, vec_beta, vec_nu


def verdict(claim, proof=None, kind="identity", given=()):
    return check_step(Step("step", kind, claim, "because", proof=proof, given=given))


WRONG = {
    "flipped sign": eq(sp.cosh(s) ** 2 + sp.sinh(s) ** 2, 1),
    "dropped factor": eq(sp.Derivative(sp.sinh(2 * s), s), sp.cosh(2 * s)),
    "swapped argument": eq(sp.Derivative(c * sp.asinh(beta / c), beta), c / sp.sqrt(c**2 + c**2)),
    "one part of two": both(eq(sp.Derivative(s**2, s), 2 * s), eq(sp.Derivative(s**3, s), 3 * s)),
    "wrong in the tenth digit": eq(sp.sinh(s), sp.sinh(s) * (1 + sp.Rational(1, 10**10))),
    "wrong in the fortieth digit": eq(sp.sinh(s), sp.sinh(s) * (1 + sp.Rational(1, 10**40))),
    "false inequality": lt(sp.sinh(h), h),
    "true on one side only": ge(u**3, 0),
    "wrong limit": eq(sp.Limit(sp.tanh(h), h, sp.oo), sp.Rational(99, 100)),
    "limit at the wrong end": eq(sp.Limit(sp.sinh(h) / h, h, sp.oo), 1),
    "wrong integral": eq(sp.Integral(sp.exp(-(t**2)), (t, -sp.oo, sp.oo)), sp.pi),
    "wrong matrices": eq(X * vec_b, 2 * (X * vec_b)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_claims_fail_whatever_the_hint(name):
    for proof in (None, ByLimit(), MatrixAlgebra(), Signs(), Match(s, sp.Integer(0)), AnyOf(Algebra(), Signs())):
        assert verdict(WRONG[name], proof).level == "failed"


EMPTY = {
    "the same twice": eq(sp.sinh(s), sp.sinh(s)),
    "evaluated away": sp.Eq(s, s),
    "true by construction": sp.Gt(c, 0),
    "a bare expression": sp.sinh(s),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("kind", ["identity", "definition"])
def test_claims_that_say_nothing_fail(name, kind):
    assert verdict(EMPTY[name], kind=kind).level == "failed"


def test_repeating_what_is_given_is_no_proof():
    rule = Step("rule", "definition", eq(u, sp.sinh(s)), "because")
    assert verdict(eq(u, sp.sinh(s)), given=(rule,)).level == "failed"
    assert verdict(eq(sp.sinh(s), u), given=(rule,)).level == "failed"
    assert verdict(eq(u**2 + 1, sp.cosh(s) ** 2), given=(rule,)).level == "proved"


def test_only_equations_can_be_inserted():
    bound = Step("bound", "inequality", gt(sp.sinh(h), h), "because", proof=Rising(h, Signs(2 * sp.sinh(h / 2) ** 2)))
    assert bound.verdict.level == "proved"
    assert verdict(eq(sp.sinh(h) + 1, h + 1), given=(bound,)).evidence == "bound is no equation and cannot be inserted"


def test_nothing_is_proved_from_a_sampled_step():
    weak = Step("weak", "inequality", eq(sp.sinh(s) * 1, (sp.exp(s) - sp.exp(-s)) / 2), "because", proof=Signs())
    assert weak.verdict.level == "sampled"
    assert verdict(eq(2 * sp.sinh(s) + 1, sp.exp(s) - sp.exp(-s) + 1), given=(weak,)).level == "sampled"


def test_definitions_define_something():
    for claim, why in (
        (eq(sp.sinh(s), u), "is not a name"),
        (eq(u, u**2 + 1), "is defined by itself"),
        (gt(u, s), "a definition is an equation"),
    ):
        assert why in verdict(claim, kind="definition").evidence
    assert verdict(eq(u, sp.sinh(s)), kind="definition").level == "assumed"


def test_a_failed_step_fails_those_that_use_it():
    bad = Step("bad", "identity", eq(u, u + 1), "because")
    assert verdict(eq(u**2, u**2 + 2 * u + 1), given=(bad,)).evidence.startswith("rests on a failed step")


def test_floats_are_refused():
    assert verdict(eq(sp.sinh(s) * 1.0, s)).evidence == "a floating-point number stands in the claim"


def test_true_but_unproved_is_only_sampled_and_lists_its_points():
    claim = gt(sp.sinh(h), h)
    found = verdict(claim, kind="inequality")
    assert found.level == "sampled"
    assert [set(point) for point in found.points] == [{"h"}] * 4
    assert verdict(claim, Rising(h, Signs(2 * sp.sinh(h / 2) ** 2))).level == "proved"


class TestHintsThatDoNotProve:
    """True claims with a hint that is wrong: sampled, not proved."""

    def sampled(self, claim, proof):
        assert verdict(claim, proof, kind="inequality").level == "sampled"

    def test_a_witness_that_is_another_expression(self):
        self.sampled(gt(sp.cosh(h), 1), Signs(sp.sinh(h)))

    def test_a_witness_whose_sign_is_not_known(self):
        self.sampled(gt(sp.cosh(h), 1), Signs(sp.cosh(h) - 1))

    def test_a_variable_that_starts_elsewhere(self):
        self.sampled(ge(sp.cosh(s), 1), Rising(s, Signs()))

    def test_a_gap_that_does_not_start_at_zero(self):
        self.sampled(gt(sp.cosh(h) - 1 + h**2, 0), Falling(h, Signs()))

    def test_a_product_with_a_factor_of_unknown_sign(self):
        self.sampled(gt(h * sp.cosh(h), 0), Factors(((h, 1, Signs()), (sp.cosh(h) - s + s, 2, Signs()))))

    def test_a_substitution_that_misses_values(self):
        self.sampled(ge(beta**2, 0), Substitute({beta: h}, {h: beta}, Signs()))

    def test_a_substitution_that_is_not_undone(self):
        self.sampled(ge(beta**2, 0), Substitute({beta: c * sp.sinh(s)}, {s: sp.asinh(beta)}, Signs()))

    def test_a_new_variable_that_is_already_taken(self):
        """s = asinh(beta/c) would tie beta to the s that stands in the claim."""
        claim = ge((beta - c * sp.sinh(s)) ** 2 + 1, 1)
        self.sampled(claim, Substitute({beta: c * sp.sinh(s)}, {s: sp.asinh(beta / c)}, Signs()))
        self.sampled(ge(beta**2 * p**2, 0), BothSigns(beta, p, Signs(p**4)))

    def test_a_slope_that_crosses_a_pole(self):
        """1/(1 - h) rises on both sides of its pole and is negative beyond it."""
        assert not Rising(h, Signs(1 / (1 - h) ** 2)).prove(gt(1 / (1 - h), 0)).proved

    def test_a_magnitude_that_cannot_be_zero(self):
        self.sampled(ge(beta**2, 0), BothSigns(beta, h, Signs()))

    def test_a_factor_of_unknown_sign(self):
        self.sampled(ge(beta**2, 0), Times(u, Signs()))

    def test_another_form(self):
        self.sampled(ge(beta**2, 0), Same(beta**2 + 1, Signs()))


def test_bounded_symbols_are_judged_by_their_ends():
    assert verdict(ge((ell - 1) * (2 - ell), 0), Signs((ell - 1) * (2 - ell)), "inequality").level == "proved"
    assert verdict(ge((ell - 1) * (3 - 2 * ell), 0), Signs((ell - 1) * (3 - 2 * ell)), "inequality").level != "proved"


def test_both_signs_and_times():
    assert verdict(ge(beta**4, 0), BothSigns(beta, p, Signs()), "inequality").level == "proved"
    assert verdict(gt(1 / c - 1 / (c + h), 0), Times(c * (c + h), Signs()), "inequality").level == "proved"


class TestBalls:
    """Ball arithmetic on a box, joined with a bound for the tail."""

    def test_a_box(self):
        inside = gt(sp.exp(-dof) + dof, sp.Rational(1, 2))  # dof is known to lie in [0, 1]
        assert Ball(dof, 0, 1).prove(inside).proved
        assert not Ball(dof, 0, sp.Rational(1, 2)).prove(inside).proved
        assert not Ball(dof, 0, 1).prove(gt(sp.exp(-dof) + dof, sp.Rational(3, 2))).proved

    def test_a_split_covers_the_half_line(self):
        claim = gt(sp.exp(-p) + p, sp.Rational(1, 2))
        rest = sp.Symbol("w", nonnegative=True)
        tail = Signs(sp.exp(-2 - rest) + sp.Rational(3, 2) + rest)
        assert Split(p, sp.Integer(2), Ball(p, 0, 2), tail, rest).prove(claim).proved
        assert not Split(p, sp.Integer(2), Ball(p, 0, 2), Signs(sp.Rational(3, 2) + rest), rest).prove(claim).proved
        assert not Split(p, sp.Integer(2), Ball(p, 1, 2), tail, rest).prove(claim).proved
        assert not Split(p, sp.Integer(3), Ball(p, 0, 2), tail, rest).prove(claim).proved
        assert not Split(p, sp.Integer(2), Ball(p, 0, 2), tail, h).prove(claim).proved

    def test_a_box_alone_is_no_proof_for_a_symbol_that_leaves_it(self):
        assert verdict(gt(sp.exp(-p) + p, sp.Rational(1, 2)), Ball(p, 0, 2), "inequality").level == "sampled"

    def test_numbers(self):
        assert Number().prove(gt(sp.pi, 3)).proved
        assert not Number().prove(gt(3, sp.pi)).proved
        assert not Number().prove(gt(sp.sqrt(2) ** 2 + sp.exp(1) - sp.exp(1), 2)).proved


def test_steps_must_come_before_their_use():
    first, second = (Step(name, "definition", eq(u, sp.sinh(s)), "because") for name in ("first", "second"))
    user = Step("user", "identity", eq(u**2, sp.sinh(s) ** 2), "because", given=(first,))
    with pytest.raises(ValueError, match="'user' uses 'first', which is not before it"):
        Derivation("d", "t", (second, user, first), u)
    with pytest.raises(ValueError, match="used twice: first"):
        Derivation("d", "t", (first, dataclasses.replace(first)), u)


def test_kinds_and_names_are_validated():
    with pytest.raises(ValueError, match="a step is one of definition, assumption"):
        Step("step", "lemma", eq(u, s), "because")
    derivation = Derivation("d", "t", (Step("only", "definition", eq(u, s), "because"),), u)
    with pytest.raises(KeyError, match="it has only"):
        derivation["other"]


def test_matrices_of_symbolic_size():
    swap = (X.T * vec_nu).T * (vec_b - vec_beta)
    assert verdict(eq(swap, vec_nu.T * (X * vec_b - X * vec_beta)), MatrixAlgebra()).level == "proved"
    assert verdict(eq(swap, vec_nu.T * (X * vec_b + X * vec_beta)), MatrixAlgebra()).level == "failed"


def test_levels_are_counted_by_kind():
    steps = (
        Step("a", "definition", eq(u, sp.sinh(s)), "because"),
        Step("b", "assumption", le(u, mu), "because"),
        Step("c", "identity", eq(sp.cosh(s) ** 2 - sp.sinh(s) ** 2, 1), "because"),
        Step("d", "inequality", gt(sp.sinh(h), h), "because"),
        Step("e", "identity", eq(s, t), "because"),
    )
    ledger = Derivation("d", "t", steps, u).check()
    assert ledger.counts == {"definitions": 1, "assumptions": 1, "proved": 1, "sampled": 1, "failed": 1}
    assert not ledger.ok
    assert "failed   identity" in str(ledger)
