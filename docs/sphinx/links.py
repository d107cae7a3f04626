"""The link check: every link, anchor, picture, script and style of a built site leads to something inside it.

External links are listed, not fetched; an external script, style, font or picture is an error, since a page must be
whole without a network.
"""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
_FETCHED = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}  # kinds of <link> that a browser follows
_STYLE_URL = re.compile(r"""url\(\s*['"]?([^'")]+)['"]?\s*\)|@import\s+['"]([^'"]+)['"]""")


class Page(HTMLParser):
    """The anchors that a page has, the links that it offers and the files that it loads by itself."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = {key: value for key, value in attrs if value is not None}
        self.anchors |= {values[key] for key in ("id", "name") if key in values and (key == "id" or tag == "a")}
        if tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "href" in values:
            (self.loads if _FETCHED & set(values.get("rel", "").split()) else self.links).append(values["href"])
        if tag in _LOADED and _LOADED[tag] in values:
            self.loads.append(values[_LOADED[tag]])
        self.loads += [first or second for first, second in _STYLE_URL.findall(values.get("style", ""))]


def check(site):
    """(broken, external): sentences about what leads nowhere, and the sorted external links."""
    site = site.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    broken, external = [], set()
    for path, page in pages.items():
        for link in page.links:
            problem = _problem(link, path, site, pages, external)
            if problem:
                broken.append(f"{path.relative_to(site)}: {link}: {problem}")
        broken += [f"{path.relative_to(site)}: {said}" for said in _loads(page.loads, path, site, pages)]
    for sheet in sorted(site.rglob("*.css")):
        urls = [first or second for first, second in _STYLE_URL.findall(sheet.read_text(encoding="utf-8"))]
        broken += [f"{sheet.relative_to(site)}: {said}" for said in _loads(urls, sheet, site, pages)]
    return broken, sorted(external)


def _loads(urls, path, site, pages):
    """What is wrong with the files that a page or a style sheet loads by itself."""
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"{url}: loaded from elsewhere, and a page must be whole without a network"
        elif problem := _problem(url.partition("#")[0], path, site, pages, set()):
            yield f"{url}: {problem}"


def _problem(link, path, site, pages, external):
    """Why a link leads nowhere, or None; external links are collected."""
    parts = urlsplit(link)
    if parts.scheme in ("http", "https", "mailto"):
        external.add(link)
        return None
    if parts.scheme or parts.netloc:
        return f"the scheme {parts.scheme or '//'!r} is not known here"
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if not target.is_relative_to(site):
        return "outside the site"
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    fragment = unquote(parts.fragment)
    if fragment and target.suffix == ".html" and fragment not in pages[target].anchors:
        return f"no anchor {fragment!r} there"
    return None
