# SPDX-License-Identifier: Apache-2.0
"""The heap map: every block where the replay put it, packed and read back."""

import base64
import random
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_traces import bimodal, table2

from heapfit import _engine
from heapfit.comparison.heap_map import (
    REGIONS,
    FailedRequest,
    HeapMap,
    map_of,
    measure_peak_use,
    subjects_of,
)
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.results.heap.fit import case_from_fit
from heapfit.results.packed_map import pack_map
from heapfit.results.sections.peak import find_holders
from heapfit.trace.loaded import LoadedTrace, load_trace

pytestmark = pytest.mark.usefixtures("unmeasured")


def growing(path: Path) -> Path:
    """Blocks that grow, shrink and are asked for with 0 bytes, recorded with times."""
    draw, live, lines = random.Random(7), [], ["# pointer_bits: 32"]
    for i in range(600):
        lines.append(f"a {i} {draw.choice((0, 24, 100, 700))}")
        live.append(i)
        if i % 3 == 0:
            lines.append(f"r {draw.choice(live)} {draw.choice((8, 60, 400))}")
        if len(live) > 40:
            lines.append(f"f {live.pop(draw.randrange(40))}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module", params=[table2, bimodal, growing])
def mapped(request, tmp_path_factory) -> tuple[Fit, LoadedTrace, HeapMap]:
    folder = tmp_path_factory.mktemp("mapped")
    fitted = fit([request.param(folder / "made.heap")], folder / "out", FitOptions())
    shown = load_trace(fitted.trace)
    return fitted, shown, map_of(shown, subjects_of(case_from_fit(fitted, shown)))


def columns_of(record: dict) -> dict[str, np.ndarray]:
    """As map.js reads them."""
    whole = zlib.decompress(base64.b64decode(record["packed"]))
    columns, at = {}, 0
    for name, count, width in record["columns"]:
        part = np.frombuffer(whole, np.uint8, count * width, at)
        at += count * width
        planes = part.reshape(width, count).astype(np.uint32)
        columns[name] = sum(planes[i] << np.uint32(8 * i) for i in range(width))
    assert at == len(whole)
    return columns


def test_the_chosen_heaps_blocks_are_a_placement_of_the_whole_trace(mapped):
    fitted, _, heap_map = mapped
    ours = heap_map.heaps[-1]
    assert ours.own.region == fitted.winner.replay_region
    assert ours.own.runs
    height = _engine.check_placement(heap_map.lifetimes, ours.own.offsets)
    assert fitted.profile.u_max <= height <= ours.own.region


def test_todays_blocks_are_a_placement_within_the_memory_that_its_user_sets(mapped):
    fitted, _, heap_map = mapped
    todays, _ = heap_map.heaps
    assert todays.own.runs
    assert len(todays.own.offsets) == len(heap_map.lifetimes)
    assert int((todays.own.offsets + heap_map.lifetimes.sizes).max()) <= todays.own.region
    if not fitted.profile.operations[3]:
        _engine.check_placement(heap_map.lifetimes, todays.own.offsets)


def test_both_heaps_are_replayed_in_the_same_regions_and_say_what_is_refused(mapped):
    fitted, shown, heap_map = mapped
    todays, ours = ([one.region for one in heap.row] for heap in heap_map.heaps)
    assert todays == ours
    assert len(ours) >= REGIONS
    assert {heap.own.region for heap in heap_map.heaps} <= set(ours)
    trial = _engine.Trial(
        fitted.winner.plan.engine(),
        shown.events_for(fitted.winner.plan),
        fitted.comparison.base_alignment,
    )
    for one in heap_map.heaps[-1].row:
        assert one.runs == trial.run(one.region).runs
        if one.refused:
            assert one.refused.event == trial.run(one.region).events
            assert one.refused.size == shown.events.sizes()[one.refused.event]
            assert one.refused.largest_free <= one.refused.free


def test_what_is_packed_is_read_back(mapped):
    _, _, heap_map = mapped
    record = pack_map(heap_map)
    columns = columns_of(record)
    lifetimes = heap_map.lifetimes
    assert np.cumsum(columns["starts"]).tolist() == lifetimes.starts.tolist()
    assert columns["lengths"].tolist() == (lifetimes.ends - lifetimes.starts).tolist()
    sizes = [int(label.replace(",", "")) for label in record["sizes"]["labels"]]
    assert [sizes[one] for one in columns["sizes"]] == lifetimes.sizes.tolist()
    for h, heap in enumerate(heap_map.heaps):
        own = columns[f"place-{h}"]
        assert own.tolist() == heap.own.offsets.tolist()
        for k, one in enumerate(heap.row):
            apart = columns[f"place-{h}-{k}"]
            assert (own[: len(apart)] + apart).tolist() == one.offsets.tolist()


