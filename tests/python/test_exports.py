# SPDX-License-Identifier: Apache-2.0
"""Exports, read by the tools that they are for; and the views of call sites."""

import gzip
import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from heapfit.trace.exports import export_holdings
from heapfit.trace.exports.samples import Frame, holdings_by_site, holdings_by_size
from heapfit.trace.kinds import Export, View
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import TraceInfo, write_trace
from program import run_heapfit

ALLOC, RESIZE, FREE = 0, 3, 4
EVENTS = (  # op, object, size, thread, site: the peak, 580 B, is after event 6
    (ALLOC, 0, 100, 1, 1),
    (ALLOC, 1, 40, 2, 2),
    (FREE, 1, 0, 1, 0),
    (ALLOC, 2, 40, 2, 2),
    (FREE, 2, 0, 2, 0),
    (RESIZE, 0, 300, 1, 2),
    (ALLOC, 3, 280, 2, 1),
    (FREE, 3, 0, 1, 0),
    (ALLOC, 4, 200, 2, 7),
    (ALLOC, 5, 8, 2, 1),
    (FREE, 4, 0, 1, 0),
)
CHAINS = {1: (11, 13), 2: (12, 13)}
PLACES = {12: Frame("text;one", "read.c", 12), 13: Frame("main", "main.c", 3)}
LIVE = [100, 140, 100, 140, 100, 300, 580, 300, 500, 508, 308]  # after each event
# The fields of the published profile.proto, as far as a profile of blocks has them: name, number,
# type (3 int64, 4 uint64, 9 text), or the name of a message; * repeated.
PROFILE = {
    "ValueType": "type 1 3, unit 2 3",
    "Sample": "location_id 1 *4, value 2 *3",
    "Line": "function_id 1 4, line 2 3",
    "Location": "id 1 4, mapping_id 2 4, address 3 4, line 4 *Line",
    "Function": "id 1 4, name 2 3, system_name 3 3, filename 4 3, start_line 5 3",
    "Profile": "sample_type 1 *ValueType, sample 2 *Sample, location 4 *Location, "
    "function 5 *Function, string_table 6 *9, time_nanos 9 3, duration_nanos 10 3, comment 13 *3, "
    "default_sample_type 14 3",
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    columns = zip(*EVENTS, strict=True)
    batch = dict(zip(("op", "object", "size", "thread", "site"), columns, strict=True))
    batch = {name: np.array(values) for name, values in batch.items()}
    batch["time"] = np.array([5, 5, 5, 7, 8, 9, 20, 21, 22, 23, 30])
    path = tmp_path_factory.mktemp("exports") / "run.parquet"
    return write_trace(path, [batch], TraceInfo(program="app"), lambda: CHAINS)


@pytest.fixture(scope="module")
def loaded(stored):
    return load_trace(stored)


def sites_of(loaded, view=View.PEAK):
    return holdings_by_site(loaded, view, PLACES)


def profile_message():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="p", syntax="proto3")
    for name, described in PROFILE.items():
        message = file.message_type.add(name=name)
        for one in described.split(", "):
            field, number, kind = one.split()
            kind, label = kind.lstrip("*"), 3 if "*" in kind else 1
            given = (
                {"type": int(kind)} if kind.isdecimal() else {"type": 11, "type_name": f".p.{kind}"}
            )
            message.field.add(name=field, number=int(number), label=label, **given)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))()


@pytest.mark.parametrize(
    ("view", "held"),
    [
        (View.PEAK, {1: (1, 280), 2: (1, 300)}),
        (View.HELD, {2: (1, 300), 1: (1, 8)}),
        (View.LATER, {2: (1, 300), 1: (1, 8)}),
        (View.TEMPORARY, {2: (1, 40)}),
    ],
)
def test_a_view_has_the_blocks_that_it_says(loaded, view, held):
    found = {one.key: one for one in sites_of(loaded, view).holders}
    assert {key: (one.blocks, one.size) for key, one in found.items() if one.blocks} == held
    assert (found[2].requests, found[2].requested) == (3, 380)


