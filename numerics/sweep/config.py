"""A sweep from a TOML file: every key is known or refused by name, before anything runs."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import NamedTuple

from numerics.regimes import Nearness
from numerics.sweep.axes import spaced
from numerics.sweep.parameters import INIT
from numerics.sweep.spec import Sweep

__all__ = ["Config", "load", "values"]

_KEYS = ("name", "kind", "function", "outputs", "chunk", "axes", "fixed", "best", "figures")
_BEST = ("over", "reference", "rich", "lazy", "independent", "dependent")
_RANGE = ("start", "stop", "count", "spacing")


class Config(NamedTuple):
    """A checked sweep, the axes its best is taken over (empty: no best), thresholds, and figures as written."""

    name: str
    sweep: Sweep
    over: tuple[str, ...]
    near: Nearness
    reference: tuple[float, float]
    figures: list[dict]


def load(path: str | os.PathLike) -> Config:
    """Read and check a configuration.

    Raises
    ------
    OSError
        When the file cannot be read.
    TypeError, ValueError, ImportError
        With the key that is wrong in the first words.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from None
    _known("", text, _KEYS)
    for key in ("axes", "fixed", "best"):
        _table(key, text.get(key, {}))
    if not text.get("axes"):
        raise ValueError("axes is empty: a sweep needs at least one axis, such as [axes] lam = [-0.9, 0.0, 0.9]")
    kind = _text("kind", text.get("kind", "replica"))
    axes = {name: values(f"axes.{name}", value) for name, value in text["axes"].items()}
    fixed = text.get("fixed", {})
    outputs = text.get("outputs", [])
    if not isinstance(outputs, list):
        raise TypeError(f"outputs = {outputs!r:.60} is not allowed: list the names of the numbers it returns")
    sweep = Sweep.of(
        kind, axes, fixed, function=text.get("function"), outputs=tuple(outputs), chunk=text.get("chunk")
    )
    over, near, reference = _best(text.get("best"), sweep)
    figures = text.get("figures", [])
    if not isinstance(figures, list) or not all(isinstance(figure, dict) for figure in figures):
        raise TypeError("figures must be an array of tables, each headed [[figures]]")
    return Config(_text("name", text.get("name", path.stem)), sweep, over, near, reference, figures)


def values(key: str, value: object) -> object:
    """The values of an axis: a list as it is, or ``{start, stop, count, spacing}`` spread out."""
    if not isinstance(value, dict):
        return value
    _known(key, value, _RANGE)
    for name in _RANGE[:3]:
        if name not in value:
            raise ValueError(f"{key}.{name} is missing: a range needs start, stop and count")
    return spaced(key, value["start"], value["stop"], value["count"], value.get("spacing", "linear"))


def _best(table: dict | None, sweep: Sweep) -> tuple[tuple[str, ...], Nearness, tuple[float, float]]:
    if table is None:
        return (), Nearness(), (1.0, 1.0)
    _known("best", table, _BEST)
    if sweep.kind != "replica":
        raise ValueError(f"best belongs to kind = 'replica', not to kind = {sweep.kind!r}")
    over = table.get("over", [axis.name for axis in sweep.axes if axis.name in INIT])
    named = {axis.name for axis in sweep.axes}
    if not isinstance(over, list) or not over or not all(name in INIT and name in named for name in over):
        raise ValueError(f"best.over = {over!r} is not allowed: list axes among {', '.join(INIT)}")
    reference = table.get("reference", [1.0, 1.0])
    if not isinstance(reference, list) or len(reference) != 2 or not all(
        isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) < 1e150 for v in reference
    ):
        raise ValueError(f"best.reference = {reference!r} is not allowed: write [beta_ft, beta_pt]")
    try:
        near = Nearness(**{name: value for name, value in table.items() if name in _BEST[2:]})
    except (TypeError, ValueError) as error:
        raise ValueError(f"best.{error}") from None
    return tuple(over), near, (float(reference[0]), float(reference[1]))


def _known(key: str, table: dict, names: tuple[str, ...]) -> None:
    for name in table:
        if name not in names:
            where = f"{key}.{name}" if key else name
            raise ValueError(f"{where}: unknown key; known are {', '.join(names)}")


def _table(key: str, value: object) -> None:
    if not isinstance(value, dict):
        raise TypeError(f"{key} = {value!r:.60} is not allowed: it must be a table, headed [{key}]")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "/" in value or "\\" in value or value.startswith("."):
        raise ValueError(f"{key} = {value!r:.60} is not allowed: it must be a word")
    return value