def test_a_run_too_long_to_be_told_has_a_picture_and_the_blocks_around_its_peak(mapped):
    _, _, heap_map = mapped
    record = pack_map(heap_map, most=100)
    columns = columns_of(record)
    first, end = record["window"]
    starts = np.cumsum(columns["starts"])
    assert first <= heap_map.peak < end
    assert (starts < end).all()
    assert (starts + columns["lengths"] > first).all()
    sizes = [int(label.replace(",", "")) for label in record["sizes"]["labels"]]
    every = heap_map.lifetimes
    is_told = (every.starts < end) & (every.ends > first)
    assert [sizes[one] for one in columns["sizes"]] == every.sizes[is_told].tolist()
    assert len(sizes) == len(set(columns["sizes"].tolist())) == len(record["sizes"]["colours"])
    width, height = record["picture"]
    cells = columns["picture-1"].reshape(height, width)
    lifetimes, own = heap_map.lifetimes, heap_map.heaps[1].own
    middle = (2 * (width // 2) + 1) * heap_map.events / (2 * width)
    is_live = (lifetimes.starts <= middle) & (middle < lifetimes.ends)
    begins, ends = own.offsets[is_live], (own.offsets + lifetimes.sizes)[is_live]
    middles = [(2 * row + 1) * record["height"] / (2 * height) for row in range(height)]
    covered = sum(((begins <= one) & (one < ends)).any() for one in middles)
    assert np.count_nonzero(cells[:, width // 2]) == covered
    columns_of_row, rows = record["rowPicture"]
    assert len(columns["picture-1-0"]) == columns_of_row * rows


def test_a_pause_hides_nothing_if_only_what_comes_after_the_refusal_is_even(mapped):
    _, _, heap_map = mapped
    events = heap_map.events
    gaps = np.full(events, 5, np.uint64)
    gaps[3] = 5 * 100  # as long as the hundred events up to the refusal, not as all
    refused = replace(heap_map.heaps[0].own, refused=FailedRequest(100, 8, 0, 0, 0))
    whole = replace(heap_map, heaps=heap_map.heaps[:1], gaps=gaps)
    until = replace(whole, heaps=(replace(heap_map.heaps[0], own=refused),))
    assert (pack_map(whole)["isEven"], pack_map(until)["isEven"]) == (True, False)


def test_a_plan_whose_blocks_lie_in_pieces_has_no_map(mapped):
    fitted, shown, _ = mapped
    pieces = replace(fitted.winner.plan, allocator="chained_pool")
    case, heap = case_from_fit(fitted, shown), replace(fitted.winner.heap, plan=pieces)
    assert subjects_of(replace(case, winner=replace(fitted.winner, heap=heap))) == ()


def test_at_the_peak_each_byte_of_a_heap_is_told_once(mapped):
    fitted, shown, heap_map = mapped
    subjects = subjects_of(case_from_fit(fitted, shown))
    for subject, heap in zip(subjects, heap_map.heaps, strict=True):
        found = measure_peak_use(subject, heap_map.peak)
        assert found.region == heap.own.region
        parts = (found.rounding, found.holes, found.largest_free, found.control)
        assert min(parts) >= 0
        assert found.control > 0
    assert measure_peak_use(subjects[-1], heap_map.peak).payload == fitted.profile.u_max
    is_moving = fitted.profile.operations[3] > 0  # then it holds both blocks while it copies
    assert (
        measure_peak_use(subjects[0], heap_map.peak).payload == fitted.profile.u_max
    ) or is_moving


def test_the_holders_of_the_peak_hold_all_of_it(mapped):
    fitted, shown, _ = mapped
    by_size = find_holders(shown, fitted.profile.u_max_event)
    assert sum(one.bytes for one, _ in by_size) == fitted.profile.u_max
    sites = np.arange(len(shown.events), dtype=np.uint32) % 3
    by_site = find_holders(replace(shown, sites=sites), fitted.profile.u_max_event)
    assert {one.name for one, _ in by_site} == {"unknown", "00000001", "00000002"}
    assert sum(one.bytes for one, _ in by_site) == fitted.profile.u_max
    assert all(sum(part.bytes for part in one.parts) == one.bytes for one, _ in by_site)
