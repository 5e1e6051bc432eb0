# SPDX-License-Identifier: Apache-2.0
"""`record --watch`: recordings that are followed while they are made."""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from frames import Recorder

from heapfit import _engine
from heapfit.comparison.heap_map import ReplaySubject, map_live, map_of
from heapfit.comparison.incumbents.heap import Heap
from heapfit.drawing.html import render
from heapfit.errors import HeapfitError
from heapfit.importers import import_frames
from heapfit.importers.followed import FollowedFrames, FollowedWire
from heapfit.importers.record import record
from heapfit.plan.plan import Plan
from heapfit.results.live import live_page, serve_live
from heapfit.results.packed_map import pack_map
from heapfit.trace.live import LiveHeap
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from program import run_heapfit

# Two threads that free each other's blocks; 3 x 4,000 blocks stay.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *_Atomic shared[512];
static void *run(void *seed) {
    unsigned state = (unsigned)(size_t)seed;
    for (int i = 0; i < 30000; i++) {
        state = state * 1103515245 + 12345;
        void *old = __atomic_exchange_n(&shared[state >> 8 & 511], malloc(state >> 20 & 255), 5);
        free(old);
        if (i % 300 == 0) { usleep(3000); void *volatile one = aligned_alloc(64, 64); free(one); }
    }
    return NULL;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, run, (void *)1);
    run((void *)2);
    pthread_join(other, NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "program.c", "-o", "program", "-lpthread"], cwd=folder, check=True)
    return folder / "program"


def joined(batches):
    return {name: np.concatenate([one[name] for one in batches]) for name in batches[0]}


def test_what_is_followed_is_what_is_recorded(program, tmp_path):
    plan, seen, found = Plan("tlsf", {"alignment": 8}), set(), []
    heap = LiveHeap(plan)

    @contextmanager
    def listen(followed):
        end = time.monotonic() + 5
        while len(seen) < 4 and time.monotonic() < end:
            heap.look(followed)
            seen.add(followed.reader.events)
        yield
        found.append(heap.look(followed))
        assert heap.look(followed)[0] == 0, "no growth"
        found.append((followed.reader, followed.lost))
        found.append(joined(list(followed.columns())))
        followed.close()

    trace = record([str(program)], tmp_path / "t.parquet", listener=listen).trace
    (_, room, hole), (reader, lost), columns = found
    assert len(seen) > 2, "it grew while it was looked at"
    for name, values in joined(list(trace.batches(tuple(columns)))).items():
        assert (values == columns[name]).all(), name
    profile = profile_trace(trace)
    live = profile.events, profile.never_freed_bytes, profile.never_freed, profile.u_max
    assert (reader.events, reader.live_bytes, reader.live_blocks, reader.live_peak) == live
    assert lost == 0
    replay = _engine.Replay(plan.engine(), (1 << 32) - 4096, base_alignment=heap.base)
    replay.feed(trace.events())
    assert room == replay.footprint > profile.u_max
    assert 0 < hole <= room - profile.never_freed_bytes
    whole = SimpleNamespace(look=lambda: [trace.events()], reader=reader, lost=0)
    assert LiveHeap(plan, region=8192).look(whole) == (reader.live_bytes, 8192, None), (
        "out of memory"
    )


def test_the_page_has_the_map_that_a_report_has_of_these_events(program, tmp_path):
    heap, maps = LiveHeap(Plan("tlsf", {"alignment": 8})), []
    assert "has begun" in render(live_page(None, "tlsf"))

    @contextmanager
    def listen(followed):
        yield
        heap.look(followed)
        maps.append(map_live(heap))
        with serve_live(heap, 0) as port:
            require_served(port)

    trace = record([str(program)], tmp_path / "t.parquet", listener=listen).trace
    shown = load_trace(trace)
    region = maps[0].heaps[0].own.region
    assert region > 65536 > profile_trace(trace).u_max / 2, "it grew with the recording"
    own = Heap("tlsf", heap.plan)
    subject = ReplaySubject.of_heap("tlsf", own, shown, (region, heap.base))
    assert pack_map(maps[0]) == pack_map(map_of(shown, [subject]))
    with serve_live(heap, 0) as port, pytest.raises(HeapfitError, match="already in use"):
        serve_live(heap, port).__enter__()


