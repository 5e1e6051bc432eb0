# SPDX-License-Identifier: Apache-2.0
"""What every command must do, by its declaration and one run: help, errors, outputs, examples."""

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import small_scenarios
from captures import ethernet, ipv4, pcap

from heapfit.cli.main import all_commands, options_of
from heapfit.cli.printing.help_screen import list_examples
from heapfit.cli.removed import REMOVED
from program import call_heapfit, run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).parents[2]
# Of each command the shortest run that has a result.
RUNS = {
    "fit": "run.heap -o out",
    "check": "run.heap --plan plan.toml",
    "verify": "large.toml --qemu image/firmware.elf --build ./build --for freertos --times 1 "
    "--icount shift=6,sleep=off -o verified -- {run} 1",
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
    "reproduce": "000-1 --small",
    "slotbuf": "10 10",
}
NAMES = list(all_commands())
EXAMPLES = [one for declared in all_commands().values() for one in list_examples(declared)]
NOT_RUN = ("heapfit verify ", "heapfit run ")  # which need a program of the user: they are parsed
# One of a command's two examples runs, the other one the next day; all of them in `make test-long`.
TODAY = datetime.datetime.now(datetime.UTC).date().toordinal() % 2
SHOWN = EXAMPLES if os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1" else EXAMPLES[TODAY::2]
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
        "run2.heap": TRACE.replace("a 7 32", "a 7 40") + FREES,
        "plan.toml": PLAN,
        "large.toml": PLAN.replace("8192", "65536"),
        "tight.toml": PLAN.replace("8192", "2048"),
        "typo.toml": PLAN.replace("tlsf", "tlfs"),
        "device.log": "".join(f"free {9000 - i} largest 400\n" for i in range(30)),
        "build": BUILD,
    }
    for name, text in texts.items():
        (made / name).write_text(text)
    (made / "build").chmod(0o755)
    (made / "recordings").mkdir()
    packets = [(0.001 * i, frame, len(frame)) for i, frame in enumerate([ethernet(ipv4(60))] * 40)]
    (made / "capture.pcap").write_bytes(pcap(packets))
    few = [("requests = 4000", "requests = 100"), ("warm_up = 200", "warm_up = 10")]
    small_scenarios.small(made, *few).rename(made / "scenario.toml")
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
print(sorted({{"numpy", "pyarrow", "highspy", "jinja2", "rich"}} & sys.modules.keys()))
print(len(sys.modules) <= 250)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-2:] == ["[]", "True"]


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
        ("generate plan.toml --region 5G", "'--region': must be at most 4,294,967,295"),
        ("check run.heap --plan plan.toml --growth x", "'--growth': x is not a percentage from 0"),
        ("size run.heap --admission nan", "'--admission': nan is not a share from 0 to 1"),
        ("size run.heap --admission 101%", "'--admission': 101% is not a share from 0 to 1"),
        ("import run.heap --workers many", "'--workers': many is neither a number nor an address"),
        ("import run.heap --workers 0", "'--workers': must be at least 1"),
        ("import run.heap --workers 9999", "'--workers': must be at most 1,024"),
        ("import run.heap run2.heap --workers tcp://host:1", "this runs here alone (give a num"),
        (f"bounds run.heap --search {10**20}", "'--search': must be at most 1,000,000,000"),
        ("bounds run.heap --search x", "'--search': must be a whole number"),
        ("bounds run.heap --alignment 5", "'--alignment': '5' is not one of '4', '8', '16'"),
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
    status, said, printed = refused(words.split())
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
        ("settings freertos run.heap --assume alignmnt=4", "alignment"),
        ("fit run.heap --prefer tme", "time"),
        ("fit run.heap --effort quik", "quick"),
        ("fit run.heap --now heap4", "heap_4"),
        ("generate plan.toml --for freertoss", "freertos"),
        ("generate typo.toml", "tlsf"),
        ("slotbuf 10 10 segregated_fitt", "segregated_fit"),
    ],
)
def test_of_a_misspelt_name_the_right_one_is_offered(words, right, refused):
    status, said, _ = refused(words.split())
    assert status != 0
    assert f"did you mean '{right}'?" in said


@pytest.mark.parametrize("name", NAMES)
def test_an_output_that_is_full_is_one_line(name, folder):
    with Path("/dev/full").open("w") as full:
        done = run_heapfit(
            name, *shlex.split(RUNS[name]), folder=folder, environment=os.environ, output=full.name
        )
    *_, last = done.stderr.splitlines()
    assert (done.returncode, last) == (1, "heapfit: output: No space left on device")
    assert "Traceback" not in done.stderr


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
