# SPDX-License-Identifier: Apache-2.0
"""What the tests of generated C share: plan files, compilers and what nm tells."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, TrainingRecord

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
STRICT = ("-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Wconversion", "-Werror")
NO_MEMSET = "-fno-tree-loop-distribute-patterns"  # gcc's own

TLSF = Plan("tlsf")
# What is told each size at free, and has no free without.
SIZED = [info.name for info in _engine.allocators() if getattr(info, "needs_size", False)]
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
        {"search": 1},
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
        trained_on=TrainingRecord(trace, "sha256:" + 64 * "0", 1234),
        heapfit_version=_engine.version,
    )


@cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="generated-objects-")


def _shared_object(folder: Path, source: Path, command: tuple[str, ...]) -> Path:
    """The object of a source of core, compiled once for all folders that have the same files of
    core, hfit/plan_of_build.h included: these are built for one plan."""
    digest = hashlib.sha256(repr((source.name, command)).encode())
    for file in sorted([*folder.glob("src/**/*.[ch]"), *folder.glob("hfit/*")]):
        if file.name != "stamp.h":
            digest.update(file.read_bytes())
    made = Path(_compiled().name) / f"{digest.hexdigest()}.o"
    if not made.exists():
        _compile(folder, source, made, command)
    return made


def _compile(folder: Path, source: Path, made: Path, command: tuple[str, ...]) -> None:
    files = ("-c", str(source.relative_to(folder)), "-o", str(made))
    subprocess.run([*command, *files], cwd=folder, check=True, capture_output=True, text=True)


def compile_objects(
    folder: Path, objects: Path, *options: str, compiler: str = "gcc"
) -> list[Path]:
    """The objects of a generated folder, alone; CalledProcessError with the compiler's words."""
    objects.mkdir(exist_ok=True)
    own = (NO_MEMSET,) if compiler == "gcc" else ()
    command = (compiler, *STRICT, *own, *options, "-I.")
    made = []
    for source in [*sorted(folder.glob("*.c")), *sorted(folder.glob("src/*/*.c"))]:
        made.append(objects / f"{source.stem}.o")
        if source.parent == folder:
            _compile(folder, source, made[-1], command)
        else:
            shutil.copy(_shared_object(folder, source, command), made[-1])
    return made


def run_with_heap(folder: Path, main: Path | str, made: Path, *options: str) -> None:
    """Compiles a program, or its text, and a folder's heap with the same options, and runs it."""
    objects = compile_objects(folder, made, *options)
    if isinstance(main, str):
        (made / "main.c").write_text(main)
        main = made / "main.c"
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", NO_MEMSET, *options]
    command += [f"-I{folder}", str(main), *map(str, objects), "-o", str(made / "main")]
    subprocess.run(command, check=True)
    subprocess.run([made / "main"], check=True, timeout=300)


def symbols(objects: Iterable[Path]) -> list[tuple[str, str, int]]:
    """Name, nm's letter and size of every symbol; undefined ones have size 0."""
    listing = subprocess.run(
        ["nm", "--format=posix", *objects], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in listing.splitlines() if not line.endswith(":")]
    return [(row[0], row[1], int(row[3], 16) if len(row) > 3 else 0) for row in rows if row]
