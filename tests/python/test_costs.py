# SPDX-License-Identifier: Apache-2.0
"""What heaps cost: energy, instructions, code and calls, of plans and of systems' heaps."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from small_traces import heapfit, heapfit_json, random_calls

from heapfit import _engine
from heapfit.comparison.costs.chunk_walks import count_walks
from heapfit.comparison.costs.code_table import (
    code_label,
    read_codes,
    read_system_codes,
)
from heapfit.comparison.costs.heap_costs import UNKNOWN, estimate_costs
from heapfit.comparison.costs.instruction_model import LinearCost, MeasuredCode
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import SYSTEM_HEAPS, list_offered_allocators
from heapfit.comparison.incumbents.requests import Requests
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import ALIGNMENTS, takes
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.serving_region import serving_region
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE, ZEROED
from heapfit.trace.stored import REPLAYED, TraceInfo, write_trace

SRAM = Sram("test", (100, 400, 6400), (1.0, 4.0, 16.0), (2.0, 2.0, 8.0))
TABLE = """
schema = 1
source = "a data sheet"
memory = [{ bytes = 64, read_pj = 1, write_pj = 2 }, { bytes = 128, read_pj = 2, write_pj = 3.5 }]
"""


@pytest.mark.parametrize(
    ("memory", "access"),
    [  # between two sizes by a power of the size; none above the largest
        *((1, (1, 2)), (100, (1, 2)), (200, (2, 2)), (400, (4, 2)), (1600, (8, 4))),
        *((6400, (16, 8)), (6401, None)),
    ],
)
def test_energy_follows_the_size_of_the_memory(memory, access):
    replayed = SimpleNamespace(loads=3, stores=5)
    assert SRAM.access(memory) == (access and pytest.approx(access))
    energy = None if access is None else pytest.approx(3 * access[0] + 5 * access[1])
    assert SRAM.energy(replayed, memory) == energy


def test_the_standard_table_costs_more_the_larger_the_memory_and_names_its_source():
    sram = load_sram()
    costs = [sum(sram.access(size)) for size in range(64, 8 << 20, 4096)]
    assert costs == sorted(costs)
    assert "CACTI 7.0" in sram.source


def test_a_table_of_ones_own_is_read(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TABLE)
    assert load_sram(path) == Sram("a data sheet", (64, 128), (1, 2), (2, 3.5))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = 2", "schema: the table of energies has version 2"),
        ('"a data sheet"', '""', "source: must be 1 to 1000"),
        ("write_pj = 3.5", "write_pj = 0", "memory[1].write_pj: must be a number from 1e-09"),
        ("write_pj = 3.5", "write_pj = inf", "memory[1].write_pj: "),
        ("write_pj = 3.5", "write_pj = true", "memory[1].write_pj: "),
        (", write_pj = 3.5", "", "memory[1].write_pj: missing"),
        ("write_pj = 3.5", "write_pj = 3.5, nj = 1", "memory[1].nj: unknown key"),
        ("bytes = 128", "bytes = 64", "ascending"),
        ("memory = [", "memory = [] #", "memory: must be a list"),
        ("memory = [", "memory = 3 #", "memory: must be a list"),
        ("memory = [", "memory = [[", "not TOML"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_by_name(tmp_path, old, new, message):
    path = tmp_path / "mine.toml"
    path.write_text(TABLE.replace(old, new))
    with pytest.raises(HeapfitError) as raised:
        load_sram(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)


# ---- instructions


def test_a_replay_is_priced_call_by_call():
    model = MeasuredCode({"alloc": LinearCost(10, 2, 3), "free": LinearCost(5, 0, 0)}, None, None)
    costs = {
        "op": np.array([0, 0, 4]),
        "loads": np.array([1, 4, 9]),
        "stores": np.array([0, 1, 9]),
        "calls": np.array([2, 1, 3]),
    }
    assert model.estimate(costs) == (pytest.approx((2 * 12 + 21 + 3 * 5) / 6), 21)
    assert (
        model.estimate({**costs, "op": np.array([0, 3, 4])}) is None
    )  # resizes were never measured


def test_half_of_all_codes_are_off_by_less_than_six_percent_on_traces_left_out():
    offs = sorted(code.mean_off[0] for code in read_codes().values())
    assert offs[len(offs) // 2] <= 0.06


# ---- code

INFOS = {info.name: info for info in _engine.allocators()}
POOLS = (Pool(40, 2, True), Pool(100, 2, False))


@pytest.mark.parametrize("name", INFOS)
def test_the_grid_names_tunables_with_values_they_can_have(name):
    tunables = {tunable.name: tunable for tunable in INFOS[name].tunables}
    for tunable, values in INFOS[name].grid:
        assert len(set(values)) == len(values) > 1
        lowest, highest = tunables[tunable].lowest, tunables[tunable].highest
        assert all(lowest <= value <= highest for value in values)


def test_what_a_descriptor_leaves_out_is_not_measured():
    label = code_label(Plan("tailored", {"layout": 7}))
    assert label == "tailored:layout=7"
    assert label not in read_codes()


def test_amounts_are_the_same_code_and_choices_are_not():
    assert code_label(Plan("tlsf", {"alignment": 4, "probes": 8})) == "tlsf"
    assert code_label(Plan("tlsf", {"probes": 0})) == "tlsf:probes=0"
    assert code_label(Plan("tlsf", {"second_level": 5})) == "tlsf:second_level>0"
    assert code_label(Plan("fixed_pool", {"blocks": 7})) == "fixed_pool:blocks>0"
    assert code_label(Plan("partition_pool", {"partition_size": 64})) == "partition_pool"
    over = Plan("budgeted", pools=(POOLS[0],), shared=Plan("first_fit", {"list": 1}))
    assert code_label(over) == "budgeted > first_fit:list=1"


def test_pools_without_a_table_are_other_code():
    far = (Pool(40, 2, False), Pool(1 << 20, 2, False))
    told = [code_label(Plan("class_pools", {"search": 1}, pools)) for pools in (far, POOLS)]
    assert told == ["class_pools:search=1 (pools searched)", "class_pools:search=1"]


# ---- calls of a replay

REGION = 1 << 16
TLSF = _engine.Plan("tlsf", {})


def events(*rows: tuple[int, int, int]) -> _engine.EventArray:
    """From (op, object, size)."""
    table = np.array(rows, np.uint64).reshape(-1, 3)
    made = _engine.EventArray()
    alignments = np.where(table[:, 0] == ALIGNED, 16, 0).astype(np.uint32)
    made.append(
        table[:, 0].astype(np.uint8), table[:, 1].astype(np.uint32), table[:, 2], alignments
    )
    return made


@pytest.mark.parametrize("allocator", ["tlsf", "best_fit", "first_fit"])
def test_the_tally_adds_up_to_what_one_replay_counts(allocator: str) -> None:
    plan, done = (
        _engine.Plan(allocator, {}),
        events(*random_calls(5, 2000, range(1, 300), (ALLOC, ZEROED, ALIGNED))),
    )
    costs = _engine.call_costs(plan, done, REGION)
    replay = _engine.Replay(plan, REGION)
    assert replay.feed(done)
    whole = replay.result()
    calls = costs["calls"]
    assert int(calls.sum()) == whole.events
    assert int((costs["loads"] * calls).sum()) == whole.loads
    assert int((costs["stores"] * calls).sum()) == whole.stores
    of = {op: int(calls[costs["op"] == op].sum()) for op in range(5)}
    assert of[ALLOC] + of[ALIGNED] == whole.allocations
    assert of[ZEROED] == 0
    assert (of[RESIZE], of[FREE]) == (whole.resizes, whole.frees)


def test_copied_bytes_are_told_together_and_of_the_largest_copy() -> None:
    grows = [(ALLOC, 0, 40), (ALLOC, 1, 40), (RESIZE, 0, 80), (ALLOC, 2, 8), (RESIZE, 1, 64)]
    costs = _engine.call_costs(TLSF, events(*grows), REGION)
    copied = costs["payload"][costs["op"] == RESIZE]
    largest = costs["largest_payload"][costs["op"] == RESIZE]
    assert int(copied.sum()) >= 40
    assert int(largest.max()) <= int(copied.sum())
    assert int(costs["payload"][costs["op"] != RESIZE].sum()) == 0


def test_a_trace_that_frees_what_is_not_live_is_refused() -> None:
    with pytest.raises(HeapfitError, match="event 0"):
        _engine.call_costs(TLSF, events((FREE, 0, 0)), REGION)


# ---- heaps

MEMORY = 65_536
MEASURED = ("heap_4", "lwip-mem", "mattconte-tlsf", "newlib-nano", "sys_heap")


def holes(count):
    """Blocks of which every other one is freed, then as many requests for more than a hole."""
    rows = [(ALLOC, number, 32) for number in range(count)]
    rows += [(FREE, number, 0) for number in range(0, count, 2)]
    rows += [(ALLOC, count + number, 64) for number in range(count // 2)]
    return rows


def recording(folder, rows):
    columns = [np.array(column, np.uint64) for column in zip(*rows, strict=True)]
    columns.append(np.zeros(len(rows), np.uint64))
    trace = write_trace(
        folder / "run.parquet", [dict(zip(REPLAYED, columns, strict=True))], TraceInfo()
    )
    return load_trace(trace)


@pytest.mark.parametrize("name", MEASURED)
def test_a_heap_of_a_system_costs_more_the_more_holes_there_are(tmp_path, name):
    heap = find_heap(name, 8)
    few, many = (
        estimate_costs(heap, recording(tmp_path, holes(count)), MEMORY) for count in (8, 200)
    )
    walks = name not in {"mattconte-tlsf", "sys_heap"}
    assert (many.longest > 2 * few.longest) == walks
    assert many.flash == few.flash == read_system_codes()[name].size
    assert not many.has_checks


def test_a_plan_and_the_allocator_of_that_name_cost_the_same(tmp_path):
    loaded = recording(tmp_path, holes(20))
    plan = estimate_costs(Heap("tlsf", Plan("tlsf", {"alignment": 8})), loaded, MEMORY)
    assert plan == estimate_costs(find_heap("tlsf", 8), loaded, MEMORY)
    assert plan.has_checks and plan.mean is not None and plan.flash is not None


def test_a_port_of_4_bytes_walks_the_list_that_heap_4_has(tmp_path):
    loaded = recording(tmp_path, holes(200))
    of_8, of_4 = (
        estimate_costs(find_heap(f"heap_4:alignment={one}", 8), loaded, MEMORY) for one in (8, 4)
    )
    assert of_4.mean == pytest.approx(of_8.mean, rel=0.05)  # all chunks, used ones too, are twice
    assert of_4.flash == of_8.flash


def test_what_was_not_measured_has_no_figure(tmp_path):
    assert estimate_costs(find_heap("lea", 8), recording(tmp_path, holes(8)), MEMORY) == UNKNOWN


def test_a_heap_that_serves_in_no_region_has_flash_alone(tmp_path):
    costs = estimate_costs(find_heap("heap_4", 8), recording(tmp_path, holes(8)), None)
    assert (costs.mean, costs.longest) == (None, None)
    assert costs.flash == read_system_codes()["heap_4"].size


def test_measured_heaps_are_names_that_users_type():
    assert set(read_system_codes()) == set(MEASURED) <= set(SYSTEM_HEAPS)


def test_a_walk_passes_used_chunks_from_the_lowest_free_one_on():
    rows = [(ALLOC, 0), (ALLOC, 1), (ALLOC, 2), (FREE, 0), (ALLOC, 3), (RESIZE, 3)]
    sizes = [32, 32, 32, 0, 64, 48]  # the hole is too small: two used chunks and it are passed
    requests = Requests(
        np.array([op for op, _ in rows], np.uint8),
        np.array([named for _, named in rows], np.uint32),
        np.array(sizes, np.uint64),
        np.zeros(len(rows), np.uint32),
    )
    walks = count_walks(find_heap("lwip-mem", 8).plan, requests, 4096, 16)
    calls = {
        (int(op), int(passed), int(on)): int(count)
        for op, passed, on, count in zip(
            *(walks[name] for name in ("op", "loads", "stores", "calls")), strict=True
        )
    }
    assert calls == {(ALLOC, 1, 1): 3, (FREE, 0, 0): 1, (ALLOC, 4, 0): 1, (RESIZE, 0, 0): 1}


# ---- what an allocator tells of itself

ALL = {info.name: info for info in _engine.allocators()}
OFFERED = list_offered_allocators()


@pytest.mark.parametrize("name", ALL)
def test_what_an_allocator_says_of_itself_is_fit_to_print(name):
    info = ALL[name]
    account = (info.worst_case, info.block_bytes, info.fragmentation)
    for told in (info.title, info.origin, *filter(None, account)):
        assert len(told) > 3
        assert told.isprintable()
        assert not told.endswith(".")
    layout = "| unknown |" if info.layout is None else info.layout
    assert "|" in layout
    assert max(map(len, layout.splitlines())) <= 96  # 100 where it is printed
    assert all(tunable.meaning.endswith(".") for tunable in info.tunables)


@pytest.mark.parametrize("alignment", ALIGNMENTS)
@pytest.mark.parametrize("name", ALL)
def test_the_smallest_region_serves_and_the_next_smaller_does_not(name, alignment):
    size = serving_region(name, alignment)
    assert size is not None
    assert serves(name, alignment, size)
    assert not serves(name, alignment, size - 4)


def serves(name: str, alignment: int, size: int) -> bool:
    import numpy as np

    pools = [(8, 1, True)] if takes(ALL[name], "pools") else []
    plan = _engine.Plan(name, {"alignment": alignment}, pools)
    if size < plan.smallest_region:
        return False
    events = _engine.EventArray()
    events.append(np.zeros(1, np.uint8), np.zeros(1, np.uint32), np.full(1, 8, np.uint64))
    return _engine.Replay(plan, size).feed(events)


def test_the_list_holds_every_allocator_within_100_columns(tmp_path):
    shown = heapfit("allocators", folder=tmp_path).stdout
    for info in OFFERED:
        assert f"\n{info.name}: {info.title}\n" in shown
        for tunable in info.tunables:
            assert f"{tunable.name}=" in shown
    assert max(map(len, shown.splitlines())) <= 80
    core, _, baselines = shown.partition("baselines: ")
    assert all(f"\n{info.name}: " in (core if info.ships else baselines) for info in OFFERED)


def test_what_only_a_paper_is_reproduced_with_is_shown_if_named(tmp_path):
    of_papers = [name for name, info in ALL.items() if info.is_of_papers]
    assert "djgpp_test1" in of_papers
    shown = (
        heapfit("allocators", folder=tmp_path).stdout
        + heapfit("compare", "--help", folder=tmp_path).stdout
    )
    assert not any(name in shown for name in of_papers)
    assert (
        "powers of two and a header" in heapfit("allocators", "djgpp_test1", folder=tmp_path).stdout
    )


def test_the_json_has_the_smallest_regions_and_the_tunables(tmp_path):
    (tlsf,) = heapfit_json("allocators", "tlsf", folder=tmp_path)["allocators"]
    assert tlsf["ships"]
    assert tlsf["smallest_region"] == {str(one): serving_region("tlsf", one) for one in ALIGNMENTS}
    assert tlsf["tunables"][0]["name"] == "alignment"
    assert len(heapfit_json("allocators", folder=tmp_path)["allocators"]) == len(OFFERED)


def test_a_heap_has_one_name_and_one_explanation(tmp_path):
    shown = heapfit("allocators", folder=tmp_path).stdout
    entries = [line.partition(":")[0] for line in shown.splitlines() if line[:1].isalpha()]
    words = [re.sub("[-_]|malloc", "", name) for name in entries]
    assert len(set(words)) == len(words)
    assert "esp-tlsf" in entries and "esp_tlsf" not in entries
    by_other_name = heapfit("allocators", "esp_tlsf", folder=tmp_path).stdout
    assert by_other_name == heapfit("allocators", "esp-tlsf", folder=tmp_path).stdout
    assert ALL["esp_tlsf"].layout.splitlines()[0] in by_other_name
    assert set(SYSTEM_HEAPS) <= set(entries)
