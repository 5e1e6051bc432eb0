# SPDX-License-Identifier: Apache-2.0
"""One heap layout on 32 and 64 bits and at every safety level: the same blocks, the same places."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def placements(bits: int, safety: int, folder: Path) -> list[str]:
    program = folder / f"placements{bits}-{safety}"
    sources = [
        *sorted((ROOT / "core/src").rglob("*.c")),
        *sorted((ROOT / "baselines/src").glob("*.c")),
        *(ROOT / "tests" / name for name in ("core/placements.c", "contract/plans.c")),
    ]
    includes = ["core", "core/include", "baselines", "baselines/include", "tests", "tests/contract"]
    command = ["cc", "-std=c11", "-O1", f"-m{bits}", f"-DHFIT_SAFETY={safety}"]
    command += ["-o", str(program)]
    command += [f"-I{ROOT / include}" for include in includes]
    subprocess.run([*command, *map(str, sources)], check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return output.splitlines()


def test_every_allocator_places_blocks_alike_on_32_and_64_bits_and_at_every_safety_level(
    tmp_path: Path,
) -> None:
    standard = placements(64, 1, tmp_path)
    assert len(standard) > 20
    assert len({line.split()[0] for line in standard}) > 10  # the plans do differ
    assert placements(32, 1, tmp_path) == standard
    assert placements(64, 0, tmp_path) == standard
    at_2 = placements(32, 2, tmp_path)
    assert without_live_map(at_2) == without_live_map(standard)


def without_live_map(lines: list[str]) -> list[str]:
    """What is left without the allocator that keeps a map of live blocks from level 2 on."""
    return [line for line in lines if line.split()[2] != "sized"]
