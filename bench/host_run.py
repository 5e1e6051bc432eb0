# SPDX-License-Identifier: Apache-2.0
"""Programs on planned heaps: host_run.py same counts where the first refusal is check's event,
host_run.py drill counts planted crashes that a drill finds.

`same` runs the programs of examples/second-runs, and of the folders that are named, that are here,
have one thread and no clients. `drill` replays recordings, of at least 30,000 requests for
docs/evidence/run.md, by a program of its own, in which one call site crashes when it is refused.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from heapfit import _engine
from heapfit.checks.drill import drill_program
from heapfit.checks.host_run import prepare_program
from heapfit.checks.run import run_recording
from heapfit.cli.printing.console import print_table
from heapfit.errors import HeapfitError
from heapfit.importers.record import record
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import FREE
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[1]
SECOND_RUNS = ROOT / "examples/second-runs"
SHARES = (0.97, 0.9, 0.6)  # of a program's need, that it is run in
PLANS = (
    'allocator = "good_fit"',
    'allocator = "tlsf"',
    'allocator = "tailored"\nlayout = 1\nends = 2\nhigh_0 = 1024',
)
PLANTED = 2  # crashes in each program, at requests that its heap can refuse, and at others
SITES = 64


def plan_in(folder: Path, text: str) -> PlanFile:
    path = folder / "plan.toml"
    path.write_text(f'name = "planned"\nregion = 268435456\n[plan]\n{text}\nalignment = 8\n')
    return load_plan(path)


def need_of(trace: Trace, plan: PlanFile) -> int:
    base = trace.base_alignment_for(plan.base_alignment)
    found = _engine.Trial(plan.plan.engine(), load_trace(trace).events, base).scan().r_safe
    assert found is not None, "below 4 GiB"
    return found


def programs(folders: Iterable[Path]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    sys.path.insert(0, str(SECOND_RUNS))
    from record import programs_of

    for folder in folders:
        for entry in programs_of(folder / "programs.toml"):
            if "client" not in entry and "recorded_by" not in entry:
                yield entry, entry["loads"][-1]


def count_same(entry: Mapping[str, Any], load: Mapping[str, Any], number: int) -> tuple[Any, ...]:
    """The events of a program, and in how many regions the first refusal is that of check."""
    from record import environment, filled, prepare

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        values = {**load, "root": ROOT, "folder": folder}
        os.chdir(SECOND_RUNS)
        prepare(entry, load, values, folder)
        os.chdir(folder)
        kept = dict(os.environ)
        os.environ.clear()
        os.environ.update(environment(entry))
        stdin = folder / "input" if (folder / "input").exists() else Path(os.devnull)
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        try:
            return compare_runs(filled(entry["command"], values), folder, number)
        finally:
            os.environ.clear()
            os.environ.update(kept)
            os.chdir(ROOT)


def compare_runs(command: list[str], folder: Path, number: int) -> tuple[Any, ...]:
    trace = record(command, folder / "run.parquet").trace
    os.lseek(0, 0, os.SEEK_SET)  # the second recording reads the same input
    again = record(command, folder / "again.parquet").trace
    assert trace is not None and again is not None, "the program asks for memory itself"
    if load_trace(trace).content != load_trace(again).content:
        return "-", trace.info.events, "", "two recordings differ"
    plan = plan_in(folder, PLANS[number % len(PLANS)])
    need = need_of(trace, plan)
    same = 0
    with prepare_program(plan, command) as program:
        for share in SHARES:
            region = int(need * share) // 8 * 8
            expected = run_recording(trace, replace(plan, region=region), "run").refusal
            same += program.run(region, 600).first == expected
    return plan.plan.allocator, trace.info.events, need, f"{same} of {len(SHARES)}"


REPLAYED = """
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
struct event { uint32_t op, object; uint64_t size; uint32_t site, unused; };
static int planted;
static void *take(void *old, size_t size, int site) {
    void *block = old == NULL ? malloc(size) : realloc(old, size);
    if (block == NULL && size != 0 && site == planted) abort();
    return block;
}
#define SITE(n) __attribute__((noinline)) static void *site_##n(void *old, size_t size) { \\
    void *volatile block = take(old, size, n); return block; }
