# SPDX-License-Identifier: Apache-2.0
"""Several memories: the joint replay, the search for the least first one, and `heapfit place`."""

import json
import random
import re
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import Page
from small_traces import heapfit, heapfit_json

from heapfit import _engine, check, check_memories, generate_code, join_programs, place
from heapfit.cli.commands.fitting import PlaceCommand
from heapfit.cli.place import run
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.margin import HeapSize
from heapfit.errors import HeapfitError
from heapfit.forecast.horizon import parse_horizon
from heapfit.importers import import_file, open_trace
from heapfit.memories.changes import try_changed_programs
from heapfit.memories.demand import demand_of, parse_need, require_known_sites
from heapfit.memories.joining import Joining, arena_of, join_recorded, program_of
from heapfit.memories.joint import replay_jointly
from heapfit.memories.placing import PlacingOptions, place_recordings, place_requests
from heapfit.memories.search import InsideRule, MemorySearch, plan_for
from heapfit.memories.settings import list_sections, list_zephyr
from heapfit.plan.memories import (
    MemoriesPlan,
    Memory,
    MemoryRule,
    parse_memory,
    require_different,
)
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import load_plan
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.results.memories import CURVE
from heapfit.trace.in_memory import from_arrow
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")

DMA = 2
PLAN = """
memories = [
  { name = "internal", size = 4096, offers = ["internal", "dma"], plan = { allocator = "tlsf" } },
  { name = "psram", size = 65536, plan = { allocator = "tlsf" } },
]
[rule]
of_needs = ["internal", "psram"]
by_size = [ { up_to = 64, order = ["internal", "psram"] }, { order = ["psram", "internal"] } ]
"""
HEAP = Plan("best_fit")
MEMORIES = ["--memory", "internal=64K:dma", "--memory", "psram=1M", "--needs", "dma=1000"]


def packets(path, events=3000, seed=3):
    """Packets of 1,000 B from one site, small blocks from another, and large ones."""
    draw = random.Random(seed)
    lines, live, born = ["op,object,size,site,needs"], [], 0
    for _ in range(events):
        if live and draw.random() < len(live) / 60:
            lines.append(f"free,{live.pop(draw.randrange(len(live)))},0,0,0")
        else:
            size, site = draw.choice([(1000, 1), (24, 2), (24, 2), (300, 3)])
            lines.append(f"alloc,{born},{size},{site},{DMA if site == 1 else 0}")
            live.append(born)
            born += 1
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return packets(tmp_path_factory.mktemp("memories") / "packets.csv")


@pytest.fixture(scope="module")
def demand(recording):
    trace = import_file(recording, recording.with_suffix(".parquet"))
    return demand_of("packets", load_trace(trace), [])


def two(internal, psram=1 << 20):
    return [
        Memory("internal", internal, ("internal", "dma"), HEAP),
        Memory("psram", psram, (), HEAP),
    ]


def test_what_requests_need_is_a_column_of_its_own(recording, demand):
    trace = Trace.open(recording.with_suffix(".parquet"))
    assert trace.columns[-1] == "needs"
    assert trace.to_arrow()["needs"].to_pylist() == demand.needs.tolist()
    assert set(demand.sizes[demand.needs == DMA].tolist()) == {1000}


@pytest.mark.parametrize(
    ("columns", "rows", "found"),
    [
        ("", ("", "", ""), ()),
        (",needs", (",2", ",128", ",7"), ("needs",)),
        (",served", (",131", ",0x88", ","), ("served",)),
        (",served,needs", (",1,2", ",8,0", ",255,255"), ("needs", "served")),
    ],
)
def test_needs_and_where_requests_were_served_are_columns_if_told(tmp_path, columns, rows, found):
    """A free has neither, and an excerpt of the trace keeps both."""
    source = tmp_path / "told.csv"
    events = zip(("alloc,1,8", "resize,1,9", "free,1,0"), rows, strict=True)
    source.write_text("\n".join((f"op,object,size{columns}", *map("".join, events), "")))
    trace = import_file(source, tmp_path / "told.parquet")
    assert Trace.open(trace.path).optional == trace.optional == found
    told = {name: [int(row.split(",")[i] or "0", 0) for row in rows[:2]]
            for i, name in enumerate(columns.split(","))}  # fmt: skip
    assert trace.bits("needs").tolist() == [*told.get("needs", [0, 0]), 0]
    assert trace.bits("served").tolist() == [*told.get("served", [0, 0]), 0]
    again = from_arrow(trace.to_arrow(), tmp_path / "again.parquet")
    assert again.to_arrow().equals(trace.to_arrow())


