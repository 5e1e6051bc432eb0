# SPDX-License-Identifier: Apache-2.0
"""The papers' table of instructions is fresh: a queue a day is measured again on the board.

HEAPFIT_ALL_ROWS=1 measures all of them.
"""

import datetime
import os

import pytest

from harness.workbench import Workbench
from heapfit_papers.packets.instructions import queue_instructions
from heapfit_papers.packets.mix import TRACES
from measure_queues import measure_queue

TODAY = 1 + datetime.datetime.now(datetime.UTC).date().toordinal() % TRACES
QUEUES = range(1, TRACES + 1) if os.environ.get("HEAPFIT_ALL_ROWS") == "1" else [TODAY]
OTHER_COMPILER = 0.02  # of the instructions


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_measured_again_takes_the_instructions_of_the_table(
    workbench: Workbench, queue: int
) -> None:
    table = queue_instructions()[queue]
    for one in measure_queue(workbench, queue):
        told = table[one.allocator]
        assert (told.alloc, told.free) == pytest.approx((one.alloc, one.free), rel=OTHER_COMPILER)