@SITES@
static void *(*const sites[])(void *, size_t) = {@NAMES@};
int main(int count, char **words) {
    int file = open(words[1], O_RDONLY);
    struct stat about;
    planted = atoi(words[2]);
    fstat(file, &about);
    struct event *all = mmap(NULL, about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    size_t events = about.st_size / sizeof(*all);
    void **blocks = mmap(NULL, (events + 1) * sizeof(*blocks), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < events; i++) {
        void **block = &blocks[all[i].object];
        if (all[i].op == 4) {
            free(*block);
            *block = NULL;
        } else if (all[i].op != 3) {
            *block = sites[all[i].site](NULL, all[i].size);
        } else if (*block != NULL) {
            void *moved = sites[all[i].site](*block, all[i].size);
            if (moved != NULL || all[i].size == 0) *block = moved;
        }
    }
    return 0;
}
"""


def build_replayer(folder: Path) -> Path:
    text = REPLAYED.replace("@SITES@", "\n".join(f"SITE({i})" for i in range(SITES)))
    names = ", ".join(f"site_{i}" for i in range(SITES))
    (folder / "replayer.c").write_text(text.replace("@NAMES@", names))
    flags = ["-O1", "-g", "-fno-optimize-sibling-calls", "-fno-ipa-icf", "-w"]
    subprocess.run(["cc", *flags, "replayer.c", "-o", "replayer"], cwd=folder, check=True)
    return folder / "replayer"


def write_events(trace: Trace, path: Path) -> None:
    """The events as the replayer maps them; the sites are numbered, the rarest as one."""
    loaded = load_trace(trace).reduce_to_callers()
    sites = loaded.sites if len(loaded.sites) else loaded.events.sizes().astype(np.uint32)
    distinct, which, counts = np.unique(sites, return_inverse=True, return_counts=True)
    rank = np.empty(len(distinct), np.uint32)
    rank[np.argsort(-counts)] = np.arange(len(distinct))
    columns = np.zeros(
        len(which), [("op", "u4"), ("object", "u4"), ("size", "u8"), ("site", "u4"), ("_", "u4")]
    )
    columns["op"], columns["object"] = loaded.events.ops(), loaded.events.objects()
    columns["size"], columns["site"] = loaded.events.sizes(), np.minimum(rank[which], SITES - 1)
    path.write_bytes(columns.tobytes())


def drill(trace: Trace, folder: Path, seed: int) -> tuple[Any, ...]:
    """Drills a recording once unplanted, then with crashes planted at sites that can be refused."""
    program, events = build_replayer(folder), folder / "events"
    write_events(trace, events)
    sites = np.fromfile(events, np.uint32)[4::6]
    plan = plan_in(folder, PLANS[seed % len(PLANS)])
    plain = drill_program(plan, [str(program), str(events), "-1"])
    assert plain.holds, "nothing is planted"
    can = sorted({int(sites[one.event]) for one in plain.refusable})
    refused = {one.size for one in plain.refusable}
    requests = np.fromfile(events, np.uint32)[::6] != FREE
    never = sorted(set(sites[requests].tolist()) - set(can))
    random = Random(seed)
    found = [
        not drill_program(plan, [str(program), str(events), str(site)]).holds
        for site in random.sample(can, min(PLANTED, len(can)))
    ]
    other = [
        not drill_program(plan, [str(program), str(events), str(site)]).holds
        for site in random.sample(never, min(PLANTED, len(never)))
    ]
    return (
        plain.asked,
        len(plain.refusable),
        len(refused),
        len(plain.runs),
        f"{1000 * len(plain.runs) / plain.asked:.2f}",
        f"{sum(found)} of {len(found)}",
        f"{sum(other)} of {len(other)}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["same", "drill"])
    parser.add_argument("names", nargs="*", help="more folders of programs; for drill recordings")
    asked = parser.parse_args()
    rows = []
    if asked.what == "same":
        folders = [SECOND_RUNS, *(Path(name).resolve() for name in asked.names)]
        for number, (entry, load) in enumerate(programs(folders)):
            try:
                rows.append((entry["name"], *count_same(entry, load, number)))
            except (HeapfitError, OSError, subprocess.CalledProcessError) as error:
                rows.append((entry["name"], f"not run: {error}"[:60], "", "", ""))
            print(*rows[-1], file=sys.stderr, flush=True)
        print_table(("program", "allocator", "events", "needs, B", "same event"), rows)
        return
    for seed, name in enumerate(asked.names):
        with tempfile.TemporaryDirectory() as folder:
            rows.append((Path(name).stem, *drill(Trace.open(Path(name)), Path(folder), seed)))
        print(*rows[-1], file=sys.stderr, flush=True)
    heads = ("recording", "requests", "can be refused", "sizes", "runs", "per 1,000")
    print_table((*heads, "planted found", "others found"), rows)


if __name__ == "__main__":
    main()
