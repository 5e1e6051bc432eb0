# SPDX-License-Identifier: Apache-2.0
"""The page of `heapfit reproduce`: each paper's rows and its figures drawn anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from heapfit.drawing.document import Document
from heapfit.drawing.html import write_document
from heapfit.drawing.number_text import mark_up
from heapfit.drawing.parts import Cell, Column, Details, Heading, Line, Part, Section, Table
from heapfit.plan.quantities import format_count
from heapfit_papers.pages.parts import PaperFigure
from heapfit_papers.pages.reproduce_charts import figures_of
from heapfit_papers.reproduce.finding import Finding, RowResult, Verdict, verdicts_in_words
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import Paper, load_published

_MOST_UNFOLDED = 6  # figures of one paper: more would be a long way on a phone
_KINDS = (
    "Echoes and circular rows do not count as matches. An echo is published arithmetic, or an "
    "input of the measurement; from a circular row an assumption of the measurement was made."
)


def write_reproduce_page(path: Path, results: Sequence[RowResult], laboratory: Laboratory) -> None:
    """Writes the page; figures are drawn of the rows that are among the results."""
    write_document(path, reproduce_page(results, laboratory))


def reproduce_page(results: Sequence[RowResult], laboratory: Laboratory) -> Document:
    """The page: of each paper that has a row among the results its figures and its rows."""
    drawn = figures_of([result.row.identity for result in results], laboratory)
    verdicts = verdicts_in_words(results)
    small = ["Fewer seeds and shorter runs than the full form."] if laboratory.is_small else []
    sections = []
    for number, paper in load_published().papers.items():
        rows = [result for result in results if result.row.paper == number]
        if rows:
            parts = [*_tell_paper(paper, rows, drawn.get(number, ()))]
            sections.append(
                Section(f"paper-{number}", f"{number} · {paper.short}", parts, paper.short)
            )
    return Document(
        command="reproduce",
        kind="the papers measured again",
        name="reproduce",
        title="What the papers publish, and what is found",
        sentences=verdicts[1:2] or verdicts[:1],
        remarks=[*verdicts[2:], verdicts[0], _KINDS, *small],
        sections=sections,
    )


def _tell_paper(
    paper: Paper, rows: Sequence[RowResult], figures: Sequence[PaperFigure]
) -> Iterator[Part]:
    """A paper's verdicts, its figures and its rows, folded where there are many."""
    is_short = sum(len(result.findings) for result in rows) <= _MOST_UNFOLDED
    yield Line(mark_up('<span class="source">{}</span>', paper.title))
    yield from map(Line, verdicts_in_words(rows)[1:])
    if figures:
        parts = [
            part
            for one in figures
            for part in (Heading(one.title), replace(one.chart, caption=one.caption))
        ]
        yield Details(f"{format_count(len(figures), 'figure')} drawn anew", parts, is_short)
    findings = [(result, one) for result in rows for one in result.findings]
    table = Table(_COLUMNS, findings, look="cards claims")
    told = format_count(len(rows), "row")
    yield Details(f"{told}, what is published and what is found", [table], is_short)


def _name_row(result: RowResult, finding: Finding) -> Cell:
    row = result.row
    if finding is not result.findings[0]:
        return Cell(row.identity)
    return Cell(row.identity, (f"{row.what}. Open: {row.silent}" if row.silent else row.what,))


def _tell_published(finding: Finding) -> Cell:
    one = finding.figure
    stated = "" if one.published == "stated" else one.published
    allowed = f"; allowed: {one.allowed}" if one.allowed else ""
    return Cell(mark_up("{} <b>{}</b>", one.says, stated), (f"{one.where}{allowed}",))


def _tell_found(result: RowResult, finding: Finding) -> Cell:
    is_last = finding is result.findings[-1]
    assumed = f"Assumed: {result.assumed}." if is_last and result.assumed else ""
    return Cell(finding.ours, tuple(filter(None, (finding.why, assumed))))


def _mark_verdict(verdict: Verdict) -> Cell:
    return Cell("", mark=verdict, tone=verdict.name.lower().replace("no_evidence", "unknown"))


_COLUMNS: tuple[Column[tuple[RowResult, Finding]], ...] = (
    Column(page="row", shown=lambda one: _name_row(*one)),
    Column(page="published", shown=lambda one: _tell_published(one[1])),
    Column(page="found", shown=lambda one: _tell_found(*one)),
    Column(page="kind", shown=lambda one: one[1].figure.kind),
    Column(page="verdict", shown=lambda one: _mark_verdict(one[1].verdict)),
)
