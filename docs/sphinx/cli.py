"""The reference of the command line, asked of the commands: usage, arguments and options as `--help` has them."""

from reference import plain

from ptft_sym import cli


def write(path):
    """One page with every command of the table, in the order of `ptft --help`."""
    title = "All commands and options"
    lines = [
        title, "=" * len(title), "",
        "Made from the commands themselves: what ``ptft COMMAND --help`` prints. What they have in common is in "
        ":doc:`/docs/cli`.", "",
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, *(line for name in cli.COMMANDS for line in _command(name))]), encoding="utf-8")


def _command(name):
    command = cli.load(name)
    context = command.context_class(command, info_name=f"ptft {name}")
    usage = " ".join(["ptft", name, *command.collect_usage_pieces(context)])
    title = f"ptft {name}"
    lines = [title, "-" * len(title), "", *(plain(line) for line in (command.help or "").splitlines()), ""]
    lines += [".. code-block:: text", "", f"   {usage}", "", f".. program:: ptft {name}", ""]
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is None or "--help" in parameter.opts:
            continue
        words = plain(" ".join(record[1].split())) or "(no text)"
        if parameter.param_type_name == "argument":
            lines += [f"``{record[0]}``", f"   {words}", ""]
        else:
            lines += [f".. option:: {record[0].strip()}", "", f"   {words}", ""]
    return lines
