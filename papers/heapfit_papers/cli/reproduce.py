# SPDX-License-Identifier: Apache-2.0
"""`heapfit reproduce`: what the four papers publish beside what is measured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import start_sweep
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, object_of
from heapfit_papers.cli.commands import ReproduceCommand
from heapfit_papers.cli.wrapped import wrap_table
from heapfit_papers.reproduce.finding import Finding, RowResult, verdict_counts, verdicts_in_words
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import load_published
from heapfit_papers.reproduce.rows import reproduce, select_rows

_HEADINGS = ("row", "published", "found", "kind, verdict")


def run(command: ReproduceCommand) -> None:
    if bool(command.papers) == command.every:
        raise UsageError("name papers or rows, or --all")
    identities = select_rows(command.papers or [])
    with progress_bar({"rows": 1}) as progress, start_sweep(command.workers) as sweep:
        laboratory = Laboratory(command.small, sweep, progress)
        results = reproduce(identities, laboratory)
        if command.report is not None:
            # Loads jinja2, which takes longer than many a row.
            from heapfit_papers.pages.reproduce_page import write_reproduce_page

            write_reproduce_page(command.report, results, laboratory)
    print_result(_parts(results, command.report), command.as_json)


def _parts(results: Sequence[RowResult], report: Path | None) -> Iterator[Part]:
    yield Table(_ROW, results, "rows")
    counts = verdict_counts(results)
    yield Fields({"verdicts": counts})
    yield Fields({"report": report})
    for number, paper in load_published().papers.items():
        mine = [result for result in results if result.row.paper == number]
        if mine:
            yield Line(f"{number}  {paper.title}")
            yield from wrap_table(_HEADINGS, _lines(mine), wide=_HEADINGS[1:3])
    yield from map(Line, verdicts_in_words(results))
    if report is not None:
        yield Line(f"report  {report}", is_copied=True)


def _lines(results: Sequence[RowResult]) -> Iterator[tuple[str, ...]]:
    """A line for each figure; the last one of a row tells what is assumed, if anything."""
    for result in results:
        for i, one in enumerate(result.findings, 1):
            identity = result.row.identity if i == 1 else ""
            found = [one.ours, one.why]
            if i == len(result.findings) and result.assumed:
                found.append(f"Assumed: {result.assumed}.")
            stands = f"{one.figure.kind}\n{one.verdict}"
            yield identity, _format_published(one), "\n".join(filter(None, found)), stands


def _format_published(one: Finding) -> str:
    """The statement, with the number, what is allowed, and its place."""
    allowed = one.figure.allowed
    number = "" if one.figure.published == "stated" else one.figure.published
    told = "; ".join(filter(None, [number, allowed]))
    return f"{one.figure.says}\n" + (f"[{told}] " if told else "") + one.figure.where


def _figure_column(field: str, attribute: str) -> Column[Finding]:
    return Column(field, value=lambda one: getattr(one.figure, attribute))


_FINDING: tuple[Column[Finding], ...] = (
    _figure_column("name", "name"),
    _figure_column("kind", "kind"),
    _figure_column("where", "where"),
    _figure_column("statement", "says"),
    _figure_column("published", "value"),
    _figure_column("unit", "unit"),
    _figure_column("allowed", "allowed"),
    Column("found", value=lambda one: one.ours),
    Column("number"),
    Column("verdict"),
    Column("why"),
)
_ROW: tuple[Column[RowResult], ...] = (
    Column("id", value=lambda one: one.row.identity),
    Column("what", value=lambda one: one.row.what),
    Column("open", value=lambda one: one.row.silent),
    Column("assumed"),
    Column("verdict"),
    Column("figures", value=lambda one: [object_of(_FINDING, each) for each in one.findings]),
)
