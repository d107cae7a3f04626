"""Requests larger than the machine are refused with their size; a refused simulation leaves nothing on disk."""

import pytest

import ptft_sym as pt
from numerics.diagonal import memory

TASK, INIT = pt.Task(0.2, 0.5, 0.1), pt.Initialization(1e-2, -0.5, 0.1)


def test_a_design_larger_than_memory_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(memory, "_physical", lambda: 2**30)
    # 20000 x 10000 doubles: 1.6e9 bytes = 1.49 GiB
    with pytest.raises(ValueError, match=r"dim = 20000 with 10000 samples .* needs 1\.49 GiB .* machine's 1 GiB"):
        pt.simulate(TASK, INIT, 0.5, dim=20000, seeds=[0])


def test_pretraining_samples_and_seeds_in_one_batch_count(monkeypatch):
    monkeypatch.setattr(memory, "_physical", lambda: 8 * 20 * 10 * 2)
    assert pt.simulate(TASK, INIT, 0.5, dim=20, seeds=range(4)).sizes["seed"] == 4  # one seed at a time fits
    with pytest.raises(ValueError, match="dim = 20 with 30 samples and 1 seed"):
        pt.simulate(TASK, INIT, 0.5, dim=20, seeds=range(4), stages="full", alpha_pt=1.0)
    with pytest.raises(ValueError, match="dim = 20 with 10 samples and 4 seed"):
        pt.simulate(TASK, INIT, 0.5, dim=20, seeds=range(4), method="gd")


def test_an_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "_physical", lambda: None)
    memory.check_memory(10**7, 10**7)


@pytest.mark.parametrize(
    ("method", "option"),
    [("gd", {"lr": -1.0}), ("gd", {"momentum": 1.0}), ("gd", {"batch_size": 0}), ("gd", {"stop": 0.0}),
     ("gd", {"device": "nope"}), ("flow", {"stop": 1.0}), ("flow", {"rtol": 0.0})],
)  # fmt: skip
def test_a_refused_option_leaves_no_store(method, option, tmp_path):
    with pytest.raises(ValueError, match=next(iter(option))):
        pt.simulate(TASK, INIT, 0.5, dim=20, seeds=[0], method=method, store=tmp_path / "cells", **option)
    assert not list(tmp_path.iterdir())


def test_a_store_below_a_file_is_refused_before_the_work(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(NotADirectoryError):
        pt.simulate(TASK, INIT, 0.5, dim=20, seeds=[0], store=tmp_path / "mine" / "cells")
