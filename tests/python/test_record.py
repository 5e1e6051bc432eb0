# SPDX-License-Identifier: Apache-2.0
"""Recording programs: what is recorded, why recordings end early, and what fails."""

import os
import platform
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import import_file, preload, record
from heapfit.importers.processes import Watch
from heapfit.importers.unseen_heaps import describe_unseen, explain_obstacle
from heapfit.programs.executable import read_executable
from heapfit.trace.stored import Trace

PROGRAMS = Path(__file__).with_name("programs")
EVENTS = 100_000  # of more than one stretch of the recording's file
MOST_BYTES = 8  # of the recording's file, an event in the mean
ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)
PAGE = os.sysconf("SC_PAGESIZE")


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Compiles a program of the folder, once."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name, *options):
        program = folder / "-".join([name, *(option.strip("-") for option in options)])
        if not program.exists():
            source = PROGRAMS / f"{name}.c"
            flags = ["-std=gnu11", "-O1", "-fno-builtin", "-w", "-pthread", *options]
            subprocess.run(["cc", *flags, source, "-o", program], check=True)
        return program

    return compiled


# Both pointer sizes; a machine whose compiler makes no 32-bit programs has but its own.
CLASSES = [(), ("-m32",)] if platform.machine() == "x86_64" else [()]


def preloaded(folder, program=None):
    library = preload.LIBRARY if program is None else preload.library_for(program)
    return {**os.environ, "LD_PRELOAD": str(library), "HEAPFIT_RECORD": str(folder)}


def strictly_read(path):
    """The events of a recording in which a single impossible one is an error."""
    reader = _engine.WireTrace(drop_unknown=False)
    reader.feed(path.read_bytes())
    reader.finish()
    return reader, reader.take()


def recordings(folder):
    return sorted(folder.glob("*.wire"), key=lambda path: path.stat().st_mtime_ns)


def events(trace):
    """The trace's (op, size, alignment), without the memory of other libraries' start."""
    columns = next(trace.batches(["op", "size", "alignment"]))
    return list(zip(*(columns[name].tolist() for name in ("op", "size", "alignment")), strict=True))


@pytest.mark.parametrize("options", CLASSES)
def test_each_function_of_the_family_is_recorded_as_called(build, tmp_path, options):
    recording = record.record([str(build("malloc_family", *options))], tmp_path / "out.parquet")
    assert recording.trace.info.pointer_bits == (32 if options else 64)
    freed = (FREE, 0, 0)
    assert recording.status == 0
    assert events(recording.trace) == [
        *[(ALLOC, 10, 0), freed],
        *[(ZEROED, 21, 0), (RESIZE, 100, 0), (RESIZE, 40, 0), freed],
        *[(ALLOC, 5, 0), freed],
        *[(ALLOC, 0, 0), freed],
        *[(ALIGNED, 100, 64), freed],
        *[(ALIGNED, 64, 32), freed],
        *[(ALIGNED, 200, 128), freed],
        *[(ALIGNED, 300, PAGE), freed],
        *[(ALIGNED, PAGE, PAGE), freed],
        *[(ALLOC, 6, 0), freed],
    ]
    assert recording.trace.info.notes == (
        "123 requests that the program's heap refused left out.",
        "1 resize to 0 bytes taken as a free.",
    )


def test_the_program_prints_and_ends_as_without_the_recorder(build, tmp_path):
    for program in (build("malloc_family"), build("threads")):
        plain = subprocess.run([program], capture_output=True, check=False)
        recorded = subprocess.run(
            [program], capture_output=True, check=False, env=preloaded(tmp_path)
        )
        assert (recorded.returncode, recorded.stdout, recorded.stderr) == (
            plain.returncode,
            plain.stdout,
            plain.stderr,
        )


@pytest.mark.parametrize("options", CLASSES)
def test_no_impossible_event_appears_under_threads(build, tmp_path, options):
    program = build("threads", *options)
    ended = subprocess.run(
        [program, "20000"], env=preloaded(tmp_path, program), stdout=subprocess.PIPE, check=True
    )
    allocated, freed = map(int, ended.stdout.split())
    (path,) = recordings(tmp_path)
    reader, columns = strictly_read(path)
    op, thread, time_us = columns["op"], columns["thread"], columns["time"]
    libraries = 8 + 1  # each thread's own table, and standard output's buffer
    assert allocated == freed
    assert 0 <= int((op <= ALIGNED).sum()) - allocated <= libraries
    assert 0 <= int((op == FREE).sum()) - freed <= libraries
    assert set(thread.tolist()) == set(range(1, 10))
    assert (time_us[1:] >= time_us[:-1]).all()
    assert reader.notes == []


