# SPDX-License-Identifier: Apache-2.0
"""The report of a fit: one HTML page that opens offline. docs/report.md tells what it shows.

page.py puts it together, *_charts.py draw, rendering.py renders; template/ holds the page's text,
style and script.
"""

from heapfit.report.page import write_report

__all__ = ["write_report"]
