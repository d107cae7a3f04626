"""Every public function and every command with every argument spoiled in turn: refused with a sentence.

The cases come from the registries: `ptft_sym.__all__` with the signatures, and the command line's table with the
commands' own parameters. An argument that is added without saying what is bad about it fails the first tests.
"""

import inspect
import re
import warnings

import numpy as np
import pytest
from bad_input import commands, functions, page

import ptft_sym as pt
from ptft_sym.cli import COMMANDS

ROWS = functions.rows()
CASES = [(name, case) for name, row in ROWS.items() for a, kind in row.kinds.items() for case in kind.cases(a)]
RANGE = re.compile(
    r"must|allowed|need|choose|among|known|one of|give|write|required|belong|exclude|is not|they are|"
    r"there is no|hold|share no",
    re.IGNORECASE,
)


def test_every_public_name_is_covered():
    covered = {name.partition(".")[0] for name in ROWS} | set(functions.WITHOUT_ARGUMENTS)
    assert covered ^ set(pt.__all__) == set()


@pytest.mark.parametrize("name", ROWS)
def test_every_argument_is_covered(name):
    row = ROWS[name]
    expected = set(inspect.signature(row.call).parameters)
    if name == "phase_diagram":  # its parameters are a registry of their own
        from numerics.sweep.parameters import REPLICA

        expected |= set(REPLICA) - {"rho_ft", "omega"}  # another way to write the task: a contradiction here
    assert set(row.kinds) == expected


def test_there_are_enough_cases():
    assert len(CASES) > 300
    assert len(commands.cases()) > 300


@pytest.mark.parametrize("name", [name for name in ROWS if ROWS[name].works])
def test_the_good_call_is_good(name):
    """Otherwise a refusal below would say nothing."""
    row = ROWS[name]
    row.call(**row.good())


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{n}-{c.argument}-{c.label}" for n, c in CASES])
def test_bad_values_are_refused_by_name(name, case, tmp_path, monkeypatch):
    row = ROWS[name]
    monkeypatch.chdir(tmp_path)
    good = {**row.good(), **case.others}
    good[case.label if case.argument in ("options", "parameters") else case.argument] = case.value
    if (name, *case.key) in functions.ACCEPTED:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            row.call(**good)
        return
    with pytest.raises((ValueError, TypeError, OSError, ImportError)) as refusal:
        row.call(**good)
    said = str(refusal.value)
    assert not isinstance(refusal.value, np.exceptions.AxisError)
    names = (case.label, "parameter") if case.argument in ("options", "parameters") else (case.argument,)
    assert any(n in said for n in (*names, row.aliases.get(case.argument, names[0]))), said
    assert RANGE.search(said), said
    if case.argument not in ("options", "parameters") and not case.label.startswith(
        "without"
    ):  # a name is what is wrong
        assert any(part in said for part in page.signs(case.value)), (page.signs(case.value), said)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", commands.cases(), ids=lambda case: case.id)
def test_commands_refuse_in_one_sentence(case, tmp_path, monkeypatch, capsys):
    before = commands.prepare(tmp_path, monkeypatch)
    code, out, err = commands.run(case.arguments(), capsys)
    assert "Traceback" not in out + err
    assert "Warning" not in out + err
    assert commands.files(tmp_path) == before, "something was written"
    assert code == 2, (code, out, err)
    sentence = commands.sentence(err)
    assert any(word in sentence for word in case.words), sentence
    assert RANGE.search(sentence) or commands.SAYS.search(sentence), sentence


METHODS = [
    (method, option, label, text)
    for method, table in commands.METHODS.items()
    for option, bad in table.items()
    for label, text in bad.items()
]


@pytest.mark.parametrize(("method", "option", "label", "text"), METHODS)
def test_options_of_one_method_are_refused_in_one_sentence(
    method, option, label, text, tmp_path, monkeypatch, capsys
):
    before = commands.prepare(tmp_path, monkeypatch)
    flag = "--" + option.replace("_", "-")
    call = ["simulate", *commands.GOOD["simulate"], "--method", method, "--store", "cells", f"{flag}={text}"]
    code, out, err = commands.run(call, capsys)
    assert code == 2, (code, out, err)
    assert "Traceback" not in out + err
    assert "Warning" not in out + err
    assert commands.files(tmp_path) == before, "something was written"
    sentence = commands.sentence(err)
    assert option in sentence or flag in sentence, sentence
    assert RANGE.search(sentence) or commands.SAYS.search(sentence), sentence


@pytest.mark.parametrize("label", commands.TRAINING)
@pytest.mark.parametrize("kind", ["mlp"])
def test_training_files_are_refused_in_one_sentence(kind, label, tmp_path, monkeypatch, capsys):
    content, word = commands.TRAINING[label]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(content + "\n")
    code, out, err = commands.run(["train", kind, "--config", "plan.toml", "--out", "new"], capsys)
    assert code == 2, (code, out, err)
    assert "Traceback" not in out + err
    assert [p.name for p in tmp_path.iterdir()] == ["plan.toml"], "something was written"
    sentence = commands.sentence(err)
    assert word in sentence, sentence
    assert "plan.toml" in sentence, sentence
    assert RANGE.search(sentence) or commands.SAYS.search(sentence), sentence


def test_every_option_of_every_command_is_covered():
    assert set(commands.GOOD) == set(COMMANDS)
    for name in COMMANDS:
        assert set(commands.options(name)) == set(commands.BAD[name]), name


def test_the_page_shows_this_table(root):
    """`python tests/bad_input/page.py` writes it."""
    assert (root / "docs" / "bad_input.md").read_text(encoding="utf-8") == page.text()
