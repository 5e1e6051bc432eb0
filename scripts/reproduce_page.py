# SPDX-License-Identifier: Apache-2.0
"""Prints docs/evidence/reproduce.md: the four papers beside what is found. Takes minutes."""

from heapfit.sweep import Sweep
from heapfit_papers.pages.markdown import paper_section
from heapfit_papers.reproduce.finding import verdicts_in_words
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import load_published
from heapfit_papers.reproduce.rows import reproduce, select_rows

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/reproduce_page.py from what it measures; `make docs` renews it. -->
# The papers reproduced

```sh
heapfit reproduce --all --report papers.html  # every row, and the figures as plots
heapfit reproduce 003 002-6                   # a paper, a row
heapfit reproduce --all --json                # for programs
```

heapfit is based on four papers. What each publishes is a list of rows: systems, metrics,
experiments, tables, figures and numbers, under ids such as `003-14`. Each row has a function that
measures it again and one that judges the measurement. The papers' figures, and what counts as a
match, are in `papers/heapfit_papers/reproduce/published.toml`, and nowhere else. The tests measure
every row in a smaller form (`--small`), change the measurement, and check that every verdict
changes.

The kind of a figure says what a match would mean:

| kind | what it is | can match |
|---|---|---|
| result | a measurement of ours against the paper's | yes |
| mechanism | the code does what the text says | yes |
| echo | published arithmetic, or an input that was put in | no |
| circular | an assumption of ours was made from it, where the paper is silent | no |

The verdict is *matches*, *differs* (with the reason), or *cannot be known* (with the reason): the
paper gives no number, or what it depends on is not available. An echo that agrees is *no evidence*,
nor is a circular figure. Where a paper is silent, the row has the assumption. Where it can be read
in several ways, the row has the reading used and what the others give.
"""


def main() -> None:
    """Measures every row in its full form."""
    with Sweep() as sweep:
        results = reproduce(select_rows([]), Laboratory(sweep=sweep))
    print(HEAD)
    first, *kinds = verdicts_in_words(results)
    print("\n".join([first, "", *(f"- {line}" for line in kinds)]))
    for number in load_published().papers:
        mine = [result for result in results if result.row.paper == number]
        print("\n".join(paper_section(mine)))


if __name__ == "__main__":
    main()
