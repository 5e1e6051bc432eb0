# SPDX-License-Identifier: Apache-2.0
"""Linked code sizes: of what is called and no more."""

import pytest

from harness.board import BOARDS, Board
from harness.code_size import code_size
from harness.workbench import Build, Workbench
from heapfit.external_tool import run
from heapfit.plan.plan import Plan, Pool

_TABLES = ("replay_plan", "weighed_plan")  # the plan, and what reads it
TLSF = Plan("tlsf")
BUDGETED = Plan("budgeted", pools=(Pool(40, 6, True), Pool(100, 6, True)), shared=TLSF)


@pytest.mark.parametrize("board", BOARDS.values(), ids=lambda board: board.name)
def test_the_size_is_that_of_the_functions_that_are_linked(
    workbench: Workbench, board: Board
) -> None:
    size = code_size(workbench, board, Build("Os"), TLSF)
    linked = max(workbench.folder.glob("image*/size.elf"), key=lambda path: path.stat().st_mtime_ns)
    listing = run([f"{board.tools}nm", "--format=posix", linked], workbench.folder)
    rows = [line.split() for line in listing.splitlines()]
    functions = {
        row[0]: int(row[3], 16)
        for row in rows
        if row[1] in "tT" and len(row) > 3 and not row[0].startswith(_TABLES)
    }
    assert {"hfit_tlsf_init", "hfit_tlsf_alloc", "hfit_tlsf_free"} <= functions.keys()
    assert "hfit_tlsf_resize" not in functions
    assert 0 <= size.code - sum(functions.values()) < 4 * len(functions)  # between them: alignment
    assert size.memory == 0


def test_a_shared_heap_brings_only_what_is_called(workbench: Workbench) -> None:
    board = BOARDS["cortex-m4"]
    code_size(workbench, board, Build("Os"), BUDGETED)
    linked = max(workbench.folder.glob("image*/size.elf"), key=lambda path: path.stat().st_mtime_ns)
    functions = run([f"{board.tools}nm", linked], workbench.folder)
    assert "hfit_tlsf_alloc" in functions
    assert "hfit_tlsf_free" in functions
    assert "hfit_tlsf_resize" not in functions


def test_twice_the_pools_cost_one_step_of_a_search(workbench: Workbench) -> None:
    board = BOARDS["cortex-m4"]
    more = Plan("budgeted", pools=(*BUDGETED.pools, Pool(200, 9, True), Pool(300, 9, True)))
    few = Plan("budgeted", pools=BUDGETED.pools)
    sizes = [code_size(workbench, board, Build("Os"), plan).total for plan in (few, more)]
    assert abs(sizes[1] - sizes[0]) <= 32
