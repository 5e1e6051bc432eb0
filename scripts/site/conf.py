# SPDX-License-Identifier: Apache-2.0
"""What Sphinx is told; scripts/site copies it beside the pages."""

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
# Pages open from a disk, without a network and without JavaScript's leave to fetch the index.
html_theme_options = {"navigation_with_keys": True}
# Blocks in the language of a console or a drawing are not what their lexer expects everywhere.
suppress_warnings = ["misc.highlighting_failure"]
