# SPDX-License-Identifier: Apache-2.0
"""`heapfit record`: nothing is lost, nothing impossible appears, the program runs as without it.

The recorded programs are those of the folder programs/, compiled here with cc.
"""

import os
import platform
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import preload, record
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
    assert child.info.notes == (
        "Blocks from before the recording (a parent process's, or while it slept) are unknown.",
        "1 free of an unknown id dropped.",
    )


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


def test_a_file_that_cannot_grow_ends_the_recording_not_the_program(build, tmp_path):
    limit = PAGE + (1 << 18)
    ended = subprocess.run(
        [build("deaths"), str(EVENTS), "_exit"],
        env=preloaded(tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=False,
    )
    assert ended.returncode == 0
    (path,) = recordings(tmp_path)
    reader, columns = strictly_read(path)
    kept = len(columns["op"])
    assert (1 << 18) // MOST_BYTES < kept < EVENTS
    assert reader.notes == [
        f"The recording ended early (File too large): {EVENTS - kept} later events are missing."
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
        f"{asked + 10 - kept} later events are missing.",
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


def test_a_filter_that_was_not_seen_being_set_is_named_all_the_same(tmp_path):
    """The signal alone tells; the filter came from elsewhere."""
    script = "import os, signal; os.kill(os.getpid(), signal.SIGSYS)"
    out = tmp_path / "out.parquet"
    done = heapfit("record", "-o", out, "--", sys.executable, "-c", script)
    assert "seccomp filter that the recorder did not see being set" in done.stderr


def test_room_that_cannot_be_had_ends_the_recording_not_the_program(build, tmp_path):
    limit = PAGE + (1 << 18)
    ended = subprocess.run(
        [build("confined"), "10", str(EVENTS), "filter"],
        env=preloaded(tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=False,
    )
    assert ended.returncode == 0
    (path,) = recordings(tmp_path)
    reader, columns = strictly_read(path)
    assert (1 << 17) // MOST_BYTES < len(columns["op"]) < EVENTS
    assert "confined itself" in reader.notes[0]


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


def test_sites_are_the_same_in_every_run(build, tmp_path):
    sites = []
    for run in ("a", "b"):
        command = [str(build("malloc_family"))]
        recording = record.record(command, tmp_path / f"{run}.parquet")
        sites.append(next(recording.trace.batches(["site"]))["site"].tolist())
    assert sites[0] == sites[1]
    assert len(set(sites[0])) > 10
    assert 0 not in sites[0]


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


def test_ctrl_c_ends_the_program_and_keeps_its_recording(tmp_path):
    script = "trap 'exit 3' INT; echo ready; while :; do :; done"
    recorder = subprocess.Popen(
        [sys.executable, "-m", "heapfit", "record", "-o", "out.parquet", "--", "sh", "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert recorder.stdout.readline() == "ready\n"
    os.killpg(recorder.pid, signal.SIGINT)
    told, _ = recorder.communicate(timeout=300)
    assert recorder.returncode == 3
    assert told.endswith("which ended with status 3\n")


def test_a_sigterm_is_passed_on_and_what_was_recorded_is_kept(tmp_path):
    script = "trap 'exit 4' TERM; echo ready; while :; do :; done"
    recorder = subprocess.Popen(
        [sys.executable, "-m", "heapfit", "record", "-o", "out.parquet", "--", "sh", "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert recorder.stdout.readline() == "ready\n"
    recorder.terminate()
    told, _ = recorder.communicate(timeout=300)
    assert recorder.returncode == 4
    assert told.startswith("out.parquet: ")
    assert told.endswith("which ended with status 4\n")
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
