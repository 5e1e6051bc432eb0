# SPDX-License-Identifier: Apache-2.0
"""Prints docs/evidence/mutants.md from the results of scripts/mutation.py and scripts/branches.py.

--check compares with the page that is there, and asks that of each population nine in ten of the
mutants that would be drawn now are among the kept ones, with the tests as they are: exit code 1.
"""

import csv
import difflib
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from mutants.draw import POPULATIONS, Population, ages_of_lines, in_drawn_order, line_by_line
from mutants.equivalents import equivalents, named_equivalents
from mutants.mutant import Mutant
from mutants.score import Score
from mutants.verdict import INVALID, LEFT, SAME, SURVIVED, Kept

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "scripts/mutants/kept"
SEED = 1
MOST_STALE = 0.1
Row = dict[str, str]

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/mutants_page.py from kept results; `make mutants` renews them and it. -->
# Mutation testing

Mutation testing measures whether the tests detect small faults. A mutant is a copy of the sources
with one fault (`scripts/mutants/faults.py`): a comparison reversed or off by one, an operator
exchanged, a constant one more or one less, a condition negated, a statement removed, another value
returned, or two arguments swapped. Good tests fail on it: they kill the mutant. A mutant that
survives shows code that no test checks.

| population | its files | mutants |
|---|---|---:|"""

METHOD = """\
A seed selects a random sample: one mutant of each line, then a second of each, and so on. One of a
line that is new is drawn four times as often as one that has stood for long; after a month it is
1.15 times as often. Each runs against the tests that concern it, the quick ones first, until one
fails. A test that runs out of processor time kills, too.

- **core**: all mutants of a run are compiled into the tests at once, each as a copy of its function
  that an environment variable chooses. A test runs once without a fault, which tells its time and
  the functions that it calls. A mutant meets the tests that call its function, those that noticed
  its neighbours first: unit tests, the contract at each level (500 steps), double frees and damaged
  words (5,000). What is left meets the explorer, battery at levels 1 to 3, the contract (50,000),
  double frees (20,000), damaged words (10^6) and bit flips. The programs are those that the build
  makes of these tests. With `--quick` a mutant meets the steps that take 0.3 s at most, alone: what
  they leave counts as not killed, and not as judged, until a run without it.
- **engine**: the C++ tests that include a header of the file's folder, then the six Python test
  files that reach the folder soonest, those of the file's name first, through the extension.
- **package**: the tests that execute the mutated statement, of the twelve test files that reach
  the function soonest; of each file the quickest first, until one fails. Which do is seen while a
  file runs without a fault in a copy where each statement marks a byte, also in the commands that a
  test starts. What a fixture executes counts for all its tests. What fails there anyway is left
  out. The tests of a file may take 30 s, all of them 120 s, dear files are last (`tests/more.txt`).
  Other tests might kill more: the share is a lower bound. Folders that print, draw or write alone
  are not mutated.

A Python test reaches a module in fewer steps the fewer imports lead there, the more of the module's
names it uses, and most of all if it uses the function's own. Of an engine's folder these are the
names that the bindings have of it.

Mutants that do not compile, or compile to the same machine code, are not counted. A survivor that
no test can kill is listed in `scripts/mutants/equivalents.toml` with the reason. Assertions,
exceptions, types, strings and code outside of functions are not mutated.

A result is stored with a hash of the mutant's function. For a killed mutant the hash covers the
test that killed it, for a survivor all tests. So a second run judges only what has changed.

