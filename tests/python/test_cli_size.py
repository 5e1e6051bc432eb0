# SPDX-License-Identifier: Apache-2.0
"""`heapfit size` as its users run it."""

import random

import pytest
from captures import ethernet, ipv4, pcap
from small_traces import heapfit, heapfit_json, table2

TRAFFIC = """\
[traffic]
arrivals = { law = "poisson", interval = 0.002 }
sizes = { law = "uniform", least = 80, most = 2000 }
holding = { law = "exponential", mean = 1.0 }
"""


@pytest.fixture
def traffic(tmp_path):
    path = tmp_path / "traffic.toml"
    path.write_text(TRAFFIC)
    return path.name


@pytest.fixture
def capture(tmp_path):
    """4,000 packets of 40 and 1,500 B, a millisecond apart on average."""
    draw = random.Random(1)
    time, packets = 0.0, []
    for _ in range(4000):
        time += draw.expovariate(1000)
        frame = ethernet(ipv4(draw.choice([40, 1500])))
        packets.append((time, frame, len(frame)))
    (tmp_path / "c.pcap").write_bytes(pcap(packets))
    return "c.pcap"


def test_traffic_has_closed_forms_where_it_is_too_rare_to_simulate(tmp_path, traffic):
    done = heapfit("size", traffic, "--admission", "0.9999999", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "traffic.toml: least memory that admits 1 of the bytes"
    assert lines[1].split() == [
        "scheme",
        "memory",
        "from",
        "to",
        "made",
        "of",
        "refused",
        "hold-out",
    ]
    (row,) = [line for line in lines if line.startswith("chained_pool 512 B")]
    assert "1,579 x 512 B" in row and "9.70e-08" in row
    assert max(map(len, lines)) <= 100


def test_traffic_as_json_has_the_plans_and_the_curve(tmp_path, traffic):
    (tmp_path / traffic).write_text(TRAFFIC.replace("0.002", "0.05"))
    arguments = (traffic, "--admission", 0.97, "--times", 2, "--report", "page.html")
    content = heapfit_json("size", *arguments, folder=tmp_path)
    fixed = next(one for one in content["schemes"] if one["scheme"] == "fixed_pool")
    assert fixed["plan"]["blocks"] == 27
    assert fixed["exact"] and fixed["half_width"] is None
    assert fixed["lowest"] == fixed["memory"] == fixed["highest"]
    admissions = {one["admission"] for one in content["curve"]}
    assert admissions == {0.7, 0.9, 0.97}


def test_a_trace_is_sized_pool_by_pool(tmp_path):
    table2(tmp_path / "t.txt", events=20_000)
    done = heapfit("size", "t.txt", "--admission", 0.9, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("t.txt: 20,000 events; 0.9 of the requests to each pool admitted")
    assert [line.split()[0] for line in lines[2:7]] == ["=528", "=1040", "=1978", "=2952", "all"]
    assert lines[2].split()[:3] == ["=528", "6", "3,168"]
    assert max(map(len, lines[:7])) <= 80
    arguments = ("--pool-sizes", "1040,2952", "--admission", "0.98")
    content = heapfit_json("size", "t.txt", *arguments, folder=tmp_path)
    assert [pool["size"] for pool in content["pools"]] == [1040, 2952]
    assert all(10 < pool["alone"]["count"] <= 20 for pool in content["pools"])
    assert content["memory"] == sum(pool["bytes"] for pool in content["pools"])
    assert content["memory"] <= content["memory_alone"]
    assert len(content["curve_alone"]) == 11


def test_a_recording_is_judged_by_its_other_half(tmp_path):
    table2(tmp_path / "t.txt", events=4000)
    arguments = ("size", "t.txt", "--admission", 0.9)
    done = heapfit(*arguments, folder=tmp_path)
    assert "hold-out: counts of each half of the trace (" in done.stdout
    content = heapfit_json(*arguments, folder=tmp_path)
    assert content["unseen"]["evidence"] == "halves"
    assert 0 <= content["unseen"]["overall"]["share"] < content["unseen"]["overall"]["highest"]


def test_what_a_trace_cannot_show_has_a_star(tmp_path):
    table2(tmp_path / "t.txt", events=2000)
    done = heapfit("size", "t.txt", "--admission", 0.999999, folder=tmp_path)
    assert "0.0001 %*" in done.stdout
    assert "* extrapolated: the trace is too short" in " ".join(done.stdout.split())


def test_a_capture_needs_a_queue_unless_it_is_stored_with_one(tmp_path, capture):
    done = heapfit("size", capture, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "heapfit: c.pcap: a capture tells when packets come, not how long they stay (add --queue "
        "fifo:N with your CPU's packets a second, or --queue link:BITS_PER_S)\n"
    )
    heapfit("import", capture, "-o", "c.parquet", "--queue", "fifo:1200", folder=tmp_path)
    stored = heapfit_json("size", "c.parquet", folder=tmp_path)
    given = heapfit_json("size", capture, "--queue", "fifo:1200", folder=tmp_path)
    assert stored["queue"] == "fifo:1200"
    assert stored["pools"] == given["pools"]


@pytest.mark.parametrize(
    ("system", "line"),
    [
        ("lwip", "#define PBUF_POOL_SIZE "),
        ("zephyr", "CONFIG_NET_BUF_RX_COUNT="),
        ("openthread", "#define OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS "),
    ],
)
def test_settings_of_a_capture_are_text_to_copy(tmp_path, capture, system, line):
    arguments = ("settings", system, capture, "--queue", "fifo:1200")
    done = heapfit(*arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout
    assert "B buffers: " in done.stderr and "B buffers: " not in done.stdout
    content = heapfit_json(*arguments, folder=tmp_path)
    assert content["text"].rstrip("\n") == done.stdout.rstrip("\n")
    assert f"{line}{content['settings'][1]['value']}" in done.stdout
    assert content["settings"][1]["run_out"]["count"] == content["settings"][1]["value"]


def test_a_page_is_complete_in_itself(tmp_path, traffic):
    table2(tmp_path / "t.txt")
    heapfit("size", "t.txt", "--report", "trace.html", folder=tmp_path)
    (tmp_path / traffic).write_text(TRAFFIC.replace("0.002", "0.05"))
    quick = ("--admission", 0.9, "--times", 2)
    heapfit("size", traffic, *quick, "--report", "traffic.html", folder=tmp_path)
    for name, words in (
        ("trace.html", ("extrapolated", "2,952", "heapfit size t.txt --report trace.html")),
        ("traffic.html", ("chained_pool 64 B", "heapfit size traffic.toml", "exact")),
    ):
        text = (tmp_path / name).read_text()
        assert all(word in text for word in words)
        assert "<script src" not in text and "<link" not in text


@pytest.mark.usefixtures("traffic")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("size", "t.txt", "--admission", "1"), "admission: 1 must be above 0 and below 1"),
        (
            ("size", "t.txt", "--pool-sizes", "64;512"),
            "64;512 is not a size in bytes, such as 65536",
        ),
        (("size", "t.txt", "--pool-sizes", "64"), "above the largest pool of 64"),
        (("settings", "lwip", "t.txt", "--assume", "mtu"), "--assume mtu: is neither NAME=NUMBER"),
        (("settings", "lwip", "t.txt", "--assume", "x=1"), "lwip has no assumption named 'x'"),
        (("settings", "lwip", "t.txt", "--assume", "528=a-b"), "528=a-b: is neither NAME=NUMBER"),
        (("settings", "lwip", "t.txt", "--assume", "0=A"), "0 bytes: is not a block size"),
        (("settings", "openthread", "t.txt"), "OpenThread's messages are packets"),
        (("size", "none.toml"), "none.toml: no such file"),
        (("size", "wrong.toml"), "traffic.arrivals.interval: must be a number"),
        (
            ("size", "traffic.toml", "--pool-sizes", "64"),
            "pool size: 64 bytes are below the largest",
        ),
    ],
)
def test_bad_input_gets_one_line(tmp_path, arguments, message):
    table2(tmp_path / "t.txt")
    (tmp_path / "wrong.toml").write_text(TRAFFIC.replace("0.002", "-1"))
    done = heapfit(*arguments, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("heapfit: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.usefixtures("traffic")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("size",), "Missing argument"),
        (("size", "t.txt", "traffic.toml"), "unexpected extra argument"),
        (("size", "t.txt", "--seed", "2"), "--seed has no effect here: t.txt is no TOML file"),
        (("size", "t.txt", "--assume", "sent=1"), "No such option: --assume"),
        (
            ("size", "traffic.toml", "--queue", "fifo:1"),
            "--queue has no effect here: traffic.toml is",
        ),
        (("settings", "lwip", "t.txt", "--report", "x.html"), "No such option: --report"),
        (("settings", "t.txt", "lwip"), "for 'SYSTEM': 't.txt' is not one of 'lwip', 'zephyr'"),
    ],
)
def test_options_that_say_nothing_are_wrong_usage(tmp_path, arguments, message):
    table2(tmp_path / "t.txt")
    done = heapfit(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
