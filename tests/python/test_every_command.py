# SPDX-License-Identifier: Apache-2.0
"""What every command must do, by its declaration and a run or two: help, errors, inputs, outputs,
interrupts, progress, examples, and the man page and completion that are made of what help is."""

import errno
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_scenarios
from captures import ethernet, ipv4, pcap
from small_traces import diverse, heapfit, table2

from grid import of_the_day, thin
from heapfit import _engine
from heapfit.cli.main import all_commands, options_of
from heapfit.cli.parser import read_command, split_words
from heapfit.cli.printing import progress
from heapfit.cli.printing.help_screen import list_examples
from heapfit.cli.removed import REMOVED
from heapfit.comparison.incumbents.heap_names import is_simulated, list_heap_names
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.images.snapshot import Snapshot
from heapfit.images.walk import Block, DumpedHeap
from heapfit.importers import import_file
from heapfit.importers.file_kind import require_kind
from heapfit.outputs import ours
from heapfit.outputs.file import stage_file
from heapfit.outputs.folder import stage_folder
from heapfit.plan.quantities import parse_percent, parse_share, parse_size, parse_sizes
from heapfit.trace.kinds import SourceKind
from list_options import count_entries, list_ambiguous
from program import call_heapfit, run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")
ROOT = Path(__file__).parents[2]
# Of each command the shortest run that has a result.
RUNS = {
    "fit": "run.heap -o out",
    "check": "run.heap --plan plan.toml",
    "verify": "large.toml --qemu image/firmware.elf --build ./build --for freertos --times 1 "
    "--machine '-icount shift=6,sleep=off' -o verified -- {run} 1",
    "run": "plan.toml -- sh -c :",
    "generate": "plan.toml -o code",
    "place": "run.heap --memory a=64K --memory b=1M",
    "record": "-o recorded.parquet -- sh -c :",
    "import": "run.heap -o imported.parquet",
    "workload": "",
    "profile": "run.heap",
    "sites": "run.heap",
    "forecast": "device.log",
    "compare": "run.heap tlsf",
    "bounds": "run.heap --search 1",
    "allocators": "tlsf",
    "size": "run.heap",
    "settings": "lwip run.heap",
    "simulate": "scenario.toml",
    "reproduce": "000-2 --small",
    "slotbuf": "10 10",
}
NAMES = list(all_commands())
EXAMPLES = [one for declared in all_commands().values() for one in list_examples(declared)]
NOT_RUN = ("heapfit verify ", "heapfit run ")  # which need a program of the user: they are parsed
ALL_EXAMPLES = os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1"
# One of a command's two examples runs, the other one the next day; all of them in `make test-long`.
SHOWN = of_the_day(2, EXAMPLES, ALL_EXAMPLES)
WIDTH = 80
COPIED = re.compile(r"\S*(/|\.parquet|\.toml|\.c\b|\.html)")  # in a line with a path
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'
BUILD = f"""#!/bin/sh
make -s -C {ROOT}/examples/firmware HEAP=$PWD/verified/code RECORD=1 SYSTEM=loop BUILD=$PWD/image
"""
TRACE = "# pointer_bits 32\n" + "".join(f"a {i} {16 + i % 3 * 40} 1 1 a\n" for i in range(30))
FREES = "".join(f"f {i}\n" for i in range(0, 30, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the examples of all commands name."""
    made = tmp_path_factory.mktemp("commands")
    texts = {
        "run.heap": TRACE + FREES,
        "run.log": TRACE + FREES,
        "run2.log": TRACE + FREES,
        "run2.heap": TRACE.replace("a 7 32", "a 7 40") + FREES,
        "plan.toml": PLAN,
        "large.toml": PLAN.replace("8192", "65536"),
        "tight.toml": PLAN.replace("8192", "2048"),
        "typo.toml": PLAN.replace("tlsf", "tlfs"),
        "noted.heap": "f 9\na 0 8\n",
        "device.log": "".join(f"free {9000 - i} largest 400\n" for i in range(30)),
        "build": BUILD,
    }
    for name, text in texts.items():
        (made / name).write_text(text)
    for name in ("run", "run2"):
        import_file(made / f"{name}.heap", made / f"{name}.parquet")
    (made / "build").chmod(0o755)
    (made / "recordings").mkdir()
    packets = [(0.001 * i, frame, len(frame)) for i, frame in enumerate([ethernet(ipv4(60))] * 40)]
    (made / "capture.pcap").write_bytes(pcap(packets))
    few = [("requests = 4000", "requests = 100"), ("warm_up = 200", "warm_up = 10")]
    small_scenarios.small(made, *few).rename(made / "scenario.toml")
    heap = DumpedHeap("FreeRTOS heap_4", "ucHeap", 64, 128, [Block(64, 64, 72, 56, "live")])
    Snapshot("core.elf", (heap,)).write(made / "dump.json")
    return made


@pytest.fixture
def refused(folder, monkeypatch):
    """Runs words that are refused: the status and what is said; nothing else is done."""
    monkeypatch.chdir(folder)

    def run(words):
        before = sorted(folder.iterdir())
        done = call_heapfit(*words)
        assert sorted(folder.iterdir()) == before
        assert done.stderr.count("\n") == 1
        return done.returncode, done.stderr.removeprefix("heapfit: "), done.stdout

    return run


def help_of(*words):
    done = call_heapfit(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_command_has_a_run_two_examples_and_a_line_in_help():
    assert RUNS.keys() == set(NAMES)
    assert all(len(list_examples(one)) >= 2 for one in all_commands().values())
    shown = help_of("help")
    assert [line.split()[0] for line in shown.splitlines() if re.match(r"  [a-z]", line)] == NAMES
    assert call_heapfit().returncode == 2


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command(name):
    usual, everything = help_of(name, "--help"), help_of(name, "--help-all")
    assert usual == help_of("help", name) == help_of(name, "-h")
    for option in options_of(all_commands()[name]):
        term = re.escape(option.name or option.value)
        line = re.compile(rf"^  (-\w, )?{term}( |$)", re.MULTILINE)
        assert bool(line.search(usual)) == (option.group is None), option.name
        assert line.search(everything), option.name
        assert option.group is None or f"\n{option.group}:\n" in everything
    hidden = sum(1 for option in options_of(all_commands()[name]) if option.group)
    told = re.findall(r"^--help-all shows (\d+) more option", usual, re.MULTILINE)
    assert told == ([str(hidden)] if hidden else [])
    wide = [line for line in everything.splitlines() if len(line) > WIDTH]
    assert all("  heapfit " in line for line in wide)
    assert "  --json " in usual
    assert "\n  Examples:\n    heapfit " in usual


def test_help_and_version_load_no_library_that_only_a_run_needs():
    program = f"""
import sys
from heapfit.cli.main import main
for words in (["--version"], ["--help"], *([name, "--help-all"] for name in {NAMES})):
    assert main(words) == 0
print(sorted({{"numpy", "pyarrow", "jinja2", "rich"}} & sys.modules.keys()))
print(len(sys.modules) <= 200)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-2:] == ["[]", "True"]


@pytest.mark.parametrize(
    ("word", "unused"),
    [("--version", {"heapfit.cli.main", "heapfit._engine"}), ("allocators", {"pyarrow"})],
)
def test_the_program_starts_with_no_more_than_it_needs(word, unused):
    program = f"""
import sys
from heapfit.__main__ import run
sys.argv[1:] = [{word!r}]
try:
    run()
except SystemExit as ended:
    assert not ended.code
print(sorted({unused} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    first, *_, last = done.stdout.decode().splitlines()
    assert last == "[]"
    assert word == "allocators" or first == f"heapfit {_engine.version}"


@pytest.mark.parametrize("name", NAMES)
def test_wrong_use_is_one_line_and_status_2(name, refused):
    options = options_of(all_commands()[name])
    wrong = {"--jsn": "No such option: --jsn (did you mean '--json'?)"}
    wrong |= {"--json=1": "Option '--json' does not take a value"}
    wrong |= {"--help-al": "Option '--help-all' is to be typed whole"}
    for option in options:
        if option.name and option.value:
            wrong[option.name] = f"Option '{option.name}' requires an argument"
    for word, told in wrong.items():
        assert refused([name, word])[:2] == (2, f"{told}; see --help\n")
    status, said, printed = refused([name, "--jsn", "--json"])
    error = {"status": status, "messages": [said.removesuffix("; see --help\n")]}
    assert json.loads(printed) == {"schema": 1, "error": error}
    if any(option.is_required for option in options):
        assert refused([name])[1].startswith("Missing ")
    if not any(option.is_many and not option.name for option in options):
        assert (
            "unexpected extra arguments" in refused([name, *shlex.split(RUNS[name]), "x", "x"])[1]
        )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("generate plan.toml --region much", "'--region': much is not a size in bytes, such as"),
        ("generate plan.toml --region 0", "'--region': must be at least 1"),
        ("generate plan.toml --region ''", "'--region': '' is empty"),
        ("fit run.heap --margin ''", "'--margin': '' is empty"),
        ("fit run.heap --allocators ''", "'--allocators': '' is empty"),
        ("fit run.heap -o ''", "'-o' / '--output': '' is empty"),
        ("place run.heap --memory '' --memory b=4K", "'--memory': '' is empty"),
        ("bounds run.heap --search=", "'--search': '' is empty"),
        ("generate plan.toml --region 5G", "'--region': must be at most 4,294,967,295"),
        ("check run.heap --plan plan.toml --growth x", "'--growth': x is not a percentage from 0"),
        ("size run.heap --admission nan", "'--admission': nan is not a share from 0 to 1"),
        ("size run.heap --admission 101%", "'--admission': 101% is not a share from 0 to 1"),
        ("import run.heap --workers many", "'--workers': many is neither a number nor an address"),
        ("import run.heap --workers 0", "'--workers': must be at least 1"),
        ("import run.heap --workers 9999", "'--workers': must be at most 1,024"),
        ("import run.heap run2.heap --workers tcp://host:1", "this runs here alone (give a num"),
        ("import run.heap --workers tcp://host:1", "this runs here alone (give a number)"),
        (f"bounds run.heap --search {10**20}", "'--search': must be at most 1,000,000,000"),
        (
            "fit run.heap --margin 500",
            "'--margin': 500 would be per cent of what is needed, not by",
        ),
        ("generate --record -o r --for malloc", "--for has no effect here: it is of a plan's code"),
        ("bounds run.heap --search x", "'--search': must be a whole number"),
        ("bounds run.heap --alignment 5", "'--alignment': '5' is not one of '4', '8', '16'"),
        ("settings run.heap lwip", "'SYSTEM': 'run.heap' is a file, and not one of 'lwip'"),
        (
            "generate plan.toml --for stm32",
            "an ESP32 esp-idf, others freertos or malloc; docs/chips.md)",
        ),
        ("record --seconds nan", "'--seconds': must be at least 0"),
        ("record --seconds x", "'--seconds': must be a number"),
        ("settings", "Missing argument 'SYSTEM'. Choose from: lwip, zephyr, "),
        ("slotbuf 1 1 --region 0", "'--region': must be at least 1"),
        ("compare", "give a trace or a workload"),
        ("zzz", "No such command: zzz (one of fit, check, verify"),
        ("--vers", "Option '--version' is to be typed whole"),
        *((" ".join(old), f"{' '.join(old).strip()} is gone: {REMOVED[old]}") for old in REMOVED),
    ],
)
def test_a_wrong_value_and_what_is_gone_are_told_in_plain_words(words, told, refused):
    status, said, printed = refused(shlex.split(words))
    assert (status, printed) == (2, "")
    assert told in said


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("compar run.heap", "compare"),
        ("sizes run.heap", "size"),
        ("compare run.heap tlfs", "tlsf"),
        ("compare run.heap tlsf:probe=3", "probes"),
        ("compare run.heap first_fit:coalece=0", "coalesce"),
        ("allocators tailord", "tailored"),
        ("workload t2w1 -o x.parquet", "t2_w1"),
        ("workload campus:bursts=3 -o x.parquet", "burst"),
        ("settings freertoss run.heap", "freertos"),
        ("settings LwIP run.heap", "lwip"),
        ("generate plan.toml --for FreeRTOS", "freertos"),
        ("check run.heap --heap HEAP_4:64K", "heap_4"),
        ("compare run.heap TLSF", "tlsf"),
        ("settings freertos run.heap --assume alignmnt=4", "alignment"),
        ("fit run.heap --prefer tme", "time"),
        ("fit run.heap --effort quik", "quick"),
        ("fit run.heap --now heap4", "heap_4"),
        ("generate plan.toml --for freertoss", "freertos"),
        ("generate typo.toml", "tlsf"),
        ("slotbuf 10 10 segregated_fitt", "segregated_fit"),
        ("generate --platform esp-idf", "--for"),
        ("version", "--version"),
    ],
)
def test_of_a_misspelt_name_the_right_one_is_offered(words, right, refused):
    status, said, _ = refused(words.split())
    assert status != 0
    assert f"did you mean '{right}'?" in said


# ---- what is typed


def test_no_name_of_an_option_has_two_meanings():
    assert list_ambiguous() == []
    assert count_entries() > len(NAMES)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("65536", 65536), ("64K", 65536), ("64k", 65536), ("64KiB", 65536), ("64 KiB", 65536)),
        *(
            ("65536B", 65536),
            ("64KB", 65536),
            ("64kB", 65536),
            ("1M", 1 << 20),
            ("1MiB", 1 << 20),
            ("2G", 2 << 30),
        ),
    ],
)
def test_a_size_has_many_forms(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "64KX", "1.5K", "-1", "1e3", "64 K iB", "9" * 20, "²"])
def test_what_is_no_size_is_refused_in_one_line(text):
    with pytest.raises(HeapfitError, match="is not a size in bytes, such as 65536, 64K"):
        parse_size(text)
    with pytest.raises(HeapfitError, match="is not a size"):
        parse_sizes(f"64,{text},1520")
    assert parse_sizes("64,1K,1520") == (64, 1024, 1520)


def test_percents_and_shares_take_the_sign_or_not():
    assert [parse_percent(text) for text in ("5", "5%", "5 %", "2.25%")] == [5, 5, 5, 2.25]
    shares = [parse_share(text) for text in ("0.999", "99.9%", "1", ".5", "1e-3")]
    assert shares == [0.999, 0.999, 1, 0.5, 0.001]
    for text in ("five", "-5%", "%", "1e3", ""):
        with pytest.raises(HeapfitError, match="is not a percentage"):
            parse_percent(text)
        with pytest.raises(HeapfitError, match="is not a share"):
            parse_share(text)


def test_a_value_may_begin_with_a_dash_and_the_last_of_several_counts():
    declared = all_commands()["compare"]
    words = ["--cflags", "-O2", "a", "--cflags=-g", "--seed", "1", "b", "--seed=2", "--", "--json"]
    typed, left = split_words("compare", words, options_of(declared))
    command = read_command(declared, options_of(declared), typed, left)
    assert (command.cflags, command.seed, command.as_json) == (["-O2", "-g"], 2, False)
    assert command.words == ["a", "b", "--json"]


# ---- files that are given


def elf(machine: int) -> bytes:
    """The first bytes of a program of 64 bit, little-endian."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 2, machine) + bytes(44)


def free_log(line: str) -> str:
    return "".join(f"[{second:08}] {line.format(50_000 - second)}\n" for second in range(3))


@pytest.fixture(scope="module")
def kinds_folder(folder):
    """The folder with a file of each kind, and of none."""
    texts = {"notes.txt": "nothing of the kind\n", "other.toml": "key = 1\n", "empty": ""}
    texts |= {"run.sh": "#!/bin/sh\n", "free.log": free_log("heap: {} bytes free")}
    texts["device.c"] = '#include <stdio.h>\nint main(void) { printf("free 1000\\n"); }\n'
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name, content in {
        "host.elf": elf(62),
        "board.elf": elf(40),
        "garbage": bytes(range(256)) * 8,
        "page.html": b"<!DOCTYPE html><html><body>Downloads</body></html>",
    }.items():
        (folder / name).write_bytes(content)
    (folder / "planned/out").mkdir(parents=True, exist_ok=True)
    (folder / "planned/out/plan.toml").write_text("")
    pq.write_table(pa.table({"a": [1]}), folder / "other.parquet")
    (folder / "cut.parquet").write_bytes((folder / "other.parquet").read_bytes()[:-20])
    done = heapfit("import", "run.heap", "-o", "run.parquet", folder=folder)
    assert done.returncode == 0
    return folder


KINDS = {
    "run.heap": SourceKind.RECORDING,
    "run.parquet": SourceKind.RECORDING,
    "capture.pcap": SourceKind.CAPTURE,
    "plan.toml": SourceKind.PLAN,
    "scenario.toml": SourceKind.SCENARIO,
    "host.elf": SourceKind.PROGRAM,
    "run.sh": SourceKind.PROGRAM,
    "board.elf": SourceKind.IMAGE,
    "notes.txt": SourceKind.UNKNOWN,
    "other.toml": SourceKind.UNKNOWN,
    "empty": SourceKind.UNKNOWN,
}
ADVICE = {
    SourceKind.RECORDING: "is a recording (heapfit fit {} makes a plan and its C code from it)",
    SourceKind.CAPTURE: "is a packet capture (heapfit size {} sizes pools for it",
    SourceKind.PLAN: "is a plan (heapfit check RECORDING --plan {} checks a recording against it",
    SourceKind.SCENARIO: "is a scenario (heapfit simulate {} ",
    SourceKind.PROGRAM: "is a program (heapfit record -- ./{} makes a recording of it)",
    SourceKind.IMAGE: "is a program for another processor (heapfit record --qemu {} ",
}
RECORDINGS, PROGRAMS = (
    {SourceKind.RECORDING, SourceKind.CAPTURE},
    {SourceKind.PROGRAM, SourceKind.IMAGE},
)
# A command with {} for a file that is no option's or argument's alone, and the kinds that it takes.
TAKES = {"record -- {}": PROGRAMS, "compare {} tlsf": RECORDINGS, "allocators {}": set()}
ALSO = {
    SourceKind.RECORDING: SourceKind.CAPTURE,
    SourceKind.PROGRAM: SourceKind.IMAGE,
}  # what is taken with them


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


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (words, name)
        for (words, kinds), name in itertools.product([*TAKES.items(), *declared_kinds()], KINDS)
        if KINDS[name] is not SourceKind.UNKNOWN and KINDS[name] not in kinds
    ],
)
@pytest.mark.usefixtures("kinds_folder")
def test_a_file_of_another_kind_is_told_what_to_use(words, name, refused):
    status, said, _ = refused(words.format(name).split())
    assert status == 1
    assert said.startswith(f"{name}: {ADVICE[KINDS[name]].format(name)}")


