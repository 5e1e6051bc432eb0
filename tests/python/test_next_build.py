# SPDX-License-Identifier: Apache-2.0
"""What fit names survives changes of the program, from one recording and from several."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.change_results import ChangeResult, ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import compare
from heapfit.comparison.margin import TRACE_SPECIFIC, HeapSize, margin_for
from heapfit.comparison.measuring import STANDARD_PRECISION
from heapfit.comparison.reopening import ChangeTrials
from heapfit.comparison.row import rank_rows
from heapfit.comparison.verdict import select_row
from heapfit.design.front.preference import Preference
from heapfit.fitting.choice import Choice
from heapfit.fitting.choosing import _take_rung_of_several, choose, choose_rung
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.importers import ImportOptions, open_any
from heapfit.results.parts import content_of
from heapfit.results.screen import first_screen
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import REPLAYED, Trace

TRACES = Path(__file__).parents[2] / "examples/recordings/traces"
# Plans that 4 B more a request break: of the first another margin, of the second another plan.
BROKEN = ("index-1", "cmark-1")


@cache
def chosen(name: str) -> tuple[LoadedTrace, Choice]:
    """A recording and what is chosen for it."""
    loaded = load_trace(Trace.open(TRACES / f"{name}.parquet"))
    return loaded, choose([loaded], [name], options=FitOptions())


def program(folder: Path, seed: int) -> LoadedTrace:
    """Blocks of 12 B that stay, and others that come and go."""
    draw = random.Random(seed)
    lines, live, born = ["# heap-events 1", "# pointer_bits 32"], list[int](), 0
    for i in range(600):
        if not live or (draw.random() < 0.5 and len(live) < 40):
            lines.append(f"a {born} {draw.choice([12, 24, 60, 100, 300])}")
            live.append(born)
            born += 1
        else:
            lines.append(f"f {live.pop(draw.randrange(len(live)))}")
        if i % 4 == 0:
            lines.append(f"a {born} 12")
            born += 1
    path = folder / f"run-{seed}.heap"
    path.write_text("\n".join(lines) + "\n")
    return load_trace(open_any(path, ImportOptions(), folder))


def require_it_serves_what_counts(
    choice: Choice, recordings: Sequence[LoadedTrace], tested: ChangeTest
) -> None:
    """Replays of the changes by hand, in the region to set for their peak."""
    size, counted = choice.answer.size, {one.name for one in tested.counted}
    plan, served = choice.plan_file.plan.engine(), 0
    for change in ChangedPrograms.from_recordings(recordings).changes:
        if change.name not in counted:
            continue
        arrays, peaks = [], []
        for loaded in recordings:
            (columns,) = loaded.batches(REPLAYED)
            events, profile = _engine.EventArray(), _engine.Profile(1)
            events.append(*(change.apply(columns)[name] for name in REPLAYED))
            profile.feed(events)
            arrays.append(events)
            peaks.append(int(profile.result().u_max))
        region = replace(size, peak=max(*peaks, size.u_max)).region
        served += all(_engine.Trial(plan, events, 8).run(region).runs for events in arrays)
    assert served == len(counted) > 8


@pytest.mark.parametrize("name", BROKEN)
def test_one_recordings_margin_covers_the_changes_and_ranks_its_plan(name: str) -> None:
    loaded, choice = chosen(name)
    tested, known = choice.winner.changes, choice.answer.known
    assert tested is not None and tested.broken
    of_kind = margin_for(replace(known, changes=0.0))
    assert of_kind < choice.answer.size.margin == margin_for(known) <= TRACE_SPECIFIC
    assert choice.comparison.rows == rank_rows(choice.comparison.rows)
    require_it_serves_what_counts(choice, [loaded], tested)
    broken = [one for one in tested.to_rows() if not one["holds"]]
    assert max(one["needed_percent"] for one in broken) == tested.needed > 0
    sentence = tested.sentence(choice.answer.size.margin)
    assert f"with {tested.broken[0].name} it needs {tested.needed:g} % more" in sentence
    assert 0 < choice.comparison.work.changed < choice.comparison.work.events / 5


def test_changes_are_tried_until_another_row_needs_less_where_bytes_decide() -> None:
    loaded, choice = chosen(BROKEN[0])
    steps = [
        ChangeTest((ChangeResult("a", 0.0, True, False, needed),), is_complete=needed > 80)
        for needed in (0.0, 40.0, 90.0)
    ]
    programs = cast(ChangedPrograms, SimpleNamespace(test_in_steps=lambda *_: iter(steps)))
    untried = [replace(row, changes=None, r_safe_at_least=None) for row in choice.comparison.rows]
    comparison = replace(choice.comparison, rows=rank_rows(untried))
    first = next(row for row in comparison.rows if not row.is_cut_to_trace)
    for is_by_memory, tried in ((True, [40.0, 90.0]), (False, [90.0])):
        trials = ChangeTrials(loaded, programs, STANDARD_PRECISION, False, is_by_memory)
        after = comparison
        for needed in tried:
            after = trials.try_row(after, next(row for row in after.rows if row.name == first.name))
            tested = next(row.changes for row in after.rows if row.name == first.name)
            assert tested is not None and tested.needed == needed


@pytest.mark.parametrize("name", BROKEN)
def test_what_was_pruned_is_searched_where_it_wins_after_all(name: str) -> None:
    loaded, some = chosen(name)
    every = choose([loaded], [name], options=FitOptions(whole=True))
    assert (some.winner.name, some.answer) == (every.winner.name, every.answer)
    assert (some.winner.name != every.comparison.rows[0].name) == (
        every.comparison.rows[0].is_cut_to_trace
    )


def test_several_recordings_change_together_and_a_trace_specific_plan_is_not_named(
    tmp_path: Path,
) -> None:
    recordings = [program(tmp_path, seed) for seed in (1, 2, 3)]
    choice = choose(recordings, ["a", "b", "c"], options=FitOptions())
    designs = choice.designs
    assert designs is not None
    rows = {row.name: row for row in designs.rows}
    tested = rows[choice.winner.name].changes
    assert tested is not None and tested == choice.winner.changes
    require_it_serves_what_counts(choice, recordings, tested)
    passed_over = [row for row in designs.rows if row.known.is_trace_specific]
    least = min(row.r_safe for row in designs.rows if row.r_safe is not None)
    assert least in [row.r_safe for row in passed_over]
    assert select_row(designs, pools_asked=True).name not in [row.name for row in passed_over]
    assert designs.work.changed == sum(row.changes.events for row in rows.values() if row.changes)


def test_of_equal_regions_one_that_dominates_is_taken_for_several_recordings(
    tmp_path: Path,
) -> None:
    recordings = [program(tmp_path, seed) for seed in (1, 2, 3)]
    options = FitOptions(margin=10)
    designs = choose(recordings, ["a", "b", "c"], options=options).designs
    assert designs is not None
    least = max(row.r_safe or 0 for row in designs.rows)
    named = [row for row in designs.rows if row.name in ("tailored", "tlsf")]
    equal = [
        replace(row, needs=(least,) * 3, r_safe=least, unseen_r_safe=least, changes=None)
        for row in named
    ]
    costly, cheap = sorted(equal, key=lambda row: row.name)
    candidates = [
        Candidate(row.name, row.heap, row.reason, row.trained_on_this_trace) for row in equal
    ]
    comparison = compare(recordings[0], Portfolio(tuple(candidates), ()))
    of_equal = replace(designs, rows=(costly, cheap))
    found, row = _take_rung_of_several(costly, of_equal, comparison, recordings, options)
    assert row.name == "tlsf"
    assert row.changes is not None and row in found.rows
    smaller = replace(of_equal, rows=(replace(costly, r_safe=least - 64), cheap))
    assert _take_rung_of_several(smaller.rows[0], smaller, comparison, recordings, options) == (
        smaller,
        smaller.rows[0],
    )
    unmeasured = replace(of_equal, rows=(costly, replace(cheap, needs=())))
    _, row = _take_rung_of_several(costly, unmeasured, comparison, recordings, options)
    assert row is costly, "a row without its regions was taken"


@pytest.mark.parametrize(
    ("r_safe", "margin", "taken"),
    [(1005, 2.8, True), (1015, 2.0, False), (1005, 4.0, False)],
)
def test_a_rung_is_near_the_least_with_margins_and_without(
    r_safe: int, margin: float, taken: bool
) -> None:
    loaded, choice = chosen(BROKEN[0])
    rung = next(row for row in choice.comparison.rows if row.name == "good_fit")
    u_max = choice.winner.u_max
    sizes = {
        choice.winner.name: HeapSize(1000 * u_max, u_max, u_max, 2.8),
        rung.name: HeapSize(r_safe * u_max, u_max, u_max, margin),
    }
    found = choose_rung(choice.winner, sizes, choice.comparison, loaded, FitOptions())
    assert found is (rung if taken else choice.winner)


def test_what_is_preferred_for_another_measure_is_tried_too() -> None:
    loaded, _ = chosen(BROKEN[0])
    choice = choose([loaded], ["a"], options=FitOptions(prefer=Preference.TIME))
    tested = choice.winner.changes
    assert tested is not None and not choice.winner.known.is_trace_specific
    require_it_serves_what_counts(choice, [loaded], tested)


def test_a_heap_that_is_kept_is_tried_in_its_own_memory_and_the_json_says_so(
    tmp_path: Path,
) -> None:
    source = TRACES / "gateway-tasks32-1.parquet"
    fitted = fit([source], tmp_path / "out", FitOptions(now="heap_4"))
    assert fitted.today is not None and fitted.answer.is_kept
    assert fitted.changes is fitted.today.changes is not fitted.winner.changes
    assert fitted.changes is not None
    assert fitted.answer.known.changes == fitted.changes.needed
    assert fitted.work.changed == fitted.changes.events + fitted.comparison.work.changed
    rows = content_of(first_screen(fitted, is_whole=False))["changes"]
    assert rows == fitted.changes.to_rows()
    assert sum(one["is_counted"] for one in rows) == len(fitted.changes.counted) > 8
