# SPDX-License-Identifier: Apache-2.0
"""Settings of embedded systems: names, values by hand, and text that their files take."""

import random
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from test_sizing_demand import ALLOC, FREE, trace_of

from heapfit.comparison.trial import replay_trace
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.sizing import systems
from heapfit.sizing.buffers import Layout
from heapfit.sizing.settings import as_text, describe_run_out
from heapfit.sizing.systems import SYSTEMS, SettingsOptions
from heapfit.workloads.synthetic import generate_workload, parse_workload


@pytest.fixture
def burst(tmp_path):
    """100 bursts of 10 packets of 1,500 B and 5 of 40 B, each burst held until its end."""
    sizes = [1500] * 10 + [40] * 5
    events = []
    for round_number in range(100):
        first = round_number * len(sizes)
        names = range(first, first + len(sizes))
        time = round_number * 1000
        events += [(ALLOC, name, size, time) for name, size in zip(names, sizes, strict=True)]
        events += [(FREE, name, 0, time + 500) for name in names]
    return trace_of(tmp_path / "burst", events, kind="packets")


@pytest.fixture
def heap(tmp_path):
    return generate_workload(parse_workload("t2_w4:events=20000"), tmp_path / "heap")


def settings_for(system, trace, wanted):
    return systems.settings_for(system, [trace.path], wanted)


def values(settings):
    return {one.name: one.value for one in settings.settings}


def options(**choices):
    return SettingsOptions(**({"admission": 0.9999} | choices))


def test_lwip_pbufs_hold_every_burst(burst):
    found = settings_for("lwip", burst, options(admission=0.65))
    by_size = {choice.buffer_size: choice for choice in found.choices}
    # A burst's last packet needs all: whole frames of 1,514 B in 1,516 take 15 pbufs, in 592 B
    # 10 x 3 and 5; two thirds of the packets need 10 and 30 at most.
    assert by_size[1520].count == 10
    assert by_size[592].count == 30
    assert by_size[592].memory == 30 * (16 + 592)
    whole = settings_for("lwip", burst, options(admission=0.999))
    assert {choice.buffer_size: choice.count for choice in whole.choices}[592] >= 35
    best = min(found.choices, key=lambda choice: choice.memory)
    assert values(found)["PBUF_POOL_BUFSIZE"] == best.buffer_size
    assert values(found)["PBUF_POOL_SIZE"] == best.count
    assert values(found)["MEMP_NUM_TCPIP_MSG_INPKT"] == 10
    assert found.memory == best.memory


def test_a_link_header_may_cost_a_buffer_more():
    import numpy as np

    layout = Layout(buffer_size=512, first=512, later=512, extra=14, memory=528)
    assert layout.buffers(np.array([1, 498, 499, 1010, 1011])).tolist() == [1, 1, 2, 2, 3]


def test_openthread_messages_lose_their_metadata_in_the_first_buffer(burst):
    found = settings_for("openthread", burst, options(admission=0.65))
    by_size = {choice.buffer_size: choice.count for choice in found.choices}
    chain = 1 + -(-(1500 - (128 - 4 - 48)) // (128 - 4))
    assert by_size[128] == 10 * chain
    assert set(values(found)) == {
        "OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE",
        "OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS",
    }
    other = settings_for("openthread", burst, options(admission=0.65, assume={"metadata": 60}))
    chain = 1 + -(-(1500 - (128 - 4 - 60)) // (128 - 4))
    assert {one.buffer_size: one.count for one in other.choices}[128] == 10 * chain


def test_zephyr_counts_buffers_and_packets(burst):
    found = settings_for("zephyr", burst, options(admission=0.65))
    by_size = {choice.buffer_size: choice for choice in found.choices}
    assert by_size[128].count == 10 * 12  # 1,514 B in 128 B
    assert by_size[128].memory == 120 * (24 + 4 + 128)
    assert values(found)["NET_PKT_RX_COUNT"] == 10
    best = min(found.choices, key=lambda choice: choice.memory)
    assert values(found)["NET_BUF_DATA_SIZE"] == best.buffer_size
    assert values(found)["NET_BUF_RX_COUNT"] == best.count
    assert found.memory == best.memory + 10 * 88
    sent = settings_for("zephyr", burst, options(is_sent=True))
    assert {"NET_BUF_TX_COUNT", "NET_PKT_TX_COUNT"} < set(values(sent))


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("lwip", "MEM_SIZE"),
        ("zephyr", "HEAP_MEM_POOL_SIZE"),
        ("freertos", "configTOTAL_HEAP_SIZE"),
    ],
)
def test_a_heap_setting_holds_the_whole_trace_and_a_margin(heap, system, name):
    found = settings_for(system, heap, options())
    plan = Plan("first_fit", {"list": 1, "header_size": 8})
    needed = replay_trace(heap, plan, 10**6).footprint
    assert 1.02 * 0.95 * needed < values(found)[name] < 1.19 * 1.1 * needed
    assert list(values(found)) == [name]  # nothing that was not asked