def require_served(port):
    address = f"http://127.0.0.1:{port}/"
    with urllib.request.urlopen(address) as answer:
        assert answer.headers["Refresh"]
        page = answer.read().decode()
        assert 'id="heap-map-canvas-0"' in page
        assert "B live in" in page, "the terminal's line"
    foreign = urllib.request.Request(address, headers={"Host": "example.org"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(foreign)


# Fills a heap whose map takes a while, and ends once it is told to.
ENDING = """
#include <stdlib.h>
#include <unistd.h>
static void *blocks[1 << 12];
int main(int count, char **words) {
    for (unsigned i = 0, state = 1; i < 1 << 17; i++) {
        state = state * 1103515245 + 12345;
        void **one = &blocks[state >> 8 & 4095];
        free(*one);
        *one = malloc(state >> 20 & 1023);
    }
    while (access(words[1], F_OK) != 0) usleep(1000);
    if (count > 2) abort();
    return 7;
}
"""


@pytest.fixture(scope="module")
def ending(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ending")
    (folder / "ending.c").write_text(ENDING)
    subprocess.run(["cc", "-O1", "ending.c", "-o", "ending"], cwd=folder, check=True)
    return folder / "ending"


@pytest.mark.parametrize(("words", "status"), [((), 7), (("abort",), 134)])
def test_requests_in_flight_neither_change_the_status_nor_hold_it_up(
    words, status, ending, tmp_path
):
    """Those who wait for the page, send nothing, or take nothing of it."""
    command = [Path(sys.executable).parent / "heapfit", "record", "--page", "0", "--"]
    with (
        ExitStack() as stack,
        subprocess.Popen(
            [*command, ending, tmp_path / "end", *words],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as running,
    ):
        port = int(re.search(r"127\.0\.0\.1:(\d+)/", running.stderr.readline())[1])
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(16)
        ]
        for client in clients[:-4]:
            client.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        time.sleep(0.2)
        (tmp_path / "end").touch()
        said = running.stderr.read()
        assert running.wait(60) == status, said
        assert "Traceback" not in said
        answers = [client.recv(64)[:12] for client in clients]
        assert set(answers) <= {b"", b"HTTP/1.0 200", b"HTTP/1.0 503"}
        assert set(answers[-4:]) == {b""}
    assert (tmp_path / "ending.parquet").is_file()


def test_of_the_programs_that_a_process_becomes_the_last_one_s_file_is_open(tmp_path):
    def opened():
        paths = [one.readlink() for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
        return [path.name for path in paths if path.parent == tmp_path]

    followed, header = (
        FollowedWire(tmp_path, os.getpid()),
        struct.pack("<8s4xII", b"hfitwire", 20, 64),
    )
    is_open = []
    for image in range(3):
        wire = tmp_path / f"{os.getpid()}-{image}.wire"
        for first in (b"", bytes(64), b"\0\0\0\0\1"):  # a tag that is not 0 begins one
            wire.write_bytes(header + first)
            assert list(followed.look()) == []
            is_open = [wire.name] if any(first) else is_open
            assert opened() == is_open
    followed.close()
    assert opened() == []


@pytest.mark.parametrize("is_damaged", [False, True])
def test_frames_are_followed_where_a_log_is_cut(tmp_path, is_damaged):
    recorder = Recorder()
    for i in range(300):
        recorder.alloc(0x20000000 + 64 * i, 24, i)
    content = recorder.log()
    if is_damaged:  # in the last frame but one or two
        content = content[:-100] + bytes([content[-100] ^ 1]) + content[-99:]
    log, followed = tmp_path / "log", FollowedFrames(tmp_path / "none", tmp_path / "log")
    batches = list(followed.look())
    for cut in (10, 500, len(content)):
        log.write_bytes(content[:cut])
        batches += followed.look()
    stored = import_frames(log, tmp_path / "t.parquet")
    assert len(batches) == 2
    count = sum(map(len, batches))
    assert count == followed.reader.events == len(joined(list(followed.columns()))["op"])
    assert count == stored.info.events
    assert followed.lost == 300 - count
    assert is_damaged == (count < 300)


def test_a_line_a_second_is_printed_and_the_recording_kept(program, tmp_path):
    done = run_heapfit(
        *("record", "--watch", "-o", "t.parquet", "--", program),
        folder=tmp_path,
        environment={"PATH": os.environ["PATH"]},
    )
    lines = [line for line in done.stderr.splitlines() if "largest hole" in line]
    assert done.returncode == 0
    assert lines
    figures = r"\d+ s: [\d,]+ B live in [\d,]+ blocks, [+-][\d,]+ B; tlsf needs [\d,]+ B, "
    assert all(re.fullmatch(figures + r"largest hole [\d,]+ B", line) for line in lines)
    assert (tmp_path / "t.parquet").is_file()


SLEEPER = """
#include <signal.h>
#include <stdlib.h>
static void *kept[100];
int main(void) {
    for (int i = 0; i < 100; i++) { kept[i] = malloc(100); }
    raise(SIGUSR2);
    for (int i = 0; i < 50; i++) { free(kept[i]); }
    for (int i = 0; i < 20; i++) { kept[i] = malloc(40); }
    kept[0] = realloc(kept[0], 80);
    kept[60] = realloc(kept[60], 200); /* a block of before */
    for (int i = 0; i < 10; i++) { free(kept[i]); }
    return 0;
}
"""


def test_a_recorder_sleeps_until_its_signal_and_counts_blocks_of_before(tmp_path, monkeypatch):
    (tmp_path / "sleeper.c").write_text(SLEEPER)
    words = ["cc", "-O0", "sleeper.c", "-o", "sleeper"]
    subprocess.run(words, cwd=tmp_path, check=True)
    monkeypatch.setenv("HEAPFIT_SIGNAL", str(int(signal.SIGUSR2)))
    trace = record([str(tmp_path / "sleeper")], tmp_path / "t.parquet").trace
    assert trace.info.events == 20 + 1 + 10
    *notes, freed = trace.info.notes
    assert notes == [
        "Blocks from before the recording (a parent process's, or while it slept) are unknown.",
        "1 resize of an unknown id dropped.",
    ]
    assert freed.startswith("50 frees of unknown or freed ids dropped, the first of ")
