#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the other forms of the recordings in traces/, and their table into README.md.

The repository keeps neither form: both follow from the Parquet. text/NAME.txt.gz has all that the
Parquet has but the call sites of frees. rep/NAME.rep.gz, the form of the CS:APP malloc lab, leaves
out alignments, times, threads and call sites, and has zeroed requests as others.
"""

from __future__ import annotations

import gzip
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from heapfit.outputs.file import stage_file
from heapfit.outputs.ours import allow_replacing
from heapfit.trace.content import content_hash
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import COLUMNS, Trace

HERE = Path(__file__).resolve().parent
HEAD = "| recording | what it is | load | bits | events | U_max, B | sizes | content |"
LETTERS = "acmrf"  # of the text form, by the number of the operation

Column = list[int]


def columns_of(trace: Trace) -> dict[str, Column]:
    """The whole trace; a recording here is small."""
    columns: dict[str, Column] = {name: [] for name in COLUMNS}
    for batch in trace.batches(tuple(COLUMNS)):
        for name, values in batch.items():
            columns[name] += values.tolist()
    return columns


def text_lines(trace: Trace) -> Iterator[str]:
    """As docs/import-formats.md has it, with every field."""
    bits = trace.info.pointer_bits or "?"
    yield f"# heap-events 1\n# name {trace.path.stem}\n# pointer_bits {bits}"
    before = 0
    for op, object_, size, alignment, time, thread, site in zip(
        *columns_of(trace).values(), strict=True
    ):
        words: list[Any] = [LETTERS[op], object_]
        words += [] if op == FREE else [size]
        words += [alignment] if op == ALIGNED else []
        words += [time - before, thread]
        words += [] if op == FREE else [f"{site:x}"]
        before = time
        yield " ".join(map(str, words))


def rep_lines(trace: Trace) -> Iterator[str]:
    """Four lines of numbers, then a request a line."""
    columns = columns_of(trace)
    objects = max(columns["object"]) + 1
    yield f"{profile_trace(trace).u_max}\n{objects}\n{trace.info.events}\n1"
    for op, object_, size in zip(columns["op"], columns["object"], columns["size"], strict=True):
        letter = "r" if op == RESIZE else "f" if op == FREE else LETTERS[ALLOC]
        yield f"{letter} {object_}" if op == FREE else f"{letter} {object_} {size}"


def write_packed(path: Path, lines: Iterable[str]) -> None:
    """The same bytes whenever it is written."""
    path.parent.mkdir(exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    with allow_replacing(), stage_file(path) as aside:
        aside.write_bytes(gzip.compress(text, 9, mtime=0))


def table_lines(traces: Iterable[Trace]) -> Iterator[str]:
    """A line a recording."""
    yield HEAD
    yield "|---|---|---|---|---|---|---|---|"
    programs = tomllib.loads((HERE / "programs.toml").read_text())
    known = {one["name"]: one for one in programs["program"]}
    for trace in traces:
        name, _, run = trace.path.stem.rpartition("-")
        load = known[name]["loads"][int(run) - 1]
        told = ", ".join(f"{word} {value}" for word, value in load.items())
        profile = profile_trace(trace)
        cut = " (cut)" if trace.info.events == programs["events"] else ""
        yield (
            f"| {trace.path.stem} | {known[name]['about']} | {told} | {trace.info.pointer_bits} "
            f"| {profile.events:,}{cut} | {profile.u_max:,} | {len(profile.sizes)} "
            f"| {content_hash(trace).removeprefix('sha256:')[:12]} |"
        )


def with_table(page: str, table: Iterable[str]) -> str:
    """The page, the table at its end replaced."""
    return page[: page.index(HEAD)] + "\n".join(table) + "\n"


def write_forms(trace: Trace, folder: Path) -> None:
    """Writes text/NAME.txt.gz and rep/NAME.rep.gz into the folder."""
    write_packed(folder / f"text/{trace.path.stem}.txt.gz", text_lines(trace))
    write_packed(folder / f"rep/{trace.path.stem}.rep.gz", rep_lines(trace))


def recordings() -> list[Trace]:
    return [Trace.open(path) for path in sorted((HERE / "traces").glob("*.parquet"))]


def main() -> None:
    for trace in recordings():
        write_forms(trace, HERE)
    page = HERE / "README.md"
    page.write_text(with_table(page.read_text(), table_lines(recordings())))


if __name__ == "__main__":
    main()
