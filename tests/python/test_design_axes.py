# SPDX-License-Identifier: Apache-2.0
"""The tables of the design space against the registered allocators."""

from pathlib import Path

import pytest

from heapfit import _engine
from heapfit.front import space
from heapfit.front.axes import AXES, UNKNOWN, axis_values, known_allocators, place
from heapfit.front.code_label import code_label
from heapfit.front.instruction_model import instruction_model
from heapfit.front.measured import code_sizes
from heapfit.plan.plan import Plan, Pool

INFOS = {info.name: info for info in _engine.allocators()}
POOLS = (Pool(40, 2, True), Pool(100, 2, False))


def standard_plan(name):
    takes_pools = any(tunable.kind == "pools" for tunable in INFOS[name].tunables)
    shares = any(tunable.kind == "shared" for tunable in INFOS[name].tunables)
    if not takes_pools:
        return Plan(name)
    exact = tuple(Pool(pool.size, pool.count, True) for pool in POOLS)
    return Plan(name, pools=exact, shared=Plan("tlsf") if shares else None)


@pytest.mark.parametrize("name", INFOS)
def test_every_registered_allocator_has_a_value_on_every_axis(name):
    found = place(standard_plan(name))
    assert tuple(found) == AXES
    assert all(value and UNKNOWN not in value for value in found.values())


def test_the_table_of_axes_has_no_allocator_that_is_not_registered():
    assert known_allocators() == set(INFOS)


@pytest.mark.parametrize("name", [name for name in INFOS if INFOS[name].ships])
def test_every_allocator_that_ships_has_code_size_and_model(name):
    label = code_label(standard_plan(name))
    assert code_sizes()[label] > 100
    assert set(instruction_model(label).lines) >= {"alloc", "free"}


def test_the_grid_names_tunables_with_values_they_can_have():
    for name, axes in space.GRID.items():
        tunables = {tunable.name: tunable for tunable in INFOS[name].tunables}
        assert tunables.keys() & axes.keys(), name
        for tunable in tunables.keys() & axes.keys():
            lowest, highest = tunables[tunable].lowest, tunables[tunable].highest
            assert all(lowest <= value <= highest for value in axes[tunable])


def test_a_tunables_choice_moves_a_plan_along_its_axis():
    assert place(Plan("first_fit", {"coalesce": 0}))["B coalescing"] == "never"
    assert place(Plan("first_fit", {"list": 1}))["order of free blocks"] == "by address"
    grown = Plan("class_pools", {"growth": 4}, POOLS, Plan("tlsf"))
    assert "shared heap" in place(grown)["growth"]


def test_pools_tell_what_is_behind_them():
    over = Plan("budgeted", pools=(POOLS[0],), shared=Plan("best_fit"))
    assert place(over)["D fit in a pool"] == "first; behind: best"


def test_every_value_listed_is_of_some_registered_allocator():
    listed = axis_values()
    assert tuple(listed) == AXES
    assert "never" in listed["B coalescing"]
    assert not any(UNKNOWN in values for values in listed.values())


def test_the_documentation_lists_the_axes_and_their_values():
    page = (Path(__file__).resolve().parents[2] / "docs/front.md").read_text()
    for axis, values in axis_values().items():
        assert f"| {axis} | {'; '.join(values)} |" in page


def test_a_value_younger_than_the_tables_is_told_and_not_refused(monkeypatch):
    class Tunable:
        kind, name, standard = "scalar", "layout", 0

    class Info:
        name, tunables = "tailored", (Tunable,)

    for module in ("axes", "code_label"):
        monkeypatch.setattr(f"heapfit.front.{module}.find_allocators", lambda _: [Info])
    plan = Plan("tailored", {"layout": 7, "index": 9})
    label = code_label(plan)
    assert label == "tailored:layout=7"
    assert instruction_model(label) is None
    assert label not in code_sizes()
    assert place(plan)["D fit in a pool"] == UNKNOWN


def test_amounts_are_the_same_code_and_choices_are_not():
    assert code_label(Plan("tlsf", {"alignment": 4, "probes": 8})) == "tlsf"
    assert code_label(Plan("tlsf", {"probes": 0})) == "tlsf:probes=0"
    assert code_label(Plan("tlsf", {"second_level": 5})) == "tlsf:second_level>0"
    assert code_label(Plan("partition_pool", {"partition_size": 64})) == "partition_pool"
    over = Plan("budgeted", pools=(POOLS[0],), shared=Plan("first_fit", {"list": 1}))
    assert code_label(over) == "budgeted > first_fit:list=1"


def test_pools_without_a_table_are_other_code():
    far = (Pool(40, 2, False), Pool(1 << 20, 2, False))
    told = [code_label(Plan("class_pools", {"search": 1}, pools)) for pools in (far, POOLS)]
    assert told == ["class_pools:search=1 (pools searched)", "class_pools:search=1"]
