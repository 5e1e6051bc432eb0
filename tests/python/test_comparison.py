# SPDX-License-Identifier: Apache-2.0
"""Comparisons: ranking and verdict on rows made by hand, many traces, and as typed."""

import itertools
import math
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_traces import bimodal, fit_json, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.cli.printing.console import print_text
from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.change_results import ChangeResult, ChangeTest
from heapfit.comparison.comparison import Comparison, compare
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import find_heap_name
from heapfit.comparison.margin import MarginBasis, MarginKind, heap_size
from heapfit.comparison.matrix import TraceColumn, matrix_of
from heapfit.comparison.measuring import Precision
from heapfit.comparison.pareto import dominates, list_unbeaten
from heapfit.comparison.row import Row, energies_over_least, rank_rows
from heapfit.comparison.verdict import best_row, pools_warning, select_row, verdict
from heapfit.design.portfolio import build_portfolio, candidate_from_file, standard_portfolio
from heapfit.forecast.load import Load
from heapfit.importers import ImportOptions, import_file, open_any
from heapfit.plan.energy import Sram
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, TrainingRecord, file_name
from heapfit.results.matrix import matrix_table
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import TraceInfo
from heapfit.workloads.synthetic import generate_workload, parse_workload

pytestmark = pytest.mark.usefixtures("unmeasured")

INFO = TraceInfo("program", "source", 32, "heap", "", 100, ())
POOLS = (Pool(64, 3, True),)


@dataclass(frozen=True)
class Replayed:
    """The part of a replay's result that a row reads."""

    loads: int
    stores: int = 0
    allocations: int = 60
    frees: int = 40
    resizes: int = 0
    footprint: int = 900


BIG_JOB = Load((1_300_000,), is_job=True)
BY_ADDRESS, BY_KIND = Plan("first_fit", {"list": 1}), MarginKind.BY_ADDRESS


def row(
    name: str, r_safe: int | None, loads: int = 500, *, has_pools: bool = False, r_min: int = 1000
) -> Row:
    return Row(
        name=name,
        reason="",
        heap=Heap(name, Plan("budgeted" if has_pools else "tlsf", {}, POOLS if has_pools else ())),
        alignment=8,
        r_min=r_min,
        r_safe=r_safe,
        step=8,
        load=Load((1000,)),
        trained_on_this_trace=has_pools,
        replay=Replayed(loads),  # type: ignore[arg-type]
    )


def names(rows: tuple[Row, ...]) -> list[str]:
    return [row.name for row in rows]


def compared(*rows: Row, not_applicable: tuple[NotApplicable, ...] = ()) -> Comparison:
    return Comparison(INFO, 1000, 8, rank_rows(rows), not_applicable)


def told(*rows: Row, not_applicable: tuple[NotApplicable, ...] = ()) -> str:
    return verdict(compared(*rows, not_applicable=not_applicable), pools_asked=True)


def test_a_region_that_was_not_tried_whole_is_called_the_smallest_found() -> None:
    guessed = replace(row("tlsf", 1160), step=24, events_left=7)
    assert not guessed.is_exhaustive
    assert "alignment 8, smallest found, step 24)" in told(guessed)
    assert "smallest found" not in told(row("tlsf", 1160))


def test_the_order_given_does_not_matter() -> None:
    rows = [row("a", 1100), row("b", 1100, loads=300), row("c", None), row("d", 1000)]
    orders = {tuple(names(rank_rows(order))) for order in itertools.permutations(rows)}
    assert orders == {("d", "b", "a", "c")}


TLSF, NO_POOLS = row("tlsf", 1160), NotApplicable("class_pools", "no size has 10 %")
TLSF_NEEDS = "tlsf needs 1,160 B (1.16 x U_max, alignment 8)"


@pytest.mark.parametrize(
    ("rows", "left_out", "text"),
    [
        (
            (TLSF, row("budgeted_4_largest", 1020, has_pools=True)),
            (),
            "Pools save 12.1 %: budgeted_4_largest needs 1,020 B (1.02 x U_max, alignment 8); "
            f"without pools, {TLSF_NEEDS}.",
        ),
        (
            (TLSF, row("class_pools", 1400, has_pools=True)),
            (),
            f"No pools here: {TLSF_NEEDS}; "
            "with pools, class_pools needs 1,400 B (1.40 x U_max, alignment 8).",
        ),
        ((TLSF,), (NO_POOLS,), "no plan with pools applies (class_pools: no size has 10 %)."),
        ((TLSF, row("pools", None, has_pools=True)), (), "with pools, pools has no safe region."),
        (
            (row("tlsf", None), row("pools", 1400, has_pools=True)),
            (),
            "Pools pay: pools needs 1,400 B",
        ),
    ],
)
def test_what_pools_save_is_told_beside_the_best_without(rows, left_out, text) -> None:
    said = told(*rows, not_applicable=left_out)
    assert said.startswith(text) or said.endswith(text)


