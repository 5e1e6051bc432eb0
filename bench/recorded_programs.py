#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of all kinds, recorded whole or refused by name; docs/evidence/recording.md has.

Each runs once as under `heapfit record --children`, and in the same run a library of its own counts
the calls that reach the heap (COUNTER). A program is recorded whole if its traces, with
what their notes say was left out, hold as many events. Where the heap is not malloc's, or a process
goes on, the reason must be named, too. Programs that are not installed are left out and counted.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from page_tables import add_option, write_result

from heapfit.errors import HeapfitError
from heapfit.importers import import_file
from heapfit.importers.record import ProgramRecording, Survivor, record
from heapfit.trace.stored import Trace

ROOT = Path(__file__).parents[1]
COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static long *count, nowhere, owner;
static char early[4096]; /* of what dlsym asks for */
static size_t early_used;
/* Volatile, as dlsym is declared to call nothing of ours. */
#define LOCAL static __thread volatile int __attribute__((tls_model("initial-exec")))
LOCAL is_finding; /* inside dlsym */
LOCAL inside; /* the next heap, whose calls of ours are no requests: musl's calloc calls malloc */
static void open_count(long process) {
    const char *folder = getenv("COUNT_FOLDER");
    char path[512];
    int file = -1, error = errno;
    count = &nowhere;
    for (int i = 0; folder != NULL && file < 0 && i < 1000; i++) {
        snprintf(path, sizeof path, "%s/%ld-%d", folder, process, i);
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (file >= 0 && ftruncate(file, sizeof *count) == 0) {
        void *mapped = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        count = mapped == MAP_FAILED ? count : mapped;
    }
    close(file);
    errno = error;
}
static void add(int is_event) {
    long process = syscall(SYS_getpid);
    if (!is_event || inside) return;
    if (__atomic_exchange_n(&owner, process, __ATOMIC_ACQ_REL) != process) open_count(process);
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}
static void *find(const char *name) {
    is_finding++;
    void *found = dlsym(RTLD_NEXT, name);
    is_finding--;
    return found;
}
#define CALL(result, name, ...)                                                             \
    static void *next;                                                                             \
    if (next == NULL) next = find(#name);                                                          \
    inside++;                                                                                      \
    result((__typeof__(name) *)next)(__VA_ARGS__);                                                 \
    inside--;
static void *serve_early(size_t size) {
    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof early ? early + early_used - ((size + 15) & ~(size_t)15) : NULL;
}
void *malloc(size_t size) {
    if (is_finding) return serve_early(size);
    CALL(void *block =, malloc, size)
    add(block != NULL);
    return block;
}
void *calloc(size_t count_of, size_t size) {
    if (is_finding) return serve_early(count_of * size);
    CALL(void *block =, calloc, count_of, size)
    add(block != NULL);
    return block;
}
void *realloc(void *old, size_t size) {
    CALL(void *block =, realloc, old, size)
    add(block != NULL || (old != NULL && size == 0));
    return block;
}
void free(void *block) {
    if ((char *)block >= early && (char *)block < early + sizeof early) return;
    add(block != NULL);
    if (is_finding) return;
    CALL(, free, block)
}
void *aligned_alloc(size_t alignment, size_t size) {
    CALL(void *block =, aligned_alloc, alignment, size)
    add(block != NULL);
    return block;
}
extern void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
    CALL(void *block =, memalign, alignment, size)
    add(block != NULL);
    return block;
}
int posix_memalign(void **block, size_t alignment, size_t size) {
    CALL(int error =, posix_memalign, block, alignment, size)
    add(error == 0);
    return error;
}
void *valloc(size_t size) {
    CALL(void *block =, valloc, size)
    add(block != NULL);
    return block;
}
"""
CHURN = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *churn(void *none) {
    void *slots[64] = {0};
    for (unsigned i = 0, random = 1; i < 20000; i++) {
        random = random * 1103515245u + 12345u;
        void **slot = &slots[random >> 16 & 63];
        free(*slot);
        *slot = random >> 20 & 1 ? malloc(random >> 8 & 511) : calloc(3, random >> 8 & 63);
        if (i % 7 == 0) *slot = realloc(*slot, 1 + (random >> 9 & 1023));
    }
    return none;
}
int main(int words, char **word) {
    const char *way = words > 1 ? word[1] : "";
    pthread_t threads[8];
    churn(NULL);
    for (int i = 0; i < 8 && !strcmp(way, "threads"); i++) {
        pthread_create(&threads[i], NULL, churn, NULL);
    }
    for (int i = 0; i < 8 && !strcmp(way, "threads"); i++) pthread_join(threads[i], NULL);
    if (!strcmp(way, "fork") && fork() == 0) churn(NULL);
    if (!strcmp(way, "outlived") && fork() == 0) {
        setsid();
        for (int i = 0; i < 30; i++) usleep(100000);
        churn(NULL);
    }
    if (!strcmp(way, "exec")) execl(word[0], word[0], "threads", NULL);
    if (!strcmp(way, "crash")) abort();
    if (!strcmp(way, "_exit")) _exit(0);
    return 0;
}
"""
NGINX = "error_log stderr; events {} http { access_log off; server { listen 127.0.0.1:"
LISTS = "System.Collections.Generic.List<byte[]>"
FILES = {  # that programs need, in a folder of their own
    "count.c": COUNTER,
    "churn.c": CHURN,
    "nginx.conf": NGINX + "17003; } } pid nginx.pid;",
    "daemon.conf": NGINX + "17004; } } pid daemon.pid;",
    "lighttpd.conf": 'server.document-root = "/usr/share"\nserver.port = 17007\n',
    "haproxy.cfg": "defaults\n mode http\n timeout connect 1s\n timeout client 1s\n"
    " timeout server 1s\nfrontend f\n bind 127.0.0.1:17009\n",
    "rules.mk": "all:\n\techo made\n\ttrue\n",
    "quiet.c": "#include <unistd.h>\nint main(void) { usleep(400000); return 0; }\n",
    "own.c": "#include <stddef.h>\nstatic char room[1 << 20], *at = room;\n"
    "void *malloc(size_t n) { return (at += (n + 15) & ~15ul) - ((n + 15) & ~15ul); }\n"
    "void free(void *p) { (void)p; }\nint main(void) { free(malloc(9)); return 0; }\n",
    "map.cpp": "#include <map>\nint main() { std::map<int, int> m; while (m.size() < 999) "
    "m[(int)m.size()] = 1; }\n",
    "texts.rs": "fn main() { drop((0..999).map(|i| i.to_string()).collect::<Vec<_>>()); }\n",
    "texts.tcl": "for {set i 0} {$i < 9999} {incr i} {set a($i) x$i}\n",
    "texts.ml": "let () = ignore (List.init 300000 string_of_int)\n",
    "cgo.go": 'package main\n\nimport "C"\nimport "time"\n\nvar kept [][]byte\n\nfunc main() {\n'
    "\tfor i := 0; i < 200; i++ {\n\t\tb := make([]byte, 1<<17)\n\t\tfor j := range b {\n"
    "\t\t\tb[j] = 1\n\t\t}\n\t\tkept = append(kept, b)\n\t}\n\ttime.Sleep(time.Second)\n}\n",
    "arrays.f90": "program p\n real, allocatable :: a(:)\n integer :: i\n do i = 1, 99\n"
    "  allocate(a(i))\n  deallocate(a)\n end do\nend program\n",
    "Main.java": "class Main { static java.util.List<byte[]> kept = new java.util.ArrayList<>();\n"
    "public static void main(String[] words) throws Exception { for (int i = 0; i < 99; i++)\n"
    "kept.add(new byte[1 << 18]); Thread.sleep(500); } }\n",
    "main.cs": f"class P {{ static void Main() {{ var kept = new {LISTS}();\n"
    "for (int i = 0; i < 99; i++) { kept.Add(new byte[1 << 18]);\n"
    "for (int j = 0; j < 1 << 18; j += 99) kept[i][j] = 1; }\n"
    "System.Threading.Thread.Sleep(500); } }\n",
}
LEFT_OUT = re.compile(
    r"([\d,]+) (?:free|resize)s? of (?:an )?unknown|([\d,]+) requests? for an alignment|"
    r"libstdc\+\+'s emergency pool"
)
UNSEEN = re.compile(r"([\d,]+) blocks? taken as freed")
MOST_THREADS = 8  # of a program that a SIGTERM kills
COLUMNS = ("program", "outcome", "events", "told")
GOES_ON = "goes on"
STATIC, OWN, GO = "is statically linked", "brings its own malloc", "is a Go program"


@dataclass(frozen=True, slots=True)
class Program:
    """A program of one kind: how it is made and run, and what must be said of it."""

    kind: str
    command: str  # @ is the folder of what is made here
    told: str = ""  # of what is not recorded; "": nothing may be said
    make: str = ""
    load: str = ""  # what is run beside a server, which is ended by SIGTERM then
    environment: str = ""
    compiler: str = "cc"  # of the counter


def _churn(
    kind: str, told: str = "", how: str = "cc", *, way: str = "", libraries: str = ""
) -> Program:
    """A C program of ours, made in a way of its own, or one that ends in a way of its own."""
    name = re.sub(r"\W+", "-", kind)
    make = f"{how} -w -O1 -fno-builtin -pthread @/churn.c -o @/{name} "
    counter = how if how in ("musl-gcc", "cc -m32") else "cc"
    return Program(kind, f"@/{name} {way}", told, make + libraries, compiler=counter)


def _sanitized(name: str, compiler: str = "cc") -> Program:
    option = f"-fsanitize={name}"
    return _churn(
        f"built with {option}", f"is built with {option}", f"{compiler} {option} -Wl,--no-relax"
    )


SERVERS = (
    Program(
        "redis, over jemalloc",
        "redis-server --port 17001 --save ''",
        load="redis-benchmark -p 17001 -n 20000 -q -t set,lpush,lpop",
    ),
    Program("redis, a daemon", "redis-server --port 17002 --save '' --daemonize yes", GOES_ON),
    Program(
        "nginx, with a worker",
        "nginx -p @ -c @/nginx.conf -g 'daemon off;'",
        load="curl -s http://127.0.0.1:17003/",
    ),
    Program("nginx, a daemon", "nginx -p @ -c @/daemon.conf", GOES_ON),
    Program("mosquitto", "mosquitto -p 17005", load="mosquitto_pub -p 17005 -t a/b -m hello -r"),
    Program("memcached", "memcached -u root -p 17006 -l 127.0.0.1", load="sleep 1"),
    Program("lighttpd", "lighttpd -D -f @/lighttpd.conf", load="curl -s http://127.0.0.1:17007/"),
    Program("dnsmasq", "dnsmasq -k -p 17008 -u root --no-resolv --no-hosts", load="sleep 1"),
    Program("haproxy", "haproxy -db -f @/haproxy.cfg", load="sleep 1"),
)
TOOLS = (
    Program("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f @/key"),
    Program("ls", "ls -lR /etc/ssl"),
    Program("sort", "sort /etc/services"),
    Program("find", "find /usr/share/doc -name copyright -size +100k"),
    Program("tar", "tar cf /dev/null /etc/ssl"),
    Program("gawk", "gawk '{ n[$1]++ } END { print length(n) }' /etc/services"),
    Program("bash", "bash -c 'for i in 1 2 3 4 5; do x=$(echo $i | cat); done'"),
    Program("git", f"git -C {ROOT} log -n 50 --stat"),
    Program("sqlite3", "sqlite3 :memory: 'create table t(a); insert into t values(1), (2)'"),
    Program("openssl", "openssl speed -seconds 1 sha256"),
    Program("curl", "curl -s file:///etc/services"),
    Program("vim", "vim -es -c 'e /etc/services' -c 'q!'"),
    Program("gcc, and what it runs", "gcc -O2 -c @/quiet.c -o @/quiet.o"),
    Program("clang", "clang -O2 -c @/quiet.c -o @/quiet.o"),
    Program("make", "make -C @ -f rules.mk"),
)
LANGUAGES = (
    Program("Perl", "perl -e 'my %h; $h{$_} = \"x$_\" for 1..20000'"),
    Program("Lua", "lua5.4 -e 'local t = {} for i = 1, 20000 do t[i] = {i} end'"),
    Program("Tcl", "tclsh @/texts.tcl"),
    Program("Ruby", "ruby -e 'a = (1..200000).map { |i| i.to_s * 9 }; sleep 0.5'", "Ruby's heap"),
    Program(
        "PHP",
        "php -r '$a = []; for ($i = 0; $i < 300000; $i++) $a[] = \"x$i\"; sleep(1);'",
        "PHP's own heap (USE_ZEND_ALLOC=0",
    ),
    Program(
        "PHP over malloc",
        "php -r '$a = []; for ($i = 0; $i < 300000; $i++) $a[] = \"x$i\";'",
        environment="USE_ZEND_ALLOC=0",
    ),
    Program("Guile", "guile -c '(define l (iota 900000)) (usleep 500000)'", "Boehm's collector"),
    Program("OCaml", "ocaml @/texts.ml"),
    Program(
        "CPython",
        "python3 -S -c 'import time; kept = [[i] for i in range(200000)]; time.sleep(0.5)'",
        "CPython's own arenas (PYTHONMALLOC=malloc",
    ),
    Program(
        "CPython over malloc",
        "python3 -S -c 'kept = [[i] for i in range(20000)]'",
        environment="PYTHONMALLOC=malloc",
    ),
    Program(
        "Node.js",
        "node -e 'const a = []; for (let i = 0; i < 3e5; i++) a.push([i]); setTimeout(Map, 500)'",
        "V8's heap",
    ),
    Program("Java", "java -cp @ Main", "Java's heap", "javac -d @ @/Main.java"),
    Program("Mono", "mono @/main.exe", "Mono's heap", "mcs -out:@/main.exe @/main.cs"),
    Program(
        "Erlang",
        "erl -noshell -eval 'L = lists:seq(1, 900000), timer:sleep(500), length(L), halt().'",
        "Erlang's carriers (+Mea min",
    ),
    Program("Go", "go version", GO),
    Program("Go, linked to C", "@/cgo", "Go's heap", "go build -o @/cgo @/cgo.go"),
    Program("Rust", "@/texts", make="rustc -o @/texts @/texts.rs"),
    Program("Fortran", "@/arrays", make="gfortran -o @/arrays @/arrays.f90"),
    Program("C++", "@/map", make="c++ -O0 -o @/map @/map.cpp"),
)
ARCHIVES = f"/usr/lib/{os.uname().machine}-linux-gnu"
WAYS = (
    _churn("C"),
    _churn("C, eight threads", way="threads"),
    _churn("C, a forked child", way="fork"),
    _churn("C, ended by an abort", way="crash"),
    _churn("C, ended by _exit", way="_exit"),
    _churn("C, an exec", way="exec"),
    _churn("C, a child that outlives", GOES_ON, way="outlived"),
    _churn("static", STATIC, "cc -static"),
    _churn("static, position-independent", STATIC, "cc -static-pie"),
    Program("busybox", "/bin/busybox true", STATIC),
    _churn("32 bit", how="cc -m32"),
    _churn("32 bit, static", STATIC, "cc -m32 -static"),
    _churn("musl", how="musl-gcc"),
    _churn("musl, eight threads", how="musl-gcc", way="threads"),
    _churn("musl, static", STATIC, "musl-gcc -static"),
    _churn(
        "musl, 32 bit",
        "of musl and of another pointer size",
        "cc -m32 -Wl,--dynamic-linker=/lib/ld-musl-i386.so.1",
    ),
    Program("a malloc of its own", "@/own", OWN, "cc -w -fno-builtin -o @/own @/own.c"),
    _churn("jemalloc, a library", libraries="-ljemalloc"),
    _churn("tcmalloc, a library", libraries="-ltcmalloc"),
    _churn("mimalloc, a library", libraries="-lmimalloc"),
    _churn("jemalloc, linked in", OWN, libraries=f"{ARCHIVES}/libjemalloc.a -lm -lstdc++"),
    _churn("tcmalloc, linked in", OWN, libraries=f"{ARCHIVES}/libtcmalloc_minimal.a -lstdc++ -lm"),
    *map(_sanitized, ("address", "thread", "leak")),
    _sanitized("memory", "clang"),
    _sanitized("hwaddress", "clang"),
    Program(
        "a shell, then a static program by exec",
        "sh -c 'exec @/quiet'",
        STATIC,
        "cc -static -o @/quiet @/quiet.c",
    ),
    Program("a shell, then Go by exec", "sh -c 'exec go env GOROOT'", GO),
)
PROGRAMS = (*SERVERS, *TOOLS, *LANGUAGES, *WAYS)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one program."""

    program: Program
    events: int  # of its traces, with what was left out of them
    counted: int  # calls, by the counter
    said: str  # of what is not recorded
    unfinished: int  # calls that a kill may have left between the heap and the recorder

    @property
    def outcome(self) -> str:
        """whole; named, with what malloc saw of it whole; or what is wrong."""
        if not 0 <= self.counted - self.events <= self.unfinished:
            return f"{self.events - self.counted:+,} events"
        if not self.program.told:
            return "unexpected" if self.said else "whole"
        return "named" if self.program.told in self.said else "not named"


class Bench:
    """A folder in which programs are made, run and counted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._counts = folder / "counts"
        folder.chmod(0o755)  # for servers that give up rights
        for name, content in FILES.items():
            (folder / name).write_text(content)

    def prepare(self, program: Program) -> bool:
        """Makes a program; False if it, or what it is made by, is not installed."""
        if program.make:
            words = shlex.split(self._placed(program.make))
            if shutil.which(words[0]) is None:
                return False
            if subprocess.run(words, capture_output=True, check=False).returncode:
                return False
        return shutil.which(shlex.split(self._placed(program.command))[0]) is not None

    def judge(self, program: Program) -> Result:
        """Records a program, its calls counted in the same run."""
        shutil.rmtree(self._counts, ignore_errors=True)
        self._counts.mkdir()
        self._counts.chmod(0o777)
        variables = {"LD_PRELOAD": str(self._counter(program.compiler))}
        variables |= {"COUNT_FOLDER": str(self._counts)}
        variables |= dict(one.split("=") for one in program.environment.split())
        with _environment(variables) as plain, _loaded(program.load, plain), _silence():
            traces, said, unfinished = self._record(program)
        events = sum(one.info.events + left_out(one) for one in traces)
        counts = (one.read_bytes()[:8] for one in self._counts.iterdir())
        counted = sum(int.from_bytes(one, "little") for one in counts)
        return Result(program, events, counted, said, unfinished)

    def _record(self, program: Program) -> tuple[list[Trace], str, int]:
        """The traces, what is said of what they do not hold, and how many calls a kill met."""
        for old in self.folder.glob("out*.parquet"):
            old.unlink()
        words = shlex.split(self._placed(program.command))
        try:
            done = record(words, self.folder / "out.parquet", keep_children=True)
        except HeapfitError as error:
            return [], str(error), 0
        traces = [*([] if done.trace is None else [done.trace]), *done.children]
        for one in done.survivors:
            traces += self._outlive(one)
        return traces, _said(done), MOST_THREADS if done.status == -signal.SIGTERM else 0

    def _outlive(self, survivor: Survivor) -> Iterator[Trace]:
        """What a process records after its parent, once it has ended."""
        with suppress(ProcessLookupError):
            os.kill(survivor.process, signal.SIGTERM)
        while not _has_ended(survivor.process):
            time.sleep(0.05)
        folder = survivor.recordings.parent
        for path in folder.glob(survivor.recordings.name):
            yield import_file(path, self.folder / f"out{path.stem}.parquet")

    def _counter(self, compiler: str) -> Path:
        """The library that counts, for programs that a compiler makes."""
        library = self.folder / f"count-{compiler.replace(' ', '')}.so"
        if not library.exists():
            words = [
                *compiler.split(),
                "-w",
                "-O1",
                "-shared",
                "-fPIC",
                str(self.folder / "count.c"),
            ]
            subprocess.run([*words, "-fno-builtin", "-o", library], check=True)
        return library

    def _placed(self, words: str) -> str:
        return words.replace("@", str(self.folder))


def left_out(trace: Trace) -> int:
    """The calls that a trace's notes say are not in it, less the frees that nobody saw."""
    found = (match for note in trace.info.notes for match in LEFT_OUT.finditer(note))
    unseen = (match for note in trace.info.notes for match in UNSEEN.finditer(note))
    return sum(int((match[1] or match[2] or "1").replace(",", "")) for match in found) - sum(
        int(match[1].replace(",", "")) for match in unseen
    )


def _said(recording: ProgramRecording) -> str:
    notes = recording.trace.info.notes if recording.trace else ()
    early = (note for note in notes if "ended early" in note)
    goes_on = (f"{one.name} {GOES_ON}" for one in recording.survivors)
    return " ".join(filter(None, [recording.unseen, *goes_on, *early]))


def _has_ended(process: int) -> bool:
    try:
        return ") Z" in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[dict[str, str]]:
    """Sets variables; the result is the environment without them."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield before
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _silence() -> Iterator[None]:
    """Programs print to nowhere, and read nothing."""
    with ExitStack() as stack:
        nowhere = os.open(os.devnull, os.O_RDWR)
        stack.callback(os.close, nowhere)
        for one in (0, 1, 2):
            copy = os.dup(one)
            stack.callback(os.close, copy)
            stack.callback(os.dup2, copy, one)
            os.dup2(nowhere, one)
        yield


@contextmanager
def _loaded(load: str, environment: dict[str, str]) -> Iterator[None]:
    """Puts a load on a server, and ends it by a SIGTERM to the recorder, which passes it on."""
    is_over = threading.Event()

    def run() -> None:
        time.sleep(1.5)
        nowhere = subprocess.DEVNULL
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.Popen(load.split(), env=environment, stdout=nowhere, stderr=nowhere)
            done.wait(timeout=60)
        if not is_over.is_set():
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=run)
    if load:
        thread.start()
    yield
    is_over.set()
    if load:
        thread.join()


def _row(result: Result) -> tuple[object, ...]:
    return result.program.kind, result.outcome, result.events, result.program.told


def main() -> int:
    """Records all; 1 if any is neither whole nor named."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_option(parser)
    parser.add_argument("--only", default="", help="those in whose kinds this word occurs")
    arguments = parser.parse_args()
    asked = [one for one in PROGRAMS if arguments.only in one.kind]
    results, missing = [], []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        for program in asked:
            if not bench.prepare(program):
                missing.append(program.kind)
                continue
            results.append(result := bench.judge(program))
            counts = f"{result.events:,} of {result.counted:,} events"
            print(f"{program.kind}: {result.outcome}; {counts}. {result.said}", flush=True)
    for outcome in sorted({one.outcome for one in results}):
        print(f"{outcome}: {sum(one.outcome == outcome for one in results)} of {len(results)}")
    print(f"not installed: {len(missing)}", *missing)
    if arguments.write:
        write_result("recorded-programs", COLUMNS, [_row(one) for one in results])
    return int(any(one.outcome not in ("whole", "named") for one in results))


if __name__ == "__main__":
    sys.exit(main())