@pytest.mark.parametrize("bad", ["256", "-1", "psram", "0x100"])
def test_a_memory_that_is_no_sum_of_bits_is_rejected_with_its_line(tmp_path, bad):
    source = tmp_path / "bad.csv"
    source.write_text(f"op,object,size,served\nalloc,1,8,128\nalloc,2,8,{bad}\n")
    with pytest.raises(HeapfitError, match=r"line 3: served .* is "):
        import_file(source, tmp_path / "bad.parquet")


SERVED = """op,object,size,site,needs,served
alloc,1,1000,1,2,131
alloc,2,300,3,0,131
alloc,3,500,3,0,136
alloc,4,1000,1,2,136
resize,2,200,3,0,136
free,3,0,0,0,0
alloc,5,40,2,0,0
alloc,6,60,2,16,131
resize,1,900,1,0,136
"""


def test_the_memory_of_recorded_blocks_is_shown_beside_what_they_need(tmp_path):
    """What is resized may move. Nobody offers `fast`, so nothing is said of who needs it."""
    source = tmp_path / "served.csv"
    source.write_text(SERVED)
    words = ("sites", source, "--view", "memories")
    printed = heapfit(*words, folder=tmp_path).stdout
    assert printed.startswith(
        "Memory external+bytes holds 1,500 of the 2,800 B live at the peak (53.6 %"
    )
    rows = [" ".join(line.split()) for line in printed.splitlines()[2:5]]
    assert rows == ["external+bytes 2 1,500 500 1,000 4 2,600",
                    "internal+dma+bytes 2 1,300 300 1,000 3 1,360",
                    "unknown 0 0 0 0 1 40"]  # fmt: skip
    told = "2 requests that need dma lie where it is not offered, the first of them event 4."
    assert told in printed
    source.write_text("op,object,size\nalloc,1,8\n")
    assert "does not tell where" in heapfit(*words, folder=tmp_path).stderr


def test_what_was_served_inside_when_recorded_is_replayed_there(demand):
    """The least heap that serves these requests alone, whatever they need: all sizes are tried."""
    is_inside = (demand.sites == 3) & demand.asks
    served = np.where(is_inside, 131, 136).astype(np.uint8)
    told = replace(demand, served=np.where(demand.asks, served, 0).astype(np.uint8))
    ground = MemorySearch(tuple(two(64 << 10)), (told,))
    assert ground.recorded.share == is_inside.sum() / demand.asks.sum()
    events = demand.loaded.events
    objects = events.objects()
    kept = np.isin(objects, objects[is_inside])  # a request an object: nothing is resized
    own = _engine.EventArray()
    renamed = np.unique(objects[kept], return_inverse=True)[1].astype(np.uint32)
    own.append(events.ops()[kept], renamed, events.sizes()[kept])
    sizes = range(1024, 16_384, 8)
    failed = [size for size in sizes if not _engine.Replay(HEAP.engine(), size).feed(own)]
    assert ground.recorded.size == failed[-1] + 8
    assert MemorySearch(tuple(two(64 << 10)), (told, demand)).recorded is None
    alike = (Memory("one", 64 << 10, (), HEAP), Memory("other", 1 << 20, (), HEAP))
    assert MemorySearch(alike, (told,)).recorded is None


def test_each_heap_does_what_it_would_do_alone(demand):
    """The blocks of one memory, replayed by themselves, lie where they lie in the joint replay."""
    plan = plan_for(two(24_000), InsideRule(up_to=100), 24_000)
    replay = plan.replay(keeps_places=True)
    assert replay.feed(demand.loaded.events, demand.requests(plan))
    numbers, offsets = replay.numbers, replay.offsets
    ops, objects, sizes = (
        demand.loaded.events.ops(), demand.loaded.events.objects(), demand.loaded.events.sizes()
    )  # fmt: skip
    for number, memory in enumerate(plan.memories):
        inside = numbers[objects] == number  # a request an object: nothing is resized
        named = np.cumsum(inside & demand.asks).astype(np.uint32)
        renamed = np.zeros(len(numbers), np.uint32)
        renamed[objects[inside & demand.asks]] = named[inside & demand.asks] - 1
        own = _engine.EventArray()
        own.append(ops[inside], renamed[objects[inside]], sizes[inside])
        alone = _engine.Replay(memory.plan.engine(), memory.size, keep_offsets=True)
        assert alone.feed(own)
        assert alone.offsets.tolist() == offsets[numbers == number].tolist()
    assert set(numbers.tolist()) == {0, 1}
    assert (numbers[objects[(demand.needs == DMA)]] == 0).all()


