# SPDX-License-Identifier: Apache-2.0
"""One heap layout on 32 and 64 bits, at every safety level, by another compiler: same places."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("core", "baselines", "papers")
INCLUDES = [*LAYERS, *(f"{layer}/include" for layer in LAYERS), "tests", "tests/contract"]
OPTIONS = ["-std=c11", *(f"-I{ROOT / include}" for include in INCLUDES)]
OURS = [source for layer in LAYERS for source in (ROOT / layer / "src").rglob("*.c")]
PROGRAM = [ROOT / "tests" / name for name in ("core/placements.c", "contract/plans.c")]


def placements(bits: int, safety: int, folder: Path) -> list[str]:
    # Level 2 walks the heap before each call, which pays for a slower build.
    fast = "-O1" if safety == 2 else "-O0"
    command = ["cc", fast, f"-m{bits}", f"-DHFIT_SAFETY={safety}", *OPTIONS]
    return output_of(command, OURS, folder / f"placements{bits}-{safety}")


def placements_by_tcc(folder: Path) -> list[str]:
    """As of 64 bits at safety level 1, where a compiler that is no gcc makes the allocators."""
    objects = [folder / f"{number}.o" for number, _ in enumerate(OURS)]
    for source, compiled in zip(OURS, objects, strict=True):
        command = ["tcc", "-ffreestanding", "-DHFIT_SAFETY=1", *OPTIONS]
        subprocess.run([*command, "-c", source, "-o", compiled], check=True)
    command = ["cc", "-O1", "-no-pie", "-z", "noexecstack", "-DHFIT_SAFETY=1", *OPTIONS]
    return output_of(command, objects, folder / "placements-tcc")


def output_of(command: list[str], ours: list[Path], program: Path) -> list[str]:
    subprocess.run([*command, "-o", program, *ours, *PROGRAM], check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return output.splitlines()


def test_every_allocator_places_blocks_alike_whatever_bits_safety_level_and_compiler(
    tmp_path: Path,
) -> None:
    standard = placements(64, 1, tmp_path)
    assert len(standard) > 20
    assert len({line.split()[0] for line in standard}) > 10  # the plans do differ
    assert placements(32, 0, tmp_path) == standard
    at_2 = placements(32, 2, tmp_path)
    assert without_live_map(at_2) == without_live_map(standard)
    assert placements_by_tcc(tmp_path) == standard


def without_live_map(lines: list[str]) -> list[str]:
    """What is left without the allocator that keeps a map of live blocks from level 2 on."""
    return [line for line in lines if line.split()[2] != "sized"]
