# SPDX-License-Identifier: Apache-2.0
"""Work beside work in threads: in order, the first error told, nothing begun after it."""

import threading
import time

import pytest
from small_traces import diverse, heapfit

from heapfit.sweep.threads import map_in_threads, run_beside_body

pytestmark = pytest.mark.usefixtures("unmeasured")


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
