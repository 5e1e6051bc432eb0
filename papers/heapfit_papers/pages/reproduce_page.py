# SPDX-License-Identifier: Apache-2.0
"""The page of `heapfit reproduce`: each paper's rows and its figures drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.results import html
from heapfit_papers.pages.parts import PaperFigure
from heapfit_papers.pages.reproduce_charts import figures_of
from heapfit_papers.reproduce.finding import RowResult, verdicts_in_words
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import Paper, load_published

_TEMPLATE = Path(__file__).with_name("reproduce.html.j2")
_MOST_UNFOLDED = 6  # figures of one paper: more would be a long way on a phone


@dataclass(frozen=True, slots=True)
class PaperSection:
    """What the page shows of one paper."""

    paper: Paper
    rows: tuple[RowResult, ...]
    figures: tuple[PaperFigure, ...]

    @property
    def verdicts(self) -> list[str]:
        """How many of its figures match, by kind of evidence."""
        return verdicts_in_words(self.rows)[1:]

    @property
    def is_short(self) -> bool:
        """True if all findings are shown at once; else they are folded."""
        return sum(len(result.findings) for result in self.rows) <= _MOST_UNFOLDED


def write_reproduce_page(path: Path, results: Sequence[RowResult], laboratory: Laboratory) -> None:
    """Writes the page; figures are drawn of the rows that are among the results."""
    html.write_page(path, render(results, laboratory))


def render(results: Sequence[RowResult], laboratory: Laboratory) -> str:
    """The page as text."""
    drawn = figures_of([result.row.identity for result in results], laboratory)
    sections = [
        PaperSection(
            paper,
            tuple(result for result in results if result.row.paper == number),
            tuple(drawn.get(number, ())),
        )
        for number, paper in load_published().papers.items()
        if any(result.row.paper == number for result in results)
    ]
    return html.render(
        _TEMPLATE,
        "reproduce",
        [figure.chart for section in sections for figure in section.figures],
        sections=sections,
        verdicts=verdicts_in_words(results),
        is_small=laboratory.is_small,
    )
