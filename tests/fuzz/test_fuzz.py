# SPDX-License-Identifier: Apache-2.0
"""Every reader of foreign bytes stands its corpus and some seconds more; findings are told."""

import random
import signal
import sys

import pytest
import readers
import run
from edits import mutated

from heapfit.errors import HeapfitError

SECONDS = 1  # `make attack` takes longer
SEED = 1


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    run.build(run.known())


@pytest.mark.parametrize("name", run.known())
def test_a_reader_stands_its_corpus_and_what_is_made_from_it(name):
    outcome = run.fuzz(name, run.Asked(SECONDS, None, SEED))
    assert outcome.found is None, outcome.said
    assert outcome.executions > len(list((readers.CORPUS / name).iterdir()))


def test_every_reader_has_a_corpus():
    native = {path.stem.removeprefix("fuzz_") for path in readers.CORPUS.parent.glob("*.cpp")}
    assert set(run.known()) == native | readers.READERS.keys()


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGSEGV)", "raise ValueError"])
def test_what_a_reader_cannot_stand_is_kept(tmp_path, end):
    def dies(name, _asked, scratch):
        text = f"import os, pathlib, signal\npathlib.Path({scratch!r}, {name!r}).write_text('x')\n"
        return [sys.executable, "-c", text + end]

    found = run.fuzz("plan", run.Asked(None, 1, SEED), command=dies, kept_in=tmp_path).found
    assert found is not None
    assert found.read_text() == "x"


def test_a_native_finding_is_kept(tmp_path):
    def dies(_name, _asked, scratch):
        return [sys.executable, "-c", f"open({scratch!r} + '/crash-1', 'w').write('x'); exit(77)"]

    found = run.fuzz("capture", run.Asked(1, None, SEED), command=dies, kept_in=tmp_path).found
    assert found is not None
    assert found.read_text() == "x"


def raising(error):
    def read(_path):
        raise error

    return readers.Reader(read, (b"x",), 10)


@pytest.mark.parametrize("told", ["no file is named", "{path}: two\nlines", "{path}: \x1b[2J"])
def test_a_refusal_that_is_no_clear_line_is_a_finding(tmp_path, told):
    error = HeapfitError(told.format(path=tmp_path))
    with pytest.raises(AssertionError):
        readers.answer(raising(error), tmp_path)


def test_a_clear_refusal_is_an_answer_and_anything_else_is_not(tmp_path):
    assert readers.answer(raising(HeapfitError(f"{tmp_path}: is bad")), tmp_path).endswith("bad")
    with pytest.raises(ValueError, match="bad"):
        readers.answer(raising(ValueError("bad")), tmp_path)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0  # none is left behind


def test_a_reader_that_takes_much_memory_is_a_finding(tmp_path):
    def greedy(_path):
        held = bytearray(b"x") * (readers.most_memory() + (257 << 20))
        del held

    with pytest.raises(AssertionError, match="MiB"):
        readers.answer(readers.Reader(greedy, (b"x",), 10), tmp_path)


def test_inputs_are_drawn_by_their_seed_and_kept_short():
    pool, words = [b"region = 8192\n", b"[plan]\n"], [b"nan", b"\xff"]

    def drawn(seed: int) -> list[bytes]:
        draw = random.Random(seed)
        return [mutated(draw, pool, words, 64) for _ in range(200)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(drawn(1))) > 150
    assert max(map(len, drawn(1))) <= 64


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        run.main(["nosuch"])
    assert "one of capture, " in capsys.readouterr().err
