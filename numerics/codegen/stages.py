"""Splitting a program at its library calls, so that a compiler can vectorise what lies between them.

A loop that calls `asinh` runs one element at a time, and so does all the arithmetic in it.  Over a block of elements
the arithmetic before the calls, the calls, and the arithmetic after them are loops of their own; what a later one
needs of an earlier one waits in a short array.
"""

from __future__ import annotations

from dataclasses import dataclass

from numerics.codegen.program import FUNCTIONS, Program

__all__ = ["CALLS", "Stage", "stages"]

#: Operations that are calls to the C library, or are as good as one to a vectoriser.
CALLS = frozenset({*FUNCTIONS.values(), "pow"} - {"abs", "sign", "upper", "known"})


@dataclass(frozen=True)
class Stage:
    """Arithmetic, then calls on what it gives.

    `program` computes the values whose indices are `stored` (its outputs, in that order); `calls` are the indices of
    calls. Its arguments are arguments of the whole program, and `name(index)` of values stored before.
    """

    program: Program
    stored: tuple[int, ...]
    calls: tuple[int, ...]


def stages(program: Program, name) -> list[Stage]:
    """The stages in order; the outputs of the program are stored in the last one.

    name: gives a value's index the text by which a later stage reads it (arguments are read by their own name).
    """
    depth, read = _depths(program), _read(program)
    last = max([depth[o] + _is_call(program, o) for o in program.outputs], default=0)
    at = _latest(program, depth, last, read)
    found = []
    for level in range(last + 1):
        mine = [i for i, v in enumerate(program.values) if at[i] == level and read[i] and not _is_free(v)]
        calls = tuple(i for i in mine if _is_call(program, i))
        plain = [i for i in mine if i not in calls]
        needed = {o for call in calls for o in program.values[call].operands}
        later = [v for i, v in enumerate(program.values) if at[i] > level and read[i]]
        needed |= {*program.outputs, *(o for value in later for o in value.operands)}
        stored = tuple(i for i in plain if i in needed)
        outputs = program.outputs if level == last else stored
        found.append(Stage(_part(program, plain, outputs, name), outputs, calls))
    return found


def _is_call(program: Program, index: int) -> bool:
    return program.values[index].kind in CALLS


def _is_free(value) -> bool:
    return value.kind in ("argument", "constant")


def _read(program: Program) -> list[bool]:
    """Whether a result needs a value."""
    read = [index in program.outputs for index in range(len(program.values))]
    for index in reversed(range(len(program.values))):
        for operand in program.values[index].operands if read[index] else ():
            read[operand] = True
    return read


def _depths(program: Program) -> list[int]:
    """How many calls lie one after another before each value: the stage in which it can be computed first."""
    depth: list[int] = []
    for value in program.values:
        depth.append(max([depth[o] + _is_call(program, o) for o in value.operands], default=0))
    return depth


def _latest(program: Program, depth: list[int], last: int, read: list[bool]) -> list[int]:
    """The stage of each value: as late as its readers allow, so that little has to wait; calls as early as they can."""
    at = [last] * len(program.values)
    for index in reversed(range(len(program.values))):
        if _is_call(program, index):
            at[index] = depth[index]
        for operand in program.values[index].operands if read[index] else ():
            at[operand] = min(at[operand], at[index])
    return at


def _part(program: Program, plain: list[int], outputs: tuple[int, ...], name) -> Program:
    """A program of these values; what it reads of other stages is an argument."""
    part = Program(program.arguments)
    index: dict[int, int] = {}

    def read(old: int) -> int:
        if old not in index:
            value = program.values[old]
            kind, payload = ("argument", name(old)) if not _is_free(value) else (value.kind, value.payload)
            index[old] = part.emit(kind, payload=payload)
        return index[old]

    for old in plain:
        value = program.values[old]
        index[old] = part.emit(value.kind, *map(read, value.operands), payload=value.payload)
    part.outputs = tuple(read(output) for output in outputs)
    return part
