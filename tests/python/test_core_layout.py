# SPDX-License-Identifier: Apache-2.0
"""One heap layout on 32 and on 64 bits: the same blocks at the same offsets."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def placements(bits: int, folder: Path) -> list[str]:
    program = folder / f"placements{bits}"
    sources = [
        *sorted((ROOT / "core/src").glob("*.c")),
        *(ROOT / "tests" / name for name in ("core/placements.c", "contract/plans.c")),
    ]
    includes = ["core", "core/include", "tests", "tests/contract"]
    command = ["cc", "-std=c11", "-O1", f"-m{bits}", "-o", str(program)]
    command += [f"-I{ROOT / include}" for include in includes]
    subprocess.run([*command, *map(str, sources)], check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return output.splitlines()


def test_every_allocator_places_blocks_alike_on_32_and_64_bits(tmp_path: Path) -> None:
    wide, narrow = placements(64, tmp_path), placements(32, tmp_path)
    assert len(wide) > 20
    assert wide == narrow
    assert len({line.split()[0] for line in wide}) > 10  # the plans do differ
