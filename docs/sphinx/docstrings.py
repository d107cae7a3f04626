"""The project's docstrings as reStructuredText.

Their sections are NumPy's, but an entry is either "name : type" with its meaning indented below, or "name : meaning",
perhaps running on over indented lines. Both become a definition list. Outside literals the words are plain: |beta| is a
modulus and beta* a teacher, not a substitution and the begin of an emphasis.
"""

import re

SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples")
_LISTS = SECTIONS[:5]
_LITERAL = re.compile(r"``.+?``|:[\w:]+:`[^`]*`")
_ENTRY = re.compile(r"([\w*][\w*, ]*?) : (.*)")


def convert(app, what, name, obj, options, lines):
    """Sphinx's hook: rewrite `lines` in place."""
    lines[:] = rewritten(lines)


def rewritten(lines):
    """The docstring's lines with sections as titled definition lists and everything else escaped."""
    out, at = [], 0
    while at < len(lines):
        title = lines[at].strip()
        if title in SECTIONS and at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip()):
            body, at = _body(lines, at + 2, title)
            out += ["", f".. rubric:: {title}", ""]
            out += _list(body) if title in _LISTS else body if title == "Examples" else [escaped(line) for line in body]
            out.append("")
        elif _ENTRY.fullmatch(lines[at]) and (at == 0 or not lines[at - 1].strip()):  # a list without a title
            end = next((i for i in range(at, len(lines)) if not lines[i].strip()), len(lines))
            out += _list(lines[at:end])
            at = end
        else:
            out.append(lines[at] if lines[at].lstrip().startswith(">>>") else escaped(lines[at]))
            at += 1
    return out


def _body(lines, begin, title):
    """The lines of a section and where it ends: at the next title, or where unindented text follows a blank line."""
    at = begin
    while at < len(lines):
        if at + 1 < len(lines) and lines[at].strip() in SECTIONS and lines[at + 1].startswith("---"):
            break
        after_blank = at > begin and not lines[at - 1].strip()
        if title in _LISTS and after_blank and lines[at][:1].strip() and not _ENTRY.match(lines[at]):
            break
        at += 1
    return lines[begin:at], at


def _list(body):
    """Entries as a definition list: the term, and one paragraph of its words."""
    out = []
    for head, *rest in _entries(body):
        match = _ENTRY.fullmatch(head)
        term, first = match.groups() if match else (None, head)
        words = [line.strip() for line in rest if line.strip()]
        if match is None and not words:
            out.append("- " + ", ".join(f"``{name}``" for name in first.split(", ")))
            continue
        runs_on = bool(words) and _runs_on(first, words[0])
        title = f"``{term}``" if term else None
        if match and not runs_on and words:
            title, text = f"{title} : {escaped(first)}", words
        elif match:
            text = [first, *words]
        elif runs_on:
            out += ["", " ".join(escaped(line) for line in [first, *words]), ""]
            continue
        else:
            title, text = f"``{first}``", words
        out += [title, *(f"   {escaped(line)}" for line in text), ""]
    return out


def _entries(body):
    """The section's lines in groups: an unindented one and the indented ones below it."""
    found = []
    for line in body:
        if line[:1].strip() or not found:
            if line.strip():
                found.append([line])
        else:
            found[-1].append(line)
    return found


def _runs_on(first, following):
    """Whether the indented line goes on with the sentence begun beside the name, rather than explaining a type."""
    if first.endswith((",", ":", ";", "(", "-", "+", "/")):
        return True
    if following[:1].islower() or following[:1] in "()+-/=":
        return True
    return following.startswith(("`", ":")) and " " in first and not first.endswith("optional")


def escaped(line):
    r"""The line with `|` and `*` escaped outside literals and roles: ``|beta*|`` becomes ``\|beta\*\|``."""
    parts, end = [], 0
    for literal in _LITERAL.finditer(line):
        parts += [_escape(line[end : literal.start()]), literal.group()]
        end = literal.end()
    return "".join([*parts, _escape(line[end:])])


def _escape(text):
    return re.sub(r"([|*])", r"\\\1", text)
