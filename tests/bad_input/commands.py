"""Every command of `ptft`: arguments of a good call, and for every parameter the texts that must be refused."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ptft_sym.cli import COMMANDS, load, main

#: What the command line's own parser says, without a range word.
SAYS = re.compile(
    r"Invalid value|does not take a value|Missing|No such|not a valid|Is a directory|Not a directory|exists|"
    r"not a \w+ file|not readable|NaN or beyond|only 'lam'|has no option|leave out|say '|no tensor|it may have",
    re.IGNORECASE,
)

NUMBER = {"NaN": "nan", "inf": "inf", "-inf": "-inf", "text": "one", "empty": "", "huge": "1e400", "list": "1,2"}
SIGNED = {**NUMBER, "negative": "-0.5"}
SCALE = {**SIGNED, "zero": "0", "too large": "1e200"}
SHARE = {**SIGNED, "above one": "1.5"}
LAM = {**NUMBER, "below": "-1.01", "above": "1.01"}
COUNT = {"zero": "0", "negative": "-1", "fraction": "1.5", "text": "one", "empty": "", "NaN": "nan"}
NATURAL = {k: v for k, v in COUNT.items() if k != "zero"}
FLAG = {"value": "=maybe"}
FILES = {"taken": "taken.csv", "ending": "new.xyz", "no folder": "nowhere/new.csv", "empty": ""}
FOLDER = {"a file": "taken.txt", "not empty": "full"}
RATIOS = {
    "text": "many", "empty": "", "two parts": "0.1:0.5", "none": "0.1:0.5:0", "fraction": "0.1:0.5:1.5", "NaN": "nan",
    "inf": "inf", "zero": "0", "negative": "-0.1", "hole": "0.1,,0.2", "too many": "0.1:0.5:99999", "huge": "1e9",
}  # fmt: skip
RANGE = {
    "text": "many", "empty": "", "two parts": "0.1:0.2", "none": "0.1:0.2:0", "spacing": "0.1:0.2:3:cubic",
    "NaN": "nan", "inf": "inf", "negative": "-0.1", "order": "0.2,0.1,0.3", "hole": "0.1,,0.2",
    "NaN in a list": "0.1,nan",
}  # fmt: skip
_AXIS = RANGE | {"NaN": "0.1,nan", "inf": "0.1,inf", "negative": "-0.1,0.1", "above one": "0.5,1.5"}
_SIGNED_RANGE = {k: v for k, v in RANGE.items() if k != "negative"}
ARRAY = {"absent": "nope.npy", "ending": "taken.txt", "NaN inside": "nan.npy", "axes": "cube.npy", "words": "words.npy",
         "empty": "nothing.npy", "cut off": "cut.npy"}  # fmt: skip
_DATA = ["--x-pt", "x.npy", "--y-pt", "y.npy", "--x-ft", "x.npy", "--y-ft", "y.npy"]
_STAGES = {"alpha_pt": SIGNED | {"zero": "0"}, "noise": SIGNED, "noise_pt": SIGNED, "ridge": SIGNED}
_PRINTS = {"quiet": FLAG, "as_json": FLAG}
_INIT = {"c": SCALE, "lam": LAM, "gamma": SIGNED | {"too large": "1e100"}}
_TASK = {"rho_pt": SHARE, "rho_ft": SHARE | {"zero": "0"}, "omega": SHARE}

#: A path names the parameter; what is wrong inside a file is named by its key.
ENDINGS = (".toml", ".npy", ".pt", ".safetensors", ".md")
INSIDE = {"key.toml": ("colour",), "axes.toml": ("axes",), "nan.toml": ("axes.lam[1]",), "": (".: Is a directory",)}

#: A call that would run, to which the bad option is added (an option given twice counts the last time).
GOOD = {
    "demo": [], "claims": ["C4"], "curve": ["--alpha", "0.3"],
    "map": ["phases", "--alpha", "0.3", "--rho-new", "0:0.1:2", "--rho-shared", "0.2:0.3:2", "--workers", "1"],
    "sweep": ["--config", "good.toml", "--workers", "1"], "simulate": ["--dim", "20", "--seeds", "2", "--alpha", "0.5"],
    "finetune": _DATA, "train": ["mlp", "--quick"], "drift": ["w.safetensors", "w.safetensors"], "derive": ["metrics"],
    "kernels": ["potential"], "verify": ["potential"],
}  # fmt: skip

_OPTION = {k: v for k, v in SIGNED.items() if k != "list"} | {"zero": "0"}
#: method -> option -> label -> text: options that a command takes with one value of another option alone
METHODS = {
    "gd": {
        "stop": _OPTION, "lr": _OPTION,
        "momentum": {**{k: v for k, v in _OPTION.items() if k != "zero"}, "one": "1"},
        "batch_size": {**COUNT, "above n": "11", "huge": "9" * 30},
        "device": {"unknown": "nope", "empty": "", "number": "7"},
    },
    "flow": {"stop": {**_OPTION, "one": "1"}, "lr": {"of gd": "0.1"}, "momentum": {"of gd": "0.5"},
             "batch_size": {"of gd": "3"}, "device": {"of gd": "cpu"}},
    "exact": {"device": {"unknown": "nope", "empty": ""}, "dim": {"beyond memory": "10000000"}},
}  # fmt: skip

#: What a file for `ptft train --config` may not say: label -> (content, word of the sentence).
TRAINING = {
    "NaN": ("[pretrain]\nlr = nan", "lr"), "inf": ("[finetune]\nlr = inf", "lr"),
    "negative": ("[pretrain]\nmax_steps = -1", "max_steps"), "zero": ("[finetune]\nbatch_size = 0", "batch_size"),
    "text": ('[finetune]\nlr = "fast"', "lr"), "unknown entry": ("[finetune]\ncolour = 1", "colour"),
    "unknown section": ("[colours]\nred = 1", "colours"), "not TOML": ("lr = ", "TOML"),
    "seeds empty": ("seeds = []", "seeds"), "seeds twice": ("seeds = [1, 1]", "seeds"),
    "seeds negative": ("seeds = [-1]", "seeds"), "seeds fraction": ("seeds = [0.5]", "seeds"),
    "seeds number": ("seeds = 3", "seeds"), "scale": ('scale = "huge"', "scale"),
    "section is a number": ("pretrain = 3", "pretrain"), "variant is a table": ("[variant]\nkappa = 1.0", "variant"),
    "variant unknown": ("[[variant]]\ncolour = 1", "colour"), "variant NaN": ("[[variant]]\nkappa = nan", "kappa"),
    "variant negative": ("[[variant]]\nkappa = -1.0", "kappa"), "gamma": ("[[variant]]\ngamma = -1.0", "gamma"),
    "names twice": ('[[variant]]\nname = "a"\n[[variant]]\nname = "a"', "name"),
    "model": ("[model]\nhidden = -8", "hidden"), "model unknown": ("[model]\ncolour = 1", "colour"),
    "data unknown": ("[data]\ncolour = 1", "colour"), "data zero": ("[data]\nn_ft = 0", "n_ft"),
    "download of nothing": ("[data]\ndownload = true", "download"),
}  # fmt: skip

#: command -> parameter -> label -> text
BAD = {
    "demo": {"out": FOLDER, "force": FLAG, "seeds": COUNT | {"one": "1", "huge": "1001"},
             "draws": COUNT | {"one": "1"}, **_PRINTS},
    "claims": {"only": {"unknown": "C99", "empty": "", "NaN": "nan"}, "seeds": COUNT | {"one": "1", "huge": "1001"},
               "out": FOLDER, "force": FLAG, **_PRINTS},
    "curve": {**_TASK, **_INIT, "alpha": RATIOS, **_STAGES, "out": FILES, "force": FLAG,
              "as_json": FLAG},
    "map": {
        "what": {"unknown": "nope", "empty": ""}, "beta_ft": {"phases": "1"}, "beta_pt": {"phases": "1"},
        "c": RANGE | {"zero": "0"}, "lam": _SIGNED_RANGE | {"below": "-2,0", "above": "0,2"}, "gamma": RANGE,
        "rho_pt": RANGE | {"above one": "1.5"},
        **dict.fromkeys(("rho_shared", "rho_new"), _AXIS),
        **{n: RANGE | {"with rho_shared": "0.1:0.2:3"} for n in ("rho_ft", "omega")},
        "alpha": RANGE | {"zero": "0"}, "alpha_pt": RANGE | {"zero": "0"}, "noise": RANGE, "noise_pt": RANGE,
        "ridge": RANGE, "tolerance": SIGNED | {"zero": "0", "half": "0.5"},
        "value": {"unknown": "nope", "empty": ""}, "out": FILES, "workers": COUNT, "force": FLAG, **_PRINTS,
    },
    "sweep": {
        "config": {"absent": "nope.toml", "not TOML": "taken.txt", "unknown key": "key.toml", "no axes": "axes.toml",
                   "NaN": "nan.toml", "folder": "full", "empty": ""},
        "store": {"a file": "taken.txt"}, "out": FOLDER, "workers": COUNT, "scheduler": {"with workers": "tcp://h:1"},
        "check": FLAG, "force": FLAG, **_PRINTS,
    },
    "simulate": {
        **_TASK, **_INIT, "alpha": RATIOS,
        "dim": {"zero": "0", "negative": "-1", "text": "one", "empty": "", "fraction": "1.5", "huge": "9" * 30},
        "seeds": COUNT, "method": {"unknown": "nope", "empty": ""}, **_STAGES, "stop": {"exact": "0.1", **NUMBER},
        "lr": {"exact": "0.1", **NUMBER}, "momentum": {"exact": "0.1", **NUMBER}, "batch_size": {"exact": "3", **COUNT},
        "device": {"unknown": "nope"}, "store": {"a file": "taken.txt"}, "out": FILES, "force": FLAG,
        **_PRINTS,
    },
    "finetune": {
        **dict.fromkeys(("x_pt", "y_pt", "x_ft", "y_ft"), ARRAY),
        "x_test": {"alone": "x.npy"}, "y_test": {"alone": "y.npy"},
        **_INIT, "ridge": SIGNED, "standardise": FLAG, "scan": {"unknown": "c", "empty": ""}, "draw": NATURAL,
        "out": FOLDER, "force": FLAG, "as_json": FLAG,
    },
    "train": {
        "kind": {"unknown": "nope", "empty": ""}, "config": {"with quick": "good.toml"}, "quick": FLAG, "seeds": COUNT,
        "device": {"unknown": "nope"}, "download": FLAG, "out": FOLDER, "force": FLAG, "threads": COUNT, **_PRINTS,
    },
    "drift": {
        "before": {"absent": "nope.pt", "ending": "taken.txt", "cut off": "cut.safetensors", "no tensors": "full"},
        "after": {"absent": "nope.pt", "ending": "taken.txt", "cut off": "cut.safetensors", "no tensors": "full"},
        "model": {"alone": "nowhere:build"}, "batch": {"alone": "x.npy"}, "layers": {"without model": "w"},
        "center": FLAG, "out": FOLDER, "force": FLAG, "as_json": FLAG,
    },
    "derive": {"name": {"unknown": "nope", "empty": ""}, "format": {"unknown": "pdf", "empty": ""},
               "out": {"taken": "taken.txt", "no folder": "nowhere/new.md", "a folder": "full", "empty": ""},
               "force": FLAG, "all": {**FLAG, "with name": ""}, **_PRINTS},
    "kernels": {"names": {"unknown": "nope", "empty": ""}, "backend": {"unknown": "fortran", "empty": ""},
                "out": {"taken": "taken.txt", "no folder": "nowhere/new.py", "a folder": "full", "empty": ""},
                "table": FLAG, "passes": FLAG, "force": FLAG, "as_json": FLAG},
    "verify": {"names": {"unknown": "nope", "empty": ""}, "points": COUNT, "seed": NATURAL, "derivations": FLAG,
               **_PRINTS},
}  # fmt: skip


def parameters(name):
    """The command's parameters, from its own table."""
    return [p for p in load(name).params if p.name != "help"]


