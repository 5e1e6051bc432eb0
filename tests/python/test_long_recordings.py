# SPDX-License-Identifier: Apache-2.0
"""A fit of a recording too long to be searched: an excerpt is searched, the whole replayed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from heapfit import _engine
from heapfit.comparison.margin import UNIT, largest_r_safe
from heapfit.comparison.trial import plain_replay
from heapfit.errors import HeapfitError
from heapfit.fitting import excerpt_search
from heapfit.fitting.fit import find_fit, fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.fitting.workload import Place, Request
from heapfit.plan.plan_file import load_plan
from heapfit.trace.content import content_hash
from heapfit.trace.excerpt import merge_windows, save_excerpt, shorten, survey, windows_of
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import COLUMNS, Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

pytestmark = pytest.mark.usefixtures("unmeasured")

OPTIONS = FitOptions(most_events=4_000)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("long") / "walk.parquet"
    return generate_workload(parse_workload("t2_w2:events=8000"), path)


@pytest.fixture(scope="module")
def fitted(trace: Trace) -> Fit:
    return fit([trace.path], trace.path.parent / "out", OPTIONS)


def test_the_whole_recording_runs_in_the_region_found(trace, fitted):
    plan = load_plan(fitted.paths.plan)
    for region in (plan.r_safe, plan.region):
        assert plain_replay(trace, plan.plan, region).result().refusals == 0
        assert _engine.Replay(plan.plan.engine(), region).feed(trace.events())
    assert fitted.excerpt.searched < fitted.excerpt.events == trace.info.events
    assert fitted.excerpt.replayed >= trace.info.events
    assert fitted.holdout.seen_refused == 0


def test_an_excerpt_in_memory_is_the_one_that_is_stored(trace, tmp_path):
    loaded = load_trace(trace)
    short = shorten(loaded, 2_000)
    stored = save_excerpt(tmp_path / "t.parquet", trace, windows_of(survey(trace), 2_000))
    whole = load_trace(stored)
    for column in ("ops", "objects", "sizes", "alignments"):
        assert getattr(short.events, column)().tolist() == getattr(whole.events, column)().tolist()
    assert short.profile.u_max == whole.profile.u_max == loaded.profile.u_max
    assert shorten(loaded, 4_001) is None  # no less than half of it
    many = replace(loaded, profile=replace(loaded.profile, live_blocks_max=63))
    assert shorten(many, 2_000) is None  # their holes need more to form


def test_what_is_told_is_of_the_whole_recording(trace, fitted):
    assert fitted.profile.events == fitted.trace.info.events == trace.info.events
    assert fitted.comparison.u_max == fitted.profile.u_max
    trained_on = load_plan(fitted.paths.plan).trained_on
    assert (trained_on.content, trained_on.events) == (content_hash(trace), trace.info.events)


def test_the_excerpt_lies_beside_the_plan(trace, fitted):
    assert [path.name for path in fitted.paths.traces] == ["walk.parquet", "walk-excerpt.parquet"]
    excerpt = Trace.open(fitted.searched.path)
    assert excerpt.info.events == fitted.excerpt.searched
    assert trace.path in fitted.paths.traces


def only_the_beginning(found, events, more=()):
    """Windows that miss the peak, but for events that were refused."""
    del events
    around = [(max(one - 3_000, 0), min(one + 500, found.profile.events)) for one in more]
    return merge_windows([(0, 500), *around])


def found_by(sources: Sequence[Path], folder: Path) -> Fit:
    """As `fit`, but no report is written."""
    request = Request(Place(folder, folder), OPTIONS)
    return find_fit(sources, request)[0]


@pytest.fixture(params=[lambda *_: [(0, 500)]])
def one_window(request, monkeypatch):
    """An excerpt that is the recording's beginning, whatever was refused."""
    monkeypatch.setattr(excerpt_search, "windows_of", request.param)


@pytest.mark.usefixtures("one_window")
@pytest.mark.parametrize("one_window", [only_the_beginning], indirect=True)
def test_where_a_heap_runs_out_is_looked_at_next(trace, tmp_path):
    found = found_by([trace.path], tmp_path)
    assert found.excerpt.refused
    assert plain_replay(trace, found.winner.plan, found.winner.r_safe).result().refusals == 0


@pytest.mark.usefixtures("one_window")
def test_a_region_that_stays_too_small_is_raised(trace, tmp_path):
    found = found_by([trace.path], tmp_path)
    plan = found.plan_file
    assert found.excerpt.is_raised
    assert found.verdict.endswith(f"On the whole recording it needs {plan.r_safe:,} B.")
    assert "raised until all were served" in found.excerpt.sentence()
    assert plain_replay(trace, plan.plan, plan.r_safe).result().refusals == 0
    assert plan.region == found.answer.size.region > plan.r_safe > found.excerpt.r_safe
    shown = [(row.title, row.is_of_excerpt) for row in found.references[:3]]
    assert shown == [
        (f"fitted: {found.winner.name}", False),
        (f"fitted: {found.winner.name}", True),
        ("FreeRTOS heap_4", True),
    ]
    assert found.references[1].region < found.references[0].region