def test_pools_for_less_than_a_tenth_of_the_gap_are_not_taken() -> None:
    few = row("searched", 1145, has_pools=True)
    assert select_row(compared(TLSF, few), pools_asked=True).name == "tlsf"
    assert told(TLSF, few).endswith(
        "9.4 % of the gap to U_max, too little to fit pools to one trace."
    )
    enough = row("searched", 1144, has_pools=True)
    assert select_row(compared(TLSF, enough), pools_asked=True).name == "searched"


def test_blocks_counted_on_one_recording_are_shown_and_never_chosen() -> None:
    both = compared(row("tlsf", 1160), row("searched", 1010, has_pools=True))
    assert select_row(both).name == "tlsf"
    assert verdict(both) == (
        "tlsf needs 1,160 B (1.16 x U_max, alignment 8). If every run were identical, "
        "searched would do with 1,010 B; another run may need more blocks of a size (--pools)."
    )


def test_counted_blocks_that_save_nothing_are_not_mentioned() -> None:
    both = compared(row("tlsf", 1160), row("class_pools", 1400, has_pools=True))
    assert verdict(both) == "tlsf needs 1,160 B (1.16 x U_max, alignment 8)."


def test_rows_are_ranked_with_the_margin_of_their_kind() -> None:
    heap = Heap("by address", BY_ADDRESS)
    listed = replace(row("by address", 1_380_000), heap=heap, load=BIG_JOB)
    plain = replace(row("plain", 1_400_000), load=BIG_JOB)
    assert (listed.heap_size.margin, plain.heap_size.margin) == (4, 2)
    assert names(rank_rows((listed, plain))) == ["plain", "by address"]
    assert names(rank_rows((replace(listed, r_safe=1_370_000), plain))) == ["by address", "plain"]


def test_pools_are_warned_to_be_counted_on_one_recording() -> None:
    much, little = row("searched", 1050, has_pools=True), row("searched", 1140, has_pools=True)
    for pools, is_small in ((much, False), (little, True)):
        warning = pools_warning(pools, compared(row("tlsf", 1160), pools))
        assert warning is not None
        assert "counted on this one recording" in warning
        assert ("a saving below 5 % may be chance" in warning) == is_small
        assert warning.startswith("blocks are")
    assert pools_warning(row("tlsf", 1160), compared(row("tlsf", 1160), much)) is None


def test_pools_that_changes_of_the_program_break_are_not_named_but_said_to_be() -> None:
    broken = ChangeResult("8 B more a request", 4.7, True, False, 61.0)
    pools = replace(row("searched", 1010, has_pools=True), changes=ChangeTest((broken,)))
    both = compared(row("tlsf", 1160), pools)
    assert select_row(both, pools_asked=True).name == "tlsf"
    assert verdict(both, pools_asked=True).endswith(
        "; searched would do with 1,010 B, but needs 61 % more with 8 B more a request."
    )
    assert select_row(compared(pools), pools_asked=True).name == "searched"


# ---- what no other beats

FIGURE = st.one_of(st.none(), st.integers(0, 4), st.floats(0, 4, width=16))
SPACE = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[FIGURE] * width), max_size=14).map(
        lambda rows: dict(zip(map(str, range(14)), rows, strict=False))
    )
)


@given(SPACE)
def test_what_is_unbeaten_is_what_the_definition_says(rows):
    columns = [
        i for i in range(4) if any(row[i : i + 1] not in ((), (None,)) for row in rows.values())
    ]
    cut = {name: [row[i] for i in columns] for name, row in rows.items()}
    known = {name: row for name, row in cut.items() if None not in row}
    assert list_unbeaten(rows) == {
        name
        for name, row in known.items()
        if not any(dominates(other, row) for other in known.values())
    }


# ---- candidates that cannot win are left early


def candidate(name: str, *, is_cut: bool = False, is_by_address: bool = False) -> Candidate:
    plan = Plan("class_pools", {}, (Pool(64, 3, True),)) if is_cut else Plan("tailored")
    return Candidate(name, Heap(name, BY_ADDRESS if is_by_address else plan), "", is_cut)


