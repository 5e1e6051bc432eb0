# SPDX-License-Identifier: Apache-2.0
"""Bounds of a trace, and minimalloc's CSV in and out."""

import csv
import itertools
import json
import re
from pathlib import Path

import numpy as np
import packings
import pytest
from small_traces import bimodal, diverse, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.bounds.placement import Placement
from heapfit.bounds.trace_bounds import find_bounds
from heapfit.bounds.worst_cases import Limits
from heapfit.comparison.comparison import compare
from heapfit.comparison.measuring import measure_candidate
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import LoadedTrace, load_trace

PAIRS = 2_000_000


def load_file(source: Path, folder: Path) -> LoadedTrace:
    folder.mkdir(exist_ok=True)
    return load_trace(open_any(source, ImportOptions(), folder))


@pytest.mark.parametrize("make", [table2, diverse, bimodal])
def test_what_is_replayed_lies_between_the_bounds(tmp_path: Path, make) -> None:
    loaded = load_file(make(tmp_path / "t.heap", 500), tmp_path / "in")
    bounds = find_bounds(loaded, pairs=PAIRS)
    assert bounds.u_max == loaded.profile.u_max
    assert bounds.u_max <= bounds.packing.height
    worst = {one.name: one.size for one in bounds.worst_cases}
    rows = compare(loaded, build_portfolio(loaded, ["best_fit", "static_pools"], [])).rows
    for row in rows:
        assert row.r_safe is not None
        assert bounds.packing.height < row.r_safe
        assert row.r_safe <= 1.1 * worst[row.name] + 400  # control, and a bit a block of a pool
    assert bounds.static <= worst["static_pools"]


def test_static_is_every_size_at_its_own_peak(tmp_path: Path) -> None:
    (tmp_path / "t.heap").write_text("# heap-events 1\na 0 10\na 1 10\nf 0\nf 1\na 2 7\nr 2 100\n")
    bounds = find_bounds(load_file(tmp_path / "t.heap", tmp_path / "in"), pairs=PAIRS)
    assert bounds.static == 10 * 2 + 7 + 100
    worst = {one.name: one.size for one in bounds.worst_cases}
    assert worst["static_pools"] == 16 * 2 + 8 + 104
    assert worst["fixed_pool"] == 2 * 104


def most_by_trying(block: list[int], live: int, count: int) -> int:
    """The most bytes of so many blocks, all sizes of all of them tried."""
    best = [0] * (live + 1)  # by the bytes asked for
    for _ in range(count):
        best = [
            max(best[used], *(best[used - size] + block[size] for size in range(least)))
            for used in range(live + 1)
            for least in [min(used + 1, len(block))]
        ]
    return max(best)