def test_a_refusal_names_the_memory_and_the_rule(demand):
    plan = plan_for(two(4000), InsideRule(), 4000)
    refusal = replay_jointly(plan, [demand], [demand.requests(plan)]).refusal
    assert "1,000 bytes that need dma: no room in internal (4,000 B); rule: needs dma" in refusal


def test_a_block_that_is_resized_needs_what_it_was_allocated_for(tmp_path):
    source = tmp_path / "grown.csv"
    source.write_text("op,object,size\nalloc,1,2000\nresize,1,40\nalloc,2,40\nfree,1,0\n")
    trace = import_file(source, tmp_path / "grown.parquet")
    demand = demand_of("grown", load_trace(trace), [parse_need("dma=1K")])
    assert demand.needs.tolist() == [DMA, DMA, 0, 0]
    assert demand.byte_events.tolist() == [2000, 80, 80, 0]


BOTH = ("internal=64K:dma", "psram=1M")


@pytest.mark.parametrize(
    ("heap", "alone", "shared", "reserve"),
    [
        ("heap_4", 14_120, 14_512, 14_120),
        ("mattconte-tlsf", 23_280, 24_200, 0),
        ("nuttx", 14_480, 15_232, 14_480),
        ("rt-thread", 14_296, 14_848, 14_296),
        ("esp-tlsf", 14_816, 16_752, 0),
    ],
)
def test_memories_are_as_large_as_the_systems_own_sources_need(
    recording, heap, alone, shared, reserve
):
    """By the sources, 32 bit, each memory with one: in 8 B less they refuse, or less is inside.

    Of tlsf.c each multiple of 8 up to 26,000 was tried: 23,776 to 24,192 has twelve that fail.
    """
    placing = place_recordings([recording], BOTH, PlacingOptions(0.6, allocators=(heap,)))
    chosen = placing.chosen
    assert (placing.alone.size, chosen.size, chosen.rule.reserve) == (alone, shared, reserve)
    assert chosen.rule.up_to == 24
    inside, others, *kept = placing.plan.memories
    held = sum(placing.heap.memory(one.size) for one in (inside, *kept))
    assert held == placing.size.region
    assert placing.heap.memory(others.size) == 1 << 20


def test_a_resize_that_takes_a_new_block_needs_the_old_one_beside_it(tmp_path):
    """FreeRTOS heap_4 serves none in place: its list's end, and two blocks with headers."""
    source = tmp_path / "grows.csv"
    source.write_text("op,object,size,needs\nalloc,1,200,2\nresize,1,400,0\nfree,1,0,0\n")
    options = PlacingOptions(1.0, allocators=("heap_4",))
    assert place_recordings([source], BOTH, options).alone.size == 8 + 208 + 408


def test_the_chosen_memory_serves_the_share_and_every_need(demand):
    placing = place_requests(two(64 << 10), [demand], PlacingOptions(0.8))
    chosen = placing.chosen
    assert chosen.joint.refusal is None
    assert chosen.share >= 0.8
    assert placing.alone.size <= chosen.size < placing.today.size
    smaller = plan_for(placing.memories, chosen.rule, chosen.size - 8)
    refused = replay_jointly(smaller, [demand], [demand.requests(smaller)])
    assert refused.refusal is not None or refused.share(chosen.inside) < 0.8
    sizes = [one.by_site.size for one in placing.curve]
    assert sizes == sorted(sizes)


