# SPDX-License-Identifier: Apache-2.0
"""Settings of embedded systems: names, values by hand, and text that their files take."""

import random
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_sizing import ALLOC, FREE, trace_of

from heapfit.comparison.trial import replay_trace
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.sizing import systems
from heapfit.sizing.demand import measure_units
from heapfit.sizing.run_out import RunOut, run_out
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


def test_recordings_of_two_programs_are_named():
    examples = Path(__file__).resolve().parents[2] / "examples"
    both = [examples / "lwip-echo/lwip-echo.parquet", examples / "check/traces/base.parquet"]
    remarks = systems.settings_for("freertos", both, SettingsOptions()).remarks
    assert remarks[0].startswith("these are recordings of lwip-echo and telemetry: one heap ")


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


@pytest.mark.parametrize("extrapolated", [False, True])
def test_all_that_was_recorded_is_the_most_at_once(tmp_path, extrapolated):
    """Crowds of packets, the larger the rarer: one that never came is foretold, or not."""
    draw, events, first = random.Random(5), [], 0
    crowds = [1 + int(draw.expovariate(0.3)) for _ in range(3000)]
    for number, crowd in enumerate(crowds):
        names = range(first, first + crowd)
        first = names.stop
        events += [(ALLOC, name, 1500, number * 1000) for name in names]
        events += [(FREE, name, 0, number * 1000 + 500) for name in names]
    trace = trace_of(tmp_path / "crowds", events, kind="packets")
    found = settings_for("lwip", trace, options(admission=1 - extrapolated * 1e-9))
    counts = [(one.count > one.peak, one.is_extrapolated, one.peak) for one in found.choices]
    most = [max(crowds) * -(-1514 // size) for size in (128, 256, 384, 512, 592, 768, 1024, 1520)]
    assert counts == [(extrapolated, extrapolated, one) for one in most]


@pytest.mark.parametrize(
    ("system", "name", "size", "count"),
    [
        ("lwip", "PBUF_POOL_BUFSIZE", 1514, 15),
        ("lwip", "PBUF_POOL_BUFSIZE", 592, 35),
        ("zephyr", "NET_BUF_DATA_SIZE", 1514, 15),
        ("nimble", "MYNEWT_VAL_MSYS_1_BLOCK_SIZE", 1600, 15),
        ("openthread", "OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE", 1600, 15),
        ("netx", "DEFAULT_PAYLOAD_SIZE", 1600, 15),
    ],
)
def test_a_size_that_is_given_is_the_only_one(burst, system, name, size, count):
    found = settings_for(system, burst, options(admission=1, assume={name: size}))
    assert [(one.buffer_size, one.peak) for one in found.choices] == [(size, count)]
    text = as_text(found)
    assert values(found)[name] == size and "As given, for whole" in text
    assert f"{name}=0" not in text and "serve all" in text


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
    sent = settings_for("zephyr", burst, options(assume={"sent": 1}))
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


def test_blocks_at_multiples_of_4_take_less_and_the_heap_to_compare_is_named_so(heap):
    of_4, of_8 = (
        settings_for("freertos", heap, options(assume={"alignment": one})) for one in (4, 8)
    )
    assert of_4.memory < of_8.memory
    assert "heapfit fit --now heap_4:alignment=4" in of_4.remarks[0]
    assert "heapfit fit --now heap_4`" in of_8.remarks[0]


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


@pytest.mark.parametrize("system", ["lwip", "zephyr", "nimble", "openthread", "netx"])
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


CHECKED = ["nimble", "openthread", "netx", "riot", "tinyusb", "matter", "zephyr-bluetooth"]


def passes_its_stack(text, folder):
    """Whether the header of the stacks' own checks takes the settings."""
    lines = [
        line.replace("CONFIG_", "#define CONFIG_").replace("=", " ")
        for line in text.splitlines()
        if line.startswith("CONFIG_")
    ]
    source = folder / "settings.c"
    checks = Path(__file__).with_name("stack_checks.h")
    made = "\n".join(lines) if lines else text
    source.write_text(f'{made}\n#include "{checks}"\nint made = CHECKED;\n')
    command = ["gcc", "-fsyntax-only", "-Wall", "-Werror", source]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("system", CHECKED)
def test_settings_pass_what_their_stack_checks_and_no_others_do(burst, tmp_path, system):
    found = settings_for(system, burst, options())
    assert passes_its_stack(as_text(found), tmp_path)
    for number, one in enumerate(found.settings):
        wrong = [*found.settings]
        wrong[number] = replace(one, value=-1)
        assert not passes_its_stack(as_text(replace(found, settings=tuple(wrong))), tmp_path)


def test_matters_objects_pass_its_checks_and_need_their_sizes(heap, tmp_path):
    named = {2952: "CHIP_CONFIG_MAX_EXCHANGE_CONTEXTS"}
    found = settings_for("matter", heap, options(admission=0.9, named=named))
    assert passes_its_stack(as_text(found), tmp_path)
    (one,) = found.settings
    assert (one.standard, found.memory) == ("16", 2952 * one.value)
    assert one.run_out.lowest <= one.run_out.share <= one.run_out.highest
    with pytest.raises(HeapfitError, match="160=CHIP_CONFIG_MAX_EXCHANGE_CONTEXTS"):
        settings_for("matter", heap, options())


def test_openthread_adds_messages_of_sleepy_children_and_of_a_burst(burst):
    """A message of 1,280 B takes 11 buffers of 128 B: 76 B of it lie in the first."""
    plain = settings_for("openthread", burst, options(admission=0.65))
    more = {"sleepy": 3, "burst": 2, "burst_message": 70}
    found = settings_for("openthread", burst, options(admission=0.65, assume=more))
    before = {choice.buffer_size: choice.count for choice in plain.choices}[128]
    assert {choice.buffer_size: choice.count for choice in found.choices}[128] == before + 35
    many = settings_for("openthread", burst, options(assume={"children": 511}))
    assert min(choice.buffer_size for choice in many.choices) == 128  # 64 B of a mask


def test_a_pool_of_netx_holds_packets_with_their_headers(burst):
    found = settings_for("netx", burst, options(admission=0.65))
    by_size = {choice.buffer_size: choice for choice in found.choices}
    assert by_size[1536].count == 10 and by_size[256].count == 10 * 6  # 16 B ahead of IP
    assert by_size[1536].memory == 10 * (60 + 1536)
    assert values(found)["NX_APP_PACKET_POOL_SIZE"] == found.memory


def test_riots_buffer_holds_snips_and_data_in_cells(burst):
    (one,) = settings_for("riot", burst, options(admission=0.65)).settings
    cells = 10 * (4 * 3 + 3 + 188)  # ten packets of 1,500 B
    assert one.run_out.count == cells
    assert 8 * cells <= one.value <= 1.1 * 8 * cells


def test_tinyusb_has_a_block_for_each_packet_or_their_bytes(burst):
    found = values(settings_for("tinyusb", burst, options(admission=0.65)))
    assert found["CFG_TUD_NCM_OUT_NTB_N"] == 10
    assert found["CFG_TUD_CDC_RX_BUFSIZE"] == 15_000
    assert found["CFG_TUD_NCM_OUT_NTB_MAX_SIZE"] == 2048
    sent = settings_for("tinyusb", burst, options(assume={"sent": 1}))
    assert {"CFG_TUD_NCM_IN_NTB_N", "CFG_TUD_CDC_TX_BUFSIZE"} < set(values(sent))


def test_the_model_of_bursts_is_right_where_independent_requests_are_not(burst):
    """A burst's packets need 1 to 15: 3 of 15 need more than 12."""
    by_name = {one.name: one for one in settings_for("zephyr", burst, options()).settings}
    found = by_name["NET_PKT_RX_COUNT"].run_out
    assert found.count >= 15
    demand = measure_units([burst], np.ones_like)
    seen = run_out(demand, 12)
    assert seen.share == pytest.approx(0.2)
    assert 0.5 * seen.share < seen.in_bursts < 2 * seen.share
    assert seen.independent < seen.share / 3
    assert "in such bursts" in describe_run_out(seen)


SELDOM = RunOut(
    share=0.001, lowest=0.0005, highest=0.002, count=8, is_beyond=False, requests=5_000.0,
    requests_a_day=None, independent=0.0001, in_bursts=0.0015, peak=12,
)  # fmt: skip
OFTEN = "Runs out for at most 0.1 % of requests (95 %: 0.05 % to 0.2 %), "
MODELS = " Models: 0.15 % in such bursts, 0.01 % of independent requests."


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, f"{OFTEN}5 times a recording."),
        ({"requests_a_day": 200_000.0}, f"{OFTEN}200 times a day."),
        ({"requests": 500.0}, f"{OFTEN}with a chance of 39.3 % a recording."),
        ({"is_beyond": True}, "Runs out for up to 0.1 % of requests, at most 5 times a recording, "
            "by EXTRAPOLATION: what is recorded shows only that it is below 0.2 %. Most at once: "
            "12."),
        ({"share": 0.0, "highest": 0.0006}, "Never ran out in what is recorded: it does for less "
            "than 0.06 % of requests."),
    ],
)  # fmt: skip
def test_how_often_a_pool_runs_out_is_said_by_what_is_known(changed, said):
    assert describe_run_out(replace(SELDOM, **changed)) == said + MODELS


