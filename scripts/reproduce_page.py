# SPDX-License-Identifier: Apache-2.0
"""Prints docs/reproduce.md: what the four papers publish beside what is found. Takes minutes."""

from collections.abc import Iterator, Sequence

from heapfit.sweep import Sweep
from heapfit_papers.reproduce.finding import Finding, RowResult, verdicts_in_words
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import published
from heapfit_papers.reproduce.rows import chosen_rows, reproduce

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/reproduce_page.py from what it measures; `make docs` renews it. -->
# The papers reproduced

```sh
heapfit reproduce --all --report papers.html  # every row, and the figures as plots
heapfit reproduce 003 002-6                   # a paper, a row
heapfit reproduce --all --json                # for programs
```

heapfit stands on four papers. What each publishes is a list of rows: systems, metrics,
experiments, tables, figures and numbers, under ids such as `003-14`. Each row is a function that
measures it again. What is printed in the papers, and what counts as a match, is in
`papers/heapfit_papers/reproduce/published.toml`, and nowhere else; the tests measure every row in a
smaller form (`--small`).

A figure *matches*, *differs* (and why is told), or *cannot be known* (and why): where a paper gives
no number, or what it depends on is not to be had. Where a paper is silent, what is assumed stands
in the row; where it can be read in several ways, the one that was taken and what the others give.
"""


def cell(text: str) -> str:
    """Text in a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


def line(identity: str, result: RowResult, one: Finding, is_last: bool) -> str:
    """A published figure as a line of the table."""
    its = one.figure
    number = "" if its.published == "stated" else f" **{cell(its.published)}**"
    allowed = f"; allowed: {its.allowed}" if its.allowed else ""
    assumed = f"*Assumed: {cell(result.assumed)}.*" if is_last and result.assumed else ""
    found = "<br>".join(filter(None, [cell(one.ours), cell(one.why), assumed]))
    published_cell = f"{cell(its.says)}{number} ({cell(its.where + allowed)})"
    return f"| {identity} | {published_cell} | {found} | {one.verdict} |"


def section(results: Sequence[RowResult]) -> Iterator[str]:
    """The table of one paper."""
    paper = published().papers[results[0].row.paper]
    yield f"\n## {paper.number}: {paper.short}\n"
    yield f"{paper.title}\n"
    yield "| row | published | found | verdict |\n|---|---|---|---|"
    for result in results:
        for i, one in enumerate(result.findings, 1):
            identity = result.row.identity if i == 1 else ""
            yield line(identity, result, one, i == len(result.findings))


def main() -> None:
    """Measures every row in its full form."""
    with Sweep() as sweep:
        results = reproduce(chosen_rows([]), Laboratory(sweep=sweep))
    print(HEAD)
    print(verdicts_in_words(results))
    for number in published().papers:
        mine = [result for result in results if result.row.paper == number]
        print("\n".join(section(mine)))


if __name__ == "__main__":
    main()