@pytest.mark.parametrize(("live", "count", "n"), [(56, 4, 24), (70, 6, 40), (9, 3, 9), (0, 2, 0)])
@pytest.mark.parametrize("header", [0, 4, 16])
def test_no_sizes_within_the_limits_take_more_than_proven(
    live: int, count: int, n: int, header: int
) -> None:
    limits = Limits(np.array([n]), np.array([count]), live, count=count)
    for least, block in (
        (32, lambda sizes: 1 << np.ceil(np.log2(np.maximum(sizes + header, 32))).astype(int)),
        (8, lambda sizes: np.maximum(-(-(sizes + header) // 8) * 8, 16)),
    ):
        total, _, largest = limits.max_blocks(block, least, header)
        blocks = block(np.arange(n + 1)).tolist()
        assert most_by_trying(blocks, live, count) <= total <= count * largest


@pytest.mark.parametrize(
    ("lines", "allocator", "own"),
    [
        # Within the limits of three sizes of 56 B, its own rounded sizes are 64 B live.
        ("a 0 1;a 1 1;f 0;a 2 17;a 3 17;a 4 17", "buddy", 136),
        ("a 0 8;r 0 16", "buddy", 136),  # both are live while it moves
        (";".join(f"a {i} 8" for i in range(8)), "halffit", 120),  # each has a header of 16 B
    ],
)
def test_an_order_within_the_limits_fits_into_what_is_proven(
    tmp_path: Path, lines: str, allocator: str, own: int
) -> None:
    head = "# pointer_bits 32\n"
    (tmp_path / "t.heap").write_text(head + lines.replace(";", "\n") + "\n")
    limits = lines if "17" not in lines else "a 0 8;a 1 16;a 2 24;a 3 8;f 0;f 2;a 4 24;f 1;a 5 16"
    (tmp_path / "limits.heap").write_text(head + limits.replace(";", "\n") + "\n")
    bounds = find_bounds(load_file(tmp_path / "limits.heap", tmp_path / "in"), pairs=PAIRS)
    (proven,) = (one.size for one in bounds.worst_cases if one.name == allocator)
    row = heapfit_json("compare", "t.heap", allocator, folder=tmp_path)["rows"][0]
    assert row["r_safe"] - own <= proven


def test_a_placement_is_checked_by_the_engine(tmp_path: Path) -> None:
    loaded = load_file(table2(tmp_path / "t.heap", 300), tmp_path / "in")
    lifetimes = _engine.Lifetimes(loaded.events)
    packed = _engine.pack(lifetimes, _engine.PackingEffort(1, PAIRS))
    assert _engine.check_placement(lifetimes, packed.offsets) == packed.height
    with pytest.raises(HeapfitError, match="overlaps another in time and place"):
        _engine.check_placement(lifetimes, np.zeros(len(lifetimes), np.uint64))


def test_places_keep_the_alignments_that_buffers_ask_for(tmp_path: Path) -> None:
    """10,260 B is the least of all orders and of all orientations, tried by other programs."""
    (tmp_path / "buffers.csv").write_text(
        "id,lower,upper,size,alignment\nfeatures,0,5,1540,16\nconv1,4,6,3076,16\n"
        "window,0,2,3072,16\nconv2,2,5,1820,16\npool,5,9,1204,16\nscratch,1,4,768,16\n"
        "fft,1,4,4100,16\ndense,4,7,3000,16\nlogits,6,8,540,16\ndma,2,4,1804,256\n"
    )
    loaded = load_file(tmp_path / "buffers.csv", tmp_path / "in")
    bounds, lifetimes = find_bounds(loaded, pairs=PAIRS), _engine.Lifetimes(loaded.events)
    assert (bounds.u_max, bounds.packing.height, bounds.greedy) == (10_032, 10_260, 12_064)
    packing = bounds.packing
    assert _engine.check_placement(lifetimes, packing.offsets) == packing.height
    wanted = np.where(lifetimes.sizes == 1804, 256, 16)
    assert packing.is_aligned and not (packing.offsets % wanted).any()


def test_the_library_and_the_screen_have_one_height_of_an_aligned_packing(tmp_path: Path) -> None:
    """Branch and bound is without alignments: 265 B here, at places that nobody can use.

    256, 128 and 9 B at multiples of 128 are live at once, so 393 B are the least.
    """
    (tmp_path / "b.csv").write_text(
        "id,lower,upper,size,alignment\nb0,5,9,65,16\nb1,0,1,71,16\nb2,3,7,16,128\n"
        "b3,7,11,200,128\nb4,3,7,46,128\nb5,3,4,137,256\n"
    )
    content = heapfit_json("bounds", "b.csv", folder=tmp_path)
    packing = find_bounds(load_file(tmp_path / "b.csv", tmp_path / "in")).packing
    assert packing.height == content["packing"]["height"] == content["height"] == 393
    assert content["floor"] == content["packing"]["floor"] == 393 and content["packing"]["is_least"]
    assert packing.is_aligned
    shown = " ".join(heapfit("bounds", "b.csv", folder=tmp_path).stdout.split())
    assert "exhausted" not in shown


def least_height(buffers: list[tuple[int, ...]]) -> int:
    """The least of all orders in which each buffer takes its lowest place."""
    heights = []
    for order in itertools.permutations(buffers):
        placed: list[tuple[int, ...]] = []
        for lower, upper, size, alignment in order:
            near = [(at, at + n) for at, n, low, up in placed if low < upper and up > lower]
            place = next(
                at
                for at in range(0, 10_000, alignment)
                if all(at + size <= begin or at >= end for begin, end in near)
            )
            placed.append((place, size, lower, upper))
        heights.append(max(place + size for place, size, _, _ in placed))
    return min(heights)


def test_no_floor_of_alignments_is_above_the_least_height(tmp_path: Path) -> None:
    """All orders of five drawn buffers are tried; in some the floor is that of alignments alone."""
    random, exact = np.random.default_rng(5), 0
    for number in range(25):
        lower = random.integers(0, 4, 5)
        upper, size = lower + random.integers(1, 4, 5), random.integers(1, 60, 5)
        columns = (lower, upper, size, random.choice([8, 32], 5))
        buffers = [*zip(*(one.tolist() for one in columns), strict=True)]
        rows = [",".join(map(str, (i, *one))) for i, one in enumerate(buffers)]
        table = tmp_path / f"{number}.csv"
        table.write_text("\n".join(["id,lower,upper,size,alignment", *rows, ""]))
        bounds = find_bounds(load_file(table, tmp_path / f"in{number}"), pairs=PAIRS)
        assert bounds.floor <= least_height(buffers) <= bounds.packing.height
        exact += bounds.floor == bounds.packing.height > bounds.search.floor
    assert exact > 3


def test_a_packing_above_its_floor_says_what_the_search_leaves_out(tmp_path: Path) -> None:
    rows = "a,0,2,20,32\nb,0,2,20,8\nc,1,3,9,32\nd,0,3,30,16\n"
    (tmp_path / "t.csv").write_text("id,lower,upper,size,alignment\n" + rows)
    shown = " ".join(heapfit("bounds", "t.csv", folder=tmp_path).stdout.split())
    assert "above the least (placed anew at the alignments asked for, which --search" in shown


def test_places_that_would_break_alignments_are_not_written(tmp_path: Path) -> None:
    lines = [f"m {i} 24 {64 if i % 2 else 8}" for i in range(1200)]
    (tmp_path / "many.heap").write_text("\n".join(lines) + "\n")
    done = heapfit("bounds", "many.heap", "-o", "places.h", folder=tmp_path)
    assert done.returncode == 1 and not (tmp_path / "places.h").exists()
    assert "many.heap: 1,200 lifetimes are too many to place with the alignments" in done.stderr


def test_places_name_a_hostile_recording_in_plain_text(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2J\u202e.heap").write_text("a 0 24\na 1 16\n")
    done = heapfit("bounds", "a\x1b[2J\u202e.heap", "-o", "places.h", folder=tmp_path)
    written = (tmp_path / "places.h").read_text()
    assert done.returncode == 0 and written.isascii() and "\x1b" not in written
    assert written.startswith(r"/* a\x1b[2J\u202e.heap: where each buffer lies.")


def test_lifetimes_survive_minimallocs_csv(tmp_path: Path) -> None:
    loaded = load_file(bimodal(tmp_path / "t.heap", 700), tmp_path / "in")
    packing = find_bounds(loaded, pairs=PAIRS).packing
    before = _engine.Lifetimes(loaded.events)
    placement = Placement(tmp_path / "t.heap", before, packing.offsets)
    placement.save(tmp_path / "out.csv")
    first, second, *rest = (tmp_path / "out.csv").read_text().splitlines()
    assert first == "id,lower,upper,size,offset"
    assert second.startswith("0,0,")
    assert len(rest) == len(before) - 1
    again = _engine.Lifetimes(load_file(tmp_path / "out.csv", tmp_path / "again").events)
    assert again.sizes.tolist() == before.sizes.tolist()
    assert _engine.check_placement(again, packing.offsets) == packing.height
    placement.save(tmp_path / "out.json")
    listed = json.loads((tmp_path / "out.json").read_text())
    assert [one["offset"] for one in listed] == packing.offsets.tolist()


def test_places_of_a_table_have_its_ids_and_times(tmp_path: Path) -> None:
    table = '# of a build\nbuffer;Begin;End;size\n"a, b*/";13;15;16\nz;10;12;40\n'
    (tmp_path / "t.csv").write_text(table)
    for name in ("p.csv", "p.json", "p.h"):
        assert heapfit("bounds", "t.csv", "-o", name, folder=tmp_path).returncode == 0
    rows = [["id", "lower", "upper", "size", "offset"], ["z", "10", "13", "40", "0"]]
    rows += [["a, b*/", "13", "16", "16", "0"]]
    assert [*csv_of(tmp_path / "p.csv")] == rows
    placed = json.loads((tmp_path / "p.json").read_text())
    assert [[str(value) for value in one.values()] for one in placed] == rows[1:]
    assert "[1] = 0u, /* a, b* /, 16 B */" in (tmp_path / "p.h").read_text()
    assert heapfit("bounds", "p.csv", folder=tmp_path).returncode == 0
    # A gap at its end shortens a buffer: then times are events.
    (tmp_path / "t.csv").write_text("id,lower,upper,size,gaps\na,3,9,16,6-9\nb,1,9,8,\nc,7,9,4,\n")
    heapfit("bounds", "t.csv", "-o", "gaps.csv", folder=tmp_path)
    written = [tuple(map(int, row[:3])) for row in csv_of(tmp_path / "gaps.csv")[1:]]
    assert written == [(0, 0, 4), (1, 1, 2), (2, 3, 5)]


def test_a_buffer_that_keeps_its_place_over_a_gap_is_refused(tmp_path: Path) -> None:
    """As two lifetimes that lie apart this packed into 11 B, where 13 B are the least."""
    rows = "P,7,10,3,8-9\nQ,2,4,6,\nR,0,3,5,1-2\nS,7,8,3,\nT,0,4,2,1-3\n"
    (tmp_path / "g.csv").write_text("id,lower,upper,size,gaps\n" + rows)
    done = heapfit("bounds", "g.csv", "-o", "out.csv", folder=tmp_path)
    assert done.returncode == 1 and not done.stdout and not (tmp_path / "out.csv").exists()
    assert "g.csv: a buffer keeps its place over its gaps" in done.stderr
    with pytest.raises(HeapfitError, match="keeps its place over its gaps"):
        find_bounds(load_file(tmp_path / "g.csv", tmp_path / "in"))


def csv_of(path: Path) -> list[list[str]]:
    """The rows of a file as csv reads them."""
    with path.open(newline="") as file:
        return [*csv.reader(file)]


def test_what_ends_when_another_begins_is_freed_first(tmp_path: Path) -> None:
    csv = "id,size,upper,lower,offset\nb1,30,9,5,0\nb2,20,5,2,0\nb3,40,9,2,20\n"
    (tmp_path / "m.csv").write_text(csv)
    trace = open_any(tmp_path / "m.csv", ImportOptions(), tmp_path / "in")
    columns = {name: [] for name in ("op", "object", "size", "time")}
    for batch in trace.batches(tuple(columns)):
        for name in columns:
            columns[name] += batch[name].tolist()
    assert columns["op"] == [0, 0, 4, 0, 4, 4]
    assert columns["object"] == [0, 1, 0, 2, 2, 1]
    assert columns["size"] == [20, 40, 0, 30, 0, 0]
    assert columns["time"] == [0, 0, 3, 3, 7, 7]


def _events_of(folder: Path, csv: str) -> tuple[list[tuple[int, ...]], tuple[str, ...]]:
    (folder / "m.csv").write_text(csv)
    trace = open_any(folder / "m.csv", ImportOptions(), folder / "in")
    names = ("op", "size", "alignment", "time")
    rows: list[tuple[int, ...]] = []
    for batch in trace.batches(names):
        rows += zip(*(batch[name].tolist() for name in names), strict=True)
    return rows, trace.info.notes


def test_at_its_gaps_a_buffers_memory_serves_others(tmp_path: Path) -> None:
    csv = "id,lower,upper,size,alignment,gaps\na,0,10,8,16,0-1 3-5\nb,3,5,8,1,\nc,2,4,6,,2-3@0:4\n"
    rows, notes = _events_of(tmp_path, csv)
    aligned, alloc, free = 2, 0, 4
    assert rows == [
        (aligned, 8, 16, 0),
        (alloc, 6, 0, 1),
        (free, 0, 0, 2),
        (alloc, 8, 0, 2),
        (free, 0, 0, 3),
        (free, 0, 0, 4),
        (aligned, 8, 16, 4),
        (free, 0, 0, 9),
    ]
    assert notes == (
        "1 gap of a part of a buffer passed over: the buffer is held whole.",
        "1 buffer with gaps freed for their time and allocated anew after it.",
    )


def test_an_end_is_the_last_time_of_a_buffer_and_other_columns_are_told(tmp_path: Path) -> None:
    whole, _ = _events_of(tmp_path, "id,lower,upper,size,gaps\na,0,4,8,1-3\n")
    older, notes = _events_of(tmp_path, "buffer,start,end,size,gaps,colour\na,0,3,8,1-2,red\n")
    assert older == whole
    assert notes[0] == 'Column "colour" passed over: not known.'


@pytest.mark.parametrize(
    ("header", "line", "told"),
    [
        ("gaps", "a,2,9,8,1-3", 'gap "1-3" is not within its buffer'),
        ("gaps", "a,2,9,8,5-6 3-4", 'gap "3-4" is not within its buffer, or overlaps'),
        ("gaps", "a,2,9,8,3-12", 'gap "3-12" is not within its buffer'),
        ("gaps", "a,2,9,8,7", 'gap "7" is no two times with - between'),
        ("alignment", "a,2,9,8,3", "alignment 3 is not a power of two"),
        ("begin", "a,2,9,8,3", "column lower is there twice"),
        ("colour", "b,2,9,8,\nb1,2,9,8,\nb,3,4,8,", 'line 4: id "b" is that of line 2, too'),
    ],
)
def test_bad_gaps_alignments_and_columns_are_refused(
    tmp_path: Path, header: str, line: str, told: str
) -> None:
    with pytest.raises(HeapfitError, match=re.escape(told)):
        _events_of(tmp_path, f"id,lower,upper,size,{header}\n{line}\n")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("a,5,5,8", "line 2: lower 5 is not below upper 5"),
        ("a,1,2", "line 2: 3 fields where the header names 4"),
        ("a,1,2,-8", 'line 2: size "-8" is not a whole number'),
        ("a,1,2,x", 'line 2: size "x" is not a whole number'),
    ],
)
def test_a_bad_buffer_is_refused_with_its_line(tmp_path: Path, lines: str, told: str) -> None:
    (tmp_path / "m.csv").write_text(f"id,lower,upper,size\n{lines}\n")
    done = heapfit("import", "m.csv", folder=tmp_path)
    assert done.returncode == 1
    assert told in done.stderr


def test_bounds_prints_every_bound_and_how_the_packing_was_found(tmp_path: Path) -> None:
    table2(tmp_path / "t.heap", 800)
    shown = heapfit("bounds", "t.heap", "--search", "1", "-o", "l.csv", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "offline packing" in shown.stdout
    assert "placements tried with zones for common sizes" in " ".join(shown.stdout.split())
    assert "orders with lookahead" in shown.stdout
    told = [line.split() for line in shown.stdout.splitlines()]
    assert ["any", "allocator", "any", "number"] in [words[:4] for words in told]
    assert ["static_pools", "these", "sizes"] in [words[:3] for words in told]
    assert ["tlsf", "any", "sizes"] in [words[:3] for words in told]
    assert "these sizes: any order of these blocks." in shown.stdout
    said = " ".join(shown.stdout.split())
    assert "tables are not in them, as they are in the regions that compare and --plan tell" in said
    ranked = heapfit("compare", "t.heap", "fixed_pool", folder=tmp_path).stdout
    assert "Taken before any request, blocks of pools included: fixed_pool " in ranked
    assert "l.csv: " in shown.stdout
    content = heapfit_json("bounds", "l.csv", "--search", "1", folder=tmp_path)
    assert content["u_max"] <= content["packing"]["height"]
    premises = {one["name"]: one["premise"] for one in content["worst_cases"]}
    assert premises["static_pools"] == "any order of these blocks"
    assert premises["tlsf"] == "any order of any sizes up to the largest"
    none = heapfit("bounds", "t.heap", "--search", "0", folder=tmp_path)
    assert "placed in order of requests" in " ".join(none.stdout.split())


def test_a_floor_above_the_peak_is_proven(tmp_path: Path) -> None:
    # As many as 8 bytes are live, but nobody can place these ten in 8.
    ten = ["0-1:3", "0-3:4", "0-7:1", "1-6:1", "1-7:1"]
    ten += ["1-10:1", "3-6:3", "3-10:1", "6-7:4", "7-10:6"]
    lines = [",".join([str(i), *re.split("[-:]", one)]) for i, one in enumerate(ten)]
    (tmp_path / "m.csv").write_text("\n".join(["id,lower,upper,size", *lines]) + "\n")
    content = heapfit_json("bounds", "m.csv", "--search", "1", folder=tmp_path)
    assert content["packing"]["is_least"]
    assert content["packing"]["floor"] == content["packing"]["height"] == 9
    assert content["u_max"] == 8
    shown = heapfit("bounds", "m.csv", "--alignment", "4", folder=tmp_path).stdout
    assert "proven least" in shown
    assert "The packing is the least, proven by a search that ended" in " ".join(shown.split())


def test_requests_of_larger_alignments_have_no_proven_worst_case(tmp_path: Path) -> None:
    (tmp_path / "t.heap").write_text("# pointer_bits 32\na 0 8\nm 1 8 4096\na 2 8\nm 3 8 4096\n")
    content = heapfit_json("compare", "t.heap", "tlsf", "tailored", folder=tmp_path)
    assert content["bounds"]["worst_case"] is None
    assert content["bounds"]["static"] == 4 * 4096, "a pool's blocks are as far apart as asked for"
    shown = heapfit("bounds", "t.heap", folder=tmp_path).stdout
    assert "No worst case of an allocator is proven" in shown
    assert not re.search(r"^(tlsf|static_pools) ", shown, re.M)


def test_a_packing_of_many_lifetimes_says_that_it_has_no_alignments(tmp_path: Path) -> None:
    """Above 1,000 lifetimes none is moved to the alignment that it asks for."""
    lines = [f"m {i} 10 64\nf {i - 1}" if i else "m 0 10 64" for i in range(1200)]
    (tmp_path / "t.heap").write_text("\n".join(["# pointer_bits 32", *lines, ""]))
    shown = " ".join(heapfit("bounds", "t.heap", folder=tmp_path).stdout.split())
    assert "by its height, if no request asked for an alignment: " in shown


def test_what_no_allocator_promises_is_of_any_number_of_blocks(tmp_path: Path) -> None:
    """Two sizes alone need two pools, and less than Robson's programs of all sizes between."""
    lines = [f"a {i} 1024" for i in range(8)] + [f"f {i}" for i in range(8)]
    lines += [f"a {i} 16" for i in range(8, 520)]
    (tmp_path / "t.heap").write_text("\n".join(["# pointer_bits 32", *lines, ""]))
    shown = " ".join(heapfit("bounds", "t.heap", folder=tmp_path).stdout.split())
    assert "any number: any order and number of such blocks." in shown
    assert "any sizes: any order of any sizes up to the largest of n bytes" in shown


def test_a_trace_of_empty_requests_has_no_ratio(tmp_path: Path) -> None:
    (tmp_path / "t.heap").write_text("# pointer_bits 32\na 0 0\n")
    shown = heapfit("compare", "t.heap", "heap_4", folder=tmp_path).stdout
    assert shown.startswith("No request is for more than 0 B")


def test_bounds_stand_beside_every_comparison(tmp_path: Path) -> None:
    table2(tmp_path / "t.heap", 800)
    content = heapfit_json("compare", "t.heap", "best_fit", "tlsf", folder=tmp_path)
    beside = content["bounds"]
    (worst,) = {beside["worst_case"]["name"]} & {content["rows"][0]["name"]}
    assert content["u_max"] <= beside["packing"] <= content["rows"][0]["r_safe"]
    assert beside["static"] == 10 * (2952 + 1978 + 1040 + 528)
    shown = heapfit("compare", "t.heap", worst, folder=tmp_path)
    text = " ".join(shown.stdout.split())
    assert f"With a pool for each size the trace takes {beside['static']:,} B. " in text
    assert "fits in" not in text, "a number that other rows would change: `bounds` has it"
    worst = beside["worst_case"]
    assert worst["premise"] == "any order of these blocks"
    row = (
        f"worst case of the first row, tables included: {worst['size']:,} B in {worst['premise']}."
    )
    assert f"Proven {row}" in " ".join(text.split())


@pytest.mark.parametrize("allocator", ["tlsf", "tailored", "budgeted", "djgpp_test4"])
def test_a_placement_that_a_replay_makes_is_a_packing(tmp_path: Path, allocator: str) -> None:
    loaded = load_file(diverse(tmp_path / "t.heap", 1500), tmp_path / "in")
    candidate = build_portfolio(loaded, [allocator], []).candidates[0]
    row = measure_candidate(candidate, loaded, base_alignment=8, packing=10**9)  # any beats it
    assert row.placed is not None
    assert row.r_min is not None
    assert loaded.profile.u_max <= row.placed < row.r_min
    again = measure_candidate(candidate, loaded, base_alignment=8, packing=row.placed)
    assert again.placed is None


def test_the_zone_search_packs_no_higher_than_before(capsys):
    """A recording of bench/zone_heights.csv."""
    recordings = [packings.EXAMPLES / "lwip-echo/lwip-echo.parquet"]
    assert packings.compare_heights(recordings, is_written=False) is False
    assert "1 of them known: 0 higher, 0 lower; over U_max 1.0135 to" in capsys.readouterr().out
