"""Grids: what they accept, what they refuse by name, and that blocks cover a grid once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.sweep.axes import blocks, chunk_shape, grid, spaced


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], r"axes\.lam is empty"),
        ([0.0, float("nan")], r"axes\.lam\[1\] = nan"),
        ([0.0, float("inf")], r"axes\.lam\[1\] = inf"),
        ([0.0, 1.0, 0.5], r"axes\.lam is not monotone: 1 is followed by 0\.5"),
        ([0.0, 0.0], r"axes\.lam is not monotone"),
        ([3.0, 2.0, 2.5], r"axes\.lam is not monotone: 2 is followed by 2\.5"),
        (["a", "b", "a"], r"axes\.lam names a value twice"),
        ([1.0, "a"], r"axes\.lam must hold numbers only or words only"),
        ([True, False], r"axes\.lam must hold numbers only"),
        ([[1.0, 2.0]], r"axes\.lam must hold numbers only"),
        (0.5, r"axes\.lam must be a list"),
        ("abc", r"axes\.lam must be a list"),
        (np.array([]), r"axes\.lam is empty"),
        (np.zeros((2, 2)), r"axes\.lam must hold numbers"),
    ],
)
def test_an_axis_that_makes_no_sense_is_refused_by_name(values, words):
    with pytest.raises((TypeError, ValueError), match=words):
        grid({"lam": values})


def test_too_many_settings_and_odd_names_are_refused():
    with pytest.raises(ValueError, match=r"= 1000000000000 settings"):
        grid({"a": np.arange(10**4), "b": np.arange(10**4), "c": np.arange(10**4)})
    with pytest.raises(ValueError, match="not a name"):
        grid({"a b": [1]})
    with pytest.raises(ValueError, match=r"axes\.pair: lam is already set by axes\.lam"):
        grid({"lam": [0.0], "pair": {"lam": [0.0], "c": [1.0]}})


def test_values_keep_their_kind():
    made = grid({"seed": [3, 2, 1], "lam": [0, 0.5], "method": ["exact", "flow"], "x": np.float32([1, 2])})
    assert [axis.labels.dtype.kind for axis in made] == ["i", "f", "O", "f"]
    assert made[0].labels.tolist() == [3, 2, 1]  # falling is monotone too


def test_one_plus_log_spacing_is_even_in_the_logarithm_and_keeps_its_ends():
    values = spaced("lam", -0.9999, 0.99, 9, "one-plus-log")
    assert (values[0], values[-1]) == (-0.9999, 0.99)
    np.testing.assert_allclose(np.diff(np.log1p(values)), np.diff(np.log1p(values)).mean(), rtol=1e-11)
    for bad, words in (
        ({"count": 0}, "count"), ({"count": 2.0}, "count"), ({"start": float("nan")}, "start"),
        ({"spacing": "cubic"}, "spacing"), ({"start": -1.0}, "above -1"),
    ):
        with pytest.raises(ValueError, match=words):
            spaced("lam", **{"start": -0.9, "stop": 0.9, "count": 3, "spacing": "one-plus-log", **bad})


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 50))
def test_blocks_cover_every_setting_once_and_hold_the_right_values(shape, room):
    axes = grid({name: list(range(10 * i, 10 * i + n)) for i, (name, n) in enumerate(zip("abcd", shape, strict=False))})
    sides = chunk_shape(tuple(shape), room)
    seen = np.zeros(shape, int)
    for block in blocks(axes, sides):
        assert 1 <= block.size <= max(room, 1)
        seen[block.slices] += 1
        for flat in (0, block.size - 1):
            setting, single = block.setting(flat, {"z": 7}), block.single(flat)
            assert single.size == 1
            assert single.setting(0, {"z": 7}) == setting
            place = [part.start for part in single.slices]
            for axis, i in zip(axes, place, strict=True):
                assert setting[axis.name] == axis.labels[i]
            assert all(type(value) is int for value in setting.values())
    assert (seen == 1).all()
