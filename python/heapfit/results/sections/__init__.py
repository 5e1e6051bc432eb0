# SPDX-License-Identifier: Apache-2.0
"""The parts of a page about a heap, each with its template; several pages share them.

content.py says which there are; page.html.j2 puts them in order; the other templates are a part
each, *_charts.py what is drawn in it.
"""
