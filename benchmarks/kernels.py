"""Accuracy and speed of the kernels: `python benchmarks/kernels.py [NAME ...]`.

Errors in units in the last place against ball arithmetic; times are medians of processor time, as multiples of the
transcendental calls a kernel cannot avoid (one arcsinh and one sinh over the same array for q and the l-order, one
hypot for c_FT, k, S and q'', one arcsinh for q', one sinh for the dual map; the three for PD). "C time" is the compiled
loop over a loop with the same calls, same compiler and flags, at 1e5 elements.
"""

import sys

from numerics.codegen.formulas import FORMULAS
from numerics.codegen.table import accuracy_and_speed


def main(names):
    print(accuracy_and_speed(names or list(FORMULAS)))


if __name__ == "__main__":
    main(sys.argv[1:])
