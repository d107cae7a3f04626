"""Code generation: from a formula of `derivations` to a verified kernel.

    kernel(name, backend)         a kernel of the registry
    generate(expr, args, backend) one from your own SymPy expression
    python -m numerics.codegen --write | --check | --measure

Importing this package loads no SymPy; neither does calling a NumPy or torch kernel.
"""

from numerics.codegen.kernel import BACKENDS, Kernel, UserKernel, generate, kernel, names

__all__ = ["BACKENDS", "Kernel", "UserKernel", "generate", "kernel", "names"]