def region(r_safe: int, kind: MarginKind) -> int:
    return heap_size(r_safe, MarginBasis(BIG_JOB, kind)).region


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedTrace:
    path = tmp_path_factory.mktemp("contest") / "drawn.parquet"
    spec = parse_workload("phases_w4:events=800", 1)
    return load_trace(generate_workload(spec, path))


@pytest.fixture(scope="module")
def both(loaded: LoadedTrace) -> tuple[Comparison, Comparison]:
    portfolio = standard_portfolio(loaded)
    few = Precision(is_of_all=False)
    return compare(loaded, portfolio), compare(loaded, portfolio, precision=few)


def test_the_winner_and_the_verdict_are_those_of_the_whole_search(
    both: tuple[Comparison, Comparison],
) -> None:
    whole, short = both
    assert verdict(whole) == verdict(short)
    mine, theirs = select_row(short), select_row(whole)
    assert (mine.name, mine.r_safe) == (theirs.name, theirs.r_safe)
    cut, shown = best_row(whole, is_cut=True), best_row(short, is_cut=True)
    assert cut is not None and cut.r_safe is not None and shown is not None
    assert theirs.r_safe is not None and cut.r_safe < theirs.r_safe
    assert (shown.name, shown.r_safe) == (cut.name, cut.r_safe)


def test_what_is_told_of_a_plan_that_was_left_is_so(both: tuple[Comparison, Comparison]) -> None:
    whole, short = both
    found = {row.name: row.r_safe for row in whole.rows}
    left = [row for row in short.rows if row.r_safe_at_least is not None]
    assert len(left) > 3
    for row in left:
        known = found[row.name]
        assert row.r_safe is None and row.replay is None
        assert known is None or known >= (row.r_safe_at_least or 0)
    assert {row.name: row.r_safe for row in short.rows if row.r_safe} == {
        row.name: found[row.name] for row in short.rows if row.r_safe
    }


# ---- many traces

SMALL = ("t2_w2:events=600", "queue_fill:packets=300,depth=50")


def column(label: str, *rows: Row, left_out: tuple[NotApplicable, ...] = ()) -> TraceColumn:
    return TraceColumn(label, Comparison(INFO, 1000, 8, rank_rows(rows), left_out))


def test_rows_come_by_mean_and_those_without_last() -> None:
    matrix = matrix_of(
        [
            column("one", row("even", 1200), row("uneven", 1000), row("gap", None)),
            column("two", row("even", 1200), row("uneven", 1600), row("gap", 1000)),
        ]
    )
    assert matrix.names == ("even", "uneven", "gap")
    assert matrix.mean_over_u_max("uneven") == pytest.approx(math.sqrt(1.6))
    assert matrix.mean_over_u_max("gap") is None
    assert [matrix.need_of_all(name) for name in matrix.names] == [1200, 1600, None]


def test_an_alignment_that_some_have_is_proposed_until_it_is_that_of_ours() -> None:
    theirs, ours = (
        replace(row(name, 1000), alignment=4, heap=find_heap(name, 4))
        for name in ("sys_heap", "tlsf")
    )
    aligned = "are aligned to 4 B, which takes less, others' to 8 B."
    proposed = matrix_of([column("one", theirs, row("even", 1200))]).sentence()
    assert proposed.endswith(f"Blocks of sys_heap {aligned} --alignment 4: all that can.")
    given = matrix_of([column("one", theirs, ours, row("even", 1200))]).sentence()
    assert given.endswith(f"Blocks of sys_heap, tlsf {aligned}")


def test_marks_tell_not_monotone_none_found_trained_and_not_applicable(capsys) -> None:
    why = NotApplicable("budgeted", "no budget")
    rows = (
        row("even", 1100, r_min=1100),
        replace(row("rough", 1200, r_min=1100), step=24, events_left=7),
        row("never", None, r_min=1300),
        row("pools", 1100, r_min=1100, has_pools=True),
    )
    matrix = matrix_of([column("one", *rows, left_out=(why,)), column("two", row("even", 1000))])
    print_text(matrix_table(matrix, None))
    shown = capsys.readouterr().out
    told = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}
    assert "rough: some sizes above R_safe were not tried; --exact tries all.\n" in shown
    assert "even: some sizes" not in shown
    assert told["even"] == ["1,100", "1.100", "1,000", "1.000", "1.049", "1,100"]
    assert told["rough"] == ["1,200", "1.200~1.100", "-", "-"]
    assert told["never"] == ["-~1.300", "-", "-"]
    assert told["pools"] == ["1,100", "1.100*", "-", "-"]
    assert told["budgeted"] == ["n/a", "-", "-"]
    assert {"*", "a~b", "-", "n/a"} <= set(told)


