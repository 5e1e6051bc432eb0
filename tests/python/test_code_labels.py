# SPDX-License-Identifier: Apache-2.0
"""The grid of tunables that descriptors give, and the name of the code that a plan needs."""

import pytest

from heapfit import _engine
from heapfit.comparison.costs.code_table import code_label, read_codes
from heapfit.plan.plan import Plan, Pool

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