def test_each_size_of_the_curve_serves_with_the_reserve_that_stands_beside_it(demand):
    memories = two(64 << 10)
    placing = place_requests(memories, [demand], PlacingOptions(0.8))
    rows = placing.to_arrow().to_pylist()
    assert any(row["reserve"] for row in rows)
    for row in rows:
        plan = plan_for(memories, InsideRule(row["up_to"], reserve=row["reserve"]), row["by_size"])
        replayed = replay_jointly(plan, [demand], [demand.requests(plan)])
        assert replayed.refusal is None
    reserves = [column for column in CURVE if column.field in ("reserve", "site_reserve")]
    assert [[column.figure(one) for column in reserves] for one in placing.curve] == [
        [one.by_size.rule.reserve, one.by_site.rule.reserve] for one in placing.curve
    ]


def test_the_chosen_rule_has_one_size(tmp_path):
    """The size from which on all do is that of its kind and of the curve, too."""
    path = packets(tmp_path / "packets.csv", events=600)
    trace = import_file(path, tmp_path / "packets.parquet")
    memories = [replace(one, plan=find_heap("tlsf", 8).plan) for one in two(64 << 10)]
    demands = [demand_of("packets", load_trace(trace), [])]
    placing = place_requests(memories, demands, PlacingOptions(0.8))
    asked = next(one for one in placing.curve if one.share == placing.share)
    assert placing.chosen == placing.by_size == asked.by_size
    assert [name for name, _ in placing.rules][1] == f"chosen: up to {placing.by_size.rule.up_to} B"


def test_memories_that_cannot_be_are_told(demand):
    with pytest.raises(HeapfitError, match="cannot serve one of several"):
        plan_for(
            [Memory("a", 4096, (), Plan("sized")), Memory("b", 4096, (), HEAP)], InsideRule(), 4096
        ).replay()
    with pytest.raises(HeapfitError, match="no such capability"):
        parse_memory("internal=4K:dmaa", HEAP)
    with pytest.raises(HeapfitError, match="is not NAME=SIZE"):
        parse_memory("internal", HEAP)
    with pytest.raises(HeapfitError, match="do not serve 100 %"):
        place_requests(
            two(MemorySearch(tuple(two(64 << 10)), (demand,)).least(InsideRule()).size),
            [demand],
            PlacingOptions(1.0),
        )
    one = MemoriesPlan(
        tuple(two(4096)[:1]), MemoryRule(("internal",), ((2**63 - 1, ("internal",)),))
    )
    assert one.order_of(8, 0, 0) == ("any size", ("internal",))


@pytest.mark.parametrize(
    ("size", "is_region"), [(0, False), (1, True), (LARGEST_REGION, True), (2**32, False)]
)
def test_a_memory_has_1_byte_to_the_largest_region(size, is_region):
    if is_region:
        assert parse_memory(f"internal={size}", HEAP).size == size
        return
    with pytest.raises(HeapfitError, match=f"^internal: {size} bytes are no region "):
        parse_memory(f"internal={size}", HEAP)


@pytest.mark.parametrize("names", ["a", "ab", "aa", "aba", "abcdefg", "abcdefgh"])
def test_two_to_seven_memories_have_names_of_their_own(names):
    memories = [Memory(name, 4096, (), HEAP) for name in names]
    if names in {"ab", "abcdefg"}:
        require_different(memories)
        return
    with pytest.raises(HeapfitError, match=r"^memories: give 2 to 7 of different names"):
        require_different(memories)


def test_a_memory_that_cannot_hold_its_heap_has_no_code(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace("4096", "16"))
    done = heapfit("generate", "plan.toml", "-o", "code", folder=tmp_path)
    assert done.returncode == 1
    assert "plan.toml: region: 16 is below the 72 bytes this plan needs to start" in done.stderr
    assert not (tmp_path / "code").exists()


