# SPDX-License-Identifier: Apache-2.0
"""The package's readers of foreign files under mutated input, one reader a process.

    python tests/fuzz/readers.py NAME SCRATCH --seed SEED [--seconds S] [--executions N]

What a reader is given lies in SCRATCH/NAME while it reads. So whatever ends this process (a
signal, the alarm after 60 s, an exception that is no HeapfitError), that file is the reproducer.
Inputs that are answered in a new way join those that the next are made from.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from edits import mutated
from elftools.elf.structs import ELFStructs

from heapfit.errors import HeapfitError, SeveralFaultsError
from heapfit.images.find import find_heaps
from heapfit.images.memory import DumpedMemory
from heapfit.images.references import mark_references
from heapfit.images.snapshot import read_image
from heapfit.importers import ImportOptions, read_columns
from heapfit.importers.formats import format_of
from heapfit.importers.networks import add_offline_plan, find_tensors, is_tflite
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.importers.stream import ByteStream
from heapfit.plan.plan_file import load_plan, save_plan
from heapfit.programs.source_lines import mapping_of, places_in, site_hash
from heapfit.progress import ignore_progress
from heapfit.simulation.scenario import load_scenario
from heapfit.trace.stored import Trace

CORPUS = Path(__file__).with_name("corpus")
_PATIENCE = 60  # seconds of this process for one input, however busy the machine is
_MOST_MEMORY = 256 << 20  # bytes that reading may add to what the process took before
_LONGEST_LINE = 1000
_MOST_STRUCTS = 200  # kinds of ELF files, whose structs are made once
_MOST_KEPT = 3000  # inputs that others are made from
_SEVERAL = re.compile(r"\d+|\"[^\"]*\"|'[^']*'")  # differs between answers of one kind


@dataclass(frozen=True, slots=True)
class Reader:
    """How a file is read and what must hold then; HeapfitError is a sound answer, too."""

    read: Callable[[Path], None]
    words: tuple[bytes, ...]  # put into mutated files
    longest: int  # bytes of a mutated file


def _read_plan(path: Path) -> None:
    plan_file = load_plan(path)
    plan_file.plan.engine()
    again = path.with_name("again.toml")
    save_plan(again, plan_file)
    assert load_plan(again) == plan_file, "a plan that is saved is read otherwise"


def _read_scenario(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.points, "a scenario without a point"
    assert all(point.schemes for point in scenario.points), "a point without a scheme"


def _read_parquet(path: Path) -> None:
    trace = Trace.open(path)
    counted = sum(len(batch["op"]) for batch in trace.batches(["op", "object", "size", "time"]))
    assert counted == trace.info.events, "rows are not those that were told"
    assert len(trace.events()) == counted, "events are not the rows"


def _read_image(path: Path) -> None:
    """A core dump that has its program's symbols, too; one of Zephyr's form is of heap_4's."""
    program = CORPUS / "image" / "heap_4" if path.read_bytes()[:2] == b"ZE" else path
    for heap in read_image(path, program).heaps:
        assert sum(one.span for one in heap.blocks) == heap.end - heap.start, "bytes are missing"


def _read_memory(path: Path) -> None:
    """A dump's memory: lines of symbols and of spans (NAME or @, ADDRESS, BYTES), then all bytes.

    No ELF file is read, which takes most of an image's time and where most mutations end.
    """
    lines, _, content = path.read_bytes().partition(b"\n\n")
    rows = re.findall(r"^(\S+) ([0-9a-f]{1,9}) ([0-9a-f]{1,9})$", lines.decode("latin-1"), re.M)
    symbols = {name: (int(at, 16), int(size, 16)) for name, at, size in rows if name != "@"}
    spans, left = [], memoryview(content)
    for name, at, size in rows:
        if name == "@":
            spans.append((int(at, 16), left[: int(size, 16)]))
            left = left[int(size, 16) :]
    sections = [(at, at + len(held)) for at, held in spans]
    memory = DumpedMemory(4, "little", symbols, sections, {}, 13, spans)
    heaps, missing = find_heaps(memory)
    mark_references(memory, heaps, {})
    for heap in heaps:
        assert sum(one.span for one in heap.blocks) == heap.end - heap.start, "bytes are missing"
    if told := "; ".join([*missing, *(f"{one.title}, damaged {len(one.damage)}" for one in heaps)]):
        raise HeapfitError(f"{path}: {told}")


def _read_file(path: Path) -> None:
    """Any file, unpacked and in the form that it has; what would read it otherwise is sound."""
    with ByteStream(path) as stream:
        assert all(one.isprintable() for one in suggest_own_lines(path, stream.head)), "unclear"
        source = format_of(stream).open(stream, ImportOptions())
        batches = read_columns(source, stream, ignore_progress)
        assert sum(len(batch["op"]) for batch in batches), "nothing is no trace"
        assert all(note.isprintable() for note in source.info().notes), "no clear note"


def _read_network(path: Path) -> None:
    """A model that is read takes an offline plan, and has the same tensors with it."""
    _read_file(path)
    content, tensors = path.read_bytes(), find_tensors(path)
    with suppress(HeapfitError):
        if is_tflite(content):
            offsets = {one.number: 16 * i for i, one in enumerate(tensors)}
            path.write_bytes(add_offline_plan(content, offsets))
            assert find_tensors(path) == tensors, "a planned model has other tensors"


def _read_program(path: Path) -> None:
    places = places_in([path], _sites())
    assert all(place.file == path.name for place in places.values())


