# SPDX-License-Identifier: Apache-2.0
"""Chains of callers: recorded, kept beside the table, and taken for tags where they tell more."""

import json
import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest
from test_record import heapfit

from heapfit.checks.growth import name_sites
from heapfit.design.placement.call_sites import call_sites
from heapfit.design.placement.learned import learn_placement
from heapfit.design.placement.sites import learn_sites
from heapfit.design.placement.tailored_plans import layouts
from heapfit.design.robust.joined_trace import join_traces
from heapfit.errors import HeapfitError
from heapfit.importers.preload import recorder_settings
from heapfit.importers.record import record
from heapfit.trace.chains import callers_of, chain_metadata, parse_chains, tags_of
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace, TraceInfo, write_trace

ROUNDS = 200
# Every request goes through one function: who wants to keep what it asks for, its callers know.
PROGRAM = """
#include <stdlib.h>
static void *ask(size_t size) {
    void *volatile block = malloc(size); /* line 4 */
    return block;
}
static void *keep(void) { void *volatile block = ask(64); return block; }
static void *use(void) { void *volatile block = ask(64); return block; }
int main(void) {
    void *used[200];
    for (int i = 0; i < 200; i++) {
        keep();
        used[i] = use();
    }
    for (int i = 0; i < 200; i++) free(used[i]);
    for (int i = 0; i < 100; i++) ask(128);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    (folder / "program.c").write_text(PROGRAM)
    flags = ["-g", "-O1", "-fno-inline", "-fomit-frame-pointer"]
    subprocess.run(["cc", *flags, "program.c", "-o", "program"], cwd=folder, check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def recorded(program):
    """With chains, and with direct callers alone."""
    traces = {}
    for depth in (4, 1):
        path = program.parent / f"{depth}.parquet"
        traces[depth] = record([str(program)], path, depth=depth).trace
    return traces


def test_a_chain_tells_apart_what_asks_through_one_function(program, recorded):
    path = recorded[4].path
    told = heapfit("sites", path, "--program", program, "--json")
    sites = json.loads(told.stdout)["sites"]
    above = [[caller["function"] for caller in one["callers"] if caller] for one in sites]
    assert [one["requests"] for one in sites] == [ROUNDS, ROUNDS, ROUNDS // 2]
    assert sorted(above) == [["keep", "main"], ["main"], ["use", "main"]]
    assert {one["place"]["line"] for one in sites} == {"program.c:4"}
    shown = heapfit("sites", path, "--program", program).stdout
    assert "keep, program.c:7 < main\n" in shown


def test_a_site_is_named_by_the_caller_that_no_other_has(program, recorded):
    loaded = load_trace(recorded[4])
    names = {name_sites(loaded, [program])[one.site] for one in call_sites(loaded)}
    assert names == {"keep, program.c:7", "use, program.c:8", "main, program.c:16"}
    functions = name_sites(loaded, [program], by_function=True)
    assert {functions[one.site] for one in call_sites(loaded)} == {"keep", "use", "main"}


def test_direct_callers_are_the_same_at_either_depth(recorded):
    """The recorder names a chain's first caller as it does where that is the site."""
    (direct,) = [one.site for one in call_sites(load_trace(recorded[1]))]
    assert recorded[1].chains == {}
    assert {chain[0] for chain in recorded[4].chains.values()} == {direct}
    by_caller = load_trace(recorded[4]).reduce_to_callers()
    assert [one.site for one in call_sites(by_caller)] == [direct]


def test_chains_are_the_same_in_every_run(program, recorded, tmp_path):
    again = record([str(program)], tmp_path / "again.parquet", depth=4).trace
    assert again.chains == recorded[4].chains
    assert Trace.open(again.path).chains == again.chains


def test_a_forked_child_tells_its_chains_itself(tmp_path):
    """Its file is another: what the parent told is not in it."""
    source = tmp_path / "fork.c"
    source.write_text(
        "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
        "static void *volatile kept;\n"
        "static void ask(void) { kept = malloc(24); }\n"
        "int main(void) { for (int i = 0; i < 2; i++) { ask(); if (i == 0 && fork()) "
        "{ wait(0); return 0; } } return 0; }\n"
    )
    subprocess.run(["cc", "-O0", source, "-o", tmp_path / "fork"], check=True)
    words = [str(tmp_path / "fork")]
    found = record(words, tmp_path / "t.parquet", keep_children=True, depth=4)
    (child,) = found.children
    (site,) = [one.site for one in call_sites(load_trace(child)) if one.most == 24]
    assert len(child.chains[site]) > 1