def test_the_command_writes_a_plan_that_holds(recording, tmp_path):
    plan = tmp_path / "plan.toml"
    outputs = ("-o", "plan.toml", "--report", "page.html")
    shown = heapfit("place", recording, *MEMORIES, *outputs, folder=tmp_path)
    lines = shown.stdout.splitlines()
    assert (shown.returncode, shown.stderr) == (0, "")
    assert lines[0].startswith("internal: set it to ")
    assert len(lines) <= 25 and max(map(len, lines)) <= 80  # the last one names the page
    placing = place(recording, ["internal=64K:dma", "psram=1M"], needs=("dma=1000",))
    assert placing.plan_file == load_plan(plan, takes_memories=True)
    page = unescape((tmp_path / "page.html").read_text())
    read = page.replace("\N{NO-BREAK SPACE}", " ")
    assert [name for name, _ in placing.rules if name not in read] == []
    prose = re.sub(r"<(script|style|pre|code)\b.*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
    assert re.findall(r"\d (?:%|[KM]iB|B|bytes)(?!\w)", prose) == []  # would break over two lines
    record = json.loads(re.search(r'id="map-data">(.*?)</script>', page, re.DOTALL)[1])
    assert len({one["height"] for one in record["heaps"]}) > 1, "each memory has its own scale"
    assert [
        one for lines in placing.system_lines.values() for one in lines if one not in page
    ] == []
    read_back, chosen = Page((tmp_path / "page.html").read_text()), placing.chosen
    headings = [row[:3] for row in read_back.rows]
    assert ["first memory serves first", "bytes", "set apart"] in headings
    assert ["inside", "by size", "up to"] in headings
    assert f"In {chosen.size:,} B all that needs it is served, and " in read_back.text
    assert f"; {placing.size.margin:g} % is the reserve for other runs" in read_back.text
    assert {"rules", "curve", "settings"} <= {*read_back.attributes("id")}
    memories = placing.plan.memories
    assert placing.size.region == sum(one.size for one in memories if one.name != "psram")
    assert len(placing.to_arrow()) == len(placing.curve)
    for drawn, way in zip(read_back.figures["chart-memory"]["data"], ("size", "site"), strict=True):
        found = [getattr(one, f"by_{way}") for one in placing.curve]
        points = [(pytest.approx(100 * one.share), one.size) for one in found if one is not None]
        assert list(zip(drawn["x"], drawn["y"], strict=True)) == points
    joint = check_memories(recording, plan)
    assert joint.refusal is None
    (rest,) = (one.footprint for one in joint.uses if one.name == "psram")
    assert f"psram takes the rest: up to {rest:,} of its " in " ".join(shown.stdout.split())
    with pytest.raises(HeapfitError, match="several memories"):
        check(recording, placing.plan_file)
    grown = packets(tmp_path / "grown.csv", seed=9).read_text().replace(",1000,", ",4000,")
    (tmp_path / "grown.csv").write_text(grown)
    failed = heapfit("check", tmp_path / "grown.csv", "--plan", plan, folder=tmp_path)
    assert failed.returncode == 3 and "that need dma" in failed.stdout
    with pytest.raises(HeapfitError, match="several memories"):
        load_plan(plan)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('order = ["psram", "internal"]', 'order = ["psramm"]'), "by_size"),
        (('of_needs = ["internal", "psram"]', "of_needs = []"), "of_needs"),
        (('name = "psram"', 'name = "internal"'), "different names"),
        (('offers = ["internal", "dma"]', 'offers = ["dmaa"]'), "offers"),
    ],
)
def test_a_plan_that_cannot_be_is_told_with_its_key(tmp_path, change, said):
    path = tmp_path / "plan.toml"
    text = PLAN
    path.write_text(text)
    plan = load_plan(path, takes_memories=True).memories
    assert plan.order_of(65, 0, 0) == ("any size", ("psram", "internal"))
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(HeapfitError, match=said):
        load_plan(path, takes_memories=True)


def test_the_generated_folder_compiles_and_takes_no_other_option(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace("65536,", '65536, section = ".psram",'))
    made = heapfit("generate", "plan.toml", "-o", "code", folder=tmp_path)
    assert made.returncode == 0
    folder = tmp_path / "code"
    assert '#define APP_PSRAM_SECTION ".psram"' in (folder / "app_memories.c").read_text()
    sources = ["app_memories.c", *folder.glob("src/*/*.c")]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only", "-I."]
    subprocess.run(["cc", *flags, *sources], cwd=folder, check=True)
    failed = heapfit("generate", "plan.toml", "-o", "other", "--counts", folder=tmp_path)
    assert failed.returncode == 1 and "plain C alone" in failed.stderr
    with pytest.raises(HeapfitError, match="plain C alone"):
        generate_code(tmp_path / "plan.toml", tmp_path / "other", language="rust")


