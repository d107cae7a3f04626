"""Nonlinear networks: models, training in two stages, interventions on scale, representations, and the ruler.

Everything here needs torch (extra `torch`), except `representation`, which is NumPy alone.
"""