@pytest.mark.parametrize("options", CLASSES)
def test_threads_that_come_and_go_share_the_files_room(build, tmp_path, options):
    program = build("comers", *options)
    subprocess.run([program, "2000"], env=preloaded(tmp_path, program), check=True)
    (path,) = recordings(tmp_path)
    reader, columns = strictly_read(path)
    left = columns["size"] == 100
    assert int(left.sum()) == 2000
    assert sorted(columns["thread"][left].tolist()) == list(range(2, 2002))
    assert path.stat().st_size <= PAGE + (1 << 20)
    assert reader.notes == []


@pytest.mark.parametrize(
    ("way", "status"),
    [
        ("kill", -signal.SIGKILL),
        ("segv", -signal.SIGSEGV),
        ("abort", -signal.SIGABRT),
        ("overflow", -signal.SIGSEGV),
        ("_exit", 0),
        ("return", 0),
    ],
)
def test_no_event_is_lost_however_the_program_ends(build, tmp_path, way, status):
    command = [str(build("deaths")), str(EVENTS), way]
    recording = record.record(command, tmp_path / "out.parquet")
    assert recording.status == status
    assert recording.trace.info.events == EVENTS
    assert recording.trace.info.notes == ()
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def test_a_program_replaced_by_exec_keeps_a_recording_of_its_own(build, tmp_path):
    command = [str(build("deaths")), str(EVENTS), "exec"]
    recording = record.record(command, tmp_path / "out.parquet", keep_children=True)
    (before,) = recording.children
    assert recording.trace.info.events == before.info.events == EVENTS


def test_a_forked_child_records_apart_and_does_not_know_its_parents_blocks(build, tmp_path):
    command = [str(build("deaths")), str(EVENTS), "fork"]
    recording = record.record(command, tmp_path / "out.parquet", keep_children=True)
    (child,) = recording.children
    assert recording.trace.info.events == EVENTS + 2
    assert recording.trace.info.notes == ()
    assert child.info.events == EVENTS
    before, freed = child.info.notes
    assert before == (
        "Blocks from before the recording (a parent process's, or while it slept) are unknown."
    )
    assert re.fullmatch(r"1 free of an unknown or freed id dropped: \d+ \(0x[0-9a-f]+\)\.", freed)


def test_recording_goes_on_when_the_program_closes_and_reuses_all_descriptors(build, tmp_path):
    command = [str(build("deaths")), str(EVENTS), "close"]
    recording = record.record(command, tmp_path / "out.parquet")
    assert (recording.status, recording.trace.info.events) == (0, 2 * EVENTS)


def wait_until(has_happened):
    deadline = time.monotonic() + 300
    while not has_happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_times_rise_whatever_the_clock_does(build, tmp_path):
    """It goes two hours on, then three back, and again: below its start, and below zero."""
    environment = preloaded(tmp_path)
    environment["LD_PRELOAD"] += f":{build('shifted_clock', '-shared', '-fPIC')}"
    subprocess.run([build("deaths"), str(EVENTS), "_exit"], env=environment, check=True)
    (path,) = recordings(tmp_path)
    _, columns = strictly_read(path)
    time_us = columns["time"]
    assert len(time_us) == EVENTS
    assert (time_us[1:] >= time_us[:-1]).all()
    assert 2 * 3600e6 <= time_us[-1] < 3 * 3600e6


def test_a_handler_that_allocates_within_a_call_changes_nothing(build, tmp_path):
    """What is asked between calls is recorded; what is asked within one is not, nor its free."""
    environment = preloaded(tmp_path)
    environment["LD_PRELOAD"] += f":{build('bump_heap', '-shared', '-fPIC')}"
    command = [build("handled"), str(EVENTS)]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    handled, plain = map(int, ended.stdout.split())
    (path,) = recordings(tmp_path)
    reader, columns = strictly_read(path)
    recorded = int((columns["size"] == 48).sum())
    assert plain == EVENTS
    assert handled >= EVENTS // 1000  # as many signals come within a call
    assert plain <= recorded <= plain + handled - EVENTS // 1000
    assert reader.notes == []