def test_changed_programs_set_the_margin_that_they_need(demand):
    """Without a margin some change runs out; with what is found, no counted one does."""
    ground = MemorySearch(tuple(two(64 << 10)), (demand,))
    point = ground.least(InsideRule(up_to=24))
    live = point.joint.uses[0].live_peak
    tight = try_changed_programs(ground, point, HeapSize(point.size, live, live, 0.0))
    assert tight.test.needed > 0
    wide = HeapSize(point.size, live, live, tight.test.needed)
    assert try_changed_programs(ground, point, wide).test.needed == 0
    assert tight.share < point.share / 2 and "B more a request" in tight.worst


def test_what_needs_the_memory_may_be_all_or_nothing(tmp_path):
    source = tmp_path / "one.csv"
    source.write_text("op,object,size,needs\nalloc,1,5000,2\nfree,1,0,0\n")
    every = place(source, ["internal=64K:dma", "psram=1M"])
    assert every.chosen == every.alone and every.size.region >= 5000
    nothing = place(source, ["dtcm=64K", "sram=1M:dma"], share=0.0)
    assert nothing.chosen.requests_share == 0 and nothing.changes.test.needed == 0


def test_a_memory_of_words_gets_only_what_may_lie_there(tmp_path):
    """Code may; a buffer that needs bytes of internal memory, and whatever needs nothing, not."""
    source = tmp_path / "code.csv"
    rows = ("4,4", "1,1", f"2,{1 | 128}", "3,0", "5,128")
    source.write_text(
        "op,object,size,needs\n" + "".join(f"alloc,{row[0]},8,{row[2:]}\n" for row in rows)
    )
    iram = parse_memory("iram=4K:exec,internal,words", HEAP)
    assert iram.offers == ("internal", "exec", "words")
    memories = (Memory("dram", 4096, ("internal",), HEAP), iram)
    demand = demand_of("code", load_trace(import_file(source, tmp_path / "c.parquet")), [])
    plan = plan_for(memories, InsideRule(up_to=64), 4096)
    replay = plan.replay(keeps_places=True)
    assert replay.feed(demand.loaded.events, demand.requests(plan))
    assert replay.numbers.tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "times", "lasts"), [("40x", 40, "40x"), ("3000x", 100, "100 times the recording")]
)
def test_a_horizon_raises_the_margin_unless_one_is_given(demand, text, times, lasts):
    horizon = parse_horizon(text)
    placing = place_requests(two(64 << 10), [demand], PlacingOptions(0.5, horizon=horizon))
    asked, size = placing.longer.told, placing.size
    assert asked.times == times and placing.longer.lasts(size.region).startswith(lasts)
    assert size.region >= asked.needed > replace(size, margin=size.margin - 0.1).region
    assert placing.plan_file.region == placing.plan.memories[0].size
    given = PlacingOptions(0.5, margin=3.0, horizon=horizon)
    kept = place_requests(two(64 << 10), [demand], given)
    assert kept.size.margin == 3.0
    assert f"{asked.name} up to {asked.needed:,} B" in kept.longer.sentence(kept.size.region)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--needs", "dma=site:00000009"], "--needs dma=site:00000009: no request of packets"),
        (["--horizon", "soon"], "is no length of time"),
        (["-o", "folder"], "folder: is a folder (name a file in it)"),
    ],
)
def test_what_no_recording_has_is_refused_in_a_line(recording, tmp_path, given, said):
    (tmp_path / "folder").mkdir()
    options = {"--needs": "needs", "--horizon": "horizon", "-o": "output"}
    name, value = options[given[0]], given[1]
    value = {"horizon": value, "output": tmp_path / value}.get(name, [value])
    command = PlaceCommand([recording], ["internal=64K:dma", "psram=1M"], **{name: value})
    with pytest.raises(HeapfitError) as refused:
        run(command)
    text = str(refused.value)
    assert said.format(source=recording) in text and "\n" not in text
    if "site" in said:
        assert re.search(r"nearest: 0000000[123],", text)


def test_a_site_may_be_the_direct_caller_of_a_chain(demand):
    chained = replace(demand.loaded.trace, chains={1: (77, 78)})
    loaded = replace(demand.loaded, trace=chained)
    placed = demand_of("packets", loaded, [parse_need("dma=site:0000004d")])
    assert (placed.needs == demand.needs).all() and demand.needs.any()
    require_known_sites([placed], {77: "--needs dma=site:0000004d"})
    with pytest.raises(HeapfitError, match="has no call sites"):
        bare = replace(loaded, sites=loaded.sites[:0])
        require_known_sites([replace(placed, loaded=bare)], {77: "--needs dma=site:0000004d"})


