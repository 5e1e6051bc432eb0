# SPDX-License-Identifier: Apache-2.0
"""Sweeps by processes: order, errors, workers that die."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_traces import diverse, heapfit
from sweep_work import (
    busy_threads,
    children,
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
from heapfit.fitting.choosing import foretell_choice
from heapfit.fitting.selection import foretell
from heapfit.outputs import scratch
from heapfit.outputs.file import stage_file
from heapfit.progress import WeightedProgress
from heapfit.sweep import Job, Sweep
from heapfit.sweep.threads import map_in_threads, run_beside_body

pytestmark = pytest.mark.usefixtures("unmeasured")


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


def test_progress_of_many_jobs_takes_no_time():
    begun, told = time.process_time(), []
    jobs = [Job(str(number), square, number, events=20_000) for number in range(10_000)]
    with Sweep(workers=1) as one:
        one.run("many", jobs, lambda _, share: told.append(share))
    assert time.process_time() - begun < 5  # 51 s when each told all of them
    assert told == sorted(told) and told[-1] == 1.0


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


# ---- threads


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_have_the_order_of_their_items(count):
    first_may_end = threading.Event()

    def work(item):
        if count > 1:
            first_may_end.wait(60) if item == 0 else first_may_end.set()
        return -item

    assert list(map_in_threads(count, work, range(20))) == [-item for item in range(20)]


@pytest.mark.parametrize("count", [1, 2])
def test_after_an_error_no_more_is_begun(count):
    begun = []

    def work(item):
        begun.append(item)
        time.sleep(0.005)
        if item == 3:
            raise ValueError("three")
        return item

    found = map_in_threads(count, work, range(1000))
    with pytest.raises(ValueError, match="three"):
        list(found)
    assert len(begun) < 1000


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_done_meanwhile_is_waited_for(count):
    done = []
    with run_beside_body(count, lambda: done.append("beside") or 7) as until_done:
        assert until_done() == 7
    assert done == ["beside"]


def test_it_is_done_beside_the_body():
    told = threading.Event()
    with run_beside_body(2, told.set):
        assert told.wait(60)


@pytest.mark.parametrize("count", [1, 2])
def test_its_error_is_raised_where_it_is_waited_for(count):
    def fails():
        raise ValueError("beside")

    with run_beside_body(count, fails) as until_done, pytest.raises(ValueError, match="beside"):
        until_done()
    with (
        pytest.raises(KeyError, match="body"),
        run_beside_body(count, fails),
    ):
        raise KeyError("body")


def test_a_fit_by_two_threads_is_the_fit_by_one(tmp_path):
    diverse(tmp_path / "small.heap", events=3_000)
    written = []
    for workers in ("1", "2"):
        done = heapfit("fit", "small.heap", "--workers", workers, "-o", "out", folder=tmp_path)
        assert done.returncode == 0
        page = (tmp_path / "out/report.html").read_text().replace(f"--workers {workers}", "")
        files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
        read = [path.read_bytes() for path in files if path.suffix != ".html"]
        written.append((page, read, done.stdout))
    assert written[0] == written[1]


# ---- scratch folders

LEFT = """
import os, signal, sys
from pathlib import Path
from heapfit.outputs.scratch import claim_folder
for _ in range(2):
    folder, _ = claim_folder(Path(sys.argv[1]))
    (folder / "part").write_text("half")
    os.utime(folder, (0, 0))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def unswept():
    scratch.sweep_folder.cache_clear()


def test_what_a_kill_left_goes_and_what_lives_stays(tmp_path):
    subprocess.run([sys.executable, "-c", LEFT, tmp_path], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    named = tmp_path / ".heapfit-abcdefgh.part.txt"
    named.write_text("somebody's")
    with scratch.scratch_folder(tmp_path) as living:
        assert set(tmp_path.iterdir()) == {named, living}
        os.utime(living, (0, 0))
        scratch.sweep_folder.cache_clear()
        with stage_file(tmp_path / "made") as staging:
            staging.write_text("whole")
            assert living.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [named.name, "made"]


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / ".heapfit-abcdefgh.part").symlink_to("theirs")
    os.utime(tmp_path / ".heapfit-abcdefgh.part", (0, 0), follow_symlinks=False)
    with scratch.scratch_folder(tmp_path):
        assert (tmp_path / "theirs").is_dir()


# ---- one bar


def shares_of(foretold: dict[str, float], takes: dict[str, float]) -> list[tuple[float, float]]:
    """Seconds and share at each of fifty reports of parts that take other times than foretold."""
    now, told = [0.0], []
    whole = WeightedProgress(
        lambda _, share: told.append((now[0], share)), foretold, clock=lambda: now[0]
    )
    for name, seconds in takes.items():
        report = whole.part(name)
        for done in range(1, 51):
            now[0] += seconds / 50
            report(name, done / 50)
    return told


@pytest.mark.parametrize(
    "takes",
    [
        {"now": 1, "choose": 6, "write": 3},
        {"now": 3, "choose": 18, "write": 9},  # a machine that is slower
        {"now": 0.5, "choose": 3, "write": 1.5},  # and one that is faster
        {"now": 8, "choose": 24, "write": 6},  # a program with long free lists
        {"now": 1, "choose": 4, "write": 4},
        {"now": 1, "choose": 6},  # without what is left out
    ],
)
def test_the_bar_foretells_the_end_at_a_third_and_never_stands(takes):
    told = shares_of({"now": 1, "choose": 6, "write": 3}, takes)
    end, shares = told[-1][0], [share for _, share in told]
    at_a_third = max(share for when, share in told if when <= end / 3)
    assert 1 / 1.5 <= 1 / 3 / at_a_third <= 1.5
    assert shares == sorted(set(shares)), "it falls or stands"
    assert shares[-1] == 1.0 or "write" not in takes


@pytest.mark.parametrize(
    ("runs", "events", "least", "most"),
    [(1, 0, 0.4, 0.5), (1, 100_000, 0.48, 0.55), (2, 0, 0.7, 0.78), (2, 100_000, 0.7, 0.78)],
)
def test_half_of_a_fit_s_bar_or_three_quarters_of_several_is_the_choice(runs, events, least, most):
    stages, choice = foretell([events] * runs), foretell_choice(runs * events, runs)
    assert stages["choose"] == pytest.approx(sum(choice.values()))
    assert 0.9 < stages.pop("code") < 1  # the compilers', whatever there is to read
    assert least < stages["choose"] / sum(stages.values()) < most
    assert min(*stages.values(), *choice.values()) > 0
    assert choice.get("try changes", 0) < 0.2 * stages["choose"]


def test_what_is_foretold_of_a_fit_grows_alike_with_each_event():
    none, some, more = (foretell([events]) for events in (0, 100_000, 200_000))
    for stage, seconds in some.items():
        assert 2 * seconds == pytest.approx(none[stage] + more[stage])
        assert seconds >= none[stage]
