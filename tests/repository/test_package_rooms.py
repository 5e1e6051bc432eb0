# SPDX-License-Identifier: Apache-2.0
"""The Python packages are rooms whose imports point one way, in the order that DESIGN.md draws.

A room is a folder, or a module at the top of a package. An import is a climb if the drawing has the
room that imports above or left of the one imported; a circle needs no drawing to be wrong.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from imports import Import, child, edges_inside, imports_of
from rooms import circles

PACKAGES = ("python/heapfit", "target/harness", "papers/heapfit_papers")  # each on the ones before
DRAWING = re.compile(r"^### Rooms of (\w+)\n.*?\n\n((?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
SOURCES = {".c", ".h", ".cpp", ".hpp", ".py"}
TOPS = ("core/src", "engine/src", "python/heapfit", "papers/heapfit_papers")
# Of a room with the folders in it. One beyond that has two trades.
MOST_LINES = 4500
# What tells has a column and a sentence of each result, and the page of dumped heaps (4H). It only
# falls.
MOST_LINES_OF = {"results": 4800}
FEWEST_FILES = 2


def drawn_orders(design: str) -> dict[str, list[str]]:
    """Of each package that DESIGN.md draws, its rooms from the lowest to the highest."""
    return {package: rooms_drawn(drawing) for package, drawing in DRAWING.findall(design)}


def rooms_drawn(drawing: str) -> list[str]:
    """The words of a drawing up to the comment that two spaces set apart."""
    return [
        word
        for line in drawing.splitlines()
        for word in re.split(r" {2,}", line.strip())[0].split()
    ]


def package_climbs(packages: list[str], imports: Iterable[Import]) -> list[str]:
    """Imports of a package that lies on top of the one that imports."""
    place = {package: index for index, package in enumerate(packages)}
    return [
        f"{one.source}:{one.line}: imports {one.target}"
        for one in imports
        if place[one.source.split(".")[0]] < place[one.target.split(".")[0]]
    ]


def room_climbs(package: str, order: list[str], imports: Iterable[Import]) -> list[str]:
    """Imports inside a package of a room that stands after the one that imports, or nowhere."""
    place = {room: index for index, room in enumerate(order)}
    wrong = []
    for one in imports:
        source, target = child(package, one.source), child(package, one.target)
        if source is None or target is None or source == target:
            continue
        unknown = {source, target} - set(place)
        if unknown:
            wrong.append(f"{one.source}: {', '.join(unknown)} is not drawn in DESIGN.md")
        elif place[source] < place[target]:
            wrong.append(f"{one.source}:{one.line}: {source} climbs to {target}")
    return wrong


def all_circles(imports: list[Import]) -> dict[str, list[list[str]]]:
    """The circles inside each folder that has any."""
    names = {name for one in imports for name in (one.source, one.target)}
    folders = {
        ".".join(parts[:length])
        for parts in (name.split(".") for name in names)
        for length in range(1, len(parts))
    }
    found = {folder: circles(edges_inside(folder, imports)) for folder in sorted(folders)}
    return {folder: ways for folder, ways in found.items() if ways}


def crowded_and_empty_rooms(top: Path) -> list[str]:
    """Rooms of too many lines, and folders of one file."""
    wrong = []
    for folder in sorted(path for path in top.rglob("*") if path.is_dir()):
        content = [path for path in folder.iterdir() if is_counted(path) or has_sources(path)]
        most = MOST_LINES_OF.get(folder.name, MOST_LINES)
        if folder.parent == top and (lines := lines_of(folder.rglob("*"))) > most:
            wrong.append(f"{folder.name}: {lines:,} lines, at most {most:,}")
        if 0 < len(content) < FEWEST_FILES:
            wrong.append(f"{folder.name}: a room of {len(content)}")
    return wrong


def lines_of(files: Iterable[Path]) -> int:
    return sum(len(file.read_text().splitlines()) for file in files if file.suffix in SOURCES)


def is_counted(file: Path) -> bool:
    return file.is_file() and file.suffix in SOURCES and file.name != "__init__.py"


def has_sources(folder: Path) -> bool:
    return any(file.suffix in SOURCES for file in folder.rglob("*"))


@pytest.fixture(scope="module")
def imports(root: Path) -> list[Import]:
    """All of our packages."""
    return imports_of(root / package for package in PACKAGES)


def test_a_package_imports_only_those_below_it(imports: list[Import]) -> None:
    assert package_climbs([Path(package).name for package in PACKAGES], imports) == []


def test_no_imports_go_round_in_a_circle(imports: list[Import]) -> None:
    assert all_circles(imports) == {}


def test_rooms_import_only_those_that_design_draws_below_them(
    root: Path, imports: list[Import]
) -> None:
    orders = drawn_orders((root / "DESIGN.md").read_text())
    assert set(orders) == {"heapfit", "heapfit_papers"}
    for package, order in orders.items():
        assert room_climbs(package, order, imports) == []


def test_every_room_that_design_draws_is_there(root: Path) -> None:
    orders = drawn_orders((root / "DESIGN.md").read_text())
    for package in (root / "python/heapfit", root / "papers/heapfit_papers"):
        there = {path.stem for path in package.iterdir() if is_counted(path) or has_sources(path)}
        assert set(orders[package.name]) - {"__init__"} == there


@pytest.mark.parametrize("top", TOPS)
def test_no_room_is_crowded_and_none_holds_one_file(root: Path, top: str) -> None:
    assert crowded_and_empty_rooms(root / top) == []


def test_the_headers_of_the_engine_lie_in_the_rooms_of_its_sources(root: Path) -> None:
    headers, sources = root / "engine/include/heapfit", root / "engine/src"
    rooms = {path.name for path in sources.iterdir() if path.is_dir()}
    assert {path.name for path in headers.iterdir() if path.is_dir()} == rooms
    assert [room for room in rooms if lines_of((headers / room).iterdir()) > MOST_LINES] == []