def test_an_allocator_that_is_preloaded_too_stands_behind_the_recorder(
    build, tmp_path, monkeypatch
):
    program, heap = build("deaths"), build("bump_heap", "-shared", "-fPIC")
    monkeypatch.setenv("LD_PRELOAD", str(heap))
    record.record([str(program), "10", "segv"], tmp_path / "out.parquet")
    assert Trace.open(tmp_path / "out.parquet").info.events == 10


@pytest.mark.parametrize("turn", range(int(os.environ.get("HEAPFIT_KILLS", "5"))))
def test_every_call_that_returned_before_a_kill_is_recorded(build, tmp_path, turn):
    counters = tmp_path / "counters"
    program = subprocess.Popen([build("counted"), counters], env=preloaded(tmp_path))

    def returned():
        content = counters.read_bytes() if counters.exists() else b""
        return sum(struct.unpack("<4Q", content)) if len(content) == 32 else 0

    wait_until(lambda: returned() > (turn % 5 + 1) * 20_000 + turn)
    program.kill()
    program.wait()
    (path,) = recordings(tmp_path)
    reader, columns = strictly_read(path)
    by_hammers = int((columns["size"] == 100).sum() + (columns["op"] == FREE).sum())
    assert 0 <= by_hammers - returned() <= 4  # each thread may have been inside one call
    assert reader.notes == []


def record_in_little(build, folder, *command):
    """What a recorder keeps whose files cannot grow: the reader's notes, and its events."""
    limit = PAGE + (1 << 18)
    subprocess.run(
        [build(command[0]), *command[1:]],
        env=preloaded(folder),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=True,
    )
    (path,) = recordings(folder)
    reader, columns = strictly_read(path)
    return reader.notes, len(columns["op"])


def test_a_file_that_cannot_grow_ends_the_recording_not_the_program(build, tmp_path):
    notes, kept = record_in_little(build, tmp_path, "deaths", str(EVENTS), "_exit")
    assert (1 << 18) // MOST_BYTES < kept < EVENTS
    assert notes == [
        f"The recording ended early (File too large): {EVENTS - kept:,} later events are missing."
    ]


CONFINED_ROOM = 24 << 20  # bytes


@pytest.mark.parametrize("way", ["strict", "filter", "own"])
def test_a_program_that_confines_itself_runs_on_and_is_recorded(build, tmp_path, way):
    command = [str(build("confined")), str(EVENTS), str(EVENTS), way]
    recording = record.record(command, tmp_path / "out.parquet")
    assert recording.status == 0
    assert recording.trace.info.events == 2 * EVENTS
    assert recording.trace.info.notes == ()


def test_what_a_confined_program_asks_beyond_the_room_is_counted(build, tmp_path):
    asked = CONFINED_ROOM // 2  # each event takes more than two bytes
    command = [str(build("confined")), "10", str(asked), "strict"]
    recording = record.record(command, tmp_path / "out.parquet")
    assert recording.status == 0
    kept = recording.trace.info.events
    assert kept > 2_000_000
    assert recording.trace.info.notes == (
        "The recording ended early (the program confined itself, by seccomp or no_new_privs): "
        f"{asked + 10 - kept:,} later events are missing.",
    )


@pytest.mark.parametrize(("way", "by"), [("strict", "SIGKILL"), ("filter", "SIGSYS")])
def test_a_program_that_its_filter_kills_keeps_its_recording_and_the_cause(
    build, tmp_path, way, by
):
    out = tmp_path / "out.parquet"
    done = heapfit("record", "-o", out, "--", build("confined"), str(EVENTS), "0", way)
    assert done.returncode == 128 + signal.Signals[by], done.stderr
    assert f"{EVENTS:,} events of confined, which was killed by {by}" in done.stdout
    assert "probably by its own seccomp filter" in done.stderr


def test_room_that_cannot_be_had_ends_the_recording_not_the_program(build, tmp_path):
    notes, kept = record_in_little(build, tmp_path, "confined", "10", str(EVENTS), "filter")
    assert (1 << 17) // MOST_BYTES < kept < EVENTS
    assert "confined itself" in notes[0]


