# SPDX-License-Identifier: Apache-2.0
"""Linked code sizes: of what is called and no more."""

import pytest

from heapfit.plan import Plan, Pool
from heapfit.target.board import BOARDS, Board
from heapfit.target.code_size import code_size
from heapfit.target.command import run
from heapfit.target.workbench import Build, Workbench

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


def test_a_table_of_few_operations_drops_the_others(workbench: Workbench) -> None:
    board = BOARDS["cortex-m4"]
    whole, few = (code_size(workbench, board, Build("Os"), BUDGETED, few) for few in (False, True))
    alone = code_size(workbench, board, Build("Os"), TLSF)
    assert alone.total < few.total < whole.total


def test_more_pools_cost_no_code(workbench: Workbench) -> None:
    board = BOARDS["cortex-m4"]
    more = Plan("budgeted", pools=(*BUDGETED.pools, Pool(200, 9, True)), shared=TLSF)
    sizes = {code_size(workbench, board, Build("Os"), plan) for plan in (BUDGETED, more)}
    assert len(sizes) == 1
