# SPDX-License-Identifier: Apache-2.0
"""The rows of the papers as tables in Markdown: what docs/evidence/reproduce.md consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapfit_papers.reproduce.finding import Finding, RowResult, verdicts_in_words
from heapfit_papers.reproduce.published import Figure, load_published


def paper_section(results: Sequence[RowResult]) -> Iterator[str]:
    """The table of one paper, of which all the rows are."""
    paper = load_published().papers[results[0].row.paper]
    yield f"\n## {paper.number}: {paper.short}\n"
    yield f"{paper.title}\n"
    yield f"{' '.join(verdicts_in_words(results))}\n"
    yield "| row | published | found | kind | verdict |\n|---|---|---|---|---|"
    for result in results:
        yield from row_lines(result)


def row_lines(result: RowResult) -> Iterator[str]:
    """A line for each figure; the last one tells what is assumed, if anything."""
    for i, one in enumerate(result.findings, 1):
        identity = result.row.identity if i == 1 else ""
        assumed = result.assumed if i == len(result.findings) else ""
        yield _line(identity, one, assumed)


def format_published(its: Figure) -> str:
    """What is published, where, and what counts as a match."""
    number = "" if its.published == "stated" else f" **{_cell(its.published)}**"
    allowed = f"; allowed: {its.allowed}" if its.allowed else ""
    return f"{_cell(its.says)}{number} ({_cell(its.where + allowed)})"


def _line(identity: str, one: Finding, assumed: str) -> str:
    its = one.figure
    told = f"*Assumed: {_cell(assumed)}.*" if assumed else ""
    found = "<br>".join(filter(None, [_cell(one.ours), _cell(one.why), told]))
    return f"| {identity} | {format_published(its)} | {found} | {its.kind} | {one.verdict} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")