@cache
def _sites() -> frozenset[int]:
    """Call sites all over the first pages of those programs of the corpus that are sound."""
    offsets = np.arange(0, 8192, 16, dtype=np.uint64)
    sites: set[int] = set()
    for program in (CORPUS / "program").iterdir():
        with suppress(HeapfitError):
            sites.update(site_hash(offsets, mapping_of(program).extent).tolist())
    return frozenset(sites)


_TOML_WORDS = (
    *b"-1 0 1 nan -inf 1e999 1e-320 0.5 9223372036854775807 9223372036854775808".split(),
    *b'true false \'\' "" "\\u0000" "\\u202e" 1_000 0x7f 07 1979-05-27T07:32:00Z'.split(),
    *b'""" # = . , [ ] [[ ]] { } {} [] [[[[ a.a.a.a.a.a \xff'.split(),
    *(b"\r\n", b"\n", b"\t", b" "),
)
_BINARY_WORDS = (b"PAR1", b"heapfit", b"\0" * 8, b"\xff" * 8, b"\x15\x00", b"\x7fELF", b".debug_")
_FILE_WORDS = (
    *b"lower upper size gaps alignment end 3-5 -1 0 0x10 99999999999999999999 @0:4 , ; |".split(),
    *b"malloc free realloc calloc {size} {address} hl{m,16,3fff0370} 0x20000100 ( ) = \xff".split(),
    *(b"\r\n", b"\n", b"\x1b[31m", b"\0" * 4, b"\xff" * 4, b"\xd4\xc3\xb2\xa1", b" " * 5000),
)
_NETWORK_WORDS = (
    *(b"\0" * 4, b"\xff" * 4, b"\1\0\0\0", b"TFL3", b"\x08\x07\x0a\x02", b"\x80" * 9),
    *b"(id=0): size=100, offset=0, first_used=0 last_used=1 99999999999999999999".split(),
)
READERS = {
    "file": Reader(_read_file, _FILE_WORDS, 8192),
    "network": Reader(_read_network, _NETWORK_WORDS, 8192),
    "plan": Reader(_read_plan, _TOML_WORDS, 4096),
    "scenario": Reader(_read_scenario, _TOML_WORDS, 4096),
    "parquet": Reader(_read_parquet, _BINARY_WORDS, 16384),
    "image": Reader(_read_image, _BINARY_WORDS, 16384),
    "memory": Reader(_read_memory, _BINARY_WORDS, 8192),
    "program": Reader(_read_program, _BINARY_WORDS, 32768),
}


def _reuse(create: Callable[..., None]) -> Callable[..., None]:
    """What elftools makes for each file anew, half of the time in which a small one is read."""
    made: dict[object, dict[str, object]] = {}

    def reuse(structs: ELFStructs, *told: object) -> None:
        key = (structs.little_endian, structs.elfclass, told)
        if key in made:
            vars(structs).update(made[key])
        else:
            create(structs, *told)
            made.update({key: dict(vars(structs))} if len(made) < _MOST_STRUCTS else {})

    return reuse


def answer(reader: Reader, path: Path) -> str:
    """Of which kind the reader's answer is; asserts that a refusal is one clear line."""
    before = most_memory()
    signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
    try:
        reader.read(path)
        told = "read"
    except HeapfitError as error:
        told = str(error)
        for line in error.messages if isinstance(error, SeveralFaultsError) else [told]:
            assert line.startswith(f"{path}: "), f"names no file: {line!r}"
            assert line.isprintable() and len(line) <= _LONGEST_LINE, f"no clear line: {line!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    assert most_memory() - before <= _MOST_MEMORY, "took more than 256 MiB"
    return _SEVERAL.sub("", told)


@cache
def _own_status() -> int:
    """The process's own figures, opened once; each read tells them anew."""
    return os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)


def most_memory() -> int:
    """The most bytes that this process ever held; getrusage's figure may be its parent's."""
    told = re.search(rb"VmHWM:\s+(\d+) kB", os.pread(_own_status(), 4096, 0))
    assert told
    return int(told[1]) << 10


def inputs(reader: Reader, pool: list[bytes], draw: random.Random) -> Iterator[bytes]:
    """The pool's first, then without end what is made from it and from what the caller adds."""
    yield from list(pool)
    words = reader.words
    while True:
        yield mutated(draw, pool, words, reader.longest)


def run(name: str, scratch: Path, seed: int, seconds: float, executions: int) -> str:
    """Reads until the time or the number of executions is reached; what was done, in a line."""
    for what in ("create_basic_structs", "create_advanced_structs"):
        setattr(ELFStructs, what, _reuse(getattr(ELFStructs, what)))
    reader, path = READERS[name], scratch / name
    pool = [file.read_bytes() for file in sorted((CORPUS / name).iterdir())]
    seen: set[str] = set()
    kept = len(pool)
    start, done = time.monotonic(), 0
    for content in inputs(reader, pool, random.Random(seed)):
        if done == executions or (done >= kept and time.monotonic() - start >= seconds):
            break
        path.write_bytes(content)
        kind = answer(reader, path)
        if kind not in seen and len(seen) < _MOST_KEPT:
            seen.add(kind)
            pool.append(content)
        done += 1
    return f"{done} executions, {len(seen)} kinds of answers"


def main() -> None:
    """Runs one reader as the command line says."""
    parser = argparse.ArgumentParser(description="Fuzzes one reader of the package.")
    parser.add_argument("name", choices=READERS)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--executions", type=int, default=-1)
    asked = parser.parse_args()
    print(run(asked.name, asked.scratch, asked.seed, asked.seconds, asked.executions))


if __name__ == "__main__":
    main()
