# SPDX-License-Identifier: Apache-2.0
"""A file given where another is meant: what it is, and what to do with it."""

import itertools
import struct

import pytest
import small_scenarios
from captures import ethernet, ipv4, pcap
from small_traces import heapfit

from heapfit.cli.main import all_commands, options_of
from heapfit.errors import HeapfitError
from heapfit.importers.file_kind import classify_file, require_kind
from heapfit.trace.kinds import Kind
from program import call_heapfit

TRACE = "# name echo\n# pointer_bits 32\na 0 24\nf 0\n"
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'
KINDS = {
    "run.heap": Kind.RECORDING,
    "run.parquet": Kind.RECORDING,
    "net.pcap": Kind.CAPTURE,
    "plan.toml": Kind.PLAN,
    "scenario.toml": Kind.SCENARIO,
    "host.elf": Kind.PROGRAM,
    "run.sh": Kind.PROGRAM,
    "board.elf": Kind.IMAGE,
    "notes.txt": Kind.UNKNOWN,
    "other.toml": Kind.UNKNOWN,
    "empty": Kind.UNKNOWN,
}
ADVICE = {
    Kind.RECORDING: "is a recording (heapfit fit {} makes a plan and its C code from it)",
    Kind.CAPTURE: "is a packet capture (heapfit size {} sizes pools for it",
    Kind.PLAN: "is a plan (heapfit check RECORDING --plan {} checks a recording against it",
    Kind.SCENARIO: "is a scenario (heapfit simulate {} ",
    Kind.PROGRAM: "is a program (heapfit record -- ./{} makes a recording of it)",
    Kind.IMAGE: "is a program for another processor (heapfit record --qemu {} ",
}
RECORDINGS, PROGRAMS = {Kind.RECORDING, Kind.CAPTURE}, {Kind.PROGRAM, Kind.IMAGE}
# A command with {} for a file that is no option's or argument's alone, and the kinds that it takes.
TAKES = {"record -- {}": PROGRAMS, "compare {} tlsf": RECORDINGS, "allocators {}": set()}
ALSO = {Kind.RECORDING: Kind.CAPTURE, Kind.PROGRAM: Kind.IMAGE}  # what is taken with them


def declared_kinds():
    """Each option and argument that takes files: what to type, with {} for one, and their kinds."""
    for name, declared in all_commands().items():
        before = [name]
        for option in options_of(declared):
            if option.kinds:
                kinds = {*option.kinds, *(ALSO[one] for one in option.kinds if one in ALSO)}
                yield " ".join([*before, option.name, "{}"]), kinds
            if not option.name:
                before.append({"plan": "plan.toml", "system": "lwip"}.get(option.field, "10"))


def elf(machine: int) -> bytes:
    """The first bytes of a program of 64 bit, little-endian."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 2, machine) + bytes(44)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("kinds")
    (made / "run.heap").write_text(TRACE)
    (made / "plan.toml").write_text(PLAN)
    (made / "other.toml").write_text("key = 1\n")
    (made / "notes.txt").write_text("nothing of the kind\n")
    (made / "empty").write_text("")
    (made / "host.elf").write_bytes(elf(62))
    (made / "board.elf").write_bytes(elf(40))
    (made / "run.sh").write_text("#!/bin/sh\n")
    frame = ethernet(ipv4(60))
    (made / "net.pcap").write_bytes(pcap([(0.0, frame, len(frame))]))
    small_scenarios.small(made).rename(made / "scenario.toml")
    assert heapfit("import", "run.heap", folder=made).returncode == 0
    return made


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_told_by_content(name, folder):
    assert classify_file(folder / name) is KINDS[name]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (words, name)
        for (words, kinds), name in itertools.product([*TAKES.items(), *declared_kinds()], KINDS)
        if KINDS[name] is not Kind.UNKNOWN and KINDS[name] not in kinds
    ],
)
def test_a_file_of_another_kind_is_told_what_to_use(words, name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    done = call_heapfit(*words.format(name).split())
    assert done.returncode == 1
    assert done.stderr.startswith(f"heapfit: {name}: {ADVICE[KINDS[name]].format(name)}")
    assert sorted(folder.iterdir()) == before


def test_advice_can_be_pasted_into_a_shell(tmp_path):
    path = tmp_path / "a plan.toml"
    path.write_text(PLAN)
    with pytest.raises(HeapfitError, match=rf"heapfit generate '{path}' makes its C"):
        require_kind(path, Kind.RECORDING)


def test_a_name_of_a_program_is_one(monkeypatch, folder):
    monkeypatch.chdir(folder)
    done = heapfit("fit", "ls", folder=folder)
    assert (
        done.stderr == "heapfit: ls: is a program (heapfit record -- ls makes a recording of it)\n"
    )


@pytest.mark.parametrize("words", ["compare rum.heap tlsf", "profile rum.heap", "fit rum.heap"])
def test_a_misspelt_file_is_told_with_the_one_beside_it(words, folder):
    done = heapfit(*words.split(), folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "heapfit: rum.heap: no such file (did you mean 'run.heap'?)\n"


def test_a_name_with_a_dot_is_no_allocators(folder):
    done = heapfit("compare", "typo.trace", "tlsf", folder=folder)
    assert done.stderr == "heapfit: typo.trace: no such file (check the path)\n"
    done = heapfit("compare", "run.heap", "tlfs", folder=folder)
    assert "tlfs: no such file, and no such allocator (did you mean 'tlsf'?)" in done.stderr


@pytest.mark.parametrize("command", ["fit", "forecast"])
def test_c_source_is_neither_a_recording_nor_a_log(command, tmp_path):
    (tmp_path / "dev.c").write_text(
        '#include <stdio.h>\nint main(void) { printf("free 1000\\n"); }\n'
    )
    done = heapfit(command, "dev.c", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("heapfit: dev.c: is C source (compile it; heapfit record -- ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "line", ["heap: {} bytes free", "free heap {}, largest 4000", "heap_free_bytes {} 17000"]
)
def test_a_log_of_free_bytes_is_told_the_command_that_reads_it(line, tmp_path):
    lines = [f"[{second:08}] {line.format(50_000 - second)}\n" for second in range(3)]
    (tmp_path / "dev.log").write_text("".join(lines))
    done = heapfit("fit", "dev.log", folder=tmp_path)
    assert done.returncode == 1
    assert "is a log of free bytes, without requests (heapfit forecast dev.log " in done.stderr
