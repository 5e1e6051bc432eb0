#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures pages in Chromium: bytes, loading over an empty page, paper, phone, axe, keyboard.

    bench/pages.py                      one page of each command, made from the examples
    bench/pages.py PAGE.html...         pages that are there

Loading is the least of nine, over the least of an empty page's in the same run; charts, all
folded parts and the heap map are drawn in it. Nothing fails: tests hold what is promised.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import axe_core_python
from page_tables import add_option, write_result

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Chromium  # noqa: E402  (the tests' browser)
from heapfit.cli.printing import console  # noqa: E402

EXAMPLES = ROOT / "examples"
TRACES = EXAMPLES / "check/traces"
COMMANDS = {  # page, and what makes it
    "fit/report.html": f"fit {EXAMPLES}/lwip-echo/lwip-echo.parquet -o fit",
    "fits/report.html": f"fit {TRACES}/base.parquet {TRACES}/clean.parquet -o fits",
    "capture/report.html": f"fit {EXAMPLES}/capture/network.pcap.gz -o capture",
    "check.html": f"check {TRACES}/base.parquet {TRACES}/clean.parquet {TRACES}/keep.parquet "
    f"{TRACES}/leak.parquet --plan fits/plan.toml --base {TRACES}/base.parquet "
    "--report check.html",
    "compare.html": f"compare {EXAMPLES}/lwip-echo/lwip-echo.parquet tlsf best_fit "
    "t2_w1 t2_w2 --report compare.html",
    "simulate.html": f"simulate {EXAMPLES}/partitions/figure-5.toml --closed-form "
    "--report simulate.html",
    "size.html": f"size {EXAMPLES}/lwip-echo/lwip-echo.parquet --report size.html",
    "reproduce.html": "reproduce 000 001 002 003 --small --report reproduce.html",
}
COLUMNS = ("page", "bytes", "load", "sheets", "phone", "serious", "no key", "messages")
PHONE = (390, 844)
LOADS = 9
EMPTY = "<!doctype html><html lang=en><meta charset=utf-8><title>empty</title>"
AXE = Path(axe_core_python.__file__).with_name("axe.min.js").read_text()
SERIOUS = """axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations
    .filter(one => ["serious", "critical"].includes(one.impact)).length)"""
LOAD = "performance.getEntriesByType('navigation')[0].loadEventEnd"
DRAWN = """!document.getElementById('heap-map')
    || 'isDrawn' in document.getElementById('heap-map').dataset"""
DRAW = "drawings.forEach((one) => one.draw())"  # also what is further away
UNFOLD = "document.querySelectorAll('details').forEach(fold => (fold.open = true))"
# Charts and maps without a button, a fold or a canvas that the Tab key reaches.
UNREACHED = """[...document.querySelectorAll('.chart, canvas.map')].filter(one =>
    one.tabIndex < 0 && !one.querySelector('button, summary, [tabindex="0"]')).length"""


@dataclass(frozen=True, slots=True)
class Measured:
    """A page in the browser."""

    name: str
    size: int  # bytes
    load: float  # over an empty page's
    printed: int  # sheets of A4
    phone: int  # pixels high
    serious: int  # axe's findings in light and dark, unfolded
    unreached: int  # charts that no key reaches
    told: int  # messages of the console, and requests


def main() -> None:
    """Makes the pages unless they are given, and prints a row for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: one of each command")
    add_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        folder = Path(name)
        pages = [one.resolve() for one in asked.pages] or list(made_in(folder))
        (folder / "empty.html").write_text(EMPTY)
        with Chromium(folder / "profile") as browser:
            empty = least_load(browser, folder / "empty.html")
            rows = [measured(browser, one, empty, folder) for one in pages]
    table = [
        (
            *(one.name, one.size, f"{one.load:.1f} x", one.printed),
            *(one.phone, one.serious, one.unreached, one.told),
        )
        for one in rows
    ]
    console.print_table(COLUMNS, table)
    if asked.write:
        write_result("pages", COLUMNS, table)
    print(f"An empty page: {empty:.1f} ms.")


def made_in(folder: Path) -> Iterator[Path]:
    """The pages of the examples."""
    for page, words in COMMANDS.items():
        done = subprocess.run(
            [sys.executable, "-m", "heapfit", *words.split()],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 3), done.stderr
        yield folder / page


def least_load(browser: Chromium, page: Path) -> float:
    """Milliseconds until a page is loaded and drawn, the least of some."""

    def once() -> float:
        browser.open(page)
        browser.wait_for(f"{LOAD} > 0")
        return float(browser.run(LOAD))

    return min(times(once, LOADS))


def times(act: Callable[[], float], count: int) -> Iterator[float]:
    """What it gives, so many times."""
    return (act() for _ in range(count))


def measured(browser: Chromium, page: Path, empty: float, folder: Path) -> Measured:
    """All of one page."""
    browser.resize(1400, 900)
    browser.prefer("light")
    load = least_load(browser, page) / empty
    browser.wait_for(DRAWN)
    told = len(browser.messages) + len(browser.requests)
    printed = len(re.findall(rb"/Type\s*/Page\b", browser.pdf()))
    browser.run(UNFOLD)
    browser.run(DRAW)
    unreached = browser.run(UNREACHED)
    browser.run(f"{AXE};0")
    serious = 0
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        serious += browser.run(SERIOUS)
    browser.resize(*PHONE, is_phone=True)
    browser.prefer("light")
    browser.open(page)
    browser.run(DRAW)
    height = browser.run("document.documentElement.scrollHeight")
    name = page.relative_to(folder) if page.is_relative_to(folder) else page.name
    size = page.stat().st_size
    return Measured(str(name), size, load, printed, height, serious, unreached, told)


if __name__ == "__main__":
    main()