def test_a_note_of_several_traces_has_each_heap_once(tmp_path) -> None:
    for name in ("one", "two"):
        bimodal(tmp_path / f"{name}.heap")
    shown = heapfit("compare", "one.heap", "two.heap", "sys_heap", "tlsf", folder=tmp_path).stdout
    assert "by which `check` counts: sys_heap 12 B." in " ".join(shown.split())


def test_a_wide_table_goes_on_below_with_its_rows_named_again(capsys) -> None:
    columns = [column(f"a_rather_long_name_{i}", row("a", 1000), row("b", 1100)) for i in range(9)]
    print_text(matrix_table(matrix_of(columns), None))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("a ") for line in lines) == 4
    assert sum(line.count("a_rather_long_name_3") for line in lines) == 1


def test_energy_is_told_over_the_least_of_the_trace() -> None:
    sram = Sram("test", (1000, 4000), (1.0, 2.0), (1.0, 2.0))
    rows = [row("a", 1000, loads=500), row("b", 4000, loads=750), row("c", 5000), row("d", None)]
    rows[3] = row("d", None, r_min=0)
    assert energies_over_least(rows, sram) == [1.0, 3.0, None, None]


def test_the_matrix_has_the_figures_of_single_comparisons(tmp_path) -> None:
    bimodal(tmp_path / "packets.heap")
    asked = ("tlsf", "class_pools")
    matrix = heapfit_json("compare", "packets.heap", *SMALL, *asked, folder=tmp_path)
    labels = ["packets", "t2_w2:events=600", "queue_fill:packets=300,depth=50"]
    assert [one["trace"] for one in matrix["traces"]] == labels
    single = heapfit_json("compare", "packets.heap", *asked, folder=tmp_path)
    assert matrix["traces"][0]["rows"] == single["rows"]
    heapfit("workload", labels[1], "-o", "walk.parquet", folder=tmp_path)
    walk = heapfit_json("compare", "walk.parquet", *asked, folder=tmp_path)
    assert matrix["traces"][1]["rows"] == walk["rows"]
    assert "seed 1: " in matrix["traces"][1]["source"]
    assert (matrix["seed"], "seed" in walk) == (1, False)


def test_blocks_in_pieces_are_marked_and_left_out_of_what_fit_tries(tmp_path) -> None:
    arguments = ("t2_w2:events=600",)
    shown = heapfit("compare", *arguments, "chained_pool", "tlsf", folder=tmp_path).stdout
    assert "\nchained_pool+ " in shown
    assert "\n+ blocks in pieces: for callers that follow a block" in shown
    rows = heapfit_json("compare", *arguments, folder=tmp_path)["rows"]
    assert "chained_pool" not in {row["name"] for row in rows}


def test_a_table_of_energies_can_be_given(tmp_path) -> None:
    (tmp_path / "flat.toml").write_text(
        'schema = 1\nsource = "x"\nmemory = [{ bytes = 9000000, read_pj = 1, write_pj = 1 }]\n'
    )
    arguments = ("compare", "t2_w2:events=600", "tlsf", "first_fit")
    rows = heapfit_json(*arguments, "--sram", "flat.toml", folder=tmp_path)["rows"]
    accesses = [row["accesses_per_operation"] for row in rows]
    energies = [row["energy_over_least"] for row in rows]
    assert energies == pytest.approx([one / min(accesses) for one in accesses])


# ---- as typed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    bimodal(folder / "packets.heap")
    table2(folder / "four.heap")
    return folder


def names_in(content):
    return [row["name"] for row in content["rows"]]


def test_without_names_all_that_fit_tries_is_compared(folder):
    content = heapfit_json("compare", "packets.heap", folder=folder)
    assert set(names_in(content)) >= {"tlsf", "address_first_fit", "class_pools"}
    plain = [row["r_safe"] for row in content["rows"] if not row["trained_on_this_trace"]]
    listed = [row["r_safe"] for row in content["rows"] if row["name"] == "address_first_fit"]
    assert sorted(plain[:3]) == plain[:3]  # of one kind: others have a larger margin
    assert listed


