# SPDX-License-Identifier: Apache-2.0
"""The contract suite holds on every board."""

from datetime import date

import pytest

from grid import ALL, of_the_day
from harness.board import BOARDS, MICROBIT, Board
from harness.cases import list_shipped
from harness.contract import LARGE, SMALL, contract_image, run_contract, run_part
from harness.emulator import emulate
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.errors import HeapfitError

STEPS = 40  # an allocator; the host does a hundred thousand
SHARE = 1 if ALL else 8  # one of so many plans a run, another each day
PART = date.today().toordinal() % SHARE


@pytest.mark.parametrize("board", of_the_day(2, BOARDS.values()), ids=lambda board: board.name)
def test_every_allocator_keeps_the_contract(workbench: Workbench, board: Board) -> None:
    """Each board takes plans that others leave; bench/target.py runs all on each."""
    image = contract_image(workbench, board, Build("Os"), list_shipped(), LARGE)
    parts = len(BOARDS) * SHARE
    printed = run_part(image, STEPS, list(BOARDS).index(board.name) * SHARE + PART, parts)
    assert printed.splitlines()[-1].endswith(" passed, 0 failed")


def takes_shared(allocator: str) -> bool:
    [info] = [info for info in _engine.allocators() if info.name == allocator]
    return any(tunable.kind == "shared" for tunable in info.tunables)


@pytest.mark.parametrize("allocator", of_the_day(4, list_shipped()))
def test_the_contract_holds_in_16_kilobytes_of_memory(workbench: Workbench, allocator: str) -> None:
    behind = ["tlsf"] if takes_shared(allocator) else []
    image = contract_image(workbench, MICROBIT, Build("Os"), [*behind, allocator], SMALL)
    for printed in run_contract(image, STEPS, SHARE, PART):
        assert printed.splitlines()[-1].endswith(" passed, 0 failed")
    assert image.symbols["stack_end"][0] - image.symbols["bss_end"][0] > 1024


def test_a_statement_that_does_not_hold_ends_the_run(workbench: Workbench) -> None:
    image = contract_image(workbench, BOARDS["cortex-m4"], Build("Os"), ["first_fit"], LARGE)
    with pytest.raises(HeapfitError, match=r"ended with 1: .*contract\.c.* not true: "):
        emulate(image, ("no_such_allocator", "1", "0", "1"))
