"""The C printer's loops over arrays: blocks of elements, each a few loops that a compiler vectorises, and the calls.

Same operations in the same order as the function of one value, so the same bits.  Elements in a region of their own
(huge ratios) are computed by that region's function before the block is written out, so the result may be written over
an argument.
"""

from __future__ import annotations

from numerics.codegen.program import Program
from numerics.codegen.stages import stages
from numerics.codegen.text import Dialect, statements

__all__ = ["BLOCK", "print_loop"]

BLOCK = "PTFT_BLOCK"
_EACH = "for (size_t i = 0; i < m; ++i)"


def print_loop(
    signature: str,
    arguments: list[str],
    program: Program,
    targets: list[str],
    dialect: Dialect,
    guard: str = "",
    repairs: tuple[str, ...] = (),
    opening: str = "",
    scratch: tuple[str, ...] = (),
) -> str:
    """The function `signature`, which runs `program` over arrays.

    arguments, targets: names of the pointers read and written. The program's arguments are `name[i]`; its first outputs
    are for the targets, in order, further ones for `repairs`, which call them `extra0[i]`, ... and a target's value
    `result0[i]`, ... guard: where it holds, every result is NaN. opening: a statement that a block begins with, which
    may fill the arrays named in `scratch` for the program to read.
    """

    def name(index: int) -> str:
        return f"s{index}[i]"

    buffers = [f"result{j}" for j in range(len(targets))]
    buffers += [f"extra{j}" for j in range(len(program.outputs) - len(targets))]
    body = ["const size_t m = n < PTFT_BLOCK ? n : PTFT_BLOCK;"]
    body += [opening] if opening else []
    kept = [*scratch, *buffers]
    steps = stages(program, name)
    for stage in steps:
        final = stage is steps[-1]
        places = [f"{b}[i]" for b in buffers] if final else [name(index) for index in stage.stored]
        kept += [] if final else [f"s{index}" for index in stage.stored]
        lines, values = statements(stage.program, dialect, arguments)
        lines += [f"{place} = {value};" for place, value in zip(places, values, strict=True)]
        body += [f"{_EACH} {{", *(f"    {line}" for line in lines), "}"] if lines else []
        for call in stage.calls:
            value = program.values[call]
            operands = [_operand(program, operand, name, dialect) for operand in value.operands]
            body.append(f"{_EACH} {name(call)} = {dialect.calls[value.kind].format(*operands)};")
            kept.append(f"s{call}")
    body += [f"{_EACH} {repair}" for repair in repairs]
    results = buffers[: len(targets)]
    if guard:  # before anything is written, perhaps over an argument
        body += [f"{_EACH} {buffer}[i] = {guard} ? NAN : {buffer}[i];" for buffer in results]
    body += [f"{_EACH} {target}[i] = {buffer}[i];" for target, buffer in zip(targets, results, strict=True)]
    body += [f"{pointer} += m;" for pointer in (*arguments, *targets)] + ["n -= m;"]
    declared = "double " + ", ".join(f"{buffer}[{BLOCK}]" for buffer in kept) + ";"
    lines = [declared, "while (n > 0) {", *(f"    {line}" for line in body), "}"]
    return f"{signature}\n{{\n" + "\n".join(f"    {line}" for line in lines) + "\n}"


def _operand(program: Program, index: int, name, dialect: Dialect) -> str:
    value = program.values[index]
    if value.kind == "argument":
        return str(value.payload)
    return dialect.constant(value.payload) if value.kind == "constant" else name(index)
