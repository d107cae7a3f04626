"""What is wrong with a value: kinds of arguments, and the bad values that each kind is given."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

NAN, INF = math.nan, math.inf


class Case(NamedTuple):
    """One bad call: the argument, a word for what is wrong, the value, and what else to change in a good call."""

    argument: str
    label: str
    value: object
    others: dict

    @property
    def key(self) -> tuple[str, str]:
        return self.argument, self.label


class Kind(NamedTuple):
    """Bad values by label; `others` are the good values that have to change with the argument."""

    bad: dict[str, object]
    others: dict

    def but(self, **others) -> Kind:
        """The same bad values in a call with other good values."""
        return Kind(self.bad, others)

    def cases(self, name: str) -> list[Case]:
        return [Case(name, label, value, self.others) for label, value in self.bad.items()]


def number(low=-INF, high=INF, *, open_low=False, optional=False) -> Kind:
    """A real number in an interval."""
    bad = {"NaN": NAN, "inf": INF, "-inf": -INF, "text": "1.0", "list": [0.5, 0.5], "empty": [], "bool": True}
    bad |= {"complex": 1j, "mapping": {"value": 1.0}, "huge": 10**400}
    if not optional:
        bad["None"] = None
    if low >= 0.0:
        bad["negative"] = -0.5
    if low > 0.0 or (low == 0.0 and open_low):
        bad["zero"] = 0.0
    if low not in (0.0, -INF):
        bad["below"] = low * 0.9 if low > 0 else low * 1.1
    if high < INF:
        bad["above"] = high * 1.1
    return Kind(bad, {})


def count(low=1, high=None, *, optional=False) -> Kind:
    """An integer from `low` on."""
    bad = {"negative": -1, "fraction": 1.5, "float": 12.0, "NaN": NAN, "inf": INF, "text": "3", "list": [1, 2]}
    bad |= {"empty": [], "bool": True}
    if not optional:
        bad["None"] = None
    if low > 0:
        bad["zero"] = 0
    if low > 1:
        bad["below"] = low - 1
    if high is not None:
        bad["huge"] = 10**30
    return Kind(bad, {})


def array(ndim=None, *, positive=False, optional=False, good=((1.0,),)) -> Kind:
    """Real numbers; `good` is an acceptable value, spoiled in one entry at a time."""
    base = np.array(good, float)
    spoiled = {}
    for label, entry in (("NaN", NAN), ("inf", INF), ("-inf", -INF)):
        one = base.copy()
        one.flat[-1] = entry
        spoiled[label] = one
    bad = {**spoiled, "text": "text", "complex": base + 1j, "mapping": {"a": 1.0}, "ragged": [[1.0], [1.0, 2.0]]}
    bad |= {"words": ["a", "b"]}
    if not optional:
        bad |= {"None": None}
    if ndim is not None:
        bad |= {"empty": np.empty((0,) * ndim), "wrong shape": np.ones((2,) * (ndim + 1)), "scalar": 1.0}
    if positive:
        one = base.copy()
        one.flat[0] = -1.0
        zero = base.copy()
        zero.flat[0] = 0.0
        bad |= {"negative": one, "zero": zero}
    return Kind(bad, {})


def word(*, optional=False) -> Kind:
    """One of a list of words."""
    bad = {"other word": "nonsense", "empty": "", "number": 3, "NaN": NAN, "list": ["exact"]}
    return Kind(bad if optional else bad | {"None": None}, {})


def thing(*, optional=False) -> Kind:
    """A value of one of this package's types."""
    bad = {"number": 3, "NaN": NAN, "text": "text", "empty": [], "mapping": {"c": 1.0}}
    return Kind(bad if optional else bad | {"None": None}, {})


def these(**bad) -> Kind:
    """Bad values said one by one."""
    return Kind({label.replace("_", " "): value for label, value in bad.items()}, {})