@pytest.mark.usefixtures("one_window")
def test_no_other_plan_serves_the_whole_in_less(trace, tmp_path):
    found = found_by([trace.path], tmp_path)
    assert found.excerpt.is_raised
    for row in found.comparison.rows:
        limit = largest_r_safe(found.answer.size.region - UNIT, row.known)
        if row.is_cut_to_trace or row.name == found.winner.name or limit <= 0:
            continue
        assert plain_replay(trace, row.plan, limit).result().refusals, row.name


def test_of_several_recordings_the_long_are_excerpts(trace, tmp_path):
    other = generate_workload(parse_workload("t2_w2:events=3000"), tmp_path / "short.parquet")
    found = found_by([trace.path, other.path], tmp_path)
    names = [path.name for path in found.paths.traces]
    assert names == ["walk.parquet", "short.parquet", "walk-excerpt.parquet"]
    for one in (trace, other):
        assert plain_replay(one, found.winner.plan, found.plan_file.r_safe).result().refusals == 0
    seen = {content_hash(one) for one in (trace, other)}
    assert {one.content for one in found.plan_file.trained_on.traces} == seen
    assert found.excerpt.events == trace.info.events


def test_what_is_held_in_memory_has_an_end(trace, limit):
    limit(MOST_IN_MEMORY=7_999)
    for whole in (trace.events, lambda: load_trace(trace)):
        with pytest.raises(HeapfitError, match=r"8,000 events are more than the 7,999 that are"):
            whole()


def test_a_recording_of_more_live_blocks_than_a_search_holds_is_refused(trace, tmp_path, limit):
    limit(MOST_IN_MEMORY=100)
    with pytest.raises(HeapfitError, match=r"walk.parquet: \d+ blocks live at once: an excerpt"):
        found_by([trace.path], tmp_path)


# ---- excerpts

EVENTS = 100_000
LOOKED_AT = 20_000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("long") / "long.parquet"
    return generate_workload(parse_workload(f"djgpp_test:events={EVENTS}"), path)


def test_a_survey_tells_the_profile_and_the_content(recorded):
    found = survey(recorded)
    assert found.content == content_hash(recorded)
    assert found.profile.u_max == profile_trace(recorded).u_max == int(found.live_highest.max())
    assert len(found.live_highest) == -(-recorded.info.events // 1024)


def test_an_excerpt_reaches_the_peak_and_no_more(recorded, tmp_path):
    found = survey(recorded)
    windows = windows_of(found, LOOKED_AT)
    excerpt = save_excerpt(tmp_path / "excerpt.parquet", recorded, windows)
    assert excerpt.info.events < 2 * LOOKED_AT
    whole, part = found.profile, profile_trace(Trace.open(excerpt.path))
    assert (part.u_max, part.never_freed) == (whole.u_max, whole.never_freed)
    assert part.never_freed_bytes == whole.never_freed_bytes
    assert excerpt.info.notes[-1].endswith("an excerpt of long.parquet.")


def test_windows_lie_around_the_peak_and_what_is_asked_for(recorded):
    found = survey(recorded)
    windows = windows_of(found, LOOKED_AT, more=[30_000])
    for event in (found.profile.u_max_event, 30_000):
        assert any(first <= event < end for first, end in windows)
    assert all(end <= first for (_, end), (first, _) in pairwise(windows))
    crowded = replace(found.profile, live_blocks_max=LOOKED_AT)  # no two windows would be enough
    ((first, end),) = windows_of(replace(found, profile=crowded), LOOKED_AT)
    assert first <= found.profile.u_max_event < end


def test_an_excerpt_keeps_sites_times_and_alignments(recorded, tmp_path):
    columns = {
        name: np.concatenate([b[name] for b in recorded.batches([name])]) for name in COLUMNS
    }
    columns["site"] = np.arange(len(columns["op"]), dtype=np.uint32) % 7
    columns["thread"] = np.arange(len(columns["op"]), dtype=np.uint32) % 3
    columns["alignment"] = np.where(columns["op"] == 2, np.uint32(64), np.uint32(0))
    given = write_trace(tmp_path / "given.parquet", [columns], TraceInfo(pointer_bits=32))
    windows = [(1_000, 3_000), (50_000, 51_000)]
    excerpt = save_excerpt(tmp_path / "excerpt.parquet", given, windows)
    (kept,) = excerpt.batches(list(COLUMNS))
    engine = _engine.Excerpt(windows)
    for events, _ in given.walk():
        engine.feed(events)
    rows, sizes = engine.finish()
    for name in ("op", "alignment", "time", "thread", "site"):
        assert np.array_equal(kept[name], columns[name][rows])
    assert np.array_equal(kept["size"], sizes)
    assert excerpt.info.pointer_bits == 32


def test_an_excerpt_of_all_is_the_trace(recorded, tmp_path):
    excerpt = save_excerpt(tmp_path / "all.parquet", recorded, [(0, recorded.info.events)])
    assert content_hash(excerpt) == content_hash(recorded)
