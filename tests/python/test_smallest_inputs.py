# SPDX-License-Identifier: Apache-2.0
"""The smallest recordings through every name of a heap: an answer or one clear line."""

import sys

import pytest

from heapfit.cli.main import run
from heapfit.comparison.incumbents.heaps import is_simulated, list_heap_names

HEADER = "# pointer_bits 32\n"
SMALLEST = {
    "one-event": "a 0 64\n",
    "1-B": "a 0 1\n",
    "16-B": "a 0 16\n",
    "freed": "a 0 8\nf 0\n",
    "zero-B": "a 0 0\na 1 100\nf 0\nf 1\n",
    "only-zero-B": "a 0 0\n",
}
HUGE = {"4-GiB": 2**32 - 1, "above": 5 * 2**30}
NAMES = list_heap_names()
FITTED = [name for name in NAMES if is_simulated(name)] + ["tlsf", "dlmalloc"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("smallest")
    for name, text in SMALLEST.items():
        (made / f"{name}.heap").write_text(HEADER + text)
    for name, size in HUGE.items():
        (made / f"{name}.heap").write_text(f"{HEADER}a 0 100\na 1 {size}\nf 1\nf 0\n")
    (made / "empty.heap").write_text("")
    return made


@pytest.fixture
def heapfit(folder, monkeypatch, capsys):
    """Runs the command line in this process: its status, output and lines of stderr."""
    monkeypatch.chdir(folder)

    def command(*words: str) -> tuple[int, str, list[str]]:
        monkeypatch.setattr(sys, "argv", ["heapfit", *words])
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err.splitlines()

    return command


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("recording", SMALLEST)
def test_compare_ranks_each_heap_or_says_why_not(heapfit, name, recording):
    status, out, errors = heapfit("compare", f"{recording}.heap", name)
    assert status == 0, errors
    assert name in out or name == "dlmalloc"


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("recording", ["1-B", "zero-B"])
@pytest.mark.usefixtures("unmeasured")
def test_fit_compares_with_each_heap_and_draws_its_page(heapfit, name, recording):
    status, out, errors = heapfit("fit", f"{recording}.heap", "--now", name, "-o", "out")
    assert status == 0, errors
    assert "report" in out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", ["1", "64K"])
def test_check_holds_each_heap_or_says_why_not(heapfit, name, size):
    heap = f"{name}:{size}"
    recordings = [f"{one}.heap" for one in ("1-B", "zero-B")]
    for recording in recordings:
        status, out, errors = heapfit("check", recording, "--heap", heap)
        if status == 1:
            assert len(errors) == 1
        else:
            assert status == (0 if size == "64K" else 3), (heap, recording, errors)
            assert "passed" in out or "ran out" in out


@pytest.mark.parametrize(
    ("words", "recording"),
    [
        (("fit", "--now", "heap_4"), "4-GiB"),
        (("compare", "--allocators", "tlsf"), "above"),
        (("check", "--heap", "heap_4:4K"), "4-GiB"),
    ],
)
@pytest.mark.usefixtures("unmeasured")
def test_a_request_that_no_heap_serves_is_left_out_and_named(heapfit, words, recording):
    command, *options = words
    status, out, errors = heapfit(command, f"{recording}.heap", *options)
    assert status == 0, errors
    said = " ".join(" ".join([out, *errors]).split())
    assert f"vent 1 asks for {HUGE[recording]:,} B (-1 as a size?): left out" in said


def test_an_empty_recording_is_one_line(heapfit):
    for words in (("fit", "empty.heap", "--now", "heap_4"), ("compare", "empty.heap", "heap_4")):
        assert heapfit(*words) == (1, "", ["heapfit: empty.heap: is empty"])


def test_requests_of_0_bytes_are_counted_where_the_heap_refuses_them(heapfit):
    refused = "1 of 2 requests is of 0 B, which FreeRTOS heap_4 refuses"
    out = heapfit("compare", "zero-B.heap", "heap_4", "newlib-nano")[1]
    assert f"heap_4: {refused}" in " ".join(out.split())
    assert "newlib-nano: " not in out
    out = heapfit("fit", "zero-B.heap", "--now", "heap_4", "-o", "zero")[1]
    assert refused in " ".join(out.split())
