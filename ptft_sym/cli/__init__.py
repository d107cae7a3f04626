"""The command `ptft`: a table of commands, each loaded when it is called for.

`ptft --help` reads the table alone. A command lives in `ptft_sym/cli/<module>.py` as a function `command` with Typer
annotations. Whatever a command refuses (ValueError, a missing file, ...) reaches the user as one sentence on stderr
and exit code 2; PTFT_TRACEBACK=1 shows the traceback instead. Options, exit codes and JSON documents: docs/cli.md.
"""

import os
import sys
from importlib import import_module

import typer
from typer.core import TyperCommand, TyperGroup

# command -> (module, one line of help); the order is the order of `ptft --help`
COMMANDS = {
    "demo": ("ptft_sym.cli.demo", "The whole trip: derive, predict, simulate, report."),
    "claims": ("ptft_sym.cli.claims", "The paper's claims with evidence and verdicts."),
    "curve": ("ptft_sym.cli.curve", "Predicted test error against the sample ratio."),
    "map": ("ptft_sym.cli.map", "Regime maps and phase diagrams as figures."),
    "sweep": ("ptft_sym.cli.sweep", "Many settings from a file, resumable, on all cores."),
    "simulate": ("ptft_sym.cli.simulate", "Exact solutions at finite dimension, over seeds."),
    "finetune": ("ptft_sym.cli.finetune", "Pretrain and fine-tune exactly on your own arrays."),
    "train": ("ptft_sym.cli.train", "ResNets, transformers, MLPs: pretrain, rescale, fine-tune."),
    "drift": ("ptft_sym.cli.drift", "What changed between two checkpoints, layer by layer."),
    "derive": ("ptft_sym.cli.derive", "A derivation, step by step, with its verdicts."),
    "kernels": ("ptft_sym.cli.kernels", "The generated kernels: formula, source, accuracy."),
    "verify": ("ptft_sym.cli.verify", "Check derivations and kernels at 50 digits."),
}

# optional module -> the extra that brings it
EXTRAS = {
    "torch": "torch", "safetensors": "torch", "torchvision": "vision", "dask": "distributed",
    "distributed": "distributed", "zarr": "distributed", "flint": "certify", "sklearn": "data",
}  # fmt: skip

# What a user can cause with an argument or a file; anything else is our bug and keeps its traceback.
USER_ERRORS = (ValueError, TypeError, KeyError, OSError, ImportError, RuntimeError, MemoryError)


class LazyGroup(TyperGroup):
    """A group whose commands are stubs (name and help) until one of them is run."""

    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        line = COMMANDS[name][1]
        return TyperCommand(name, help=line, short_help=line)

    def resolve_command(self, ctx, args):
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(command.name) if command is not None else None, rest


def load(name):
    """The real command behind a row of the table."""
    module, line = COMMANDS[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name=name, short_help=line)(import_module(module).command)
    return typer.main.get_command(app)


def _show_version(asked: bool):
    if asked:
        from ptft_sym.version import describe

        typer.echo(f"ptft_sym {describe()}")
        raise typer.Exit()


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and the git revision."
    ),
):
    """How pretraining shapes the inductive bias of fine-tuning: theory, predictions, exact simulations."""


def main(args=None):
    """Entry point of `ptft`: runs a command and turns refusals into one sentence and exit code 2."""
    try:
        app(args=args, prog_name="ptft")
    except BrokenPipeError:  # `ptft ... | head`: the reader has left, which is no error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:  # before or after the parser, which does the same
        sys.exit(130)
    except USER_ERRORS as error:
        if os.environ.get("PTFT_TRACEBACK") or not _is_sentence(error):
            raise
        typer.echo(f"ptft: {sentence(error)}", err=True)
        sys.exit(2)


def _is_sentence(error):
    """A bare KeyError('x') says nothing to a user and is a bug; one with a sentence was raised for a user."""
    return not isinstance(error, KeyError) or (len(error.args) == 1 and " " in str(error.args[0]))


def sentence(error):
    """What was wrong, in one line: str(KeyError) would quote its text, str(OSError) begins with a number."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, KeyError):
        text = str(error.args[0])
    elif isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] in EXTRAS:
        missing = error.name.partition(".")[0]
        text = f"this needs {missing}, which is not installed: pip install 'ptft-sym[{EXTRAS[missing]}]'"
    elif isinstance(error, MemoryError):
        text = f"not enough memory for this request; make it smaller ({error})" if str(error) else "out of memory"
    else:
        text = str(error)
    return " ".join(text.split()) or type(error).__name__