def test_a_named_size_gets_a_pool_and_leaves_the_heap(heap):
    whole = settings_for("freertos", heap, options())
    found = settings_for("freertos", heap, options(admission=0.9, named={2952: "MY_BLOCKS"}))
    assert values(found)["MY_BLOCKS"] in (9, 10)
    assert values(found)["configTOTAL_HEAP_SIZE"] < values(whole)["configTOTAL_HEAP_SIZE"] - 20_000
    with pytest.raises(HeapfitError, match="name: no recording asks for 77 bytes"):
        settings_for("freertos", heap, options(named={77: "X"}))


def test_lwips_header_is_longer_in_a_large_heap(tmp_path):
    trace = generate_workload(parse_workload("t2_w3:events=2000"), tmp_path / "t")
    found = settings_for("lwip", trace, options())
    assert found.settings[-1].value > 64_000
    assert found.memory - found.settings[-1].value == 2 * 16  # of 12 bytes, at multiples of 8


SANITY = Path(__file__).with_name("lwip_sanity.h")


def is_built(settings, folder):
    """Whether lwIP's headers and its sanity checks take the settings as they are printed."""
    (folder / "lwipopts.h").write_text(as_text(settings))
    (folder / "built.c").write_text(f'#include "{SANITY}"\n')
    command = ["gcc", "-fsyntax-only", "-Wall", "-Werror", f"-I{folder}", "-I/usr/include/lwip"]
    done = subprocess.run(
        [*command, folder / "built.c"], capture_output=True, text=True, check=False
    )
    assert "No such file" not in done.stderr
    return done.returncode == 0


def test_lwip_builds_with_its_settings(burst, heap, tmp_path):
    for trace in (burst, heap):
        for admission in (0.65, 0.999):
            found = settings_for("lwip", trace, options(admission=admission))
            assert is_built(found, tmp_path)
    named = settings_for("lwip", heap, options(admission=0.9, named={2952: "MEMP_NUM_TCP_PCB"}))
    assert values(named)["MEMP_MEM_MALLOC"] == 0
    assert is_built(named, tmp_path)


def test_lwip_does_not_build_with_a_window_that_the_buffers_do_not_carry(burst, tmp_path):
    found = settings_for("lwip", burst, options(admission=0.65))
    without = replace(found, settings=tuple(s for s in found.settings if s.name != "TCP_WND"))
    small = [replace(s, value=1) if s.name == "PBUF_POOL_SIZE" else s for s in without.settings]
    assert not is_built(replace(without, settings=tuple(small)), tmp_path)


def test_few_packets_get_buffers_for_a_segment_and_a_window_of_whole_ones(tmp_path):
    events = [(ALLOC, 0, 60, 0), (FREE, 0, 0, 5), (ALLOC, 1, 60, 9), (FREE, 1, 0, 11)]
    trace = trace_of(tmp_path / "one", events, kind="packets")
    whole = settings_for("lwip", trace, options(admission=0.5))
    found = values(whole)
    carried = found["PBUF_POOL_SIZE"] * (found["PBUF_POOL_BUFSIZE"] - 54)
    assert 536 <= found["TCP_WND"] == carried // 536 * 536
    alone = settings_for("lwip", trace, options(admission=0.5, assume={"tcp_mss": 0}))
    assert "TCP_WND" not in values(alone)
    assert alone.memory < whole.memory


@pytest.mark.parametrize("system", ["lwip", "zephyr", "nimble", "openthread"])
def test_larger_buffers_are_never_more(tmp_path, system):
    draw = random.Random(3)
    events, live = [], []
    for name in range(400):
        events.append((ALLOC, name, draw.choice([40, 60, 576, 1500]), name))
        live.append(name)
        while live and draw.random() < 0.52:
            events.append((FREE, live.pop(0), 0, name))
    trace = trace_of(tmp_path / "walk", events, kind="packets")
    for admission in (0.9, 0.99, 0.9999, 0.999999):
        found = settings_for(system, trace, options(admission=admission))
        counts = [choice.count for choice in found.choices]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("system", ["lwip", "openthread"])
def test_defines_pass_a_compiler(burst, tmp_path, system):
    found = settings_for(system, burst, options())
    names = " + ".join(values(found))
    source = tmp_path / "options.c"
    source.write_text(as_text(replace(found, source="a */ b.pcap")) + f"\nint sum = {names};\n")
    subprocess.run(["gcc", "-fsyntax-only", "-Wall", "-Werror", source], check=True)


