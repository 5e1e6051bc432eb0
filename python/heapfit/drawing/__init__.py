# SPDX-License-Identifier: Apache-2.0
"""How a result is drawn, whatever it tells: its parts, and their renderers text, Markdown and HTML.

parts.py says which parts there are; text.py, html.py and markdown.py render them, number_text.py
says figures, and page/ holds the frame, style and script of pages.
"""