def options(name) -> list[str]:
    return [p.name for p in parameters(name)]


class Case(NamedTuple):
    """One bad call of a command."""

    command: str
    parameter: str
    label: str
    text: str
    flag: str  # "--option", or "" for a positional argument
    position: int

    @property
    def id(self) -> str:
        return f"{self.command}-{self.parameter}-{self.label}"

    def arguments(self) -> list[str]:
        good = list(GOOD[self.command])
        if self.text.startswith("="):
            return [self.command, *good, self.flag + self.text]
        if self.parameter == "all":
            return [self.command, *good, "--all"]
        if self.flag:
            return [self.command, *good, f"{self.flag}={self.text}"]
        good[self.position] = self.text
        return [self.command, *good]

    @property
    def words(self) -> tuple[str, ...]:
        """How a sentence may call the parameter."""
        short = self.parameter.removesuffix("s")
        plain = {"only": "claim", "what": "phases", "all": "--all", "kind": "KIND", "names": "name"}
        path = (self.text,) if self.text in ("full", "taken.txt") or self.text.endswith(ENDINGS) else ()
        return (
            self.parameter,
            short,
            self.flag or short,
            plain.get(self.parameter, short),
            *path,
            *INSIDE.get(self.text, ()),
        )


def cases() -> list[Case]:
    found = []
    for name in COMMANDS:
        for p in parameters(name):
            flag = p.opts[0] if p.param_type_name == "option" else ""
            place = {"after": 1}.get(p.name, 0)
            found += [Case(name, p.name, *item, flag, place) for item in BAD[name].get(p.name, {}).items()]
    return found


