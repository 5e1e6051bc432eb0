# SPDX-License-Identifier: Apache-2.0
"""Pages that open offline: one folder a page, and drawing, which they share.

page.py puts a page together, charts draw, *.html.j2 is its text.
"""