def test_an_imported_file_is_named_by_errors_as_it_was_given(tmp_path):
    source = tmp_path / "run1.frames.csv"
    source.write_text("op,object,size,needs\nalloc,1,5000,2\n")
    with pytest.raises(HeapfitError, match=r"run1\.frames\.csv: event 1: 5,000 bytes"):
        place(source, ["internal=4K:dma", "psram=1M"])
    with open_trace(source) as trace:
        assert (trace.given, trace.path.name) == (source, "run1.frames.parquet")
    source.write_text("op,object,size\n")
    with pytest.raises(HeapfitError, match=r"run1\.frames\.csv: no allocation"):
        place(source, ["internal=4K:dma", "psram=1M"])


def test_the_settings_are_of_the_systems_own_form():
    memories = [*two(4096)[:1], Memory("psram", 8192, ("external",), HEAP)]
    assert list_sections(memories, 256)[2] == (
        ".psram_heap (NOLOAD) : { . = ALIGN(256); *(.psram_heap) } > PSRAM"
    )
    zephyr = "\n".join(list_zephyr(memories, 256))
    assert (
        "Z_GENERIC_SECTION(INTERNAL) static uint8_t __aligned(256) internal_heap[4096];" in zephyr
    )
    assert zephyr.count(".attr = SMH_REG_ATTR_EXTERNAL,") == 1