READERS = ("fit", "profile", "sites", "bounds", "size", "import")
BAD = {  # for all that read a recording
    "nowhere": "no such file (check the path)",
    "rum.heap": "no such file (did you mean 'run.heap'?)",
    "recordings": "is a folder (name a file in it)",
    "empty": "is empty",
    "garbage": "its format is unknown (docs/import-formats.md ",
    "other.parquet": "Parquet, but not a heapfit trace (`heapfit import` makes one)",
    "cut.parquet": "cannot be read as a stored trace: ",
    "page.html": "is a page of the web: no heap can be replayed from it (give the file",
    "device.c": "is C source (compile it; heapfit record -- ",
    "free.log": "is a log of free bytes, without requests (heapfit forecast free.log ",
}
STORED = "is Parquet already (a stored trace needs no import)"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        *(
            (f"{one} {name}", f"{name}: {STORED if path == ('import', 'parquet') else told}")
            for one, (name, told) in itertools.product(READERS, BAD.items())
            for path in [(one, name.split(".")[-1])]
        ),
        ("check run.heap --plan garbage", "garbage: not TOML: it is not UTF-8 text"),
        ("forecast https://x.org/a.log", "https:/x.org/a.log: is an address of the web (download"),
        ("check run.heap --plan nowhere", "nowhere: no such file (check the path)"),
        ("generate recordings", "recordings: is a folder (name a file in it)"),
        ("simulate garbage", "garbage: not TOML: it is not UTF-8 text (is this a scenario?)"),
        ("fit planned", "planned: is a folder with a plan, as heapfit fit writes it (give record"),
        ("fit run.heap --queue xx", 'queue model: "xx" is none (use fill-drain:N'),
        ("compare typo.trace tlsf", "typo.trace: no such file (check the path)"),
        ("fit ls", "ls: is a program (heapfit record -- ls makes a recording of it)"),
        ("forecast device.c", "device.c: is C source (compile it; heapfit record -- "),
    ],
)
@pytest.mark.usefixtures("kinds_folder")
def test_what_cannot_be_read_is_one_line_that_says_what_to_do(words, told, refused):
    status, said, printed = refused(words.split())
    assert (status, printed) == (1, "")
    assert said.startswith(told)