def test_baselines_are_compared_by_name_and_never_offered(folder):
    infos = _engine.allocators()
    baselines = [info.name for info in infos if not info.ships]
    assert "kingsley" in baselines
    assert set(baselines).isdisjoint(names_in(heapfit_json("compare", "four.heap", folder=folder)))
    plans = fit_json("four.heap", "--plans", "four", folder=folder)["plans"]
    assert set(baselines).isdisjoint(names_in(plans))
    compared = heapfit_json("compare", "four.heap", *baselines, folder=folder)
    assert set(names_in(compared)) == {*map(find_heap_name, baselines)}
    assert {"kingsley", "esp-tlsf"} <= set(names_in(compared))
    assert all(row["r_safe"] for row in compared["rows"])


def test_an_allocator_is_compared_with_its_tunables(folder):
    content = heapfit_json(
        "compare", "packets.heap", "first_fit", "first_fit:coalesce=0,alignment=4", folder=folder
    )
    by_name = {row["name"]: row for row in content["rows"]}
    other = by_name["first_fit:coalesce=0:alignment=4"]
    assert other["plan"] == {"allocator": "first_fit", "alignment": 4, "coalesce": 0}
    assert other["alignment"] == 4
    assert by_name["first_fit"]["alignment"] == 8
    assert by_name["first_fit"]["r_safe"] < other["r_safe"]


def test_pools_made_from_the_trace_take_tunables_too(folder):
    asked = ("class_pools", "class_pools:search=1", "class_pools:overflow=1")
    content = heapfit_json("compare", "packets.heap", *asked, folder=folder)
    by_name = {row["name"]: row for row in content["rows"]}
    plain, stack = by_name["class_pools"], by_name["class_pools:search=1"]
    assert stack["plan"] == {**plain["plan"], "search": 1}
    assert stack["r_safe"] == plain["r_safe"]
    assert by_name["class_pools:overflow=1"]["plan"]["overflow"] == 1
    assert all(row["trained_on_this_trace"] for row in by_name.values())


def test_equal_buffers_are_made_for_the_largest_request_and_the_most_live_blocks(folder):
    asked = ("fixed_pool", "fixed_pool:block_size=2048")
    content = heapfit_json("compare", "packets.heap", *asked, folder=folder)
    own, wider = sorted(content["rows"], key=lambda row: row["r_safe"])
    assert own["plan"]["block_size"] == 1500
    assert wider["plan"] == {**own["plan"], "block_size": 2048}
    live = own["plan"]["blocks"]
    assert 1504 * live < own["r_safe"] < 1504 * live + 128
    assert (own["step"], own["trained_on_this_trace"]) == (0, True)


def test_pools_made_from_the_same_trace_are_marked(folder):
    content = heapfit_json("compare", "packets.heap", "class_pools", "tlsf", folder=folder)
    assert {row["name"]: row["trained_on_this_trace"] for row in content["rows"]} == {
        "class_pools": True,
        "tlsf": False,
    }
    shown = heapfit("compare", "packets.heap", "class_pools", folder=folder)
    assert "class_pools*" in shown.stdout
    assert "* trained on this trace" in shown.stdout


def test_a_plan_file_is_marked_only_on_the_trace_it_was_made_from(folder):
    fit_json("four.heap", "--plans", "plans", folder=folder)
    plan = "plans/budgeted_4_largest.toml"
    (own,) = heapfit_json("compare", "four.heap", "--plan", plan, folder=folder)["rows"]
    assert own["name"] == "budgeted_4_largest"
    assert own["trained_on_this_trace"]
    bimodal(folder / "other.heap", seed=2)
    (other,) = heapfit_json("compare", "other.heap", "--plan", plan, folder=folder)["rows"]
    assert not other["trained_on_this_trace"]


def test_a_plan_file_of_what_no_trace_teaches_is_not_marked(folder, tmp_path):
    loaded = load_trace(import_file(folder / "packets.heap", tmp_path / "packets.parquet"), 8)
    seen = TrainingRecord("packets", loaded.content, len(loaded.events))
    plain = {"address_first_fit": {}, "tailored": {"layout": 1}, "tlsf": {}}
    learned = {
        "tailored": {"ends": 2, "high_0": 512},
        "fixed_pool": {"blocks": 9},
    }

    def is_marked(allocator, scalars):
        plan = Plan(allocator, {"alignment": 8, **scalars})
        file = PlanFile("made", plan, 4096, 4096, 8, 100, 32, seen, "0.1.0")
        return candidate_from_file(file, loaded).trained_on_this_trace

    assert not any(is_marked(*one) for one in plain.items())
    assert all(is_marked(*one) for one in learned.items())


