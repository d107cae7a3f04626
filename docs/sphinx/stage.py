"""The repository's Markdown pages, copied to where Sphinx reads them, their links led to the site."""

import os
import re
import shutil
from pathlib import Path

import plan

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.M | re.S)


def stage(root, source):
    """Copy every page of `plan.PAGES` from `root` below `source`; returns the names of the documents made."""
    pages = sorted({path for pattern in plan.PAGES for path in root.glob(pattern)})
    names = []
    for page in pages:
        relative = page.relative_to(root).as_posix()
        target = source / plan.RENAMED.get(relative, relative)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_relinked(page, target, root, source), encoding="utf-8")
        names.append(target.relative_to(source).with_suffix("").as_posix())
    return names


def fill(page, marker, text):
    """Replace the comment `<!-- marker -->` in a staged page, which GitHub does not show. ValueError without it."""
    comment, before = f"<!-- {marker} -->", page.read_text(encoding="utf-8")
    if comment not in before:
        raise ValueError(f"{page.name}: there is no {comment} to replace")
    page.write_text(before.replace(comment, text), encoding="utf-8")


def section(page, heading):
    """What stands under `## heading` in a page, without the heading. Raises ValueError for a heading it lacks."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)
    if not found:
        raise ValueError(f"{page.name}: there is no section {heading!r}")
    return found.group(1).strip()


def _relinked(page, target, root, source):
    """The page's text with its links led to the site; files that are linked and are no pages are taken along."""

    def lead(match):
        begin, link, end = match.groups()
        if re.match(r"[a-z]+:", link):
            return match.group()
        meant = (page.parent / link).resolve()
        inside = meant.relative_to(root.resolve()).as_posix() if meant.is_relative_to(root.resolve()) else None
        if inside is None or not meant.exists():
            return match.group()  # Sphinx will say what is wrong, and where
        if inside in plan.RENAMED or inside in plan.FOLDERS:
            there = source / {**plan.RENAMED, **plan.FOLDERS}[inside]
        else:
            there = source / inside
            if meant.is_file() and meant.suffix != ".md":
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(meant, there)
        return f"{begin}{Path(os.path.relpath(there, target.parent)).as_posix()}{end}"

    text = page.read_text(encoding="utf-8")
    parts, end = [], 0
    for fence in _FENCE.finditer(text):  # code is left alone: `a[i](b)` is no link there
        parts += [_LINK.sub(lead, text[end : fence.start()]), fence.group()]
        end = fence.end()
    return "".join([*parts, _LINK.sub(lead, text[end:])])
