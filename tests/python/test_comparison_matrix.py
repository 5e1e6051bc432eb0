# SPDX-License-Identifier: Apache-2.0
"""Many traces by many allocators: the figures are those of single comparisons, the marks tell."""

import math

import pytest
from small_traces import bimodal, heapfit, heapfit_json
from test_comparison import INFO, row

from heapfit.cli.printing.console import print_text
from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.matrix import TraceColumn, matrix_of
from heapfit.comparison.row import Row, energies_over_least, rank_rows
from heapfit.plan.energy import Sram
from heapfit.results.matrix import matrix_table

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


def test_a_trace_without_the_candidate_leaves_no_mean() -> None:
    matrix = matrix_of([column("one", row("a", 1000)), column("two", row("b", 1000))])
    assert matrix.mean_over_u_max("a") is None
    assert matrix.columns[1].cell("a") is None


def test_marks_tell_not_monotone_none_found_trained_and_not_applicable(capsys) -> None:
    why = NotApplicable("budgeted", "no budget")
    rows = (
        row("even", 1100, r_min=1100),
        row("rough", 1200, r_min=1100),
        row("never", None, r_min=1300),
        row("pools", 1100, r_min=1100, has_pools=True),
    )
    matrix = matrix_of([column("one", *rows, left_out=(why,)), column("two", row("even", 1000))])
    print_text(matrix_table(matrix, None))
    told = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert told["even"] == ["1.100", "1.000", "1.049"]
    assert told["rough"] == ["1.200~1.100", "-"]
    assert told["never"] == ["-~1.300", "-"]
    assert told["pools"] == ["1.100*", "-"]
    assert told["budgeted"] == ["n/a", "-"]
    assert {"*", "a~b", "-", "n/a"} <= set(told)


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


def test_the_same_seed_gives_the_same_table(tmp_path) -> None:
    def table(seed: int) -> str:
        arguments = (*SMALL, "tlsf", "lea", "--seed", seed)
        done = heapfit("compare", *arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = table(5)
    assert first == table(5) != table(6)
    assert first.endswith("Seed of the synthetic workloads: 5.\n")
    assert first.startswith("R_safe / U_max")
    assert max(map(len, first.splitlines())) <= 100


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


def test_workers_change_nothing_but_the_time(tmp_path) -> None:
    words = ("compare", bimodal(tmp_path / "b.heap"), *SMALL,
             "--allocators", "tlsf,class_pools")  # fmt: skip
    told = [heapfit(*words, "--workers", n, folder=tmp_path) for n in ("1", "2")]
    assert all((one.returncode, one.stdout) == (0, told[0].stdout) for one in told)
