# SPDX-License-Identifier: Apache-2.0
"""Stacks before `tailored`: what several runs have in common, where it saves, and else why not."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from small_traces import heapfit

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.design.placement.learned import PlacedLayout
from heapfit.design.placement.stacks import MOST_STACKS, common_stacks, learn_stacks, with_stacks
from heapfit.design.placement.tailored_plans import STACKS, make_tailored_candidates
from heapfit.design.robust.design import RobustOptions, design_robust
from heapfit.design.robust.joined_trace import join_traces
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")

PLAIN = Plan("tailored", {"alignment": 8})
EVENTS = 5_000_000


def stored(folder: Path, name: str, lines: list[str]) -> Trace:
    path = folder / f"{name}.heap"
    path.write_text("\n".join(["# heap-events 1", "# pointer_bits 32", *lines]) + "\n")
    return open_any(path, ImportOptions(), folder)


def session(seed: int, small: int = 800, large: int = 12) -> list[str]:
    """Blocks of 8 B, for which `tailored` has marks, among others of all sizes; all come and go. At
    last a block of 3,000 B, the peak, and another in its place."""
    draw = random.Random(seed)
    live: dict[bool, list[int]] = {True: [], False: []}
    lines = []
    for born in range(1500):
        is_small = draw.random() < 0.6
        kind = live[is_small]
        if len(kind) == (small if is_small else large):
            lines.append(f"f {kind.pop(draw.randrange(len(kind)))}")
        lines.append(f"a {born} {8 if is_small else draw.randrange(100, 300)}")
        kind.append(born)
    freed = [f"f {one}" for one in (1500, *live[False][:6])]
    return [*lines, "a 1500 3000", *freed, "a 1501 2500"]


def joined(folder: Path, runs: list[Trace]) -> LoadedTrace:
    loaded = load_trace(join_traces(folder / "joined.parquet", runs))
    return replace(loaded, runs=tuple(map(load_trace, runs)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Trace]:
    folder: Path = tmp_path_factory.mktemp("runs")
    return [stored(folder, f"run{seed}", session(seed)) for seed in (1, 2, 5)]


@pytest.fixture(scope="module")
def loaded(runs: list[Trace], tmp_path_factory) -> LoadedTrace:
    return joined(tmp_path_factory.mktemp("joined"), runs)


def placed(plan: Plan, loaded: LoadedTrace) -> PlacedLayout:
    """The plan in the least region that serves."""
    region = _engine.Trial(plan.engine(), loaded.events).scan().r_safe
    assert region is not None
    return PlacedLayout(plan, 0, region)


def stacks_of(loaded: LoadedTrace) -> Candidate | NotApplicable:
    return next(one for one in make_tailored_candidates(loaded) if one.name == STACKS)


def test_a_stack_has_what_the_run_that_needs_least_needs_at_its_fullest(tmp_path: Path) -> None:
    many = [f"a {i} 64" for i in range(20)]
    full = [*(f"a {i} 13" for i in range(20, 30)), "f 0", "f 1", "a 30 130"]  # 18 are live then
    first = stored(tmp_path, "first", [*many, *full])
    second = stored(tmp_path, "second", [*many, "a 20 16", "a 21 200"])
    assert common_stacks([load_trace(first), load_trace(second)], 8) == [
        Pool(64, 18, True),
        Pool(16, 1, True),
    ]
    assert common_stacks([load_trace(second)], 8)[0] == Pool(64, 20, True)


def test_what_only_one_run_has_at_its_peak_has_no_stack(tmp_path: Path) -> None:
    first = stored(tmp_path, "first", ["a 0 64", "a 1 40"])
    second = stored(tmp_path, "second", ["a 0 64", "a 1 48"])
    assert common_stacks([load_trace(first), load_trace(second)], 8) == [Pool(64, 1, True)]


def test_stacks_are_over_the_placement_they_are_learned_for() -> None:
    placed = PlacedLayout(with_stacks(PLAIN, [Pool(64, 2, True), Pool(16, 3, True)]), 1 << 40, 0)
    assert [pool.size for pool in placed.plan.pools] == [16, 64]
    assert placed.plan.shared == PlacedLayout(PLAIN, 1 << 40, 0).plan
    assert with_stacks(PLAIN, []) == PLAIN


def test_stacks_spare_small_blocks_their_marks(loaded: LoadedTrace) -> None:
    found = stacks_of(loaded)
    assert isinstance(found, Candidate)
    assert "learned from 3 runs" in found.reason
    assert 8 in [pool.size for pool in found.plan.pools]
    assert len(found.plan.pools) <= MOST_STACKS
    assert found.plan.shared is not None
    assert found.plan.shared.allocator == "tailored"


def test_a_stack_that_saves_nothing_is_not_kept(loaded: LoadedTrace) -> None:
    found, replayed = learn_stacks(loaded, placed(PLAIN, loaded), EVENTS)
    assert 0 < replayed < EVENTS
    assert Pool(3000, 1, True) in common_stacks(loaded.runs, 8)
    assert found.plan.pools
    assert 3000 not in [pool.size for pool in found.plan.pools]
    for pool in found.plan.pools:
        fewer = [one for one in found.plan.pools if one != pool]
        assert placed(with_stacks(PLAIN, fewer), loaded).region > found.region


def test_one_run_does_not_tell_what_another_needs(loaded: LoadedTrace) -> None:
    left_out = stacks_of(replace(loaded, runs=()))
    assert isinstance(left_out, NotApplicable)
    assert left_out.why.startswith("a single run")


def test_runs_whose_peaks_differ_have_no_stacks(runs: list[Trace], tmp_path: Path) -> None:
    small = stored(tmp_path, "small", session(4, 50, 20))
    left_out = stacks_of(joined(tmp_path, [runs[0], small]))
    assert isinstance(left_out, NotApplicable)
    assert "times the least, above 1.3" in left_out.why


def test_a_seed_gives_the_same_stacks_again(loaded: LoadedTrace) -> None:
    start = placed(PLAIN, loaded)
    assert learn_stacks(loaded, start, EVENTS) == learn_stacks(loaded, start, EVENTS)


def test_stacks_are_measured_on_runs_they_have_not_seen(runs: list[Trace]) -> None:
    rows = {row.name: row for row in design_robust(runs, RobustOptions()).rows}
    stacks, plain = rows[STACKS], rows["tailored_pairs"]
    assert stacks.unseen_r_safe is not None
    assert plain.unseen_r_safe is not None
    assert stacks.unseen_r_safe < 0.97 * plain.unseen_r_safe


def test_of_two_runs_what_is_unseen_is_told_without_stacks(runs: list[Trace]) -> None:
    rows = {row.name: row for row in design_robust(runs[:2]).rows}
    stacks = rows[STACKS]
    (before,) = [row for row in rows.values() if f"U_max over {row.name} " in stacks.reason]
    assert stacks.unseen == before.unseen
    assert stacks.r_safe is not None
    assert before.r_safe is not None
    assert stacks.r_safe < before.r_safe


def test_fit_tells_what_stacks_save_or_why_there_are_none(
    runs: list[Trace], tmp_path: Path
) -> None:
    paths = [str(run.path) for run in runs]
    several = heapfit("fit", *paths, "--plans", "all", folder=tmp_path)
    assert "tailored_stacks.toml\n  saves " in several.stdout
    one = heapfit("fit", paths[0], "--plans", "one", folder=tmp_path)
    assert "tailored_stacks skipped: a single run" in one.stdout


def test_sizes_with_the_least_bytes_at_the_peak_are_not_stacked(tmp_path: Path) -> None:
    """Of 25 sizes with 100 blocks each but one, that one goes, though its blocks are not least."""
    counts = {8 * i: 1 if i == 10 else 100 for i in range(1, 26)}  # 80 B; of 8 B there are 800
    sizes = [size for size, count in counts.items() for _ in range(count)]
    run = stored(tmp_path, "many", [f"a {i} {size}" for i, size in enumerate(sizes)])
    stacked = {pool.size for pool in common_stacks([load_trace(run)], 8)}
    assert set(counts) - stacked == {80}