def test_advice_can_be_pasted_into_a_shell(tmp_path):
    path = tmp_path / "a plan.toml"
    path.write_text(PLAN)
    with pytest.raises(HeapfitError, match=rf"heapfit generate '{path}' makes its C"):
        require_kind(path, SourceKind.RECORDING)


# ---- outputs


@pytest.mark.parametrize(
    "name", NAMES if ALL_EXAMPLES else [one for one in NAMES if one != "verify"]
)
def test_an_output_that_is_full_is_one_line(name, folder):
    with Path("/dev/full").open("w") as full:
        done = run_heapfit(
            name, *shlex.split(RUNS[name]), folder=folder, environment=os.environ, output=full.name
        )
    *_, last = done.stderr.splitlines()
    assert (done.returncode, last) == (1, "heapfit: output: No space left on device")
    assert "Traceback" not in done.stderr


def start(words, folder, stdout, stderr=subprocess.PIPE):
    return subprocess.run(
        [sys.executable, "-m", "heapfit", *words.split()],
        stdout=stdout,
        stderr=stderr,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    "words", ["profile nosuch", "import noted.heap --drop-unknown -o noted.parquet"]
)
def test_messages_that_cannot_be_written_change_no_status(folder, words):
    told = start(words, folder, subprocess.DEVNULL)
    assert told.stderr
    with Path("/dev/full").open("w") as full:
        assert start(words, folder, subprocess.DEVNULL, full).returncode == told.returncode


