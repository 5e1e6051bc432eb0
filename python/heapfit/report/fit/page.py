# SPDX-License-Identifier: Apache-2.0
"""The report of a fit: everything it shows gathered from a Fit and rendered."""

from __future__ import annotations

from pathlib import Path

from heapfit.fit_result import Fit
from heapfit.report.drawing import rendering
from heapfit.report.fit.content import gather

_TEMPLATE = Path(__file__).with_name("fit.html.j2")


def write_report(path: Path, fit: Fit) -> None:
    """Writes the report of `fit` to `path`; the file appears whole or not at all."""
    rendering.write_page(path, render(fit))


def render(fit: Fit) -> str:
    """The page as text, the same for the same fit."""

    content = gather(fit)
    return rendering.render(_TEMPLATE, content.title, content.charts, content=content, fit=fit)
