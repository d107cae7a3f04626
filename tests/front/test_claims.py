"""The claims ledger: verdicts follow from evidence, stored results are read as written, the command writes its page."""

import json

import pytest

from ptft_sym.claims import Claim, Evidence, claims, names, to_markdown
from ptft_sym.claims.stored import read
from ptft_sym.cli import main

PAGE = """# Claims
Written by `python benchmarks/nonlinear.py` (torch 2).
12 runs, 3 minutes of training in all on one thread of a shared machine.

## C12 ResNet: smaller relative scale helps

| comparison | effect | s.e. | 95 % interval | p (Holm) | seeds | verdict |
|---|---|---|---|---|---|---|
| n = 10, kappa .3 minus base | +0.010 | 0.020 | -0.030 to +0.050 | 0.6 (1) | 5 | undecided |
| n = 30, kappa 3 minus base | -0.100 | 0.010 | -0.120 to -0.080 | 1e-5 (1e-4) | 5 | supported |
| n = 99, kappa 3 minus base | | | | | 0 | not run |

## C14 Transformer: lower balancedness helps

| comparison | effect | s.e. | 95 % interval | p (Holm) | seeds | verdict |
|---|---|---|---|---|---|---|
| m = 5, kappa .1 minus 3 | +0.400 | 0.020 | +0.360 to +0.440 | 1e-5 (1e-4) | 5 | supported |
"""


def _claim(*said):
    return Claim("C1", "s", tuple(Evidence("solver", "t", ok) for ok in said), "r")


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ((), "not run"),
        ((True, True), "supported"),
        ((True, False), "not supported"),
        ((True, None), "undecided"),
        ((None,), "undecided"),
    ],
)
def test_verdict_follows_from_the_evidence(said, verdict):
    assert _claim(*said).verdict == verdict


def test_stored_results_are_read_with_their_command(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    (mixed,) = read("C12", page)
    assert mixed.ok is None
    assert "1 supported, 1 undecided" in mixed.text
    assert "n = 30, kappa 3 minus base: -0.100 +- 0.010" in mixed.text
    assert "12 runs" in mixed.text
    (clear,) = read("C14", page)
    assert clear.ok is True
    assert read("C13", page) == []
    assert read("C12", tmp_path / "absent.md") == []


def test_fast_claims_are_recomputed():
    found = {c.name: c for c in claims(["C2", "c4", "C5", "C6"], seeds=2)}
    assert [c.verdict for c in found.values()] == ["supported"] * 4
    assert any(e.kind == "flow" for e in found["C2"].evidence)
    assert "proved" in found["C4"].evidence[0].text
    page = to_markdown(list(found.values()), {"C5": "C5.png"})
    assert page.count("## C") == 4
    assert "![C5](C5.png)" in page


def test_a_wrong_prediction_would_be_refused(monkeypatch):
    """C9 with the curve of another task must not come out as supported."""
    from ptft_sym.claims import evidence

    monkeypatch.setitem(
        evidence.EVALUATE, "C9", evidence._best_lam(0.1, 1.0, 0.1, None, lambda best, place: place == "lower")
    )
    (claim,) = claims(["C9"], seeds=2)
    assert claim.verdict == "not supported"


def test_command_writes_a_page_and_figures(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(["claims", "C5", "C9", "--seeds", "3", "--out", str(tmp_path / "out"), "--json"])
    assert left.value.code == 0
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert [row["name"] for row in found["claims"]] == ["C5", "C9"]
    assert found["written"][-1].endswith("claims.md")
    assert (tmp_path / "out" / "claims.md").read_text().startswith("# Claims")
    assert (tmp_path / "out" / "C9.png").stat().st_size > 5000
    with pytest.raises(SystemExit) as left:
        main(["claims", "C99"])
    assert left.value.code == 2


def test_names_and_bad_arguments():
    assert names()[0] == "C1"
    assert len(names()) == 14
    with pytest.raises(ValueError, match="C15"):
        claims(["C15"])
    with pytest.raises(ValueError, match="seeds = 1"):
        claims(["C4"], seeds=1)
