# SPDX-License-Identifier: Apache-2.0
"""Puts small faults into core, the engine or the package, one at a time, and runs their tests.

    mutation.py core|engine|package [--count 200] [--seed 1]    drawn, new lines more often
    mutation.py core|engine|package --since COMMIT [--count 20]   of lines changed since then
    mutation.py core --quick ...     the quick tests alone: what they leave is for another run

Prints each mutant that survives. What was judged is kept in scripts/mutants/kept for as long as
its function stays, and only what has changed is judged again. Exit code 1 if fewer are killed than
the population's aim.
"""

import argparse
import sys
from pathlib import Path

from mutants.core_judge import CoreJudge
from mutants.draw import (
    POPULATIONS,
    Population,
    ages_of_lines,
    in_drawn_order,
    line_by_line,
    on_changed_lines,
)
from mutants.engine_judge import EngineJudge
from mutants.equivalents import is_named, named_equivalents
from mutants.mutant import Mutant
from mutants.package_judge import PackageJudge
from mutants.score import Score
from mutants.verdict import INVALID, LEFT, SAME, SURVIVED, Judge, Kept, UnsoundTestError, Verdict

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "scripts/mutants/kept"
AT_ONCE = 1_500  # mutants that core's judge builds together: what is judged is kept in between
JUDGES = {"core": CoreJudge, "engine": EngineJudge, "package": PackageJudge}


def main() -> None:
    """Judges and prints; see above."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("population", choices=sorted(POPULATIONS))
    options.add_argument("--count", type=int, help="mutants that compile to something else")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--since", metavar="COMMIT", help="only on lines changed since")
    options.add_argument("--quick", action="store_true", help="without core's long tests")
    given = options.parse_args()
    population = POPULATIONS[given.population]
    JUDGES[given.population].is_quick = given.quick
    mutants = population.mutants(ROOT)
    if given.since:
        drawn = in_drawn_order(mutants, given.seed)
        judge_changed(population, drawn, given.since, given.count or 20)
    else:
        ages = ages_of_lines(ROOT, population.files(ROOT))
        judge_drawn(population, in_drawn_order(mutants, given.seed, ages), given.count or 200)


def judge_drawn(population: Population, mutants: list[Mutant], count: int) -> None:
    """The first of each line, which are kept beside what was judged before and is there still."""
    judge = JUDGES[population.name](ROOT)
    kept = Kept(judge.tree.top, KEPT / f"{population.name}.csv")
    keys = [one.key for one in mutants]
    kept.keep_only(keys)
    void = {key for key, row in kept.rows.items() if row["verdict"] == INVALID}
    judged = judge_first(judge, line_by_line(mutants, void), count, kept)
    kept.keep_only(keys)
    print_score(population, kept, judged)


def judge_changed(population: Population, mutants: list[Mutant], base: str, count: int) -> None:
    """The first on lines that differ from a commit's; builds nothing where there are none."""
    changed = on_changed_lines(ROOT, mutants, base)
    if not changed:
        print(f"{population.name}: no mutants on the lines changed since {base}")
        return
    judge = JUDGES[population.name](ROOT)
    kept = Kept(judge.tree.top, ROOT / f"build/mutants/changed-{population.name}.csv")
    print_score(population, kept, judge_first(judge, changed, count, kept))


def judge_first(judge: Judge, mutants: list[Mutant], count: int, kept: Kept) -> list[str]:
    """Judges mutants in their order until there are enough; returns the keys of those met."""
    met: list[str] = []
    judged = 0
    each = min(count * 4 // 3, AT_ONCE)  # a fourth does not compile, or to the same
    for first in range(0, len(mutants), each):
        turn = mutants[first : first + each]
        left = [one for one in turn if judged < count and not find_kept(judge, one, kept)]
        if left:
            judge.prepare(left)
        for mutant in turn:
            if judged == count:
                return met
            verdict = find_kept(judge, mutant, kept)
            if verdict is None:
                named = is_named(ROOT, judge.tree.top, mutant)
                verdict = Verdict(SURVIVED) if named else judge_soundly(judge, mutant)
                kept.keep(mutant, verdict, judge.tests)
                print_one(mutant, verdict, judged + 1)
            met.append(mutant.key)
            judged += verdict.kind not in {INVALID, SAME}
    return met


def find_kept(judge: Judge, mutant: Mutant, kept: Kept) -> Verdict | None:
    """What was found before, unless it is to meet the long tests now."""
    found = kept.find(mutant, judge.tests)
    return None if found and found.kind == LEFT and not judge.is_quick else found


def judge_soundly(judge: Judge, mutant: Mutant) -> Verdict:
    """What the tests say that do not fail anyway; those that do are named."""
    while True:
        try:
            return judge.judge(mutant)
        except UnsoundTestError as error:
            print(f"{error}: fails without any mutant, and is left out", flush=True)


def print_one(mutant: Mutant, verdict: Verdict, number: int) -> None:
    """A line; a survivor's has its text."""
    place = f"{mutant.file}:{mutant.line}"
    print(f"{number:4} {verdict.kind:8} {place} {mutant.operator} {verdict.by}", flush=True)
    if verdict.kind in {SURVIVED, LEFT}:
        print(f"       {mutant.function}: {mutant.was!r} becomes {mutant.becomes!r}", flush=True)


def print_score(population: Population, kept: Kept, keys: list[str]) -> None:
    """The last line; exit code 1 below the aim."""
    rows = [kept.rows[key] for key in keys]
    score = Score.of(rows, named_equivalents(ROOT, rows))
    print(score.sentence(population.name))
    sys.exit(score.share < population.aim)


if __name__ == "__main__":
    main()
