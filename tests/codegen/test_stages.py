"""Splitting a program at its calls: every value once, no earlier than what it reads, and the same result."""

import math
import random

import pytest

from numerics.codegen.program import Program
from numerics.codegen.stages import CALLS, stages

PLAIN = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "max": max,
}
CALLED = {"sin": math.sin, "cos": math.cos, "atan": math.atan}
DO = PLAIN | CALLED


def random_program(seed: int) -> Program:
    """Arithmetic and calls on two arguments and a constant, with one to three results anywhere in it."""
    rng = random.Random(seed)
    program = Program(("x", "y"))
    values = [program.emit("argument", payload=name) for name in "xy"] + [program.emit("constant", payload=0.75)]
    for _ in range(rng.randrange(30)):
        kind = rng.choice(list(DO))
        values.append(program.emit(kind, *rng.choices(values, k=1 if kind in CALLED or kind == "neg" else 2)))
    program.outputs = tuple(rng.choices(values, k=rng.randrange(1, 4)))
    return program


def run(program: Program, known: dict) -> list[float]:
    """Every value, in order; arguments are looked up by name, so that one read too early is a KeyError."""
    found = []
    for value in program.values:
        if value.kind == "argument":
            found.append(known[value.payload])
        elif value.kind == "constant":
            found.append(value.payload)
        else:
            found.append(DO[value.kind](*(found[o] for o in value.operands)))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_stages_compute_what_the_program_does(seed):
    program, known = random_program(seed), {"x": 0.3, "y": -1.25}
    whole = run(program, known)
    kinds, steps = [], stages(program, lambda index: f"s{index}")
    for step in steps:
        assert not CALLS & {value.kind for value in step.program.values}
        kinds += [value.kind for value in step.program.values if value.kind not in ("argument", "constant")]
        values = run(step.program, known)
        results = [values[output] for output in step.program.outputs]
        known |= {f"s{index}": value for index, value in zip(step.stored, results, strict=True)}
        for call in step.calls:
            operands = program.values[call].operands
            free = [program.values[o].kind in ("argument", "constant") for o in operands]
            given = [whole[o] if f else known[f"s{o}"] for o, f in zip(operands, free, strict=True)]
            known[f"s{call}"] = DO[program.values[call].kind](*given)
            kinds.append(program.values[call].kind)
    assert results == [whole[output] for output in program.outputs]
    assert len(kinds) <= sum(value.kind in DO for value in program.values)  # nothing is computed twice


def test_values_wait_for_the_stage_that_reads_them():
    program = Program(("x",))
    x = program.emit("argument", payload="x")
    early, sine = program.emit("mul", x, x), program.emit("sin", x)
    program.outputs = (program.emit("add", early, sine),)
    first, last = stages(program, lambda index: f"s{index}")
    assert (first.stored, first.calls, [v.kind for v in first.program.values]) == ((), (sine,), [])
    assert [v.kind for v in last.program.values] == ["argument", "mul", "argument", "add"]
