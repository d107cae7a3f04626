"""What the theory gives, in numbers: kernels, the replica solver, exact and trained networks."""

__version__ = "0.1.0"
