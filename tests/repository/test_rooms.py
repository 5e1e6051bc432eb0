# SPDX-License-Identifier: Apache-2.0
"""Inside a native layer, too, arrows between folders (rooms), and between files, point one way."""

from pathlib import Path

import pytest
from rooms import circles
from test_layers import INCLUDE, resolve

# Where the files of a layer lie. A folder in one of these is a room; what lies beside rooms is TOP.
NATIVE = {
    "core": ("core/src",),
    "baselines": ("baselines/src",),
    "papers": ("papers/src",),
    "engine": ("engine/src", "engine/include/heapfit"),
}
TOP = "."


def room_of(root: Path, layer: str, file: Path) -> str | None:
    """None for files of other layers."""
    for folder in NATIVE[layer]:
        if file.is_relative_to(root / folder):
            parts = file.relative_to(root / folder).parts
            return parts[0] if len(parts) > 1 else TOP
    return None


def included(root: Path, layer: str) -> dict[Path, set[Path]]:
    """The files of a layer, and what each includes of it."""
    files = [file for folder in NATIVE[layer] for file in (root / folder).rglob("*.[ch]*")]
    found: dict[Path, set[Path]] = {}
    for file in files:
        names = [quoted or system for quoted, system in INCLUDE.findall(file.read_text())]
        targets = {resolve(root, file, name) for name in names}
        found[file] = {one for one in targets if one is not None and room_of(root, layer, one)}
    return found


def native_rooms(root: Path, layer: str) -> dict[str, set[str]]:
    """The rooms of a layer, and which other rooms each includes files of."""
    edges: dict[str, set[str]] = {}
    for file, targets in included(root, layer).items():
        room = room_of(root, layer, file)
        assert room is not None
        rooms = {room_of(root, layer, target) for target in targets}
        edges.setdefault(room, set()).update(one for one in rooms - {room} if one is not None)
    return edges


@pytest.mark.parametrize(("layer", "least"), [("core", 5), ("baselines", 1), ("engine", 10)])
def test_native_rooms_point_one_way(root: Path, layer: str, least: int) -> None:
    edges = native_rooms(root, layer)
    assert len(edges) >= least
    assert circles(edges) == []


@pytest.mark.parametrize("layer", NATIVE)
def test_native_files_point_one_way(root: Path, layer: str) -> None:
    edges = {str(file): set(map(str, targets)) for file, targets in included(root, layer).items()}
    assert circles(edges) == []