def test_blocks_of_library_constructors_are_known(tmp_path):
    library = tmp_path / "liblate.so"
    source = (
        "#include <stdlib.h>\nstatic void *block;\n"
        "__attribute__((constructor)) static void make(void) { block = malloc(48); }\n"
        "void use(void) { free(block); }\n"
    )
    main = "void use(void);\nint main(void) { use(); return 0; }\n"
    for text, options in (
        (source, ["-shared", "-fPIC", "-o", library]),
        (main, [library, f"-Wl,-rpath,{tmp_path}", "-o", tmp_path / "main"]),
    ):
        (tmp_path / "text.c").write_text(text)
        subprocess.run(["cc", tmp_path / "text.c", *options], check=True)
    recording = record.record([str(tmp_path / "main")], tmp_path / "out.parquet")
    assert events(recording.trace) == [(ALLOC, 48, 0), (FREE, 0, 0)]
    assert recording.trace.info.notes == ()


def test_a_library_path_with_blanks_is_preloaded_all_the_same(build, tmp_path, monkeypatch):
    moved = tmp_path / "with blank: and colon" / preload.LIBRARY.name
    moved.parent.mkdir()
    shutil.copy(preload.LIBRARY, moved)
    monkeypatch.setattr(preload, "LIBRARY", moved)
    command = [str(build("deaths")), "100", "_exit"]
    assert record.record(command, tmp_path / "out.parquet").trace.info.events == 100


def refuse_to_record(command, output, told):
    before = sorted(output.parent.glob("*")) if output.parent.exists() else []
    with pytest.raises(HeapfitError, match=told):
        record.record(command, output)
    if output.parent.exists():
        assert sorted(output.parent.glob("*")) == before


def test_what_cannot_be_recorded_is_refused_in_one_line(build, tmp_path, monkeypatch):
    out = tmp_path / "out.parquet"
    program = str(build("deaths"))
    refuse_to_record(["no-such-program"], out, "no-such-program: no such program")
    refuse_to_record([__file__], out, f"{__file__}: is no program")
    refuse_to_record([program], tmp_path / "none" / "x.parquet", "its folder does not exist")
    refuse_to_record([program], tmp_path, "is a folder")
    refuse_to_record([program, "0", "_exit"], out, "left no recording")
    static = str(build("deaths", "-static"))
    refuse_to_record([static, "10", "_exit"], out, "is statically linked")
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"\x7fELF\x01" + bytes(59))
    foreign.chmod(0o755)
    refuse_to_record([str(foreign)], out, "cannot be run: Exec format error")
    if CLASSES[1:]:
        monkeypatch.setattr(preload, "LIBRARY_32", tmp_path / "none")
        short = str(build("deaths", "-m32"))
        refuse_to_record([short], out, "is a 32-bit program, and heapfit was built without")


def test_a_program_with_the_rights_of_another_is_refused(build, tmp_path, monkeypatch):
    program = tmp_path / "privileged"
    shutil.copy(build("deaths"), program)
    program.chmod(0o4755)
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    refuse_to_record([str(program)], tmp_path / "out.parquet", "setuid")


def heapfit(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "heapfit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_the_command_tells_what_it_recorded_and_how_the_program_ended(build, tmp_path):
    command = ["record", "-o", "out.parquet", "--", build("deaths"), "10", "segv"]
    ended = heapfit(*command, cwd=tmp_path)
    assert ended.stdout == "out.parquet: 10 events of deaths, which was killed by SIGSEGV\n"
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGSEGV, "")


def test_the_programs_input_and_output_are_its_own(tmp_path):
    ended = heapfit("record", "--", "cat", cwd=tmp_path, input="as it came\n")
    assert ended.stdout.startswith("as it came\ncat.parquet: ")
    assert ended.returncode == 0


def test_other_processes_are_counted_and_kept_on_request(build, tmp_path):
    program = [build("deaths"), "10", "fork"]
    counted = heapfit("record", "-o", "out.parquet", "--", *program, cwd=tmp_path)
    assert counted.stderr == "1 other process was recorded too; --children keeps the traces.\n"
    earlier = (tmp_path / "out.parquet").read_bytes()
    kept = heapfit("record", "-o", "out.parquet", "--children", "--", *program, cwd=tmp_path)
    assert kept.stderr.startswith("out.parquet.~1~: the earlier recording of that name, kept")
    assert (tmp_path / "out.parquet.~1~").read_bytes() == earlier
    assert len(kept.stdout.splitlines()) == len(list(tmp_path.glob("*.parquet"))) == 2


