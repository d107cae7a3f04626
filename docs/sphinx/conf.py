"""Sphinx's settings. The pages themselves are staged by `build.py`; nothing here is fetched when a page is read."""

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import crossref
import docstrings

from ptft_sym import __version__

project = "ptft_sym"
author = "The ptft_sym developers"
copyright = "the ptft_sym developers, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_copybutton"]
nitpicky = True  # a reference that leads nowhere is a warning, and a warning fails the build
root_doc = "index"
highlight_language = "none"
default_role = "code"
smartquotes = False  # options begin with two hyphens

# Markdown, as GitHub reads it, and formulas between dollars.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 4
myst_dmath_allow_labels = False
myst_dmath_double_inline = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give shapes and ranges, which annotations cannot
autodoc_inherit_docstrings = False
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# MathJax is one file, taken from a Python package: formulas are SVG, so no fonts have to be found.
_mathjax = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax" / "tex-svg.js"
mathjax_path = "tex-svg.js"
mathjax3_config = {"svg": {"fontCache": "global"}, "options": {"enableMenu": False}}

html_theme = "furo"
html_title = "ptft_sym"
html_static_path = [str(_mathjax), str(Path(__file__).with_name("style.css"))]
html_css_files = ["style.css"]
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
copybutton_exclude = ".linenos, .gp, .go"  # what is copied can be pasted: neither prompts nor outputs


def setup(app):
    app.connect("autodoc-process-docstring", docstrings.convert)
    app.connect("missing-reference", crossref.resolve)
