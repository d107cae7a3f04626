"""docs/cli.md against the commands: the same option means the same everywhere, and so do the exit codes."""

import re
import signal
import subprocess
import sys

import pytest

from ptft_sym.cli import COMMANDS, load

HELP = {name: {p.name: p for p in load(name).params} for name in COMMANDS}
#: An option that is a range of values in `ptft map` and one number elsewhere; a folder here, a file there.
VARIES = {
    "--alpha-pt", "--c", "--lam", "--gamma", "--rho-pt", "--rho-ft", "--omega", "--noise", "--noise-pt", "--ridge",
}  # fmt: skip


def flags(name):
    return {flag for p in HELP[name].values() if p.param_type_name == "option" for flag in p.opts}


@pytest.fixture
def page(root):
    return (root / "docs" / "cli.md").read_text(encoding="utf-8")


def shared(page):
    """option -> commands, from the table."""
    rows = {}
    for line in page.split("## Options")[1].split("\n\n")[1].splitlines()[2:]:
        options, _, commands = (cell.strip() for cell in line.strip("|").split("|"))
        if commands == "all":
            named = set(COMMANDS)
        elif commands.startswith("all but"):
            named = set(COMMANDS) - set(re.findall(r"`(\w+)`", commands))
        elif commands.startswith("as"):
            named = rows[re.findall(r"`(--\w+)`", commands)[0]]
        else:
            named = set(re.findall(r"`(\w+)`", commands))
        rows |= dict.fromkeys(re.findall(r"`(--[\w-]+)`", options), named)
    return rows


def test_the_table_says_which_commands_have_an_option(page):
    table = shared(page)
    for option, commands in table.items():
        assert {name for name in COMMANDS if option in flags(name)} == commands, option
    often = [o for o in set.union(*map(flags, COMMANDS)) if sum(o in flags(n) for n in COMMANDS) > 1 and o != "--help"]
    assert set(often) <= set(table), set(often) - set(table)


def test_the_same_option_takes_the_same_kind_of_value():
    for option in set.union(*map(flags, COMMANDS)) - VARIES - {"--help", "--config"}:
        kinds = {
            (p.is_flag, type(p.default) if option in ("--seeds", "--force", "--json", "--quiet") else None)
            for params in HELP.values()
            for p in params.values()
            if option in p.opts
        }
        assert len(kinds) == 1, (option, kinds)


def test_every_option_has_a_line_of_help():
    silent = [(n, p.name) for n, params in HELP.items() for p in params.values() if not getattr(p, "help", "x")]
    assert not silent


@pytest.mark.parametrize("name", COMMANDS)
def test_refusals_exit_with_2(name):
    from ptft_sym import cli

    with pytest.raises(SystemExit) as end:
        cli.main([name, "--nope"])
    assert end.value.code == 2


def test_ctrl_c_exits_with_130_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "ptft_sym", "claims", "C1", "C7", "--out", "r"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job
    try:
        ran = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ran.stderr.readline() == b"C1 ...\n"  # at work
    ran.send_signal(signal.SIGINT)
    out, err = ran.communicate(timeout=60)
    assert ran.returncode == 130, (out, err)
    assert b"Traceback" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [["curve", "--alpha", "0.1,0.2"], ["claims", "C4", "C12"], ["simulate", "--dim", "40", "--alpha", "0.3"],
     ["finetune", "--scan", "lam"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_no_colours_in_a_pipe_and_80_columns(words, tmp_path, monkeypatch, capsys):
    from ptft_sym import cli

    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    out, err = capsys.readouterr()
    assert end.value.code == 0, err
    assert "\x1b" not in out + err
    table = [line for line in out.splitlines() if line[:1] in "┏┃┡│└ "]
    assert max(map(len, table), default=0) <= 80


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_on_a_terminal(tmp_path, env, coloured):
    import os
    import pty

    master, slave = pty.openpty()
    code = "from ptft_sym.cli.output import console; console().print('[red]x[/red]')"
    full = {"PATH": "/usr/bin:/bin", "TERM": "xterm-256color", **env}
    subprocess.run([sys.executable, "-c", code], stdout=slave, stderr=slave, stdin=slave, env=full, timeout=60)
    os.close(slave)
    assert (b"\x1b[31m" in os.read(master, 1000)) is coloured
    os.close(master)