def prepare(folder, monkeypatch):
    """Files that good and bad calls speak of; the listing before the call."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PTFT_TRACEBACK", raising=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((4, 6)), rng.standard_normal(4)
    for name, value in {"x": x, "y": y, "nan": np.full((4, 6), np.nan), "cube": np.ones((2, 2, 2)),
                        "words": np.array(["a", "b"]), "nothing": np.empty((0, 6))}.items():  # fmt: skip
        np.save(folder / f"{name}.npy", value)
    (folder / "cut.npy").write_bytes((folder / "x.npy").read_bytes()[:90])
    (folder / "full").mkdir()
    for name in ("taken.txt", "taken.csv", "full/mine.txt"):
        (folder / name).write_text("mine\n")
    plan = 'kind = "metrics"\n{}\n[axes]\nlam = {}\n[fixed]\nc = 0.001\n'
    for name, text in {"good": plan.format("", "[-0.5, 0.5]"), "key": plan.format("colour = 1", "[0.0]"),
                       "axes": 'kind = "metrics"\n', "nan": plan.format("", "[0.0, nan]")}.items():  # fmt: skip
        (folder / f"{name}.toml").write_text(text)
    import torch
    from safetensors.torch import save_file

    save_file({"w": torch.ones(2, 2)}, folder / "w.safetensors")
    (folder / "cut.safetensors").write_bytes((folder / "w.safetensors").read_bytes()[:20])
    return files(folder)


def files(folder) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


def run(arguments, capsys):
    """Exit code, stdout and stderr of a command run in this process."""
    capsys.readouterr()
    try:
        main(arguments)
        code = 0
    except SystemExit as end:
        code = end.code
    seen = capsys.readouterr()
    return code, seen.out, seen.err


def sentence(err: str) -> str:
    """The refusal: the last line, alone but for the two lines of usage that the parser puts before its own."""
    lines = [line for line in err.strip().splitlines() if line.strip()]
    said = [n for n in lines if not n.startswith(("Usage:", "Try 'ptft", "checking ", "C4 ", "potential", "good: "))]
    if len(said) != 1 or not said[0].startswith(("ptft: ", "Error: ")):
        raise AssertionError(f"not one sentence: {err!r}")
    return said[0]