def test_plans_of_one_name_are_told_apart(folder):
    fit_json("four.heap", "--plans", "twice", folder=folder)
    plan = "twice/tlsf.toml"
    arguments = ("four.heap", "tlsf", "--plan", plan, "--plan", plan)
    compared = names_in(heapfit_json("compare", *arguments, folder=folder))
    assert sorted(compared) == ["tlsf", "tlsf-2", "tlsf-3"]


def test_nothing_that_applies_is_told_with_the_reason(folder):
    (folder / "single.heap").write_text("# heap-events 1\na 0 64\nr 0 65\nr 0 63\n")
    done = heapfit("compare", "single.heap", "budgeted", folder=folder)
    assert done.returncode == 1
    assert "no plan to compare (budgeted_4_largest: no budget for the 4" in done.stderr


def test_fit_writes_each_candidate_as_a_plan(folder):
    asked = ("packets.heap", "--plans", "designs")
    content = fit_json(*asked, folder=folder)["plans"]
    assert all(row["r_safe"] for row in content["rows"])
    assert [path.removeprefix("designs/") for path in content["plans"]] == [
        f"{file_name(name)}.toml" for name in names_in(content)
    ]
    shown = heapfit("fit", *asked, folder=folder)
    told = " ".join(shown.stdout.split())
    assert "special sizes by the 10 % rule: 40, 1,500 B; powers of two for the rest" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("packets.heap", "xyz"),
            "xyz: no such file, and no such allocator (one of first_fit, ",
        ),
        (("packets.heap", "tlsf:speed=3"), "speed"),
        (("packets.heap", "tlsf:alignment=eight"), "alignment=eight is not TUNABLE=NUMBER"),
        (("packets.heap", "tlsf:alignment=3"), "alignment"),
        (("packets.heap", "budgeted:alignment=8"), "made from the trace"),
        (("none.heap", "tlsf"), "none.heap"),
        (("packets.heap", "--plan", "packets.heap"), "packets.heap: is a recording (heapfit fit"),
    ],
)
def test_what_cannot_be_compared_is_one_line(folder, arguments, message):
    done = heapfit("compare", *arguments, folder=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert message in line


def test_a_bare_tailored_is_its_least_layout_and_says_which(folder):
    layouts = [f"tailored:layout={layout}" for layout in range(3)]
    content = heapfit_json("compare", "four.heap", "tailored", *layouts, folder=folder)
    by_name = {row["name"]: row for row in content["rows"]}
    least = min(layouts, key=lambda name: by_name[name]["r_safe"])
    assert least != layouts[0]
    assert by_name["tailored"]["r_safe"] == by_name[least]["r_safe"]
    one = heapfit("compare", "four.heap", "tailored", folder=folder).stdout
    several = heapfit("compare", "four.heap", "packets.heap", "tailored", folder=folder).stdout
    told = "tailored: as tailored_headers of `fit --all`, the least"
    assert f"{told}." in one
    assert f"{told}, on four." in several


# ---- pools for every size's worst case

PLAIN = "a 0 24\na 1 24\na 2 40\nf 0\n"
ALIGNED = PLAIN + "m 3 512 2048\n"


def made(text: str, folder: Path) -> Candidate | NotApplicable:
    (folder / "some.heap").write_text(f"# heap-events 1\n{text}")
    loaded = load_trace(open_any(folder / "some.heap", ImportOptions(), folder))
    portfolio = build_portfolio(loaded, ["static_pools"], [])
    return (*portfolio.candidates, *portfolio.not_applicable)[0]


def test_requests_that_no_pool_serves_leave_it_out_with_a_reason(tmp_path: Path) -> None:
    assert isinstance(made(PLAIN, tmp_path), Candidate)
    left_out = made(ALIGNED, tmp_path)
    assert isinstance(left_out, NotApplicable)
    assert "no pool serves some requests" in left_out.why


def test_a_comparison_goes_on_without_it(tmp_path: Path) -> None:
    (tmp_path / "some.heap").write_text(f"# heap-events 1\n{ALIGNED}")
    told = heapfit_json("compare", "some.heap", "static_pools", "tlsf", folder=tmp_path)
    assert [row["name"] for row in told["rows"]] == ["tlsf"]
