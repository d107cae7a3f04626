"""The objects people hold: a kernel of the registry on one backend, or one generated from their own expression.

Calling a NumPy or torch kernel loads no SymPy; `.formula`, `.passes`, and the C and mpmath backends run the generator.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from numerics.codegen.formulas import FORMULAS, Formula, formula

if TYPE_CHECKING:
    import sympy as sp

    from numerics.codegen.passes import Trace

__all__ = ["BACKENDS", "Kernel", "UserKernel", "generate", "kernel"]

BACKENDS = ("numpy", "torch", "c", "mpmath")


class Kernel:
    """A formula of the registry on one backend: call it, read it, ask where it comes from.

    .name .backend .title .doc .arguments .contract (ulp)
    .source    self-contained text of the generated module (for "c": the source; .header is the header)
    .accuracy  the contract and what was measured, in one sentence
    .formula   the SymPy expression of the derivation, in the kernel's arguments
    .passes    the compiler's stages (str of it shows the expression after each pass)
    """

    def __init__(self, name: str, backend: str = "numpy"):
        self.row: Formula = formula(name)
        if backend not in BACKENDS:
            raise ValueError(f"backend = {backend!r} is not allowed: choose one of {', '.join(BACKENDS)}")
        if backend not in self.row.backends:
            raise ValueError(f"kernel {name!r} has no {backend} backend; it has {', '.join(self.row.backends)}")
        self.name, self.backend = name, backend
        self.title, self.doc, self.contract = self.row.title, self.row.doc, self.row.ulp
        self.arguments = tuple(self.row.arguments.values())

    def __reduce__(self):
        return kernel, (self.name, self.backend)

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(self.arguments)}), backend {self.backend}: {self.title}>"

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)

    @cached_property
    def function(self) -> Callable:
        """The plain function behind the call."""
        if self.backend == "numpy":
            import numerics.kernels as module
        elif self.backend == "torch":
            import numerics.kernels.torch_kernels as module
        elif self.backend == "c":
            from numerics.codegen.compile_c import load

            outputs = tuple(name for name, _ in self.row.outputs)
            return load(self.source, self.header, self.name, self.arguments, outputs)
        else:
            from numerics.codegen.export import execute

            return execute(self.source, self.name)
        return getattr(module, self.name)

    @property
    def accuracy(self) -> str:
        from numerics.codegen.accuracy import statement

        return statement(self.row, self.backend)

    @cached_property
    def passes(self) -> Trace:
        from numerics.codegen.passes import compile_formula

        return compile_formula(self.row)

    @property
    def formula(self) -> sp.Expr:
        return self.passes.formula

    @cached_property
    def source(self) -> str:
        from numerics.codegen.export import source

        return source([self.name], self.backend)

    @cached_property
    def header(self) -> str:
        from numerics.codegen.export import c_header

        return c_header([self.name])


def kernel(name: str, backend: str = "numpy") -> Kernel:
    """The kernel `name` ("potential", "prox", ...) on `backend` ("numpy", "torch", "c" or "mpmath").

    Raises ValueError for a name or a backend that does not exist.
    """
    for argument, value in (("name", name), ("backend", backend)):
        if not isinstance(value, str):
            raise TypeError(f"{argument} must be a word, got {value!r:.60} of type {type(value).__name__}")
    return _kernel(name, backend)


@cache
def _kernel(name: str, backend: str) -> Kernel:
    return Kernel(name, backend)


def names() -> tuple[str, ...]:
    """The names of all kernels, in the order of the registry."""
    return tuple(FORMULAS)


class UserKernel:
    """A person's own expression on one backend; as `Kernel`, with `.report` in place of a contract."""

    def __init__(self, name: str, backend: str, trace: Trace, source: str, header: str = ""):
        self.name, self.backend, self.source, self.header = name, backend, source, header
        self.passes, self.arguments = trace, tuple(trace.arguments.values())

    def __reduce__(self):
        return UserKernel, (self.name, self.backend, self.passes, self.source, self.header)

    def __repr__(self) -> str:
        return f"<generated {self.name}({', '.join(self.arguments)}), backend {self.backend}: {self.formula}>"

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)

    @cached_property
    def function(self) -> Callable:
        """The plain function behind the call."""
        if self.backend == "c":
            from numerics.codegen.compile_c import load

            return load(self.source, self.header, self.name, self.arguments)
        from numerics.codegen.export import execute

        return execute(self.source, self.name)

    @property
    def formula(self) -> sp.Expr:
        return self.passes.stages[0].expression

    @cached_property
    def report(self):
        """The measurement of this kernel against mpmath at 50 digits, at seeded points of its symbols' assumptions."""
        from numerics.codegen.report import measure_expression

        return measure_expression(self)

    @property
    def accuracy(self) -> str:
        return str(self.report)


