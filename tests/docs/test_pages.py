"""The pages that promise to be run, and the checks that the site is built under."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "docs" / "sphinx")]

import blocks  # noqa: E402
import links  # noqa: E402
import stage  # noqa: E402


@pytest.mark.parametrize("page", ["tutorial.md", "plan.md"])
def test_a_page_gives_what_it_shows(page, tmp_path):
    assert blocks.run(ROOT / "docs" / page, tmp_path) == []


def test_a_page_that_shows_something_else_is_found_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> x = 2\n>>> x\n3\n\n```\n\n```console\n$ echo two\nthree\n```\n\n```python\nassert x == 2\n```\n"
    )
    said = blocks.run(page, tmp_path)
    assert len(said) == 2
    assert said[0].startswith("page.md:1")
    assert "Got:\n    2" in said[0]
    assert said[1].startswith("page.md:8")
    assert "exit code 0" in said[1]


GOOD = '<h1 id="top">a</h1><a href="#top">1</a><a href="b/">2</a><a href="b/index.html#in">3</a><img src="p.png">'


def site(folder, extra="", sheet=""):
    (folder / "b").mkdir()
    (folder / "a.html").write_text(GOOD + extra)
    (folder / "b" / "index.html").write_text('<p id="in"></p><a href="https://example.org/x">out</a>')
    (folder / "p.png").write_bytes(b"")
    (folder / "s.css").write_text(sheet)
    return links.check(folder)


def test_links_that_lead_somewhere_pass_and_external_ones_are_listed(tmp_path):
    assert site(tmp_path) == ([], ["https://example.org/x"])


@pytest.mark.parametrize(
    ("extra", "sheet", "said"),
    [
        ('<a href="c.html">', "", "no such file"),
        ('<a href="#nowhere">', "", "no anchor 'nowhere'"),
        ('<a href="b/index.html#out">', "", "no anchor 'out'"),
        ('<a href="../../x.html">', "", "outside the site"),
        ('<a href="foo:bar">', "", "not known"),
        ('<img src="q.png">', "", "no such file"),
        ('<script src="https://cdn.example.org/m.js"></script>', "", "without a network"),
        ('<link rel="stylesheet" href="//fonts.example.org/f.css">', "", "without a network"),
        ("", "@import 'https://fonts.example.org/f.css';", "without a network"),
        ("", "a { background: url(q.svg) }", "no such file"),
    ],
)
def test_a_link_that_leads_nowhere_is_said(extra, sheet, said, tmp_path):
    broken, _ = site(tmp_path, extra, sheet)
    assert len(broken) == 1
    assert said in broken[0]


def test_links_between_pages_are_led_to_the_site(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "README.md").write_text("[a](docs/a.md#x) [n](notebooks) [e](https://example.org)\n")
    (tmp_path / "docs" / "a.md").write_text("[home](../README.md)\n\n```python\na[i](../README.md)\n```\n")
    names = stage.stage(tmp_path, tmp_path / "source")
    assert set(names) == {"index", "docs/a"}
    assert (tmp_path / "source" / "index.md").read_text() == (
        "[a](docs/a.md#x) [n](notebooks/index.md) [e](https://example.org)\n"
    )
    assert (tmp_path / "source" / "docs" / "a.md").read_text() == (
        "[home](../index.md)\n\n```python\na[i](../README.md)\n```\n"
    )


def test_a_marker_or_section_that_is_missing_is_named(tmp_path):
    page = tmp_path / "p.md"
    page.write_text("# t\n\n## One\n\ntext\n\n## Two\n")
    assert stage.section(page, "One") == "text"
    with pytest.raises(ValueError, match=r"p\.md: there is no section 'Three'"):
        stage.section(page, "Three")
    with pytest.raises(ValueError, match="there is no <!-- m --> to replace"):
        stage.fill(page, "m", "text")
