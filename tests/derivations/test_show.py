"""Rendering: what is printed was checked, LaTeX is balanced, HTML is well formed, the command says what it refuses."""

import html
import re
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

import derivations
from derivations import symbols
from derivations.ledger import show
from derivations.ledger.step import Derivation, Step, both, eq
from derivations.symbols import beta_pt, c, s, t, u
from ptft_sym.cli import derive as derive_command

NAMES = ("fine_tuning", "pretraining_channel")


def balanced(text):
    """Braces, environments and \\left-\\right pairs close in the right order."""
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    open_environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if kind == "begin":
            open_environments.append(name)
        else:
            assert open_environments.pop() == name
    assert not open_environments
    assert depth == 0
    assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_latex_document_is_balanced(name):
    text = show.to_latex(derivations.derive(name))
    balanced(text)
    assert text.startswith(r"\documentclass")
    assert text.count(r"\item") == len(derivations.derive(name).steps)
    words = re.sub(r"\\\[.*?\\\]", "", text, flags=re.S)  # outside formulas nothing is left to mathematics mode
    assert not re.search(r"(?<!\\)[_^&#%$]", words.split(r"\begin{document}")[1])


@pytest.mark.parametrize("name", NAMES)
def test_html_is_well_formed(name):
    parser = Tags()
    parser.feed(show.to_page(derivations.derive(name)))
    assert parser.open == []


@pytest.mark.parametrize("name", NAMES)
def test_markdown_shows_every_step_with_its_verdict(name):
    derivation = derivations.derive(name)
    text = derivation._repr_markdown_()
    for number, step in enumerate(derivation, 1):
        assert f"### {number}. {step.name} ({step.kind})" in text
        assert step.reason in text
        assert f"*Source*: {step.source}." in text
    assert text.count("*proved*") == derivation.check().counts["proved"]


def test_powers_in_the_evidence_are_not_emphasis():
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    derivation = derivations.derive("fine_tuning")
    products = [step for step in derivation if "*" in step.verdict.evidence]
    assert products
    for step in products:
        page = html.unescape(re.sub("<[^>]*>", "", markdown.render(show.step_markdown(step, 1))))
        assert step.verdict.evidence in page
        assert markdown.render(show.step_markdown(step, 1)).count("<em>") == 2  # the verdict and the word Source


@pytest.mark.parametrize("symbol", symbols.LATEX, ids=str)
def test_the_table_of_names_decides(symbol):
    assert show.latex(symbol) == symbols.LATEX[symbol]
    balanced(show.latex(1 / (1 + symbol**2)))


def test_names_inside_formulas():
    assert show.latex(beta_pt / c) == r"\frac{\beta_{\mathrm{PT}}}{c}"


def test_a_failed_step_is_shown_as_failed():
    wrong = Derivation("d", "Wrong", (Step("off by one", "identity", eq(s, s + 1), "because"),), u, {}, "A < B & C_d.")
    assert "*FAILED*: contradicted" in show.to_markdown(wrong)
    assert r"A \textless{} B \& C\_d." in show.to_latex(wrong)
    assert "A &lt; B &amp; C_d." in show.to_html(wrong)


def test_conjunctions_and_long_relations_are_aligned():
    assert show.latex(both(eq(s, t), eq(t, u))).count("&") == 2
    balanced(show.latex(eq(sum(s**k for k in range(2, 30)), t)))


def test_formats_are_listed_when_one_is_unknown():
    with pytest.raises(ValueError, match="'pdf': choose one of md, tex, html"):
        show.render(derivations.derive("metrics"), "pdf")


def test_table_adds_up():
    ledgers = [derivations.derive(name).check() for name in NAMES]
    last = show.table(ledgers).splitlines()[-1]
    assert [int(n) for n in re.findall(r"\d+", last)] == [
        sum(ledger.counts[key] for ledger in ledgers) for key in ledgers[0].counts
    ]


class TestCommand:
    def run(self, *args):
        import typer

        app = typer.Typer()
        app.command()(derive_command.command)
        return CliRunner().invoke(app, args)

    def test_names(self):
        result = self.run()
        assert result.output.split() == list(derivations.names())

    def test_writing_a_file(self, tmp_path):
        target = tmp_path / "d.tex"
        assert self.run("fine_tuning", "--format", "tex", "--out", str(target)).exit_code == 0
        balanced(target.read_text())
        again = self.run("fine_tuning", "--out", str(target))
        assert "pass --force" in str(again.exception)
        assert self.run("fine_tuning", "--out", str(target), "--force").exit_code == 0
        assert target.read_text().startswith("# From pretraining")

    def test_refusals(self):
        assert "choose one of md, tex, html" in str(self.run("metrics", "--format", "pdf").exception)
        assert "is no derivation" in str(self.run("metric").exception)
        assert "leave out metrics" in str(self.run("metrics", "--all").exception)

    def test_all(self, monkeypatch):
        monkeypatch.setattr(derivations, "names", lambda: NAMES)
        result = self.run("--all")
        assert result.exit_code == 0
        assert "| fine_tuning" in result.output
        assert "derived and checked in" in result.output

    def test_a_failed_step_is_an_exit_code(self, monkeypatch):
        wrong = Derivation("d", "Wrong", (Step("off by one", "identity", eq(s, s + 1), "because"),), u)
        monkeypatch.setattr(derivations, "names", lambda: ("d",))
        monkeypatch.setattr(derivations, "derive", lambda name: wrong)
        result = self.run("--all")
        assert result.exit_code == 1
        assert "d, off by one: failed: contradicted" in result.output