def test_the_command_shows_views_and_tasks(stored):
    words = ("sites", stored.path, "--json", "--view")
    run = {"folder": stored.path.parent, "environment": {}}
    held = json.loads(run_heapfit(*words, "held", **run).stdout)
    assert (held["view"], held["blocks"], held["size"]) == ("held", 2, 308)
    tasks = json.loads(run_heapfit(*words, "tasks", **run).stdout)["tasks"]
    assert [(one["task"], one["size"], one["requests"]) for one in tasks] == [
        (1, 300, 2),
        (2, 280, 5),
    ]
    folded = run_heapfit(*words[:2], "--export", "folded", **run)
    assert (folded.returncode, folded.stdout.splitlines()[0]) == (0, "app;0000000d;0000000c 300")
    both = run_heapfit(*words[:3], "--export", "pprof", **run)
    assert both.returncode == 2
    assert "one of the two" in both.stderr


def test_folded_lines_show_no_hostile_name(loaded):
    places = {**PLACES, 13: Frame("ma\nin\x1b[2J\u202e", "main.c", 3)}
    text = export_holdings(holdings_by_site(loaded, View.PEAK, places), Export.FOLDED).decode()
    assert "app;ma\\nin\\x1b[2J\\u202e;" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_folded_lines_have_the_outermost_caller_first(loaded):
    text = export_holdings(sites_of(loaded), Export.FOLDED).decode()
    assert text == "app;main;text:one 300\napp;main;0000000b 280\n"
    by_size = export_holdings(holdings_by_size(loaded), Export.FOLDED).decode()
    assert by_size == "app;256 to 511 B;300 B 300\napp;256 to 511 B;280 B 280\n"


def test_pprof_reads_stacks_and_totals(loaded):
    profile = profile_message()
    profile.ParseFromString(gzip.decompress(export_holdings(sites_of(loaded), Export.PPROF)))
    strings = profile.string_table
    assert [strings[one.type] for one in profile.sample_type][::3] == [
        "alloc_objects",
        "inuse_space",
    ]
    totals = np.sum([list(one.value) for one in profile.sample], axis=0).tolist()
    assert totals == [7, 968, 2, 580]
    functions = {one.id: one for one in profile.function}
    lines = {one.id: one.line[0] for one in profile.location}
    inner = lines[profile.sample[0].location_id[0]]
    assert (strings[functions[inner.function_id].name], inner.line) == ("text;one", 12)
    assert strings[functions[inner.function_id].filename] == "read.c"
    assert strings[profile.default_sample_type] == "inuse_space"


def test_perfetto_reads_counters_and_slices(loaded):
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(export_holdings(sites_of(loaded), Export.PERFETTO))
    tracks = {one.track_descriptor.uuid: one.track_descriptor for one in trace.packet}
    events = [one for one in trace.packet if one.HasField("track_event")]
    values, depth = defaultdict(list), Counter()
    for packet in events:
        event = packet.track_event
        name = tracks[event.track_uuid].name
        if event.type == event.TYPE_COUNTER:
            values[name].append((packet.timestamp, event.counter_value))
        elif event.type == event.TYPE_SLICE_BEGIN:
            depth[event.track_uuid] += 1
            assert depth[event.track_uuid] == 1
        else:
            depth[event.track_uuid] -= 1
    assert [value for _, value in values["live bytes"]] == LIVE
    assert [time for time, _ in values["live bytes"]][:4] == [5000, 5001, 5002, 7000]
    assert [value for _, value in values["bytes of text;one < main"]] == [40, 0, 40, 0, 300]
    assert sum(depth.values()) == 1, "the block that is held has no end"
    sizes = [one.track_event.name for one in events if one.track_event.name]
    assert sizes == ["300 B", "280 B"]


def test_a_long_counter_keeps_its_extremes(loaded, monkeypatch):
    monkeypatch.setattr("heapfit.trace.exports.perfetto._MOST_POINTS", 4)
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(export_holdings(holdings_by_size(loaded), Export.PERFETTO))
    counted = [one.track_event for one in trace.packet if one.track_event.track_uuid == 2]
    assert [one.counter_value for one in counted] == [100, 140, 300, 580]