@pytest.mark.parametrize(("sent", "send"), [("INT", os.killpg), ("TERM", os.kill)])
def test_a_signal_is_passed_on_and_what_was_recorded_is_kept(tmp_path, sent, send):
    """Ctrl-C goes to the recorder and the program, a sigterm to the recorder alone."""
    script = f"trap 'exit 3' {sent}; echo ready; while :; do :; done"
    recorder = subprocess.Popen(
        [sys.executable, "-m", "heapfit", "record", "-o", "out.parquet", "--", "sh", "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert recorder.stdout.readline() == "ready\n"
    send(recorder.pid, signal.Signals[f"SIG{sent}"])
    told, _ = recorder.communicate(timeout=300)
    assert recorder.returncode == 3
    assert told.startswith("out.parquet: ")
    assert told.endswith("which ended with status 3\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet"]


def test_a_program_that_outlives_a_sigterm_is_killed_and_its_recording_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "GRACE", 0.2)
    flag = tmp_path / "ready"
    script = f"trap '' TERM; echo > {flag}; while :; do :; done"

    def ask():
        wait_until(flag.exists)
        os.kill(os.getpid(), signal.SIGTERM)

    asker = threading.Thread(target=ask)
    asker.start()
    ended = record.record(["sh", "-c", script], tmp_path / "out.parquet")
    asker.join()
    assert ended.status == -signal.SIGKILL
    assert ended.trace.info.events > 0
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_environment_makes_a_program_record_itself(build, tmp_path):
    folder = tmp_path / "recordings"
    refused = heapfit("record", "--environment", folder, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "is not a folder (create it, writable by the program's user)" in refused.stderr
    folder.mkdir()
    printed = heapfit("record", "--environment", "recordings", cwd=tmp_path)
    variables = dict(line.split("=", 1) for line in printed.stdout.splitlines())
    assert variables == {"LD_PRELOAD": str(preload.LIBRARY), "HEAPFIT_RECORD": str(folder)}
    program = [build("deaths"), "10", "_exit"]
    (tmp_path / "here").symlink_to(program[0])
    named = heapfit("record", "--environment", "recordings", "--", "./here", cwd=tmp_path)
    assert named.stdout == printed.stdout
    subprocess.run(program, env={**os.environ, **variables}, check=True)
    (path,) = recordings(folder)
    assert heapfit("import", path, "-o", "t.parquet", cwd=tmp_path).returncode == 0
    assert Trace.open(tmp_path / "t.parquet").info.events == 10
    assert heapfit("record", cwd=tmp_path).returncode == 2


# ---- why recordings end
FLAGS = ("-O0", "-fno-builtin", "-w")


@pytest.fixture(scope="module")
def parting(tmp_path_factory):
    return compile_c(PROGRAMS / "parting.c", tmp_path_factory.mktemp("parting") / "parting")


def compile_c(source, program, *options, compiler="cc"):
    subprocess.run([compiler, *FLAGS, source, *options, "-o", program], check=True)
    return program


def compile_text(text, program, *options, compiler="cc", ending=".c"):
    source = program.with_suffix(ending)
    source.write_text(text)
    return compile_c(source, program, *options, compiler=compiler)


def hidden(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_daemon_is_named_and_its_recording_goes_on(parting, tmp_path):
    (flag := tmp_path / "flag").touch()
    command = [str(parting), "daemon", str(flag)]
    recording = record.record(command, tmp_path / "out.parquet")
    assert recording.trace.info.events == 2
    (survivor,) = recording.survivors
    assert survivor.name == "parting"
    flag.unlink()
    while Path(f"/proc/{survivor.process}/environ").exists() and not is_zombie(survivor.process):
        time.sleep(0.01)
    (raw,) = survivor.recordings.parent.glob(survivor.recordings.name)
    assert import_file(raw, tmp_path / "daemon.parquet").info.events == 20


def is_zombie(process):
    return ") Z" in Path(f"/proc/{process}/stat").read_text()


def test_children_of_a_parent_that_asks_for_nothing_are_kept(parting, tmp_path):
    command = [str(parting), "child"]
    recording = record.record(command, tmp_path / "out.parquet", keep_children=True)
    assert recording.trace is None
    assert [one.info.events for one in recording.children] == [20]
    assert not hidden(tmp_path)
    with pytest.raises(HeapfitError, match=r"1 other process did .* kept: heapfit import"):
        record.record(command, tmp_path / "out.parquet")
    (raw,) = hidden(tmp_path)
    (wire,) = raw.glob("*.wire")
    assert import_file(wire, tmp_path / "child.parquet").info.events == 20


def test_a_program_with_its_own_malloc_is_named(tmp_path):
    own = compile_c(PROGRAMS / "parting.c", tmp_path / "own", "-DOWN_MALLOC")
    with pytest.raises(HeapfitError, match=r"own: brings its own malloc"):
        record.record([str(own), "own"], tmp_path / "out.parquet")
    assert not hidden(tmp_path)


def test_an_alignment_that_no_region_has_costs_one_request_not_the_recording(tmp_path):
    text = """#include <stdlib.h>
int main(void) { void *wide = aligned_alloc(1 << 25, 1 << 25); wide = realloc(wide, 1 << 24);
                 for (int i = 0; i < 50; i++) free(malloc(i + 1)); free(wide); return 0; }
"""
    program = compile_text(text, tmp_path / "wide")
    recording = record.record([str(program)], tmp_path / "out.parquet")
    assert recording.trace.info.events == 100
    assert recording.trace.info.notes == ("1 request for an alignment above 16 MiB left out.",)


def test_libstdcxxs_emergency_pool_is_left_out(tmp_path):
    """The same size asked for by the program itself stays."""
    text = "#include <cstdlib>\nint main() { delete new long; free(malloc(72704)); }\n"
    program = compile_text(text, tmp_path / "cpp", compiler="c++", ending=".cpp")
    recording = record.record([str(program)], tmp_path / "out.parquet")
    sizes = next(recording.trace.batches(["size"]))["size"].tolist()
    assert sizes == [8, 0, 72704, 0]
    assert "emergency pool for exceptions" in recording.trace.info.notes[0]


def test_a_python_program_is_told_of_its_arenas_and_how_to_see_them(tmp_path, monkeypatch):
    script = "import time; kept = [[i] for i in range(100_000)]; time.sleep(0.3)"
    command = [os.path.realpath(sys.executable), "-S", "-c", script]
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    seen = record.record(command, tmp_path / "arenas.parquet")
    assert "MB resident: CPython's own arenas (PYTHONMALLOC=malloc" in seen.unseen
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    all_seen = record.record(command, tmp_path / "malloc.parquet")
    assert all_seen.unseen is None
    assert all_seen.trace.info.events > 100_000 > seen.trace.info.events


def test_memory_that_a_program_maps_itself_is_counted(tmp_path):
    text = """#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) { char *own = mmap(0, 20 << 20, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                 memset(own, 1, 20 << 20); free(malloc(10)); usleep(300000); return 0; }
"""
    program = compile_text(text, tmp_path / "mapped")
    unseen = record.record([str(program)], tmp_path / "out.parquet").unseen
    assert unseen.startswith("Not recorded: 2")
    assert "memory that the program mapped itself" in unseen


@pytest.mark.parametrize(
    ("mapped", "name"),
    [
        ("libjvm.so", "Java's heap"),
        ("libcoreclr.so", ".NET's heap"),
        ("libmonosgen-2.0.so.1", "Mono's heap"),
        ("libnode.so.1", "V8's heap"),
        ("beam.smp", "Erlang's carriers (+Mea min"),
        ("php8.2", "PHP's own heap (USE_ZEND_ALLOC=0"),
    ],
)
def test_runtimes_are_known_by_what_they_map(mapped, name):
    watch = Watch(1, 20 << 20, 20 << 20, None, frozenset(["libc.so.6", mapped]))
    assert name in describe_unseen(watch, 1 << 20)
    assert describe_unseen(watch, 20 << 20) is None


def test_sanitizers_are_named_before_the_program_runs(tmp_path):
    text = "#include <stdlib.h>\nint main(void) { free(malloc(1)); }\n"
    for name in ("address", "thread", "leak", "memory"):
        compiler = "clang" if name == "memory" else "cc"
        program = compile_text(text, tmp_path / name, f"-fsanitize={name}", compiler=compiler)
        with pytest.raises(HeapfitError, match=f"is built with -fsanitize={name}"):
            record.record([str(program)], tmp_path / "out.parquet")


def test_a_go_program_is_known_by_its_note(tmp_path):
    text = r"""__asm__(".pushsection .note.go.buildid, \"a\", @note\n.long 4, 4, 4\n"
        ".asciz \"Go\\0\"\n.long 0\n.popsection");
int main(void) { return 0; }
"""
    program = compile_text(text, tmp_path / "go", "-static")
    with pytest.raises(HeapfitError, match="go: is a Go program, whose heap is Go's own"):
        record.record([str(program)], tmp_path / "out.parquet")


def test_a_program_that_ends_in_an_exec_of_one_that_cannot_be_recorded_says_so(
    tmp_path, monkeypatch
):
    text = "#include <unistd.h>\nint main(void) { usleep(300000); return 0; }\n"
    program = compile_text(text, tmp_path / "static", "-static")
    assert "is statically linked" in explain_obstacle(read_executable(program))
    unseen = record.record(["sh", "-c", f"exec {program}"], tmp_path / "out.parquet").unseen
    assert f"{program}, which it became by exec, is statically linked" in unseen
    brief = compile_text("int main(void) { return 0; }\n", tmp_path / "brief", "-static")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")  # too short to be looked at
    unseen = record.record(["sh", "-c", f"exec {brief}"], tmp_path / "out.parquet").unseen
    assert f"{brief}, which it became by exec, is statically linked" in unseen


def test_a_program_that_an_exec_starts_without_the_recorder_is_named(tmp_path):
    command = ["env", "-u", "LD_PRELOAD", "sleep", "0.1"]
    unseen = record.record(command, tmp_path / "out.parquet").unseen
    assert "sleep, which it became by exec, was started without the recorder" in unseen


def test_a_child_that_is_started_without_the_recorder_is_named(tmp_path):
    command = ["sh", "-c", "sleep 0.2; env -u LD_PRELOAD sleep 0.3; true"]
    recording = record.record(command, tmp_path / "out.parquet", keep_children=True)
    assert recording.children, "the first sleep"
    assert re.fullmatch(r"Not recorded: sleep \(\d+\): started without .*", recording.unseen)


def test_blocks_of_a_library_that_is_closed_again_are_recorded(tmp_path):
    text = "#include <stdlib.h>\nvoid *take(void) { return malloc(333); }\n"
    library = compile_text(text, tmp_path / "library.so", "-shared", "-fPIC")
    program = compile_text(
        "#include <dlfcn.h>\n#include <stdlib.h>\nint main(void) {\n"
        "    for (int i = 0; i < 3; i++) {\n"
        f'        void *opened = dlopen("{library}", RTLD_NOW);\n'
        '        void *block = ((void *(*)(void))dlsym(opened, "take"))();\n'
        "        if (dlclose(opened) != 0) return 1;\n        free(block);\n    }\n"
        "    free(malloc(444));\n    return 0;\n}\n",
        tmp_path / "opens",
    )
    recorded = record.record([str(program)], tmp_path / "out.parquet")
    sizes = pq.read_table(recorded.trace.path)["size"].to_pylist()
    assert recorded.status == 0
    assert (sizes.count(333), sizes.count(444)) == (3, 1)


@pytest.mark.parametrize("has_musl", [shutil.which("musl-gcc") is not None])
def test_a_program_of_musl_has_a_recorder_of_its_own(has_musl, tmp_path, monkeypatch):
    """Without musl-gcc an interpreter's name is enough to say what is missing."""
    text = "#include <stdlib.h>\nint main(void) { free(realloc(malloc(3), 9)); return 0; }\n"
    compiler = "musl-gcc" if has_musl else "cc"
    options = () if has_musl else ("-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1",)
    program = compile_text(text, tmp_path / "small", *options, compiler=compiler)
    assert preload.library_for(program) == preload.LIBRARY_MUSL
    if preload.LIBRARY_MUSL.exists() and has_musl:
        trace = record.record([str(program)], tmp_path / "out.parquet").trace
        assert next(trace.batches(["size"]))["size"].tolist() == [3, 9, 0]
    monkeypatch.setattr(preload, "LIBRARY_MUSL", tmp_path / "none")
    with pytest.raises(HeapfitError, match=r"is a program of musl, .* \(install musl-gcc"):
        record.record([str(program)], tmp_path / "out.parquet")


# ---- what fails

PAIRS = 2000  # of a request and its free
IS_LONG = os.environ.get("HEAPFIT_ALL_FAILURES") == "1"
KINDS = ("kill", "taken", "interrupt", "folder")[
    : 4 if IS_LONG else 2
]  # what happens, at any moment
TRIES = 25 if IS_LONG else 1  # of each kind


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """A program that makes a file as its last act."""
    source = Path(__file__).with_name("programs") / "marked.c"
    program = tmp_path_factory.mktemp("marked") / "marked"
    subprocess.run(["cc", "-O0", "-fno-builtin", source, "-o", program], check=True)
    return program


def raw_recordings(folder):
    return list(folder.glob(".*/*.wire"))


def happen(kind, recorder, output):
    if kind == "kill":
        recorder.kill()
    elif kind == "interrupt":
        recorder.send_signal(signal.SIGINT)
    elif not output.exists():
        output.write_text("somebody's") if kind == "taken" else output.mkdir()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", range(TRIES))
def test_no_recording_is_lost_whatever_happens_and_when(marked, tmp_path, kind, turn):
    output, end = tmp_path / "out.parquet", tmp_path / "end"
    words = ["record", "-o", output, "--", marked, str(PAIRS), end]
    recorder = subprocess.Popen(
        [sys.executable, "-m", "heapfit", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    drawn = random.Random(f"{kind} {turn}")
    until = time.monotonic() + 60
    while not end.exists() and time.monotonic() < until and drawn.random() > 0.002:
        time.sleep(0.002)
    time.sleep(drawn.random() * 0.1)
    happen(kind, recorder, output)
    _, said = recorder.communicate(timeout=60)
    if not end.exists() and not raw_recordings(tmp_path):
        return  # the program was not begun
    while not end.exists():  # it runs on where its recorder was killed
        time.sleep(0.01)
    raw = raw_recordings(tmp_path)
    if raw:
        assert kind == "kill" or f".{output.stem}-" in said
        made = import_file(raw[0], tmp_path / "again.parquet")
    else:
        made = Trace.open(output)
    assert made.info.events == 2 * PAIRS


@pytest.mark.parametrize("error", [HeapfitError("No space left on device"), KeyboardInterrupt()])
def test_a_trace_that_cannot_be_written_leaves_the_raw_recording(
    marked, tmp_path, monkeypatch, error
):
    def fail(*_):
        raise error

    monkeypatch.setattr(record, "import_file", fail)
    with pytest.raises(type(error)) as raised:
        record.record([str(marked), str(PAIRS), str(tmp_path / "end")], tmp_path / "out.parquet")
    (raw,) = raw_recordings(tmp_path)
    if isinstance(error, HeapfitError):
        assert f"; kept: heapfit import {raw.parent}/*.wire -o " in str(raised.value)
    assert import_file(raw, tmp_path / "again.parquet").info.events == 2 * PAIRS


def test_an_output_that_cannot_be_is_found_before_the_program_runs(marked, tmp_path):
    end = tmp_path / "end"
    for name, reason in (("x" * 256, "File name too long"), ("none/x", "folder does not exist")):
        with pytest.raises(HeapfitError, match=reason):
            record.record([str(marked), "1", str(end)], tmp_path / name)
    (tmp_path / "mine.parquet").write_text("somebody's")
    with pytest.raises(HeapfitError, match="not overwritten"):
        record.record([str(marked), "1", str(end)], tmp_path / "mine.parquet")
    assert not end.exists()
    assert [one.name for one in tmp_path.iterdir()] == ["mine.parquet"]


def test_names_that_are_no_utf_8_are_written_and_read(marked, tmp_path):
    output = tmp_path / os.fsdecode(b"caf\xe9.parquet")
    made = record.record([str(marked), str(PAIRS), str(tmp_path / "end")], output).trace
    assert Trace.open(output).info == made.info
    assert len(Trace.open(output).events()) == 2 * PAIRS