def test_a_closed_stdout_fails_in_one_line_and_other_closed_streams_do_not(folder):
    words = f"{sys.executable} -m heapfit profile run.heap"

    def run(closed):
        command = ["sh", "-c", f"{words} {closed}"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    assert run("2>&- <&-").returncode == 0
    failed = run(">&- <&-")
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert line.startswith("heapfit: stdout is closed")


# A command with {} for what it writes, and of a folder the file in it that is somebody else's.
FILES = [
    "import run.heap -o {}",
    "workload t2_w1:events=400 -o {}",
    "record -o {} -- sh -c :",
    "profile run.heap -o {}",
    "profile dump.json --report {}",
    "bounds run.heap --search 0 -o {}",
    "check run.heap --plan plan.toml --report {}",
    "compare run.heap tlsf --report {}",
    "place run.heap --memory a=64K --memory b=1M -o {}",
    "place run.heap --memory a=64K --memory b=1M --report {}",
    "simulate scenario.toml --closed-form -o {}",
    "simulate scenario.toml --closed-form --report {}",
    "size run.heap --report {}",
    "reproduce 000-2 --small --report {}",
]
FOLDERS = [
    ("fit run.heap -o {}", "report.html"),
    ("fit run.heap -o {}", "plan.toml"),
    ("fit run.heap -o {}", "run.parquet"),
    ("fit run.heap -o {}", "code/mine.c"),
    ("fit run.heap -o fitted --plans {}", "tlsf.toml"),
    ("generate plan.toml -o {}", "mine.c"),
    ("slotbuf 10 10 -o {}", "dist.dat"),
    ("slotbuf 10 10 -o {}", "slotbuf.html"),
]
REPEATED = {"report.html", "tlsf.toml", "slotbuf.html"}  # each command once
# Not run here: firmware needs a compiler.
OTHERS = {
    ("verify", "output"),
}


@pytest.fixture
def own_folder(tmp_path, folder):
    """Inputs alone in a folder of the test's own."""
    for name in ("run.heap", "plan.toml", "scenario.toml", "dump.json"):
        shutil.copy(folder / name, tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_output_of_every_command_is_tried():
    there = {
        (name, one.field)
        for name, declared in all_commands().items()
        for one in options_of(declared)
        if one.is_output
    }
    long = {"-o": "output", "--output": "output"}
    long["--plans"] = "plans_folder"
    words = [line.format("X").split() for line in (*FILES, *(line for line, _ in FOLDERS))]
    tried = {(one[0], long.get(option, option.strip("-"))) for one in words for option in one[1:]}
    assert there <= tried | OTHERS
    assert there >= OTHERS


@pytest.mark.parametrize("line", FILES)
def test_a_foreign_file_is_kept_and_its_own_replaced(line, own_folder):
    words = line.format("result").split()
    (own_folder / "result").write_text("mine\n")
    before = contents(own_folder)
    done = heapfit(*words, folder=own_folder)
    assert done.returncode == 1
    assert "result: was edited, or not written by this command" in done.stderr
    assert contents(own_folder) == before
    assert heapfit(words[0], "--force", *words[1:], folder=own_folder).returncode == 0
    again = heapfit(*words, folder=own_folder)
    assert again.returncode == 0
    said = "replaces what an earlier `heapfit" if words[0] != "record" else "kept (--force"
    assert said in again.stderr
    (own_folder / "result").write_bytes((own_folder / "result").read_bytes() + b"\n")
    assert heapfit(*words, folder=own_folder).returncode == 1


@pytest.mark.parametrize(("line", "name"), FOLDERS)
def test_a_foreign_file_in_a_folder_is_kept_with_all_beside_it(line, name, own_folder):
    words = line.format("result").split()
    mine = own_folder / "result" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    before = contents(own_folder)
    done = heapfit(*words, folder=own_folder)
    assert done.returncode == 1
    assert f"{name}: was " in done.stderr
    shutil.rmtree(own_folder / "fitted", ignore_errors=True)  # what it fitted is kept
    assert contents(own_folder) == before
    mine.unlink()
    if name in REPEATED:
        for _ in range(2):
            assert heapfit(*words, folder=own_folder).returncode == 0


@pytest.mark.parametrize(
    "line",
    ["fit run.heap -o {}", "fit run.heap -o fitted --plans {}", "generate plan.toml -o {}",
     "slotbuf 10 10 -o {}"],
)  # fmt: skip
def test_force_removes_nothing_that_is_not_written_anew(line, own_folder):
    words = line.format("result").split()
    for name in ("notes.txt", "src/main.c", "code/main.c"):
        (own_folder / "result" / name).parent.mkdir(parents=True, exist_ok=True)
        (own_folder / "result" / name).write_text("mine\n")
    before = contents(own_folder / "result")
    heapfit(words[0], "--force", *words[1:], folder=own_folder)
    assert contents(own_folder / "result").items() >= before.items()


def test_a_link_is_refused_even_if_forced(own_folder):
    (own_folder / "link").symlink_to("run.heap")
    done = heapfit("import", "run.heap", "-o", "link", "--force", folder=own_folder)
    assert done.returncode == 1
    assert "link: is a symbolic link, which is not replaced" in done.stderr
    assert (own_folder / "run.heap").read_text() == TRACE + FREES
    (own_folder / "real").mkdir()
    (own_folder / "folder").symlink_to("real")
    done = heapfit("fit", "run.heap", "-o", "folder", "--force", folder=own_folder)
    assert done.returncode == 1
    assert list((own_folder / "real").iterdir()) == []


@pytest.fixture
def no_attributes(monkeypatch):
    """A file system without extended attributes."""

    def refuse(*_):
        raise OSError(errno.ENOTSUP, "no attributes")

    for name in ("setxattr", "getxattr"):
        monkeypatch.setattr(os, name, refuse)


@pytest.mark.parametrize("has_attributes", [True, False])
def test_a_copy_counts_as_its_owners(has_attributes, tmp_path, request):
    if not has_attributes:
        request.getfixturevalue("no_attributes")
    written = tmp_path / "a"
    written.write_text("text")
    ours.mark_ours(written)
    ours.require_replaceable(written)
    assert (tmp_path / ".a.sha256").exists() != has_attributes
    shutil.copyfile(written, tmp_path / "b")
    with pytest.raises(HeapfitError, match="not written by this command"):
        ours.require_replaceable(tmp_path / "b")
    with ours.allow_replacing():
        ours.require_replaceable(tmp_path / "b")


@pytest.mark.usefixtures("no_attributes")
def test_without_attributes_files_and_folders_replace_their_own(tmp_path):
    for text in ("first", "second"):
        with stage_file(tmp_path / "a") as staging:
            staging.write_text(text)
        with stage_folder(tmp_path / "folder") as new, stage_file(new / "b") as staging:
            staging.write_text(text)
    assert (tmp_path / "a").read_text() == (tmp_path / "folder/b").read_text() == "second"
    assert sorted(one.name for one in tmp_path.iterdir()) == [".a.sha256", "a", "folder"]
    assert sorted(one.name for one in (tmp_path / "folder").iterdir()) == [".b.sha256", "b"]
    (tmp_path / "a").write_text("edited")
    with pytest.raises(HeapfitError, match="was edited"), stage_file(tmp_path / "a"):
        pass


def test_what_fails_aside_is_told_of_the_place_that_was_asked_for(tmp_path):
    with (
        pytest.raises(HeapfitError) as caught,
        stage_folder(tmp_path / "folder") as new,
        stage_file(new / "b"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    place = tmp_path / "folder/b"
    assert str(caught.value).startswith(f"{place}: cannot be written: No space left on device")
    assert list(tmp_path.iterdir()) == []


# ---- interrupts and progress


def take_bar(monkeypatch, tell: Callable[[str, float], None]) -> list[float | None]:
    """All that is told to a command's bar goes to `tell`. The end of each bar; None: it pulses."""
    ends: list[float | None] = []

    @contextmanager
    def bar(total: float | None) -> Iterator[Callable[[str, float], None]]:
        ends.append(total)
        yield tell

    monkeypatch.setattr(progress, "_bar", bar)
    return ends


LONG = {
    "import": "import small.heap -o a.parquet",
    "check": "check small.heap --plan plan.toml --measure",
    "compare": "compare small.heap tlsf best_fit --workers 1",
    "compare several": "compare small.heap t2_w1:events=300 tlsf --workers 1",
    "fit, plans": "fit small.heap -o out --plans plans",
    "fit several, plans": "fit small.heap other.heap --workers 1 -o out --plans plans",
    "fit, some": "fit small.heap --allocators tlsf,best_fit --prefer time -o out",
    "reproduce": "reproduce 000-2 --small --workers 1",
    "simulate": "simulate small.toml --workers 1",
    "size": "size small.heap",
    "size of traffic": "size small.toml --admission 0.9 --times 2 --workers 1",
    "settings": "settings lwip small.heap",
}


@pytest.mark.parametrize("name", LONG)
def test_the_bar_of_a_long_command_goes_up_to_its_end(name, tmp_path, monkeypatch):
    shares: list[float] = []
    ends = take_bar(monkeypatch, lambda _, share: shares.append(share))
    monkeypatch.chdir(folder_with_sources(tmp_path / "here"))
    table2(tmp_path / "here/other.heap", events=80, seed=2)
    assert call_heapfit(*LONG[name].split()).returncode in (0, 3)
    assert {*ends} == {1.0}, "a bar that pulses"
    assert shares == sorted(shares), "it falls"
    assert shares[0] < 0.5
    assert 0.7 <= shares[-1] <= 1.0 + 1e-9


TEN = {  # what each leaves when it ends
    "fit": "fit small.heap -o out",
    "plans": "fit small.heap -o out --plans plans",
    "compare": "compare small.heap tlsf --workers 1 --report page.html",
    "check": "check small.heap --plan plan.toml --report page.html --report page.md",
    "reproduce": "reproduce 000-2 --small --workers 1 --report page.html",
    "record": "record -o out.parquet -- ls",
    "size": "size small.heap --report page.html",
    "simulate": "simulate small.toml --workers 1 -o out.csv --report page.html",
}
ALL_INTERRUPTS = os.environ.get("HEAPFIT_ALL_INTERRUPTS") == "1"
PLACES = 5 if ALL_INTERRUPTS else 2  # of each kind


class Events:
    """What a command does one after the other: it tells how far it is, or touches its output.

    How often it tells may differ by much, as exact budgets are told by time: its first third is
    taken.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: dict[str, int] = {}
        self.last: tuple[str, int] | None = None
        tell = self._before("told", lambda *_: None)

        take_bar(monkeypatch, tell)
        for owner, name in ((Path, "replace"), (Path, "rename"), (ours, "mark_ours")):
            written = self._before("written", getattr(owner, name))
            monkeypatch.setattr(owner, name, written)

    def _before(self, kind: str, act: Callable) -> Callable:
        def counted(*arguments: object) -> object:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if self.last == (kind, self.counts[kind]):
                raise KeyboardInterrupt
            return act(*arguments)

        return counted

    def places(self) -> list[tuple[str, int]]:
        """Where to interrupt a command that was just run whole: both ends of what it writes."""
        told, written = self.counts.get("told", 0), self.counts["written"]
        tells = {1 + told * i // (3 * (PLACES - 1)) for i in range(PLACES)} if told else ()
        writes = {1 + (written - 1) * i // (PLACES - 1) for i in range(PLACES)}
        return [*(("told", one) for one in tells), *(("written", one) for one in writes)]


def files_in(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*")}


def folder_with_sources(folder: Path) -> Path:
    plan = ROOT / "examples/check/plan.toml"
    folder.mkdir()
    table2(folder / "small.heap", events=60)
    (folder / "small.toml").write_text(small_scenarios.SMALL)
    (folder / "plan.toml").write_text(plan.read_text().replace("pointer_bits = 64", ""))
    return folder


@pytest.mark.parametrize("name", TEN)
def test_what_an_interrupt_leaves_of_an_output_is_all_or_nothing(name, tmp_path, monkeypatch):
    events = Events(monkeypatch)
    sources = files_in(folder_with_sources(tmp_path / "whole"))
    monkeypatch.chdir(tmp_path / "whole")
    done = call_heapfit(*TEN[name].split())
    assert done.returncode == 0, done.stderr
    whole = files_in(tmp_path / "whole") - sources
    for number, place in enumerate(events.places()):
        folder = folder_with_sources(tmp_path / str(number))
        monkeypatch.chdir(folder)
        events.counts, events.last = {}, place
        done = call_heapfit(*TEN[name].split())
        assert done.returncode == 130, place
        told = done.stderr.splitlines()[-1]
        made = files_in(folder) - sources
        raw = {one for one in made if name == "record" and one.startswith(".out-")}
        assert made - raw <= whole, f"left over before {place}"
        assert not raw or "out.parquet" in made or ".out-" in told
        for output in {one.split("/")[0] for one in whole}:
            its = {one for one in whole if one.split("/")[0] == output}
            assert made & its in (set(), its), f"in parts before {place}"
        assert told.startswith("heapfit: interrupted; ")
        assert ("nothing was written" in told) == (not made), place


WATCHED = {f"record {how}": f"{how} -o out -- sleep 0.3" for how in ("--watch", "--page 0")}


@pytest.mark.parametrize("name", [*(NAMES if ALL_INTERRUPTS else ("fit", "size")), *WATCHED])
def test_threads_end_with_a_command_that_is_interrupted(name, folder, tmp_path, monkeypatch):
    """Those that the interpreter does not wait for would meet an engine that is gone."""
    command = name.split()[0]
    offered = {option.name for option in options_of(all_commands()[command])}
    words = [*(RUNS | WATCHED)[name].split(), *(["--workers=2"] * ("--workers" in offered))]
    for step in (2, 3):
        shutil.copytree(folder, tmp_path / str(step))
        monkeypatch.chdir(tmp_path / str(step))
        with monkeypatch.context() as replaced:
            events = Events(replaced)
            events.last = ("told", step)
            before = {*threading.enumerate()}
            call_heapfit(command, *words)
        for thread in {*threading.enumerate()} - before:
            assert not thread.daemon, thread
            thread.join(60)
            assert not thread.is_alive(), thread


SECONDS = {  # some seconds each, and what they leave
    "fit": "fit diverse.heap -o out --plans plans",
    "reproduce": "reproduce 000-1 001-4 --small --report page.html",
    "record": "record -o out.parquet -- sleep 1",
    "size": "size diverse.heap --report page.html",
    "simulate": "simulate small.toml -o out.csv --report page.html",
}
TIMES = 10 if ALL_INTERRUPTS else 1  # else once, at a half


def write_sources(folder: Path) -> None:
    folder.mkdir()
    diverse(folder / "diverse.heap", events=3000)
    (folder / "small.toml").write_text(
        small_scenarios.SMALL.replace("requests = 4000", "requests = 40000")
    )


# Before its first line runs, Ctrl-C is answered by Python.
BEGIN = "import heapfit.__main__ as start; print('begun', flush=True); start.run()"


def started(name: str, folder: Path) -> subprocess.Popen[str]:
    running = subprocess.Popen(
        [sys.executable, "-c", BEGIN, *SECONDS[name].split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, as a shell gives each job
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    return running


def left_in(folder: Path) -> dict[str, set[str]]:
    """The files of each output, by its name."""
    found: dict[str, set[str]] = {}
    for one in folder.rglob("*"):
        name = str(one.relative_to(folder))
        if one.is_file() and name not in ("diverse.heap", "small.toml"):
            found.setdefault(name.partition("/")[0], set()).add(name)
    return found


def is_soon_empty(group: int) -> bool:
    """Whether no process of the group is left after a minute."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("name", SECONDS)
def test_ctrl_c_ends_a_command_with_one_line_and_no_output_in_parts(name, tmp_path):
    write_sources(tmp_path / "whole")
    running = started(name, tmp_path / "whole")
    begin = time.monotonic()
    assert (running.communicate()[1], running.returncode) == ("", 0)
    lasts, whole = time.monotonic() - begin, left_in(tmp_path / "whole")
    for i in range(TIMES):
        folder = tmp_path / str(i)
        write_sources(folder)
        running = started(name, folder)
        time.sleep(lasts * (i + 1) / (TIMES + 1))
        os.killpg(running.pid, signal.SIGINT)
        told = running.communicate(timeout=300)[1].splitlines()
        made = left_in(folder)
        if running.returncode == 0:  # it was through
            assert made == whole
            continue
        place = (i, running.returncode, told)
        assert running.returncode == 130, place
        assert len(told) == 1, place
        assert told[0].startswith("heapfit: interrupted; "), place
        assert all(files == whole[output] for output, files in made.items()), place
        assert ("nothing was written" in told[0]) == (not made), place
        assert is_soon_empty(running.pid), place


@pytest.mark.parametrize(("sent", "status"), [("SIGINT", 130), ("SIGCONT", 0)])
def test_ctrl_c_while_the_program_is_loaded_is_one_line_too(sent, status):
    text = (
        "import os, signal, types, heapfit.__main__ as start\n"
        "def load(_):\n"
        "    os.kill(os.getpid(), signal.SENT)\n"
        "    return types.SimpleNamespace(run=int)\n"
        "start.import_module = load\n"
        "start.run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", text.replace("SENT", sent)],
        capture_output=True,
        text=True,
        check=False,
    )
    told = "heapfit: interrupted; nothing was written\n" if status else ""
    assert (done.returncode, done.stderr) == (status, told)


def test_ctrl_c_that_is_ignored_stays_ignored():
    text = (
        "import os, signal, heapfit.__main__ as start\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with start._handle_interrupt(): os.kill(os.getpid(), signal.SIGINT)\n"
        "print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    )
    told = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout
    assert told == "True\n"


# ---- the smallest recordings, through every name of a heap

HEADER = "# pointer_bits 32\n"
SMALLEST = {
    "one-event": "a 0 64\n",
    "1-B": "a 0 1\n",
    "16-B": "a 0 16\n",
    "freed": "a 0 8\nf 0\n",
    "zero-B": "a 0 0\na 1 100\nf 0\nf 1\n",
    "only-zero-B": "a 0 0\n",
}
HUGE = {"4-GiB": 2**32 - 1, "above": 5 * 2**30}
HEAPS = list_heap_names()
FITTED = [name for name in HEAPS if is_simulated(name)] + ["tlsf", "dlmalloc"]


@pytest.fixture(scope="module")
def smallest(tmp_path_factory):
    made = tmp_path_factory.mktemp("smallest")
    for name, text in SMALLEST.items():
        (made / f"{name}.heap").write_text(HEADER + text)
    for name, size in HUGE.items():
        (made / f"{name}.heap").write_text(f"{HEADER}a 0 100\na 1 {size}\nf 1\nf 0\n")
    return made


@pytest.fixture
def said(smallest, monkeypatch):
    """Runs the command line in this process: its status and all that is said, in one line."""
    monkeypatch.chdir(smallest)

    def run(*words):
        done = call_heapfit(*words)
        assert done.returncode != 1 or done.stderr.count("\n") == 1
        return done.returncode, " ".join(f"{done.stdout}{done.stderr}".split())

    return run


@pytest.mark.parametrize(("recording", "name"), thin(3, SMALLEST, HEAPS))
def test_compare_ranks_each_heap_or_says_why_not(said, name, recording):
    status, text = said("compare", f"{recording}.heap", name)
    assert status == 0, text
    assert name in text or name == "dlmalloc"


@pytest.mark.parametrize(("recording", "name"), thin(2, ["1-B", "zero-B"], FITTED))
def test_fit_compares_with_each_heap_and_draws_its_page(said, name, recording):
    status, text = said("fit", f"{recording}.heap", "--now", name, "-o", "out")
    assert status == 0, text
    assert "report" in text


@pytest.mark.parametrize(
    ("recording", "size", "name"), thin(2, ["1-B", "zero-B"], ["1", "64K"], HEAPS)
)
def test_check_holds_each_heap_or_says_why_not(said, name, size, recording):
    status, text = said("check", f"{recording}.heap", "--heap", f"{name}:{size}")
    assert status in {1, 0 if size == "64K" else 3}, text
    assert status == 1 or text.startswith(("PASS: ", "FAIL: "))


@pytest.mark.parametrize(
    ("words", "recording"),
    [
        (("fit", "--now", "heap_4"), "4-GiB"),
        (("compare", "tlsf"), "above"),
        (("check", "--heap", "heap_4:4K"), "4-GiB"),
    ],
)
def test_a_request_that_no_heap_serves_is_left_out_and_named(said, words, recording):
    command, *options = words
    status, text = said(command, f"{recording}.heap", *options)
    assert status == 0, text
    assert f"vent 2 asks for {HUGE[recording]:,} B (-1 as a size?): left out" in text


def test_requests_of_0_bytes_are_counted_where_the_heap_refuses_them(said):
    refused = "1 of 2 requests is of 0 B, which FreeRTOS heap_4 refuses"
    text = said("compare", "zero-B.heap", "heap_4", "newlib-nano")[1]
    assert f"heap_4: {refused}" in text
    assert "newlib-nano: " not in text
    assert refused in said("fit", "zero-B.heap", "--now", "heap_4", "-o", "zero")[1]


def test_aligned_requests_of_a_system_heap_say_that_its_beginning_counts(said, tmp_path):
    (tmp_path / "aligned.heap").write_text("m 0 40 32\na 1 8\n")
    text = said("compare", tmp_path / "aligned.heap", "sys_heap", "tlsf")[1]
    told = " ".join(text.split())
    assert "sys_heap: 1 of 2 requests are aligned above 4 B: Zephyr's sys_heap may need" in told
    assert "tlsf: 1 of" not in told


# ---- the man page and completion


@pytest.fixture(scope="module")
def completion(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "heapfit"
    path.write_text(made_by("bash"))
    return path


def made_by(*words: str) -> str:
    script = ROOT / "scripts" / "man_page.py"
    done = subprocess.run(
        [sys.executable, script, *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_man_page_is_one(tmp_path):
    groff = shutil.which("groff")
    assert groff, "groff is in scripts/install-packages"
    page = tmp_path / "heapfit.1"
    page.write_text(made_by())
    words = [groff, "-man", "-Tutf8", "-ww", page]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    text = " ".join(re.sub(r".\x08|\x1b\[[0-9]*m", "", done.stdout).split())
    for name in NAMES:
        assert f"heapfit {name}" in text, "`make docs` renews docs/heapfit.1"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("compare x.heap tls", "tlsf"),
        ("workload t2_w", "t2_w1 t2_w2 t2_w3 t2_w4 t2_w5"),
        ("settings zep", "zephyr zephyr-bluetooth"),
        ("fit --pl", "--plans"),
        ("ver", "verify"),
    ],
)
def test_a_name_is_completed(typed, offered, completion, tmp_path):
    words = ["heapfit", *typed.split()]
    script = (
        f"source {completion}; COMP_WORDS=({' '.join(words)}); "
        f'COMP_CWORD={len(words) - 1}; _heapfit; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == offered.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_all_commands_their_options_and_choices(shell):
    script = call_heapfit("--show-completion", shell).stdout
    assert all(re.search(rf'\b{name}\b[^"]*" ?|\b{name}\b', script) for name in NAMES)
    line = next(one for one in script.splitlines() if re.search(r"\bfit\b.*--plans", one))
    assert " ram build time flash " in line


# ---- examples


@pytest.mark.parametrize("example", [one for one in SHOWN if not one.startswith(NOT_RUN)])
def test_an_example_runs_within_80_columns(example, folder):
    program, *words = shlex.split(example)
    done = run_heapfit(*words, folder=folder, environment=os.environ)
    assert (program, done.returncode) == ("heapfit", 0), done.stderr
    printed = "" if {"--json", "settings"} & set(words) else done.stdout
    wide = [line for line in f"{printed}{done.stderr}".splitlines() if len(line) > WIDTH]
    assert [line for line in wide if not COPIED.search(line)] == []


def test_a_check_that_fails_is_a_result_and_no_error(folder):
    words = ["check", "run.heap", "--plan", "tight.toml", "--json"]
    done = run_heapfit(*words, folder=folder, environment=os.environ)
    assert done.returncode == 3
    assert "error" not in json.loads(done.stdout)


def test_a_fit_that_is_interrupted_anywhere_leaves_no_folder(tmp_path):
    source = table2(tmp_path / "small.heap", events=60)

    for tenth in range(10):

        def tell(_step: str, share: float, until: float = tenth / 10) -> None:
            if share >= until:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit([source], tmp_path / "a" / "out", progress=tell)
        assert list(tmp_path.iterdir()) == [source]
