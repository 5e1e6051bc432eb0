# SPDX-License-Identifier: Apache-2.0
"""Energy of accesses by the size of the memory."""

from dataclasses import dataclass

import pytest

from heapfit.errors import HeapfitError
from heapfit.plan.energy import Sram, load_sram

SRAM = Sram("test", (100, 400, 6400), (1.0, 4.0, 16.0), (2.0, 2.0, 8.0))
TABLE = """
schema = 1
source = "a data sheet"
memory = [{ bytes = 64, read_pj = 1, write_pj = 2 }, { bytes = 128, read_pj = 2, write_pj = 3.5 }]
"""


@dataclass(frozen=True)
class Replayed:
    loads: int
    stores: int


def test_a_size_of_the_table_has_its_own_figures():
    assert [SRAM.access(size) for size in SRAM.sizes] == [(1.0, 2.0), (4.0, 2.0), (16.0, 8.0)]


def test_between_two_sizes_energy_follows_a_power_of_the_size():
    read, write = SRAM.access(200)
    assert (read, write) == pytest.approx((2.0, 2.0))
    read, write = SRAM.access(1600)
    assert (read, write) == pytest.approx((8.0, 4.0))


def test_below_the_table_the_smallest_size_holds_and_above_there_is_no_figure():
    assert SRAM.access(1) == (1.0, 2.0)
    assert SRAM.access(6401) is None
    assert SRAM.energy(Replayed(3, 5), 6401) is None


def test_energy_is_accesses_times_their_energy():
    assert SRAM.energy(Replayed(loads=3, stores=5), 400) == 3 * 4.0 + 5 * 2.0


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
