# SPDX-License-Identifier: Apache-2.0
"""Placement by call site: what is learned, how a plan keeps it, and what a replay makes of it."""

import re
from pathlib import Path

import numpy as np
import pytest
from small_traces import design_whole

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.costs.heap_costs import find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.trial import replay_trace
from heapfit.design.placement.learned import PlacedLayout, learn_placement
from heapfit.design.placement.sites import (
    busiest_sites,
    learn_sites,
)
from heapfit.design.placement.tailored_plans import BY_SITE, layouts
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.joined_trace import join_traces
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord, load_plan, save_plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALIGNED, ALLOC
from heapfit.trace.stored import Trace, TraceInfo, write_trace

pytestmark = pytest.mark.usefixtures("unmeasured")

STAYS, GOES, LATE = 0xA11CE, 0xB0B, 0xCAB  # call sites
ROUNDS = 200


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedTrace:
    """Blocks of one size alternate: one site's stay, the other's go. Larger ones come then."""
    first = [(0, i, 64, STAYS if i % 2 == 0 else GOES) for i in range(2 * ROUNDS)]
    freed = [(4, i, 0, 0) for i in range(1, 2 * ROUNDS, 2)]
    late = [(0, 2 * ROUNDS + i, 128, LATE) for i in range(ROUNDS // 2)]
    ops, objects, sizes, sites = zip(*first, *freed, *late, strict=True)
    columns = {"op": ops, "object": objects, "size": sizes, "site": sites}
    columns = {name: np.array(values) for name, values in columns.items()}
    path = tmp_path_factory.mktemp("sites") / "shift.parquet"
    return load_trace(write_trace(path, [columns], TraceInfo()), 4)


@pytest.fixture(scope="module")
def by_class(loaded: LoadedTrace) -> PlacedLayout:
    learned = learn_placement(loaded, list(layouts(4).values()), most_events=500_000)
    assert learned is not None
    return learned.climbed


@pytest.fixture(scope="module")
def by_site(loaded: LoadedTrace, by_class: PlacedLayout) -> PlacedLayout:
    learned, _ = learn_sites(loaded, by_class, 500_000)
    assert learned is not None
    return learned


def test_sites_get_tags_by_how_often_they_ask(loaded: LoadedTrace) -> None:
    assert busiest_sites(loaded) == {GOES: 1, STAYS: 2, LATE: 3}


def test_sites_tell_apart_what_size_cannot(by_class: PlacedLayout, by_site: PlacedLayout) -> None:
    live = 64 * ROUNDS * 2
    assert by_class.region > 1.4 * live
    assert by_site.region < 1.06 * live


def test_a_request_with_an_alignment_has_no_site(tmp_path: Path) -> None:
    columns = {
        "op": np.array([ALLOC, ALIGNED, ALLOC]),
        "object": np.arange(3),
        "size": np.full(3, 64),
        "alignment": np.array([0, 16, 0]),
        "site": np.array([GOES, STAYS, GOES]),
    }
    loaded = load_trace(write_trace(tmp_path / "aligned.parquet", [columns], TraceInfo()), 4)
    assert busiest_sites(loaded) == {GOES: 1}


def test_a_comparison_and_a_replay_take_the_sites_of_the_plan(
    loaded: LoadedTrace, by_site: PlacedLayout
) -> None:
    candidate = Candidate("by site", Heap("by site", by_site.plan), "", trained_on_this_trace=True)
    row = compare(loaded, Portfolio((candidate,), ())).rows[0]
    assert row.r_safe is not None
    assert row.r_safe <= by_site.region + row.step
    assert replay_trace(loaded.trace, by_site.plan, row.r_safe).refusals == 0
    without = Plan("tailored", by_site.plan.scalars)
    assert replay_trace(loaded.trace, without, row.r_safe).refusals > 0


def test_tags_lead_to_the_same_placements_as_the_size_classes_that_say_the_same() -> None:
    """A trace in which each tag has its own size, so that both plans mean one thing."""
    rows = np.arange(3000)
    sizes = np.where(rows % 3 == 0, 40, 200).astype(np.uint64)
    tags = np.where(rows % 3 == 0, 1, 2).astype(np.uint16)
    zeros = np.zeros(len(rows), np.uint8)

    def hash_of(plan: Plan, tags: np.ndarray | None) -> int:
        events = _engine.EventArray()
        events.append(zeros, rows.astype(np.uint32), sizes, None, tags)
        replay = _engine.Replay(plan.engine(), 1 << 20)
        assert replay.feed(events)
        return replay.result().placement_hash

    ends = {"alignment": 8, "ends": 2}
    by_size = Plan("tailored", {**ends, "high_0": 1 << 5, "high_1": 0})
    by_tag = Plan("tailored", {**ends, "high_0": 0, "high_1": 0, "tags": 2, "tag_high": 1 << 1})
    assert hash_of(by_size, None) == hash_of(by_tag, tags)
    assert hash_of(by_tag, None) != hash_of(by_tag, tags)


def test_a_plan_file_keeps_the_sites(tmp_path: Path, by_site: PlacedLayout) -> None:
    about = TrainingRecord("shift", "sha256:" + 64 * "0", 5)
    told = PlanFile("by_site", by_site.plan, by_site.region, None, 16, 1, 64, about, "0.1.0")
    save_plan(tmp_path / "plan.toml", told)
    assert load_plan(tmp_path / "plan.toml").plan.sites == by_site.plan.sites
    assert "000a11ce = 2" in (tmp_path / "plan.toml").read_text()


@pytest.mark.parametrize("line", ["0b0b = 1", '"0000 b0b" = 1', "00000b0b = 0", "00000b0b = 32"])
def test_a_plan_file_with_a_bad_site_is_refused(
    tmp_path: Path, by_site: PlacedLayout, line: str
) -> None:
    about = TrainingRecord("shift", "sha256:" + 64 * "0", 5)
    told = PlanFile("by_site", by_site.plan, by_site.region, None, 16, 1, 64, about, "0.1.0")
    path = tmp_path / "plan.toml"
    save_plan(path, told)
    path.write_text(path.read_text().replace("00000b0b = 1", line))
    with pytest.raises(HeapfitError, match=r"plan\.sites"):
        load_plan(path)


def test_without_call_sites_nothing_is_learned_of_them(tmp_path: Path, loaded: LoadedTrace) -> None:
    batches = [
        {**batch, "site": np.zeros_like(batch["site"])}
        for batch in loaded.trace.batches(
            ("op", "object", "size", "alignment", "time", "thread", "site")
        )
    ]
    trace: Trace = write_trace(tmp_path / "none.parquet", batches, TraceInfo())
    plain = PlacedLayout(Plan("tailored", {"alignment": 4}), 0, 1)
    assert learn_sites(load_trace(trace, 4), plain, 1000) == (None, 0)


def test_fit_offers_call_sites_only_where_the_program_can_hand_them_over(
    tmp_path: Path, loaded: LoadedTrace
) -> None:
    without = fit([loaded.trace.path], tmp_path / "without", FitOptions(4))
    assert BY_SITE not in [row.name for row in without.comparison.rows]
    found = fit([loaded.trace.path], tmp_path / "with", FitOptions(4, call_sites=True))
    assert found.winner.name == BY_SITE
    assert load_plan(found.paths.plan).plan.sites == busiest_sites(loaded)
    assert "app_malloc_at" in (found.paths.code / "app_heap.h").read_text()


def write_rounds(path: Path, other: int, rounds: int) -> Trace:
    """Blocks of one size alternate, one site's go, larger ones come; all go each fourth time."""
    events: list[tuple[int, int, int, int]] = []
    live: list[int] = []
    born = 0
    for number in range(rounds):
        asked = [(STAYS if i % 2 == 0 else other, 64) for i in range(80)]
        made = [*range(born, born + 80)]
        events += [(ALLOC, one, size, site) for one, (site, size) in zip(made, asked, strict=True)]
        late = [*range(born + 80, born + 100)]
        born += 100
        events += [(4, one, 0, 0) for one in made[1::2]]
        events += [(ALLOC, one, 128, LATE) for one in late]
        live += [*made[::2], *late]
        if number % 4 == 3:
            events += [(4, one, 0, 0) for one in live]
            live = []
    columns = zip(("op", "object", "size", "site"), zip(*events, strict=True), strict=True)
    return write_trace(path, [{name: np.array(of) for name, of in columns}], TraceInfo())


@pytest.mark.parametrize("now", [None, "heap_4"])  # which is kept, though it needs more
@pytest.mark.parametrize(
    ("other", "rounds", "saves"),
    [(GOES, (16,), True), (STAYS, (16,), False), (GOES, (16, 20), True)],
)
def test_a_fit_tells_what_its_call_sites_would_save_where_that_lasts(
    tmp_path: Path, other: int, rounds: tuple[int, ...], saves: bool, now: str | None
) -> None:
    paths = [write_rounds(tmp_path / f"{n}.parquet", other, n).path for n in rounds]
    found = fit(paths, tmp_path / "out", FitOptions(4, now=now))
    assert found.answer.is_kept == (now is not None)
    told = [one for one in found.findings if "--call-sites saves" in one]
    assert len(told) == saves == (found.by_site is not None)
    if found.by_site is not None:
        asked = fit(paths, tmp_path / "asked", FitOptions(4, call_sites=True))
        assert asked.winner.name == BY_SITE and asked.by_site is None
        without = found.fitted.region
        assert asked.answer.size.region <= found.by_site.region <= 0.98 * without
        assert found.by_site.saved == without - found.by_site.region
        assert f"saves about {found.by_site.saved:,} B (" in told[0]
        costs, code = asked.fitted.costs, find_code(found.winner.heap)
        assert found.by_site.costs["flash"] == costs.flash - code.size > 0
        assert found.by_site.costs["stack"] == costs.stack - code.stack
        assert found.by_site.costs["mean"] > 0 and costs.mean is not None
        assert re.search(r"\+[\d,]+ B flash, \+\d+ instr./call, [+-]\d+ B stack", *told)


def test_runs_that_are_joined_keep_their_call_sites(tmp_path: Path, loaded: LoadedTrace) -> None:
    joined = join_traces(tmp_path / "joined.parquet", [loaded.trace, loaded.trace])
    assert busiest_sites(load_trace(joined, 4)) == busiest_sites(loaded)


def test_a_design_for_several_runs_places_call_sites_too(loaded: LoadedTrace) -> None:
    options = PlanOptions(alignment=4, call_sites=True)
    designs = design_whole([loaded.trace, loaded.trace], options)
    rows = {row.name: row for row in designs.rows}
    assert (rows[BY_SITE].needed or 0) < 1.06 * designs.u_max
    assert all(rows[BY_SITE].unseen)