def generate(expr: sp.Expr, args: Sequence[sp.Symbol], backend: str = "numpy", name: str = "kernel") -> UserKernel:
    """Generate code for your own SymPy expression.

    Parameters
    ----------
    expr : sympy.Expr
        In the symbols `args`; text is refused (nothing is ever evaluated or sympified from a string).
    args : sequence of sympy.Symbol
        The arguments, in order.  Any name is allowed; one that is a keyword of the target gets an underscore.
    backend : {"numpy", "torch", "c", "mpmath"}
    name : str
        The function's name.

    Raises
    ------
    TypeError
        For an expression that is not SymPy's, or (UnsupportedNode) one holding a node no printer knows.
    ValueError
        For a symbol that is no argument, a name that is no identifier, or an unknown backend.
    """
    import sympy as sp

    from numerics.codegen.export import user_source
    from numerics.codegen.passes import compile_expression

    if not isinstance(expr, sp.Expr):
        raise TypeError(f"expr must be a SymPy expression, got {type(expr).__name__}: {expr!r:.60}")
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be a sequence of SymPy symbols, got {args!r:.60} of type {type(args).__name__}")
    args = tuple(args)
    wrong = [a for a in args if not isinstance(a, sp.Symbol)]
    if wrong or len(set(args)) < len(args):
        raise TypeError(f"args must be distinct SymPy symbols, got {args!r:.80}")
    if not args:
        raise ValueError("args must not be empty: a constant needs no kernel")
    if backend not in BACKENDS:
        raise ValueError(f"backend = {backend!r} is not allowed: choose one of {', '.join(BACKENDS)}")
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"name = {name!r} is not allowed: it must be an identifier")
    unknown = sorted(str(s) for s in expr.free_symbols - set(args))
    if unknown:
        raise ValueError(
            f"expr holds {', '.join(unknown)}, which {'is' if len(unknown) == 1 else 'are'} not among args"
        )
    trace = compile_expression(expr, dict(zip(args, _identifiers(args, name), strict=True)))
    return UserKernel(name, backend, trace, *user_source(name, trace, backend))


def _identifiers(args: tuple[sp.Symbol, ...], name: str) -> list[str]:
    """Distinct identifiers for the symbols: their own names wherever those can be written."""
    taken, found = {"np", "mp", "torch", "math", name}, []
    for symbol in args:
        text = "".join(ch if ch.isalnum() or ch == "_" else "_" for ch in symbol.name) or "x"
        text = text if text.isidentifier() and not text.startswith("_") else f"x_{text}"
        while keyword.iskeyword(text) or text in taken or text in _HELPERS:
            text += "_"
        taken.add(text)
        found.append(text)
    return found


_WORDS = (
    "elementwise broadcast horner hypot patch select above beyond within constant out size ratio far near large dtype "
    "digits BLOCK range len tuple zip abs max min map all any float type str isinstance hasattr getattr"
)
#: Names that mean something inside a generated Python module.
_HELPERS = frozenset(_WORDS.split())
