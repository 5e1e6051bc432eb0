# SPDX-License-Identifier: Apache-2.0
"""Sweeps by processes: order, errors, workers that die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sweep_work import (
    busy_threads,
    die_at_first,
    generator,
    pool_of_arrow,
    process,
    refuse_odd,
    sleep,
    square,
    tell_half,
)

from heapfit.errors import HeapfitError
from heapfit.sweep import Job, Sweep


def children() -> set[int]:
    """Processes that this one has started and that are there."""
    listed = [one.read_text() for one in Path("/proc/self/task").glob("*/children")]
    return {int(number) for line in listed for number in line.split()}


@pytest.fixture(scope="module")
def pair():
    """Two workers for all that leaves them alive."""
    before = children()
    with Sweep(workers=2) as sweep:
        yield sweep
    assert children() <= before


def test_results_have_the_order_of_the_jobs_with_any_number_of_workers(pair):
    numbers = list(range(20))
    with Sweep(workers=1) as one, Sweep(workers=3) as three:
        found = [sweep.map("square", square, numbers) for sweep in (one, pair, three)]
    assert found == [[number * number for number in numbers]] * 3


def test_a_job_tells_how_far_it_is_here_and_in_a_process(pair):
    job = Job("half", tell_half, 7, tells=True)
    with Sweep(workers=1) as here:
        for sweep in (here, pair):
            told: list[float] = []
            assert sweep.run("work", [job], lambda _, share, told=told: told.append(share)) == [7]
            assert 0.5 in told
            assert told == sorted(told)


def test_a_result_may_ask_for_more_jobs(pair):
    def then(_number, result):
        return [Job("more", square, result)] if 1 < result < 100 else []

    jobs = [Job("first", square, number) for number in (1, 2, 3)]
    with Sweep(workers=1) as one:
        for sweep in (one, pair):
            found = sweep.run("rounds", jobs, then=then)
            assert found[:3] == [1, 4, 9]
            assert sorted(found[3:]) == [16, 81, 256, 6561]


def test_the_error_of_the_first_job_that_fails_is_told():
    before = children()
    for workers in (1, 2, 3):
        with Sweep(workers) as sweep, pytest.raises(HeapfitError, match=r"^1 is odd$"):
            sweep.map("refuse", refuse_odd, [0, 1, 2, 3, 5])
    assert children() <= before


def test_progress_counts_the_jobs_done(pair):
    told = []
    pair.map("square", square, [1, 2, 3], lambda step, done: told.append((step, done)))
    assert told[0] == ("square", 0.0)
    assert told[-1] == ("square", 1.0)
    assert told == sorted(told)


def test_a_job_that_kills_its_worker_twice_is_tried_a_third_time(pair, tmp_path):
    jobs = [
        Job("deadly", die_at_first, (tmp_path, 2)),
        *(Job(str(n), square, n) for n in range(5)),
    ]
    assert pair.run("die", jobs) == [2, 0, 1, 4, 9, 16]


def test_a_job_that_kills_three_workers_ends_the_sweep_and_is_named(tmp_path):
    jobs = [Job("quiet", square, 1), Job("deadly one", die_at_first, (tmp_path, 9))]
    with Sweep(workers=2) as sweep, pytest.raises(HeapfitError) as raised:
        sweep.run("die", jobs)
    assert str(raised.value).startswith("die: deadly one killed its worker 3 times")
    assert "\n" not in str(raised.value)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_worker_that_dies_with_nothing_to_do_is_replaced(pair):
    first = pair.map("process", process, [1, 2])
    os.kill(first[0], signal.SIGKILL)
    again = pair.map("process", process, [1, 2])
    assert first[0] not in again


def test_what_cannot_be_sent_is_an_error_and_no_wait(pair):
    with pytest.raises(TypeError, match="pickle"):
        pair.map("generator", generator, [1, 2])


def test_what_a_job_raises_tells_its_place():
    with Sweep(workers=2) as sweep, pytest.raises(TypeError) as raised:
        sweep.map("sleep", sleep, ["a", "b"])
    assert "in sleep 1:" in raised.value.__notes__[0]
    assert "time.sleep(seconds)" in raised.value.__notes__[0]


def test_leaving_ends_workers_that_are_busy():
    before = children()
    started = time.monotonic()
    with Sweep(workers=2) as sweep, pytest.raises(KeyboardInterrupt):
        sweep.map("sleep", sleep, [600.0, 600.0], interrupt)
    assert time.monotonic() - started < 300
    assert children() <= before


def interrupt(_step, _done):
    raise KeyboardInterrupt


def test_a_job_replays_in_one_thread(pair):
    trace = Path(__file__).parents[2] / "examples/recordings/traces/m4-1.parquet"
    assert busy_threads("segregated_fit", trace) == 1
    assert pair.map("pool", pool_of_arrow, [0, 0]) == [1, 1]


def test_little_work_starts_no_process():
    little = [Job("a", process, 1, events=1000), Job("b", process, 2, events=1000)]
    with Sweep() as sweep:
        assert sweep.run("little", little) == [os.getpid()] * 2


def test_a_script_that_sweeps_is_run_once_and_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from heapfit.sweep import Sweep\n"
        "print('begins')\n"
        "with Sweep(workers=2) as sweep:\n"
        "    print(sweep.map('length', len, ['a', 'bc']))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "begins\n[1, 2]\n"


def test_a_function_of_the_script_itself_is_refused(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from heapfit.sweep import Sweep\n"
        "def own(word): return word\n"
        "with Sweep(workers=2) as sweep:\n"
        "    sweep.map('own', own, ['a', 'b'])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert "own 1: its function is one of the script itself" in done.stderr
