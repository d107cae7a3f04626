"""The reference: every public name from its docstring, and what those functions return and raise."""

import inspect
import re
import sys
from importlib import import_module

import ptft_sym

_OURS = ("derivations", "numerics", "ptft_sym")
_ROW = re.compile(r'\s*"(\w+)": \("([\w.]+)", "(\w+)"\),')
_CLASS_NAME = re.compile(r"\b[A-Z]\w*[a-z]\w*\b")


def groups():
    """The table of public names as (heading, names): the comments in it are the headings."""
    table, found = inspect.getsource(ptft_sym).partition("_HOMES = {")[2].partition("\n}")[0], []
    for line in table.splitlines():
        if line.strip().startswith("#"):
            found.append((line.strip(" #"), []))
        elif match := _ROW.fullmatch(line):
            found[-1][1].append(match.group(1))
    listed = sorted(name for _, names in found for name in names)
    if listed != ptft_sym.__all__:
        raise ValueError(f"the reference lists {listed}, but the public names are {ptft_sym.__all__}")
    return found


def companions(names):
    """Classes of ours that the docstrings and annotations of `names` speak of and that are not public names themselves.

    A result's class is looked up in the module of the function that returns it.
    """
    found = {}
    for name in names:
        value = getattr(ptft_sym, name)
        module = sys.modules[value.__module__]
        words = f"{inspect.getdoc(value)} {getattr(value, '__annotations__', {}).get('return', '')}"
        for word in _CLASS_NAME.findall(words):
            thing = _lookup(module, word)
            if inspect.isclass(thing) and thing.__module__.split(".")[0] in _OURS and word not in ptft_sym.__all__:
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


def _lookup(module, word):
    """The thing called `word` in a module, or in a module of ours that it imports from only for annotations."""
    if hasattr(module, word):
        return getattr(module, word)
    pattern = rf"from ([\w.]+) import (?:\([^)]*\b{word}\b[^)]*\)|[^\n(]*\b{word}\b)"
    if match := re.search(pattern, inspect.getsource(module)):
        return getattr(import_module(match.group(1)), word, None)
    return None


def write(folder):
    """One page for each heading of the table of public names, and the index that lists them all."""
    folder.mkdir(parents=True, exist_ok=True)
    seen, pages, rows = set(), [], []
    for number, (heading, names) in enumerate(groups(), 1):
        page = f"{number:02}"
        (folder / f"{page}.rst").write_text(_page(heading, names, seen), encoding="utf-8")
        pages.append(page)
        rows += ["", f"**{_capital(heading)}**", "", *(_row(name) for name in names)]
    text = [
        *_heading("Python"),
        "``import ptft_sym as pt`` is cheap: each name below is loaded when it is first used. The pages are made from "
        "the docstrings; a result that is a class of its own is described on the page of the function that returns it.",
        *rows, "", ".. toctree::", "   :hidden:", "", *(f"   {page}" for page in pages), "",
    ]
    (folder / "index.rst").write_text("\n".join(text), encoding="utf-8")


def _page(heading, names, seen):
    lines = _heading(_capital(heading))
    for name in names:
        lines += _entry(f"ptft_sym.{name}", getattr(ptft_sym, name))
    others = {path: thing for path, thing in companions(names).items() if path not in seen}
    seen |= set(others)
    if others:
        lines += _heading("What these return and raise", "-")
        for path, thing in sorted(others.items()):
            lines += _entry(path, thing)
    return "\n".join(lines)


def _entry(path, thing):
    if not inspect.isclass(thing):
        return [f".. autofunction:: {path}", ""]
    kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return [f".. {kind}:: {path}", "   :members:", ""]


def _row(name):
    value = getattr(ptft_sym, name)
    role = "func" if not inspect.isclass(value) else "exc" if issubclass(value, BaseException) else "class"
    first = re.split(r"(?<=[.:])\s", inspect.getdoc(value).partition("\n\n")[0].replace("\n", " "))[0].rstrip(".:")
    return f"- :py:{role}:`~ptft_sym.{name}` -- {plain(first)}"


def _heading(text, mark="="):
    return [plain(text), mark * len(plain(text)), ""]


def _capital(text):
    return text[:1].upper() + text[1:]


def plain(text):
    """Plain words made safe for reStructuredText, outside literals; an address such as tcp://host:8786 becomes one."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", re.sub(r"(?<![\w`])(\w+://[^\s)]+)", r"``\1``", text))
    return "".join(p if p.startswith("`") else re.sub(r"([\\*|_])", r"\\\1", p) for p in pieces)
