#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R_safe of what `fit` names, beside the best plan that any version of it ever found.

bench/results/best.csv has a row for each recording and alignment: the least R_safe, without a
margin, of a plan that sets no blocks aside, that plan, and what `fit` named last. `fit` is run
again here. It fails, naming the recordings, where R_safe of its verdict is more than half a percent
above the best ever and the row names no decision (of docs/evidence/decisions) that says why.
`--write` keeps the better of both, and names the decision by which a margin ranked the best plan
behind.

With HEAPFIT_CORPUS set the recordings are the corpus's; those of the examples are measured always.
`--only WORD` keeps those in whose name the word occurs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from events import sources
from page_tables import RESULTS, add_option, read_result, write_result

from heapfit.cli.printing import console
from heapfit.comparison.incumbents.heap_names import RUNGS
from heapfit.comparison.row import Row, rank_rows
from heapfit.design.offers import NEAR
from heapfit.fitting.choice import Choice
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace

ALLOWED = 1.005  # times the best ever
ALIGNMENTS = (4, 8)
EXAMPLES = Path(__file__).parents[1] / "examples"
OWN = ("m4-1", "m4-2", "tcc-1", "lwip-echo")  # the shortest of the examples
# Decisions by which margins rank, and by which the last percent may cost too much.
BY_KIND, BY_CHANGES, BY_RUNGS = "0020", "0034", "0039"
COLUMNS = ("recording", "aligned to", "U_max, B", "best R_safe ever, B", "its plan",
           "R_safe of fit, B", "its name", "events replayed over the recording's",
           "decision")  # fmt: skip


@dataclass(frozen=True)
class Best:
    """A recording at an alignment: the best plan ever, and what fit names now."""

    recording: str
    alignment: int
    u_max: int
    least: int  # R_safe of the best ever
    plan: str  # as `compare` takes it
    named: int  # R_safe of fit's verdict
    name: str
    work: int  # events replayed, over those of the recording
    decision: str  # "": none

    @property
    def cells(self) -> tuple[object, ...]:
        found = self.named, self.name, self.work, self.decision
        return self.recording, self.alignment, self.u_max, self.least, self.plan, *found


def recordings() -> list[Path]:
    corpus = sources(None)
    own = [path for path in sorted(EXAMPLES.rglob("*.parquet")) if path.stem in OWN]
    return own if corpus and corpus[0].suffix == ".parquet" else [*corpus, *own]


def known_rows() -> dict[tuple[str, int], Best]:
    """The rows of the table, by recording and alignment."""
    if not (RESULTS / "best.csv").exists():
        return {}
    rows = {}
    for name, alignment, u_max, least, plan, named, by, work, why, _ in read_result("best").rows:
        one = Best(name, int(alignment), int(u_max), int(least), plan, int(named), by, int(work),
                   why)  # fmt: skip
        rows[name, one.alignment] = one
    return rows


def measure(source: Path, alignment: int) -> Best:
    """What fit finds and names now; the best ever is the least that it found."""
    name = source.name.split(".")[0]
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        loaded = load_trace(open_any(source, ImportOptions(), Path(folder)), alignment)
        choice = choose([loaded], [name], options=FitOptions(alignment=alignment))
    rows = [row for row in choice.comparison.rows if row.r_safe and not row.is_cut_to_trace]
    least = min(rows, key=lambda row: row.r_safe or 0)
    return Best(
        name,
        alignment,
        choice.comparison.u_max,
        least.r_safe or 0,
        plan_text(least.plan),
        choice.winner.r_safe or 0,
        choice.winner.name,
        round(choice.comparison.work.events / max(len(loaded.events), 1)),
        decision_for(choice, least),
    )


def decision_for(choice: Choice, least: Row) -> str:
    """The decision by which the plan of the least R_safe is not named; "" if there is none."""
    winner = choice.winner
    if (winner.r_safe or 0) <= ALLOWED * (least.r_safe or 0) or least.heap_size is None:
        return ""
    if least.known.changes > winner.known.changes:
        return BY_CHANGES
    if rank_rows([least, winner])[0] is winner:
        return BY_KIND
    is_near = choice.answer.size.region <= (1 + NEAR) * least.heap_size.region
    return BY_RUNGS if is_near and winner.name in RUNGS else ""


def plan_text(plan: Plan) -> str:
    """A plan without pools as NAME:TUNABLE=VALUE,..., which `compare` takes."""
    assert not plan.pools and plan.shared is None
    settings = ",".join(f"{key}={value}" for key, value in plan.scalars.items())
    return f"{plan.allocator}:{settings}" if settings else plan.allocator


def join_known(now: Best, before: Best | None) -> Best:
    """The row with the better of what was found now and ever before."""
    if before is None or now.least <= before.least:
        return now
    is_found = now.least <= ALLOWED * before.least
    decision = now.decision if is_found else before.decision
    return replace(now, least=before.least, plan=before.plan, decision=decision)


def is_lost(now: Best, row: Best) -> bool:
    """True if the verdict is above the best ever, and the row's decision covers less or nothing."""
    covered = max(row.least, row.named if row.decision else 0)
    return now.named > ALLOWED * covered


def print_rows(rows: Sequence[Best]) -> None:
    console.print_table(
        ("recording", "aligned to", "best ever", "fit", "over it", "name", "work", "decision"),
        [
            (
                one.recording,
                str(one.alignment),
                f"{one.least:,}",
                f"{one.named:,}",
                f"{100 * (one.named / one.least - 1):+.2f} %",
                one.name,
                f"{one.work:,}",
                one.decision,
            )
            for one in rows
        ],
        width=console.WIDE,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--alignment", nargs="+", type=int, default=ALIGNMENTS)
    add_option(parser)
    asked = parser.parse_args()
    wanted = [one for one in recordings() if any(word in one.name for word in asked.only)]
    known, rows, lost = known_rows(), [], []
    for source in wanted:
        for alignment in asked.alignment:
            now = measure(source, alignment)
            row = join_known(now, known.get((now.recording, alignment)))
            rows.append(row)
            before = row if asked.write else known.get((now.recording, alignment), row)
            lost += [f"{now.recording} at {alignment} B"] if is_lost(now, before) else []
            print(*rows[-1].cells, file=sys.stderr, flush=True)
    print_rows(rows)
    if asked.write:
        write_result("best", COLUMNS, [one.cells for one in rows], keys=2)
    if lost:
        sys.exit(f"above the best ever, and no decision says why: {', '.join(lost)}")


if __name__ == "__main__":
    main()
