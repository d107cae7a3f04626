"""`benchmarks/ruler.py`: sections are replaced one by one, answers are kept, what cannot be learned is said."""

import importlib.util

import pytest
import torch


@pytest.fixture
def ruler(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    spec = importlib.util.spec_from_file_location("ruler_benchmark", root / "benchmarks" / "ruler.py")
    module = importlib.util.module_from_spec(spec)
    threads = torch.get_num_threads()
    spec.loader.exec_module(module)
    yield module
    torch.set_num_threads(threads)


def test_networks_are_asked_once_and_other_sections_stay(ruler, tmp_path, monkeypatch, capsys):
    few = [s for s in ruler.subjects() if s.name == "two-layer linear, lam 0.9, gamma 0"]
    stuck = few[0]._replace(name="stuck", options={**few[0].options, "amplitude": 1e6})
    monkeypatch.setattr(ruler, "subjects", lambda: [*few, stuck])
    page = tmp_path / "page.md"
    page.write_text("# The ruler, measured\n\n## First\n\nkept\n\n## Nonlinear networks\n\nold\n")
    arguments = ["--networks", "--seeds", "2", "--probes", "3", "--store", str(tmp_path / "s"), "--out", str(page)]
    ruler.main([*arguments, "--only", "mlp"])
    text = page.read_text()
    assert text.startswith("# The ruler, measured\n\n## First\n\nkept\n\n## Nonlinear networks")
    assert "\nold\n" not in text
    rows = [line for line in text.splitlines() if line.startswith(("| two", "| stuck"))]
    assert len(rows) == 4
    assert rows[3] == "| stuck | 1 | | | | | none |"
    assert "Outcomes: 2 " in text
    assert capsys.readouterr().out.count("seed") == 4
    ruler.main([*arguments, "--only", "mlp"])
    assert "seed" not in capsys.readouterr().out  # everything was on disk
    assert [line for line in page.read_text().splitlines() if line.startswith("| two")] == rows[:2]
    ruler.main([*arguments, "--only", "resnet"])
    assert "| two-layer" not in page.read_text()


def test_every_subject_is_named_once_and_has_a_control(ruler):
    names = [s.name for s in ruler.subjects()]
    assert len(set(names)) == len(names)
    for family in ("mlp", "resnet", "transformer"):
        assert any("scratch" in s.name for s in ruler.subjects() if s.family == family)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["resnet", "transformer"])
def test_the_readout_scale_is_seen(ruler, family):
    """A larger readout before fine-tuning depends less on pretraining, as gamma in the theory."""
    torch.set_num_threads(1)
    small, large = (
        ruler.ask(next(s for s in ruler.subjects() if s.name.endswith(f", gamma {g}") and s.family == family), 0, 6)
        for g in (".1", "10")
    )
    assert small["slope"] > 0.6
    assert large["slope"] < small["slope"] - 0.3
    assert 0.8 < small["additivity"] < 1.2
