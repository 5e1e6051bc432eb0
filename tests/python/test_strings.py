# SPDX-License-Identifier: Apache-2.0
"""The words of the command line: reviewed in docs/strings.txt, short, and none that stumbles."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REVIEWED = ROOT / "docs" / "strings.txt"
MOST_WORDS = 25  # of a sentence
TELL = re.compile(r"\b(tell|tells|told)\b", re.IGNORECASE)
# What readers stumbled over (a part of each): what it means was said nowhere, or the subject last.
STUMBLING = [
    "were all lifetimes known",
    "of the accesses, in an SRAM",
    "they are not full at once",
    "which does not tell",
    "if the program can hand them over",
    "points of U_max of",
    "blocks that come and go apart",
    "what rounds up to it",
    "what has the least of this",
    "can hand over from where it asks",
    "the same gives the same",
    "what of traffic counts",
    "tell the version",
    "exactly where mathematics can",
    "cut from both ends",
    "measures what they publish again",
    "what stands in this page runs",
    "so knows the plan",
    "differences smaller than that are none",
    "takes the longer the more",
    "values younger than the tables",
    "is nothing without pools",
    "value is told too",
    "no more is live than here",
    "lives on as it would have",
    "is no format known here",
    "parted by commas",
]


def printed() -> list[str]:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/strings.py"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def faults(text: str) -> list[str]:
    """What is wrong with one string."""
    sentences = re.split(r"(?<=[.;:?!]) ", text)
    wrong = [f"{len(one.split())} words" for one in sentences if len(one.split()) > MOST_WORDS]
    wrong += ["tell"] if TELL.search(text) else []
    return wrong + [one for one in STUMBLING if one.lower() in text.lower()]


def test_every_string_is_reviewed_and_every_reviewed_one_is_there():
    assert printed() == REVIEWED.read_text(encoding="utf-8").splitlines()


def test_no_string_is_long_or_stumbles():
    assert {text: wrong for text in printed() if (wrong := faults(text))} == {}


def test_no_sentence_that_stumbles_is_left_in_the_package_or_on_a_page():
    files = [*(ROOT / "python").rglob("*.py"), *(ROOT / "python").rglob("*.j2")]
    files += [*(ROOT / "papers").rglob("*.py"), *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    found = {
        f"{path.relative_to(ROOT)}: {one}"
        for path in files
        for one in STUMBLING
        if one.lower() in " ".join(path.read_text(encoding="utf-8").split()).lower()
    }
    assert found == set()


@pytest.mark.parametrize(
    "text", ["This tells it.", "More, parted by commas.", " ".join(["word"] * 26)]
)
def test_a_fault_is_found(text):
    assert faults(text) != []
