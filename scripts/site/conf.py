# SPDX-License-Identifier: Apache-2.0
"""What Sphinx is told; scripts/site copies it beside the pages.

The search page shows excerpts. Sphinx fetches each page that was found, which a browser denies to
pages opened from a disk; here the texts come as a script, beside the index, and search.js serves
them in place of the pages.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

import heapfit

project = "heapfit"
author = "The heapfit founders"
copyright = author
version = release = heapfit.__version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
html_theme = "furo"
html_title = "heapfit"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
# Blocks in the language of a console or a drawing are not what their lexer expects everywhere.
suppress_warnings = ["misc.highlighting_failure"]

_TEXTS: dict[str, str] = {}  # of each page, by its name


def setup(app: Sphinx) -> None:
    """Collects the pages' texts, and gives them to the search page."""
    app.connect("doctree-resolved", _collect_text)
    app.connect("html-page-context", _add_scripts)
    app.connect("build-finished", _write_texts)


def _collect_text(_app: Sphinx, doctree: nodes.document, page: str) -> None:
    shown = doctree.deepcopy()
    for comment in [*shown.findall(nodes.comment), *shown.findall(nodes.raw)]:
        comment.parent.remove(comment)
    _TEXTS[page] = " ".join(shown.astext().split())


def _add_scripts(app: Sphinx, page: str, *_: object) -> None:
    if page == "search":
        app.add_js_file("texts.js")
        app.add_js_file("search.js")


def _write_texts(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        texts = json.dumps(_TEXTS, ensure_ascii=False, sort_keys=True)
        (Path(app.outdir) / "_static/texts.js").write_text(f"const pageTexts = {texts};\n", "utf-8")
