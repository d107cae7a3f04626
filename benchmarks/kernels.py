"""Accuracy and speed of the kernels: `python benchmarks/kernels.py [NAME ...]`.

Errors in units in the last place against ball arithmetic; times are medians of processor time, as multiples of the
transcendental calls a kernel cannot avoid (one arcsinh and one sinh over the same array for q and the l-order, one
hypot for c_FT, k, S and q'', one arcsinh for q', one sinh for the dual map).
"""

import sys

from numerics.codegen.formulas import FORMULAS
from numerics.codegen.table import accuracy_and_speed, c_ratio


def main(names):
    print(accuracy_and_speed(names or list(FORMULAS)))
    print(f"\nC, potential: {c_ratio():.2f} times a loop with one asinh and one sinh (same compiler, same flags)")


if __name__ == "__main__":
    main(sys.argv[1:])
