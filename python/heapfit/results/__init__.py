# SPDX-License-Identifier: Apache-2.0
"""What is told: each result described once, as parts, and their renderers: text, JSON, HTML.

parts.py says which parts there are; text.py, html.py and markdown.py render them, number_text.py
says figures.
"""
