# SPDX-License-Identifier: Apache-2.0
"""`heapfit reproduce`: what the four papers publish beside what is measured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit.cli.arguments import AsJson, ClusterAddress, Workers
from heapfit.cli.printing import console
from heapfit.sweep import Sweep
from heapfit_papers.reproduce.finding import Finding, RowResult, verdict_counts, verdicts_in_words
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import published
from heapfit_papers.reproduce.rows import chosen_rows, reproduce

_COLUMNS = ("row", "published", "found", "verdict")


def command(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="000|001|002|003|ROW",
            help="Papers, or single rows such as 003-9: 000 Cebeci 2019, 001 Mamagkakis et al., "
            "002 Elsayed and Galal, 003 Lee and Yi 2008.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All rows of all papers.")] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="A page with the papers' figures as plots.")
    ] = None,
    small: Annotated[
        bool, typer.Option("--small", help="Fewer seeds and shorter runs, as the tests do.")
    ] = False,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Measure every row of the papers again and tell which published figures come out."""
    if bool(papers) == every:
        raise typer.BadParameter("name papers or rows, or --all")
    identities = chosen_rows(papers or [])
    with console.progress() as progress, Sweep(workers, cluster) as sweep:
        laboratory = Laboratory(small, sweep, progress)
        results = reproduce(identities, laboratory)
        if report is not None:
            from heapfit_papers.pages.reproduce_page import write_reproduce_page

            write_reproduce_page(report, results, laboratory)
    if as_json:
        console.out_json(_json(results, report))
        return
    _print(results)
    if report is not None:
        console.out(f"report  {report}")


def _print(results: Sequence[RowResult]) -> None:
    for number, paper in published().papers.items():
        mine = [result for result in results if result.row.paper == number]
        if mine:
            console.out(f"{number}  {paper.title}")
            console.out_wrapped(_COLUMNS, list(_lines(mine)), wide=_COLUMNS[1:3])
    console.out(verdicts_in_words(results))


def _lines(results: Sequence[RowResult]) -> Iterator[tuple[str, ...]]:
    """A line for each figure; the last one of a row tells what is assumed, if anything."""
    for result in results:
        for i, one in enumerate(result.findings, 1):
            identity = result.row.identity if i == 1 else ""
            found = [one.ours, one.why]
            if i == len(result.findings) and result.assumed:
                found.append(f"Assumed: {result.assumed}.")
            yield identity, _published(one), "\n".join(filter(None, found)), one.verdict.value


def _published(one: Finding) -> str:
    """The statement, with the number, what is allowed, and its place."""
    allowed = one.figure.allowed
    number = "" if one.figure.published == "stated" else one.figure.published
    told = "; ".join(filter(None, [number, allowed]))
    return f"{one.figure.says}\n" + (f"[{told}] " if told else "") + one.figure.where


def _json(results: Sequence[RowResult], report: Path | None) -> dict[str, Any]:
    return {
        "rows": [_row_json(result) for result in results],
        "verdicts": {verdict.value: n for verdict, n in verdict_counts(results).items()},
        "report": None if report is None else str(report),
    }


def _row_json(result: RowResult) -> dict[str, Any]:
    return {
        "id": result.row.identity,
        "what": result.row.what,
        "open": result.row.silent,
        "assumed": result.assumed,
        "verdict": result.verdict.value,
        "figures": [
            {
                "name": one.figure.name,
                "where": one.figure.where,
                "statement": one.figure.says,
                "published": one.figure.value,
                "unit": one.figure.unit,
                "allowed": one.figure.allowed,
                "found": one.ours,
                "number": one.number,
                "verdict": one.verdict.value,
                "why": one.why,
            }
            for one in result.findings
        ],
    }
