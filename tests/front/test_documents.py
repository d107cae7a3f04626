"""What people read: links that lead somewhere, the README's lines that run, the environment script's decisions."""

import doctest
import re
import shutil
import subprocess

import pytest


def test_readme_lines_run_and_give_what_they_say(root):
    failures, attempted = doctest.testfile(str(root / "README.md"), module_relative=False)
    assert (failures, attempted) == (0, 8)


def test_documents_say_how_many_bad_calls_are_refused(root):
    page = (root / "docs" / "bad_input.md").read_text(encoding="utf-8")
    functions, commands = map(int, re.search(r"(\d+) calls of public functions and (\d+) of commands", page).groups())
    (said,) = re.findall(r"more than (\d+) bad calls", (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert int(said) < functions + commands < int(said) + 1000


@pytest.mark.slow
def test_documents_say_how_many_steps_are_proved(root):
    import derivations

    proved = sum(derivations.derive(name).check().counts["proved"] for name in derivations.names())
    assert f"checks {proved} steps by machine" in (root / "README.md").read_text(encoding="utf-8")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"{len(derivations.names())} derivations, {proved}\s+proved steps", changes)


def test_relative_links_lead_to_files(root):
    broken = []
    for page in (*root.glob("*.md"), *root.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(root)}: {target}")
    assert not broken, broken


def test_the_index_lists_every_page(root):
    text = (root / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [p.relative_to(root / "docs").as_posix() for p in root.glob("docs/**/*.md") if p.name != "index.md"]
    assert not [page for page in pages if f"]({page})" not in text]


def test_documents_name_commands_that_exist(root):
    from ptft_sym.cli import COMMANDS

    named = set()
    for page in (root / "README.md", *root.glob("docs/**/*.md")):
        named |= set(re.findall(r"ptft ([a-z]+)\b", page.read_text(encoding="utf-8")))
    assert named - {"is"} <= set(COMMANDS), named - set(COMMANDS)


@pytest.fixture
def place(tmp_path, root):
    """A folder with the environment script and a Python whose pip only writes down what it was asked."""
    (tmp_path / "here" / ".ci").mkdir(parents=True)
    here = tmp_path / "here"
    shutil.copy(root / ".ci" / "venv", here / ".ci" / "venv")
    (here / "pyproject.toml").write_text("a")
    (here / "constraints.txt").write_text("b")
    fake = tmp_path / "python"
    fake.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '  "-m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python\n'
        '    echo "VIRTUAL_ENV=$PWD/.venv" > .venv/bin/activate;;\n'
        '  "-m pip"*) echo "$*" >> pip.log;;\n'
        '  "--version") echo "Python 3.11.7";;\n'
        "esac\n"
    )
    fake.chmod(0o755)

    def run(folder=here):
        done = subprocess.run(
            ["bash", ".ci/venv"], cwd=folder, env={"PATH": "/usr/bin:/bin", "PYTHON": str(fake)},
            capture_output=True, text=True, timeout=60,
        )
        log = folder / "pip.log"
        return done.returncode, done.stderr, len(log.read_text().splitlines()) if log.exists() else 0

    return here, run


def test_environment_is_made_once(place):
    here, run = place
    assert run()[0::2] == (0, 1)
    extras = "torch,distributed,certify,notebooks,data,docs,dev"
    assert f"-c constraints.txt -e .[{extras}]" in (here / "pip.log").read_text()
    assert run() == (0, "", 1)


def test_changed_requirements_install_again(place):
    here, run = place
    run()
    (here / "constraints.txt").write_text("c")
    assert run()[0::2] == (0, 2)


def test_a_copy_elsewhere_is_rebuilt(place, tmp_path):
    here, run = place
    run()
    copy = tmp_path / "a copy"
    shutil.copytree(here, copy)
    code, text, calls = run(copy)
    assert (code, calls) == (0, 2)
    assert "made for another place" in text
    assert f"VIRTUAL_ENV={copy}/.venv" in (copy / ".venv" / "bin" / "activate").read_text()