**A share is of the functions and tests as they were when they were judged.** The last columns have
how much of a sample drawn now was judged as it is, and of how many of all lines a mutant was
judged since the line's function changed last. Where that is little, the share says little of
today's code: of 88 mutants of new lines of the package, judged on 2026-11-26 by tests chosen by
hand, 82 were noticed (93 %); 9 of the 104 that were drawn are equivalent by argument, 7 have no
verdict. Of ten of the engine's new lines 7 were noticed, one by a test written for it. The other
three change the order or the time of the packing's search, not what it may find. Since 2026-11-27
a test that counts the placements tried notices them, too. On that day all of 100 drawn of the
package had been judged: 6 are equivalent; the tests noticed 87 of the other 94 (93 %), and all once
tests had been written for the rest. Of 14 of the engine 13 were noticed, and one is equivalent.
On 2026-11-28, of the newest lines, the judges' own choice of tests noticed 6 of 7 drawn of the
package (one of `make_choice` in `fitting/choice.py` is left), and all of 6 drawn of core. On
2026-11-29 core's judge met a mutant each of nine in ten of its lines with brief tests, one process
beside other work, 1 to 3 s each. What these left (the column *left*) counts as not killed, until
long ones meet it: of 722 that were left 18 met them, four minutes each, by which 8
are the same machine code (most of `last_size_alike`, `room_alike` and `end_at`, which only the
engine's builds have), 2 are killed and 8 survived. One of these showed that no test asked for an
alignment that all blocks have: a test of that was written, and notices it. Then a second mutant was
drawn of the lines whose first was left, as these are not judged. Half of them were left, too, which
is why the share fell from 85 % while lines rose to the share in the table. At last the next mutant
was judged of lines that had none, and the 111 timeouts were run again with a hundred times their
limit on the clock: none of them ended well. What was left of `heap_free_sized` showed that no test
had a plan by which a size leads to its list at level 0: there is one now. Of core's last five
survivors four were tests that nobody had written: on 2026-11-30 one counts the loads of a group
that cannot grow (`list_grow`), one asks that an index multiplies by odd numbers (`try_table`), one
has the highest tag (`is_plan_sound`), one marks granules before the first chunk
(`are_pairs_sound`). The fifth, `size_slot`, changes a bound that only damaged trees meet. On that
day the package's judge was given `tests/python/test_check.py` back, which had failed in its copy
for want of a `heapfit` in the copy's `.venv`. Of 15 mutants that seeds 21 and 22 drew its choice of
tests noticed 10. The other five were a refusal in a region too small for one block, the memory of
buffers for whole packets, the largest size of a pool, a tool's status and the foretold seconds of a
fit: each has a test since, and so have other limits of which no test had the message. Of twelve
that seed 31 drew afterwards it noticed 11. It had never chosen five files of tests that build with
a sanitizer. It may now, and `tests/python/test_generate.py` notices what seed 31 had left. Of the
first four of seed 33, all that a busy machine judged, it noticed two. The other two were a step of
the compilers' progress and the code that a search for sizes leaves: each has a test since.

Later on 2026-11-30 the package's judge began to run what calls the function, and to mutate all
folders but three. Of the twelve that seed 35 drew it noticed 8. One of the other four is
equivalent. Three had no test: that a level log is not told what looks like a leak, the pace of a
part in its table, and a log of calls whose last resize is of NULL. Each has one since. By the last
it was found that a log whose first resize is of NULL lost all of them, which is mended.
Of the first six of seed 36, for which the machine had time, it noticed five. The sixth was a page
of `size` whose chart and link were exchanged, which a test reads now."""

BRANCHES = """\
## Branches of core

The table has the share of branches that tests take at safety level 1. The tests are the unit tests,
the contract suite (20,000 steps per allocator) and calls on damaged heaps
(`tests/attack/damaged_words.c`, 20,000 per allocator). A branch is one outcome of a condition in
the source. Each term of `&&` and `||` counts; copies of an inlined function count once.

Conditions with only one outcome at this level are excluded:

- tests of `HFIT_SAFETY`, of `sizeof` and of other macros that clang folds;
- calls of functions that return one value there;
- conditions of other levels, for which clang makes no instruction even unoptimized;
- `HFIT_ASSERT`, whose failures have tests of their own (`tests/core/asserts`).

`scripts/branches.py` lists the branches not taken. By reading, half of them are terms of `check`
and of checks of neighbouring chunks, where another term detects the damage first. About ten are
limits of loops that end earlier. The rest are conditions for which present callers allow one
outcome.

| folder | branches | taken | |
|---|---:|---:|---:|"""


def main() -> None:
    """Prints or compares; see above."""
    page = "\n".join(lines_of_page()) + "\n"
    if sys.argv[1:] != ["--check"]:
        print(page, end="")
        return
    there = (ROOT / "docs/evidence/mutants.md").read_text()
    differing = list(difflib.unified_diff(there.splitlines(), page.splitlines(), lineterm=""))
    stale = [line for one in POPULATIONS.values() for line in stale_lines(one)]
    print(*differing, *stale, sep="\n")
    if differing or stale:
        sys.exit("docs/evidence/mutants.md: run `make mutants`")


def lines_of_page() -> list[str]:
    """The whole page."""
    kept = {name: kept_rows(name) for name in POPULATIONS}
    return [
        HEAD,
        *(population_line(one) for one in POPULATIONS.values()),
        "",
        METHOD,
        "",
        "| population | judged | killed | of them by a timeout | survived | left | share | aim "
        "| named equivalent | same code | not compiled | of what is drawn now, judged: about "
        "| of its lines |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(score_line(POPULATIONS[name], rows) for name, rows in kept.items()),
        "",
        "By folder:",
        "",
        "| folder | judged | killed |",
        "|---|---:|---:|",
        *(line for rows in kept.values() for line in room_lines(rows)),
        "",
        *survivor_lines(kept),
        *equivalent_lines(),
        BRANCHES,
        *branch_lines(),
    ]


@cache
def mutants_of(population: Population) -> list[Mutant]:
    """All of a population."""
    return population.mutants(ROOT)


def kept_rows(name: str) -> list[Row]:
    """Of a population; none if it was never judged."""
    return list(Kept(ROOT, KEPT / f"{name}.csv").rows.values())


def population_line(population: Population) -> str:
    """Where it comes from and how large it is, in hundreds, so that an edit does not change it."""
    files = ", ".join(f"`{pattern}`" for pattern in population.patterns)
    files += "".join(f", not `{name}`" for name in population.without)
    return f"| {population.name} | {files} | {round(len(mutants_of(population)), -2):,} |"


def score_line(population: Population, rows: list[Row]) -> str:
    """Its row of the table."""
    if not rows:
        return f"| {population.name} | not judged yet |" + " |" * 11
    score = Score.of(rows, named_equivalents(ROOT, rows))
    new, drawn = count_new(population)
    judged_now = round(1 - new / drawn, 1)  # in tenths: a draw changes with each day
    cells = (
        population.name,
        score.judged - score.named,
        score.killed + score.timeouts,
        score.timeouts,
        score.survived - score.left,
        score.left,
        f"{score.share:.1%}",
        f"{population.aim:.0%}",
        score.named,
        score.same,
        score.invalid,
        f"{judged_now:.0%}",
        f"{share_of_lines(population, rows):.0%}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def room_lines(rows: list[Row]) -> list[str]:
    """A row for each folder in which mutants were judged."""
    judged = defaultdict(lambda: [0, 0])
    named = named_equivalents(ROOT, rows)
    for row in rows:
        if row["verdict"] not in {INVALID, SAME} and row["key"] not in named:
            counts = judged[room_of(row["file"])]
            counts[0] += 1
            counts[1] += row["verdict"] not in {SURVIVED, LEFT}
    return [f"| `{room}` | {counts[0]} | {counts[1]} |" for room, counts in sorted(judged.items())]


def room_of(file: str) -> str:
    """The folder, of the package's the first below heapfit."""
    parts = Path(file).parent.parts
    return "/".join(parts[:3])


def survivor_lines(kept: dict[str, list[Row]]) -> list[str]:
    """The faults that no test has found."""
    lines = [
        f"- `{row['file']}`, `{row['function']}`: `{one_line(row['was'])}` becomes"
        f" `{one_line(row['becomes'])}` in `{row['text']}`"
        for rows in kept.values()
        for row in rows
        if row["verdict"] == SURVIVED and row["key"] not in named_equivalents(ROOT, rows)
    ]
    return ["## Survivors", "", *(lines or ["None."]), ""]


def one_line(text: str) -> str:
    """A fault's text without its line ends."""
    return " ".join(text.split())


def equivalent_lines() -> list[str]:
    """What cannot be killed, and why."""
    lines = [
        f"- `{one.file}`, `{one.function}`: `{one.was}` becomes `{one.becomes}` in `{one.line}`."
        f" {one.reason}"
        for one in equivalents(ROOT)
    ]
    return ["## Equivalents by argument", "", *(lines or ["None."]), ""]


def branch_lines() -> list[str]:
    """A row for each room, and their sum."""
    with (KEPT / "branches.csv").open(newline="") as file:
        rows = [
            (row["file"].rpartition("/")[0] or ".", int(row["taken"]), int(row["branches"]))
            for row in csv.DictReader(file)
        ]
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for room, taken, branches in rows:
        for name in (room, "all"):
            rooms[name][0] += taken
            rooms[name][1] += branches
    ordered = sorted(rooms.items(), key=lambda one: (one[0] == "all", one[0]))
    return [
        f"| `{room}` | {branches:,} | {taken:,} | {taken / branches:.1%} |"
        for room, (taken, branches) in ordered
    ]


def stale_lines(population: Population) -> list[str]:
    """What is wrong if more than a tenth of what would be drawn now was not judged so."""
    kept = Kept(ROOT, KEPT / f"{population.name}.csv")
    if not kept.rows:
        return [f"{population.name}: no result is kept"]
    new, drawn = count_new(population)
    if new <= MOST_STALE * drawn:
        return []
    return [f"{population.name}: {new} of {drawn} mutants that are drawn now were not judged"]


def count_new(population: Population) -> tuple[int, int]:
    """How many mutants that would be drawn now were not judged as they are, and how many are."""
    kept = Kept(ROOT, KEPT / f"{population.name}.csv")
    ages = ages_of_lines(ROOT, population.files(ROOT))
    ordered = in_drawn_order(mutants_of(population), SEED, ages)
    void = {key for key, row in kept.rows.items() if row["verdict"] == INVALID}
    drawn = line_by_line(ordered, void)[: len(kept.rows)]
    return sum(one.key not in kept.rows for one in drawn), len(drawn)


def share_of_lines(population: Population, rows: list[Row]) -> float:
    """Of the lines that have mutants those of which one was judged as the line now stands."""
    keys = {row["key"] for row in rows if row["verdict"] not in {INVALID, LEFT}}
    mutants = mutants_of(population)
    judged = {(one.file, one.line) for one in mutants if one.key in keys}
    return len(judged) / len({(one.file, one.line) for one in mutants})


if __name__ == "__main__":
    main()
