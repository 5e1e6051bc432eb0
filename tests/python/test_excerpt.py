# SPDX-License-Identifier: Apache-2.0
"""Excerpts of recordings: the same peak, valid traces, windows where memory is asked for most."""

from itertools import pairwise

import numpy as np
import pytest

from heapfit import _engine
from heapfit.trace.content import content_hash
from heapfit.trace.excerpt import save_excerpt, survey, windows_of
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import COLUMNS, Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

EVENTS = 100_000
LOOKED_AT = 20_000


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("long") / "long.parquet"
    return generate_workload(parse_workload(f"djgpp_test:events={EVENTS}"), path)


def test_a_survey_tells_the_profile_and_the_content(trace):
    found = survey(trace)
    assert found.content == content_hash(trace)
    assert found.profile.u_max == profile_trace(trace).u_max == int(found.live_highest.max())
    assert len(found.live_highest) == -(-trace.info.events // 1024)


def test_an_excerpt_reaches_the_peak_and_no_more(trace, tmp_path):
    found = survey(trace)
    windows = windows_of(found, LOOKED_AT)
    excerpt = save_excerpt(tmp_path / "excerpt.parquet", trace, windows)
    assert excerpt.info.events < 2 * LOOKED_AT
    whole, part = found.profile, profile_trace(Trace.open(excerpt.path))
    assert (part.u_max, part.never_freed) == (whole.u_max, whole.never_freed)
    assert part.never_freed_bytes == whole.never_freed_bytes
    assert excerpt.info.notes[-1].endswith("an excerpt of long.parquet.")


def test_windows_lie_around_the_peak_and_what_is_asked_for(trace):
    found = survey(trace)
    windows = windows_of(found, LOOKED_AT, more=[30_000])
    for event in (found.profile.u_max_event, 30_000):
        assert any(first <= event < end for first, end in windows)
    assert all(end <= first for (_, end), (first, _) in pairwise(windows))


def test_where_many_blocks_live_windows_are_few_and_long(trace):
    found = survey(trace)
    live = found.profile.live_blocks_max
    assert len(windows_of(found, 40 * live)) == 1
    assert len(windows_of(found, 160 * live)) > 1


def test_an_excerpt_keeps_sites_times_and_alignments(trace, tmp_path):
    columns = {name: np.concatenate([b[name] for b in trace.batches([name])]) for name in COLUMNS}
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


def test_an_excerpt_of_all_is_the_trace(trace, tmp_path):
    excerpt = save_excerpt(tmp_path / "all.parquet", trace, [(0, trace.info.events)])
    assert content_hash(excerpt) == content_hash(trace)