def test_nimbles_blocks_have_their_headers_inside(burst):
    """10 packets of 1,500 B and 5 of 40 B: in 292 B the first block holds 268 less 8, later 276."""
    found = settings_for("nimble", burst, options(admission=0.65))
    by_size = {choice.buffer_size: choice.count for choice in found.choices}
    assert by_size[292] == 10 * (1 + -(-(1500 + 8 - 268) // 276))


def test_a_bluetooth_buffer_holds_the_largest_packet_whole(burst):
    found = values(settings_for("zephyr-bluetooth", burst, options(admission=0.999)))
    assert found["BT_BUF_ACL_RX_SIZE"] == 1504
    assert found["BT_BUF_ACL_RX_COUNT_EXTRA"] >= 14


def test_the_memory_of_whole_packets_has_what_lies_beside_each(burst):
    """Ten packets of 1,500 B at once, with 32, 16 and no bytes beside each buffer."""
    bluetooth, matter, tinyusb, riot = (
        settings_for(system, burst, options(admission=0.65))
        for system in ("zephyr-bluetooth", "matter", "tinyusb", "riot")
    )
    assert values(bluetooth)["BT_BUF_ACL_RX_COUNT_EXTRA"] == 9  # one is there anyhow
    assert bluetooth.memory == 10 * (32 + 1504)
    assert matter.memory == 10 * (16 + 1500)
    assert tinyusb.memory == 10 * 2048
    assert riot.memory == riot.settings[0].value


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


def test_an_assumption_that_nobody_has_checked_is_marked_until_another_is_given(burst):
    found = settings_for("openthread", burst, options())
    assert [one.name for one in found.assumptions if not one.is_checked] == ["metadata"]
    assert "metadata=44 (unchecked)," in " ".join(as_text(found).split())
    given = settings_for("openthread", burst, options(assume={"metadata": 44}))
    assert "unchecked" not in as_text(given)


@pytest.mark.parametrize(
    ("system", "choices", "message"),
    [
        ("lwip", {"assume": {"pbuf": 3}}, "lwip has no assumption named 'pbuf'"),
        ("lwip", {"assume": {"mtu": 2**21}}, "mtu=2097152 is out of range"),
        ("openthread", {"assume": {"metadata": 300}}, "leaves no room in a buffer of 256"),
        ("netx", {"assume": {"physical_header": 1530}}, "leaves no room in a buffer of 1536"),
        (
            "mbed",
            {},
            "'mbed' must be one of lwip, zephyr, zephyr-bluetooth, nimble, openthread, netx, riot, "
            "tinyusb, matter, freertos",
        ),
        ("lwip", {"admission": 1.5}, "fail; 1: none of the recorded ones)"),
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
