# SPDX-License-Identifier: Apache-2.0
"""Figures of boards in target/README.md and docs/plugins.md are the code's."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LWIP = "../examples/lwip-echo/lwip-echo.parquet"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("target/README.md", ("count", LWIP, "tlsf")),
        ("docs/plugins.md", ("plugin", LWIP, "../examples/plugins/bump.c")),
    ],
)
def test_a_page_shows_what_the_harness_prints(page: str, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=ROOT / "target",
        check=True,
        capture_output=True,
        text=True,
    )
    shown = "".join(f"    {line}\n" for line in done.stdout.strip().splitlines())
    assert f"\n\n{shown}\n" in (ROOT / page).read_text()
