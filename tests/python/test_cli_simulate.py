# SPDX-License-Identifier: Apache-2.0
"""`heapfit simulate`, as typed."""

import os
import signal
import subprocess
import sys
import time

import pytest
from small_scenarios import small
from small_traces import heapfit, heapfit_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulate")
    small(folder)
    return folder


def test_it_prints_a_line_for_each_scheme_at_each_point(folder):
    done = heapfit("simulate", "small.toml", folder=folder)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "small: small"
    assert max(map(len, lines)) <= 80
    first, second = (i for i, line in enumerate(lines) if line.startswith("rate "))
    assert lines[first].split()[:5] == ["rate", "scheme", "region", "overhead", "admission"]
    for head in (first, second):
        assert [line.split()[:2] for line in lines[head + 1 : head + 7]] == [
            [rate, scheme] for rate in ("8", "12") for scheme in ("fixed", "chained", "general")
        ]
    assert lines[-1] == "96,000 requests simulated in replications, seed 1; ± at 95 % confidence."


def test_json_has_intervals_closed_form_and_refusals_by_size(folder):
    content = heapfit_json("simulate", "small.toml", "--seed", "3", folder=folder)
    assert content["schema"] == 1
    assert content["run"]["seed"] == 3
    first = content["results"][0]
    assert first["point"] == {"traffic.arrivals.rate": 8}
    assert first["plan"] == {"allocator": "fixed_pool", "block_size": 104, "blocks": 10}
    assert first["metrics"]["bandwidth_admission"]["half_width"] > 0
    assert sum(one["offered"] for one in first["by_size"]) == first["requests"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_ends_it_at_once_whatever_is_left_to_do(tmp_path, workers):
    text = small(tmp_path, ("requests = 4000", "requests = 100_000_000_000")).read_text()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "heapfit", "simulate", str(pipe), "--workers", workers]
    running = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    pipe.write_text(text)  # waits until it reads
    time.sleep(1)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    out, told = running.communicate(timeout=300)
    assert (running.returncode, out) == (130, "")
    assert told == "heapfit: interrupted; nothing was written\n"