def test_what_learns_takes_chains_where_the_caller_tells_too_little(recorded):
    chained, direct = (load_trace(recorded[depth], 4) for depth in (4, 1))
    start = learn_placement(chained, list(layouts(4).values()), 200_000)
    assert start is not None
    assert learn_sites(direct, start.climbed, 200_000) == (None, 0)
    found, replayed = learn_sites(chained, start.climbed, 200_000)
    assert replayed > 0
    assert found is not None
    assert found.layout.sites.keys() <= recorded[4].chains.keys()
    assert start.climbed.region - found.region > 0.2 * chained.profile.u_max


KEEP, GO, ASK = 0x10, 0x20, 0x30  # direct callers


@pytest.fixture
def by_direct_caller(tmp_path):
    """A trace whose chains tell no more than their first callers do."""
    first = [(0, i, 64, (KEEP if i % 2 == 0 else GO) + 1) for i in range(2 * ROUNDS)]
    freed = [(4, i, 0, 0) for i in range(1, 2 * ROUNDS, 2)]
    late = [(0, 2 * ROUNDS + i, 128, ASK + 1) for i in range(ROUNDS // 2)]
    rows = zip(*first, *freed, *late, strict=True)
    columns = dict(zip(("op", "object", "size", "site"), map(np.array, rows), strict=True))
    chains = {caller + 1: (caller, 0x99) for caller in (KEEP, GO, ASK)}
    return write_trace(tmp_path / "t.parquet", [columns], TraceInfo(), lambda: chains)


def test_what_learns_keeps_direct_callers_where_they_tell_as_much(by_direct_caller):
    loaded = load_trace(by_direct_caller, 4)
    start = learn_placement(loaded, list(layouts(4).values()), 200_000)
    assert start is not None
    found, _ = learn_sites(loaded, start.climbed, 200_000)
    assert found is not None
    assert found.layout.sites.keys() == {KEEP, GO, ASK}


def test_a_plan_of_direct_callers_finds_them_in_chains(by_direct_caller, tmp_path):
    sites = {KEEP: 3, GO + 1: 2}
    tags = load_trace(by_direct_caller).tags(sites)
    assert tags[:4].tolist() == [3, 2, 3, 2]
    joined = join_traces(tmp_path / "j.parquet", [by_direct_caller, by_direct_caller])
    assert joined.chains == by_direct_caller.chains
    again = load_trace(joined).tags(sites)
    assert np.count_nonzero(again == 3) == 2 * np.count_nonzero(tags == 3)


def test_a_chain_with_a_tag_of_its_own_goes_before_its_caller():
    chains = {100: (7, 8), 101: (7, 9)}
    called_from = np.array([100, 101, 7, 5], np.uint32)
    assert tags_of(called_from, {7: 1, 101: 2}, chains).tolist() == [1, 2, 1, 0]
    assert callers_of(called_from, chains).tolist() == [7, 7, 7, 5]


@pytest.mark.parametrize(
    "damaged",
    [b"{", b"[]", b"1", b'{"x": [1]}', b'{"1": []}', b'{"1": [0]}', b'{"1": 5}', b'{"1": [true]}',
     b'{"1": [1,2,3,4,5]}', b'{"0": [1]}', b'{"4294967296": [1]}', b'{"1": ["2"]}'],
)  # fmt: skip
def test_damaged_chains_are_refused(by_direct_caller, damaged):
    table = pq.read_table(by_direct_caller.path)
    stored = pq.ParquetFile(by_direct_caller.path).metadata.metadata | {b"heapfit chains": damaged}
    pq.write_table(table.replace_schema_metadata(stored), by_direct_caller.path)
    with pytest.raises(HeapfitError, match=r"t\.parquet: its chains of callers are damaged"):
        Trace.open(by_direct_caller.path)


def test_chains_are_read_as_they_were_stored():
    chains = {1: (2, 3), 0xFFFFFFFF: (4,)}
    assert parse_chains(chain_metadata(chains)) == chains
    assert parse_chains(None) == {}


def test_the_environment_asks_for_chains_only_where_they_are_wanted(tmp_path):
    assert "HEAPFIT_SITE_DEPTH" not in recorder_settings(tmp_path)
    told = heapfit("record", "--environment", tmp_path, "--site-depth", "4").stdout
    assert told.splitlines()[-1] == "HEAPFIT_SITE_DEPTH=4"
    refused = heapfit("record", "--environment", tmp_path, "--site-depth", "3")
    assert refused.returncode == 2
    assert "1 or 4" in refused.stderr
