# SPDX-License-Identifier: Apache-2.0
"""How much a user writes to record a firmware: the lines that the pages give to copy, counted."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
COMMENT = re.compile(r"/\*.*?\*/")


def written_lines(blocks: list[str]) -> int:
    return sum(bool(COMMENT.sub("", line).strip()) for text in blocks for line in text.split("\n"))


def blocks_of(page: str, language: str, heading: str) -> list[str]:
    """The code of a language below a heading, up to the next heading."""
    text = (DOCS / page).read_text()
    section = text.partition(f"{heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)\n```", section, re.DOTALL)


def table_lines(build: str) -> list[str]:
    """What the row of a build says to write: a line for each `code`, options of CMake alone too."""
    (row,) = [
        line
        for line in (DOCS / "on-target.md").read_text().splitlines()
        if line.startswith(f"| {build}")
    ]
    return [line for line in re.findall(r"`([^`]+)`", row) if "(" in line or "=" in line]


DRAIN = ("on-target.md", "c", "# Recording firmware")
BARE, RECORD = "guides/bare-metal.md", "## 1. Record"


@pytest.mark.parametrize(
    ("blocks", "most"),
    [
        (lambda: [*blocks_of(*DRAIN)[:1], *table_lines("Make")], 10),  # FreeRTOS
        (lambda: [*blocks_of(*DRAIN)[:1], *table_lines("CMake")], 10),
        (lambda: [*blocks_of(*DRAIN)[:1], *table_lines("PlatformIO")], 10),
        (lambda: [blocks_of(BARE, kind, RECORD)[0] for kind in ("c", "text")], 10),
        (lambda: table_lines("CMake"), 5),  # lwIP, whose adapter is a library likewise
        (lambda: table_lines("Zephyr"), 10),
        (lambda: [*blocks_of("guides/zephyr-esp-idf.md", "c", RECORD)[:1], "REQUIRES"], 10),
    ],
    ids=[
        *("freertos make", "freertos cmake", "freertos platformio"),
        *("bare metal", "lwip", "zephyr", "esp-idf"),
    ],
)
def test_a_recorder_takes_few_lines(blocks, most):
    given = blocks()
    assert given
    assert 1 <= written_lines(given) <= most
