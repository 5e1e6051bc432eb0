# SPDX-License-Identifier: Apache-2.0
"""What descriptors say of the design space, and what was measured of it."""

from pathlib import Path

import pytest

from heapfit import _engine
from heapfit.comparison.costs.code_table import code_label, read_codes
from heapfit.design.front.axes import AXES, design_axes
from heapfit.plan.allocators import UNKNOWN
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
def test_every_registered_allocator_has_a_value_on_every_axis_that_it_describes(name):
    found = design_axes(standard_plan(name))
    assert tuple(found) == AXES
    for value, axis in zip(found.values(), INFOS[name].axes, strict=True):
        assert value
        assert (UNKNOWN in value) == (not any((axis.text, *axis.texts)))


@pytest.mark.parametrize("name", INFOS)
def test_the_grid_names_tunables_with_values_they_can_have(name):
    tunables = {tunable.name: tunable for tunable in INFOS[name].tunables}
    for tunable, values in INFOS[name].grid:
        assert len(set(values)) == len(values) > 1
        lowest, highest = tunables[tunable].lowest, tunables[tunable].highest
        assert all(lowest <= value <= highest for value in values)


@pytest.mark.parametrize("name", INFOS)
def test_an_axis_is_moved_by_a_tunable_that_there_is(name):
    tunables = {tunable.name: tunable for tunable in INFOS[name].tunables}
    for axis in INFOS[name].axes:
        if axis.tunable is not None:
            assert tunables[axis.tunable].effect in ("choice", "switch")


def test_a_tunables_choice_moves_a_plan_along_its_axis():
    assert design_axes(Plan("first_fit", {"coalesce": 0}))["B coalescing"] == "never"
    assert design_axes(Plan("first_fit", {"list": 1}))["order of free blocks"] == "by address"
    assert design_axes(Plan("tailored", {"ends": 2}))["growth"] == "from both ends"


def test_pools_tell_what_is_behind_them():
    over = Plan("budgeted", pools=(POOLS[0],), shared=Plan("best_fit"))
    assert design_axes(over)["D fit in a pool"] == "first; behind: best"


def axis_values() -> dict[str, tuple[str, ...]]:
    """The values that some registered allocator has, along each axis, in alphabetical order."""
    values: dict[str, set[str]] = {name: set() for name in AXES}
    for info in _engine.allocators():
        for name, axis in zip(AXES, info.axes, strict=True):
            values[name].update(text for text in (axis.text, *axis.texts) if text)
    return {name: tuple(sorted(texts - {"-"})) for name, texts in values.items()}


def test_every_value_listed_is_of_some_registered_allocator():
    listed = axis_values()
    assert tuple(listed) == AXES
    assert "never" in listed["B coalescing"]
    assert not any(UNKNOWN in values for values in listed.values())


def test_the_documentation_lists_the_axes_and_their_values():
    page = (Path(__file__).resolve().parents[2] / "docs/front.md").read_text()
    for axis, values in axis_values().items():
        assert f"| {axis} | {'; '.join(values)} |" in page


def test_what_a_descriptor_leaves_out_is_unknown(monkeypatch):
    class Axis:
        text, tunable, texts = None, "layout", (None, "known", None)

    class Tunable:
        kind, name, standard, effect = "scalar", "layout", 0, "choice"

    class Info:
        name, tunables, axes = "tailored", (Tunable,), (Axis,) * len(AXES)

    for module in ("plan.allocators", "design.front.axes", "comparison.costs.code_table"):
        monkeypatch.setattr(f"heapfit.{module}.find_allocators", lambda _: [Info])
    known, younger = (Plan("tailored", {"layout": value}) for value in (1, 7))
    assert set(design_axes(known).values()) == {"known"}
    assert set(design_axes(younger).values()) == {UNKNOWN}
    label = code_label(younger)
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
