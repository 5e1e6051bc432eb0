# SPDX-License-Identifier: Apache-2.0
"""Core links with nothing but the compiler's own arithmetic, also where gcc likes to call libc."""

import pytest

from grid import thin
from harness.board import BOARDS
from harness.cases import list_shipped
from harness.image import core_objects, replay_design, write_plan
from harness.workbench import Build, Workbench
from heapfit.plan.plan import Plan, Pool

M0 = BOARDS["cortex-m0"]
POOLS = (Pool(40, 6, True), Pool(100, 6, True))
TLSF = Plan("tlsf")
PLANS = {
    "class_pools": Plan("class_pools", pools=POOLS, shared=TLSF),
    "budgeted": Plan("budgeted", pools=POOLS, shared=TLSF),
}


OPTIMISATIONS = ("Os", "Og", "O2", "O0")
OPTIONS = ((), ("-DHFIT_ANY_PLAN",))


@pytest.mark.parametrize(
    ("allocator", "optimisation", "options"), thin(4, list_shipped(), OPTIMISATIONS, OPTIONS)
)
def test_every_function_links_without_a_library(
    workbench: Workbench, allocator: str, optimisation: str, options: tuple[str, ...]
) -> None:
    plan = PLANS.get(allocator, Plan(allocator))
    design = replay_design(plan, plan.engine().smallest_region, plan.alignment)
    folder = workbench.image_folder()
    written = write_plan(design, folder)
    objects = core_objects(workbench, M0, Build(optimisation), written, options)
    kept = f"-Wl,-u,hfit_{allocator}_operations"
    workbench.link(M0, folder / "core.elf", objects, ("-Wl,--entry=0", kept))
