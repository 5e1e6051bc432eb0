# SPDX-License-Identifier: Apache-2.0
"""What the tests of generated C share: plan files, compilers and what nm tells."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from heapfit import _engine
from heapfit.plan import Plan, PlanFile, Pool, TrainedOn

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
STRICT = ("-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Wconversion", "-Werror")
NO_MEMSET = "-fno-tree-loop-distribute-patterns"  # gcc's own

TLSF = Plan("tlsf")
PLANS = {
    "first_fit": Plan("first_fit"),
    "tlsf": TLSF,
    "class_pools": Plan(
        "class_pools",
        pools=(Pool(40, 16, True), Pool(64, 40, False), Pool(1500, 3, True)),
        shared=TLSF,
    ),
    "class_pools_of_stacks": Plan(
        "class_pools",
        {"search": 1, "growth": 4, "growth_steps": 8},
        pools=(Pool(40, 16, True), Pool(64, 4, False), Pool(1500, 3, True)),
        shared=TLSF,
    ),
    "budgeted": Plan("budgeted", pools=(Pool(40, 16, True), Pool(100, 8, True)), shared=TLSF),
}


def plan_file(
    plan: Plan,
    region: int | None = 65_536,
    name: str = "test",
    trace: str = "a trace",
    base_alignment: int = 64,
) -> PlanFile:
    return PlanFile(
        name=name,
        plan=plan,
        region=region,
        r_min=region,
        base_alignment=base_alignment,
        u_max=1000,
        pointer_bits=32,
        trained_on=TrainedOn(trace, "sha256:" + 64 * "0", 1234),
        heapfit_version=_engine.version,
    )


def compile_objects(
    folder: Path, objects: Path, *options: str, compiler: str = "gcc"
) -> list[Path]:
    """The objects of a generated folder, alone; CalledProcessError with the compiler's words."""
    objects.mkdir(exist_ok=True)
    made = []
    for source in [*sorted(folder.glob("*.c")), *sorted(folder.glob("src/*.c"))]:
        made.append(objects / f"{source.stem}.o")
        own = (NO_MEMSET,) if compiler == "gcc" else ()
        arguments = [*STRICT, *own, *options, "-I.", "-c", str(source.relative_to(folder))]
        command = [compiler, *arguments, "-o", str(made[-1])]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return made


def symbols(objects: Iterable[Path]) -> list[tuple[str, str, int]]:
    """Name, nm's letter and size of every symbol; undefined ones have size 0."""
    listing = subprocess.run(
        ["nm", "--format=posix", *objects], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in listing.splitlines() if not line.endswith(":")]
    return [(row[0], row[1], int(row[3], 16) if len(row) > 3 else 0) for row in rows if row]
