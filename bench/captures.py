#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures read beside tshark: as many IP packets, and each of the same size?

    python bench/captures.py FOLDER... [--cut]

Every capture of the folders, packed or not, equal files once, none above 4 MiB. A size is what the
outermost IP header says; where it says 0, or more than the frame holds, heapfit sizes by the frame
and says so. --cut reads each capture cut at two thirds, which tcpdump reads up to there.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.errors import HeapfitError
from heapfit.importers.packets import is_packets
from heapfit.importers.stream import ByteStream

LARGEST = 4 << 20  # bytes
FIELDS = ("frame.protocols", "ip.len", "ipv6.plen")
IPV6_HEADER = 40
EQUAL, NONE = "as many packets, each of the same size", "no IP in either"
BY_FRAME = "sized by the frame"  # as a note says, too
MORE, DIFFERS = "more IP here", "fewer packets or other sizes here"
CUT_NONE = f"cut: {NONE}"
IN_PART, REFUSED = "cut: read in part", "cut: refused, where tcpdump reads a part"
KINDS = (EQUAL, NONE, BY_FRAME, MORE, DIFFERS, IN_PART, CUT_NONE, REFUSED)
GROUP = 100  # captures joined for tshark


def captures(folders: Sequence[Path]) -> Iterator[Path]:
    seen: set[bytes] = set()
    for path in sorted(one for folder in folders for one in folder.rglob("*") if one.is_file()):
        if path.stat().st_size > LARGEST:
            continue
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest not in seen and _is_capture(path):
            seen.add(digest)
            yield path


def _is_capture(path: Path) -> bool:
    try:
        with ByteStream(path) as stream:
            return is_packets(stream.head)
    except HeapfitError:
        return False


def read_here(path: Path) -> tuple[list[int], list[str]]:
    """The sizes of the IP packets, and what is to be said of them."""
    reader = _engine.CaptureReader(False)
    sizes: list[int] = []
    try:
        with ByteStream(path) as stream:
            for chunk in stream.chunks():
                sizes += reader.feed(chunk)[1].tolist()
            reader.finish()
    except HeapfitError as error:
        return sizes, [str(error)]
    return sizes, list(reader.notes)


def read_by_tshark(paths: Sequence[Path]) -> list[list[int]]:
    """The sizes of each capture's IP packets; whole ones are joined, to start tshark once."""
    counts = _count_frames(paths)
    whole = [path for path in paths if path in counts]
    joined: dict[Path, list[int]] = {}
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
        merged = subprocess.run(
            ["mergecap", "-a", "-w", file.name, *whole], capture_output=True, check=False
        )
        frames = _read_frames(Path(file.name)) if whole and merged.returncode == 0 else []
    if len(frames) == sum(counts.values()):
        rest = iter(frames)
        for path in whole:
            joined[path] = [size for _ in range(counts[path]) for size in next(rest)]
    return [
        joined[path] if path in joined else [s for one in _read_frames(path) for s in one]
        for path in paths
    ]


def _count_frames(paths: Sequence[Path]) -> dict[Path, int]:
    """The frames of captures that are whole."""
    words = ["capinfos", "-c", "-M", "-T", "-r", *map(str, paths)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    rows = (line.rpartition("\t") for line in ran.stdout.splitlines())
    counts = {Path(name): int(count) for name, _, count in rows if count.isdecimal()}
    return {path: count for path, count in counts.items() if str(path) not in ran.stderr}


def _read_frames(path: Path) -> list[list[int]]:
    """For each frame the size of its outermost IP packet, if there is one."""
    words = [part for field in FIELDS for part in ("-e", field)]
    options = ["-n", "-T", "fields", "-E", "occurrence=f", "-E", "separator=/t"]
    options += ["-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"]
    command = ["tshark", "-r", str(path), *options, *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return [list(_outermost_size(line)) for line in ran.stdout.splitlines()]


def _outermost_size(line: str) -> Iterator[int]:
    protocols, length, payload = line.split("\t")
    first = next((one for one in protocols.split(":") if one in ("ip", "ipv6")), "")
    if first == "ip" and length:
        yield int(length)
    if first == "ipv6" and payload:
        yield IPV6_HEADER + int(payload)


def outcome(path: Path, theirs: Sequence[int]) -> str:
    """How our reading of a capture compares with tshark's."""
    ours, notes = read_here(path)
    if ours == theirs:
        return EQUAL if ours else NONE
    is_told = any(BY_FRAME in note for note in notes)
    if len(ours) == len(theirs) and is_told:
        return BY_FRAME
    if len(ours) > len(theirs):
        return MORE
    return f"{DIFFERS}: {len(theirs)} there, {len(ours)} here: {notes}"


def cut_outcome(path: Path) -> str:
    """Whether of a capture that is cut as many packets are read as by tcpdump."""
    with tempfile.NamedTemporaryFile() as cut:
        content = path.read_bytes()
        cut.write(content[: len(content) * 2 // 3])
        cut.flush()
        words = ["tcpdump", "-n", "-r", cut.name, "ip or ip6 or vlan or mpls or pppoes"]
        ran = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        ours, notes = read_here(Path(cut.name))
    if ran.stdout and not ours:
        return f"{REFUSED}: {notes[0]}"
    return IN_PART if ours else CUT_NONE


def main() -> None:
    parser = argparse.ArgumentParser(description="Reads captures beside tshark.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--cut", action="store_true", help="each cut, beside tcpdump")
    add_option(parser)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    paths = list(captures(asked.folders))
    for start in range(0, len(paths), GROUP):
        group = paths[start : start + GROUP]
        if asked.cut:
            outcomes = [cut_outcome(path) for path in group]
        else:
            outcomes = list(map(outcome, group, read_by_tshark(group)))
        for path, found in zip(group, outcomes, strict=True):
            kind = next(one for one in KINDS if found.startswith(one))
            counts[kind] += 1
            if kind in (MORE, DIFFERS, REFUSED):
                print(f"{path}: {found}", flush=True)
    rows = [(kind, counts[kind]) for kind in KINDS if kind.startswith("cut") == asked.cut]
    console.print_table(["outcome", "captures"], rows)
    if asked.write:
        write_result("captures", ["outcome", "captures"], rows)


if __name__ == "__main__":
    main()