@pytest.mark.parametrize("system", ["nimble", "zephyr-bluetooth"])
def test_settings_pass_what_their_stack_checks(burst, tmp_path, system):
    text = as_text(settings_for(system, burst, options()))
    text = text.replace("# ", "// ").replace("CONFIG_", "#define CONFIG_").replace("=", " ")
    source = tmp_path / "settings.c"
    source.write_text(f'{text}\n#include "{Path(__file__).parent}/stack_checks.h"\nint made;\n')
    subprocess.run(["gcc", "-fsyntax-only", "-Wall", "-Werror", source], check=True)


def test_nimbles_blocks_have_their_headers_inside(burst):
    """10 packets of 1,500 B and 5 of 40 B: in 292 B the first block holds 268 less 8, later 276."""
    found = settings_for("nimble", burst, options(admission=0.65))
    by_size = {choice.buffer_size: choice.count for choice in found.choices}
    assert by_size[292] == 10 * (1 + -(-(1500 + 8 - 268) // 276))


def test_a_bluetooth_buffer_holds_the_largest_packet_whole(burst):
    found = values(settings_for("zephyr-bluetooth", burst, options(admission=0.999)))
    assert found["BT_BUF_ACL_RX_SIZE"] == 1504
    assert found["BT_BUF_ACL_RX_COUNT_EXTRA"] >= 14


def test_kconfig_lines_are_comments_or_assignments(burst):
    found = settings_for("zephyr", burst, options())
    lines = as_text(found).splitlines()
    assert all(line == "" or line.startswith(("# ", "CONFIG_")) for line in lines)
    assert f"CONFIG_NET_PKT_RX_COUNT={values(found)['NET_PKT_RX_COUNT']}" in lines
    assert max(map(len, lines)) <= 100


def test_every_count_has_its_chance_and_every_value_its_default(burst, heap):
    for system in SYSTEMS:
        trace = heap if system == "freertos" else burst
        found = settings_for(system, trace, options())
        text = " ".join(as_text(found).replace("*", " ").replace("#", "").split())
        counts = [one for one in found.settings if one.run_out is not None]
        assert counts or system == "freertos"
        assert text.count("Runs out for") + text.count("Never ran out") == len(counts)
        assert text.count("Default:") == len(found.settings)
        assert "Assumed:" in text


def test_every_assumption_has_a_source():
    for system in SYSTEMS:
        ways = SYSTEMS[system].packets, SYSTEMS[system].heap
        for one in [each for way in ways if way is not None for each in way.assumptions]:
            assert one.meaning and one.source


@pytest.mark.parametrize(
    ("system", "choices", "message"),
    [
        ("lwip", {"assume": {"pbuf": 3}}, "lwip has no assumption named 'pbuf'"),
        ("lwip", {"assume": {"mtu": 2**21}}, "mtu=2097152 is out of range"),
        ("openthread", {"assume": {"metadata": 300}}, "leaves no room in a buffer of 256"),
        (
            "mbed",
            {},
            "'mbed' must be one of lwip, zephyr, zephyr-bluetooth, nimble, openthread, freertos",
        ),
        ("lwip", {"admission": 1.0}, "admission: 1 must be above 0 and below 1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(burst, system, choices, message):
    with pytest.raises(HeapfitError) as raised:
        settings_for(system, burst, options(**choices))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_openthread_has_no_setting_for_a_heap(heap):
    with pytest.raises(HeapfitError, match="messages are packets: give a capture"):
        settings_for("openthread", heap, options())


def test_several_captures_are_sized_together_and_a_heaps_recording_never_with_them(
    burst, heap, tmp_path
):
    later = [(ALLOC, name, 1500, name) for name in range(40)]
    other = trace_of(tmp_path / "more", later, kind="packets")
    captures = [burst.path, other.path]
    found = systems.settings_for("zephyr", captures, options(admission=0.9999))
    assert values(found)["NET_PKT_RX_COUNT"] >= 40
    assert "burst and 1 more (3,040 events)" in as_text(found)
    with pytest.raises(HeapfitError, match="cannot be sized together"):
        systems.settings_for("zephyr", [burst.path, heap.path], options())


def test_a_count_comes_with_its_chance_in_a_time(burst, tmp_path):
    whole = settings_for("zephyr", burst, options(admission=0.65)).settings[1]
    share, day = whole.run_out.share, 99 * 1000 + 500  # microseconds of all bursts
    refused = share * 1500 * 86_400_000_000 / day
    assert whole.run_out.count_refused(share) == (pytest.approx(refused), "day")
    assert f"{refused:,.0f} times a day." in describe_run_out(whole.run_out)
    sizes = [1500] * 10 + [40] * 5
    untimed = [(ALLOC, name, size, 0) for name, size in enumerate(sizes)]
    trace = trace_of(tmp_path / "untimed", untimed, kind="packets")
    alone = settings_for("zephyr", trace, options(admission=0.65)).settings[1].run_out
    assert alone.count_refused(0.2) == (pytest.approx(3), "recording")