# ---- two programs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"needs": ["dma=1"]}, "are for recordings in two memories"),
        ({}, "one --memory is for two programs"),
    ],
)
def test_what_cannot_be_placed_is_named(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(HeapfitError, match=message):
        run(PlaceCommand([tmp_path / "run.heap"], ["ram=4K"], **arguments))


def test_a_networks_tensors_are_sent_to_bounds(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,lower,upper,size\n0,0,4,64\n")
    done = heapfit("place", "n.csv", "--memory", "a=4K", "--memory", "b=4K", folder=tmp_path)
    assert done.returncode == 2
    assert "bounds n.csv -o places.h" in " ".join(done.stderr.split())


def join(folder: Path, first: str, second: str, *, arena: bool = False) -> Joining:
    """Two recordings of lines OP,OBJECT,SIZE,TIME; or the second one as minimalloc's CSV."""
    programs, heap = [], find_heap("best_fit", 8)
    for number, text in enumerate((first, second)):
        path = folder / f"{number}.csv"
        is_arena = arena and number == 1
        path.write_text(("id,lower,upper,size\n" if is_arena else "op,object,size,time\n") + text)
        with open_trace(path) as trace:
            loaded = load_trace(trace)
            programs.append(
                arena_of("arena", loaded, has_times=True)
                if is_arena
                else program_of(path.name, loaded, heap)
            )
    return join_recorded(programs[0], programs[1], heap)


def test_programs_meet_by_their_clocks_at_their_peaks_and_in_turn(tmp_path: Path) -> None:
    first = "alloc,1,100,0\nalloc,2,5000,1\nfree,2,0,20\nfree,1,0,90\n"
    second = "alloc,8,24,0\nalloc,7,3000,30\nresize,7,4000,40\nfree,7,0,50\nfree,8,0,60\n"
    joining = join(tmp_path, first, second)
    assert joining.programs[0].live().tolist() == [100, 5100, 100, 0]
    assert joining.programs[1].live().tolist() == [24, 3024, 4024, 24, 0]
    alone = [one.alone for one in joining.programs]
    clocks, later, peaks, turns = (region for _, region in joining.meetings)
    assert max(alone) == turns <= clocks < alone[0] + 200  # what is live of the other meanwhile
    assert 9124 < peaks < joining.apart == sum(alone)  # one heap has one control structure
    assert joining.most == later > peaks  # a resize that has to move beside the other's block
    offered = join_programs(tmp_path / "0.csv", str(tmp_path / "1.csv"))
    assert (offered.apart, offered.most) == (joining.apart, later)
    assert joining.least == offered.least == joining.apart
    with pytest.raises(HeapfitError, match="tlfs"):
        join_programs(tmp_path / "0.csv", tmp_path / "1.csv", "tlfs")


def make_program(seed: int) -> list[tuple[int, str, int, int]]:
    """Times, operations, objects and sizes of 60 blocks that live for a while."""
    draw, events, now = np.random.default_rng(seed), [], 0
    for number in range(60):
        events.append((now, "alloc", number, int(draw.choice([40, 200, 900]))))
        events.append((now + int(draw.exponential(120)) + 1, "free", number, 0))
        now += int(draw.integers(1, 50))
    return sorted(events, key=lambda one: one[0])


def spell_program(events: list[tuple[int, str, int, int]]) -> str:
    return "".join(f"{op},{number},{size},{at}\n" for at, op, number, size in events)


def test_one_program_may_begin_while_the_other_runs(tmp_path: Path) -> None:
    """Each of the starts, merged here, is measured alone; one of them is the worst meeting."""
    first, second, heap, needs = make_program(8), make_program(9), find_heap("best_fit", 8), []
    joining = join(tmp_path, spell_program(first), spell_program(second))
    for one, other in ((first, second), (second, first)):
        span = one[-1][0] - one[0][0]
        for step in range(1, 32):
            later = [
                (at + step * span // 32, op, 100 + number, size) for at, op, number, size in other
            ]
            merged = sorted([*one, *later], key=lambda event: event[0])
            (tmp_path / "both.csv").write_text("op,object,size,time\n" + spell_program(merged))
            with open_trace(tmp_path / "both.csv") as trace:
                needs.append(measure(heap, [load_trace(trace)]).require_most())
    assert joining.most == dict(joining.meetings)["one begun later, by their clocks"]
    assert abs(joining.most - max(needs)) <= 8  # of one moment either event may come first
    assert max(one for name, one in joining.meetings if "later" not in name) < joining.apart


def test_an_arena_is_one_block_while_any_of_its_buffers_is_live(tmp_path: Path) -> None:
    first = "alloc,1,16,0\nalloc,2,3000,20\nfree,2,0,40\nfree,1,0,60\n"
    arena = "a,30,34,640\nb,33,40,320\nc,41,45,640\n"
    joining = join(tmp_path, first, arena, arena=True)
    block = joining.programs[1]
    assert block.alone == 960
    ops, _, sizes, _ = block.columns
    assert (ops.tolist(), sizes.tolist()) == ([0, 4, 0, 4], [960, 0, 960, 0])
    assert block.times is not None
    assert np.diff(block.times).tolist() == [10, 1, 4]
    clocks, _, peaks, _ = (region for _, region in joining.meetings)
    assert clocks == joining.programs[0].alone < peaks


def test_two_programs_in_a_systems_heap_take_what_its_source_does(tmp_path: Path) -> None:
    """FreeRTOS heap_4: headers and its list's end, and no resize in place."""
    (tmp_path / "a.csv").write_text("op,object,size\nalloc,1,100\nresize,1,200\nfree,1,0\n")
    (tmp_path / "b.csv").write_text("op,object,size\nalloc,1,1000\nfree,1,0\n")
    joining = join_programs(tmp_path / "a.csv", tmp_path / "b.csv", "heap_4")
    assert [one.alone for one in joining.programs] == [8 + 112 + 208, 8 + 1008]
    assert joining.most == 8 + 112 + 208 + 1008


def test_examples_need_less_together_whichever_way_they_meet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ROOT / "examples/recordings/traces"
    pair = (str(folder / "broker32-1.parquet"), str(folder / "routes32-1.parquet"))
    content = heapfit_json("place", *pair, "--memory", "ram=128K", folder=tmp_path)
    assert content["together"] < content["apart"] == sum(content["alone"].values())
    assert content["better"] == "one heap for both"
    assert content["meetings"][0]["region"] < 0.9 * content["apart"]
    assert content["fits"] is True
    with pytest.raises(SystemExit) as refused:
        run(PlaceCommand([*map(Path, pair)], ["ram=64K"]))
    assert refused.value.code == 3
    said = " ".join(capsys.readouterr().out.split())
    missing = content["together"] - (64 << 10)
    assert f"They do not fit, {missing:,} B are missing in ram (65,536 B)" in said
