# SPDX-License-Identifier: Apache-2.0
"""A generated heap whose wrappers lock may be used by interrupts, too."""

import pytest

from harness.interrupts import PLANS, Interrupts, interrupt, interrupts_image
from harness.workbench import Workbench

ALSO_HERE = ("fixed_pool", "tlsf", "tailored, map", "budgeted over tlsf")


@pytest.mark.parametrize("name", ALSO_HERE)
def test_with_a_lock_no_interrupt_corrupts_a_heap(workbench: Workbench, name: str) -> None:
    """`python -m harness interrupts` makes 10,000 of them on each of PLANS."""
    image = interrupts_image(workbench, PLANS[name], locks=True)
    assert interrupt(image, 200) == Interrupts(200, 0)


def test_without_a_lock_some_do(workbench: Workbench) -> None:
    image = interrupts_image(workbench, PLANS["tlsf"], locks=False)
    found = interrupt(image, 400)
    assert found.inside == 400
    assert 0 < found.corrupt < 100
