# SPDX-License-Identifier: Apache-2.0
"""The rounds of the closed loop, on a firmware that needs no board: when they end, what counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from frames import BASE, Recorder
from generated_code import PLANS, plan_file

from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.fitting.verify import loop
from heapfit.fitting.verify.pairs import MeasuredPairs
from heapfit.fitting.verify.survival import ResizableHeap, compare_survival
from heapfit.importers import import_file
from heapfit.importers.target_log import TargetRecording
from heapfit.plan.plan_file import PlanFile, TrainingRecord, TrainingTrace, load_plan, save_plan
from heapfit.trace.content import content_hash
from heapfit.trace.stored import Trace

SERVED, TOO_LARGE = 1_000, 30_000  # bytes asked for of a heap of PLAN's size
PLAN = replace(parse_heap_size("heap_4:24000"), pointer_bits=32)


@dataclass(frozen=True)
class Run:
    """What a run asks for at once, and how it ends."""

    size: int = SERVED
    status: int | None = 0  # None: it had to be ended
    turns: int = 0  # at which a small block more is asked for and freed


@dataclass(frozen=True)
class Board:
    """A firmware whose runs are scripted, each kind in order."""

    recorded: Sequence[Run]
    unrecorded: Sequence[bool] = ()  # whether they pass
    build: str = ""
    has_recorder: bool = True
    taken: list[int] = field(default_factory=lambda: [0, 0])

    def make(self, *_: object) -> None:
        """There is nothing to build."""

    def record(self, _number: int, output: Path) -> TargetRecording:
        run = self.recorded[self.taken[0] % len(self.recorded)]
        self.taken[0] += 1
        trace, log = recording(output, run.size, run.turns)
        return TargetRecording(trace, "ended", log, run.status)

    def measure_flash(self, _number: int) -> int:
        return 4_000 + len(self.build)

    def run(self, _number: int) -> tuple[str, int]:
        self.taken[1] += 1
        return "ended", int(not self.unrecorded[self.taken[1] - 1])


def recording(path: Path, size: int, turns: int = 0) -> tuple[Trace, Path]:
    """One that asks for a block, and its log."""
    recorder, log = Recorder(), path.with_suffix(".frames")
    recorder.alloc(BASE + 8, size)
    for _ in range(turns):
        recorder.alloc(BASE + 16 + size // 8 * 8, 40)
        recorder.free(BASE + 16 + size // 8 * 8)
    log.write_bytes(recorder.log())
    return import_file(log, path), log


def verify(folder: Path, board: Board, plan: PlanFile = PLAN, **options) -> loop.Verification:
    save_plan(folder / "plan.toml", plan)
    asked = loop.VerifyOptions(**options)
    return loop.verify(folder / "plan.toml", board, folder / "out", asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("run", "is_passed"),
    [
        (Run(SERVED, 0), True),
        (Run(TOO_LARGE, 0), False),
        (Run(SERVED, 1), False),
        (Run(TOO_LARGE, 1), False),
    ],
)
@pytest.mark.usefixtures("refitted")
def test_a_run_passes_if_it_ends_well_and_its_replay_is_served(tmp_path, run, is_passed):
    done = verify(tmp_path, Board([run], [True]), times=1)
    assert done.rounds[0].runs[0].is_passed is is_passed


@pytest.fixture
def refitted(monkeypatch, tmp_path):
    """The plans of the rounds after the first, in order; searching is another test's."""
    plans: list[Path] = []

    def fit(*_, **__) -> SimpleNamespace:
        plans.append(tmp_path / f"{len(plans) + 1}.toml")
        save_plan(plans[-1], PLAN)
        return SimpleNamespace(paths=SimpleNamespace(plan=plans[-1]))

    monkeypatch.setattr(loop, "fit", fit)
    return plans


BAD = Run(status=1)


@pytest.mark.parametrize(
    ("recorded", "unrecorded", "rounds", "looks", "is_settled"),
    [
        ([Run()], [True], 1, 1, True),
        ([BAD, Run(), Run()], [False, True], 3, 2, True),
        ([BAD], [], loop.MOST_ROUNDS, 0, False),
        ([Run()], [False] * 9, loop.MOST_ROUNDS, loop.MOST_ROUNDS, False),
    ],
)
def test_rounds_go_on_until_last_runs_pass_or_there_were_five(
    refitted, tmp_path, recorded, unrecorded, rounds, looks, is_settled
):
    done = verify(tmp_path, Board(recorded, unrecorded), times=1)
    assert (len(done.rounds), done.looks, done.is_settled) == (rounds, looks, is_settled)
    assert len(refitted) == rounds - 1
    assert done.plan == [tmp_path / "plan.toml", *refitted][-1]


@pytest.mark.parametrize(("seen", "distinct"), [((), 2), ((500,), 1), ((500, 600), 0)])
def test_runs_that_the_plan_has_seen_or_that_repeat_do_not_count(tmp_path, seen, distinct):
    known = [content_hash(recording(tmp_path / f"{size}.parquet", size)[0]) for size in seen]
    traces = tuple(TrainingTrace("seen", content) for content in known)
    plan = replace(PLAN, trained_on=TrainingRecord("seen", f"sha256:{'0' * 64}", 1, traces=traces))
    board = Board([Run(500), Run(500), Run(500), Run(600)], [True] * 4)
    assert verify(tmp_path, board, plan, times=4).rounds[0].distinct == distinct


def test_of_equal_runs_the_first_is_compared_and_few_carry_no_answer(tmp_path):
    board = Board([Run(size) for size in (500, 600, 500, 600, 700)], [True] * 5)
    done = verify(tmp_path, board, times=5, now="heap_4", build_now="again")
    assert [pair.name for pair in done.pairs.today.pairs] == ["run 1", "run 2", "run 5"]
    assert len(done.pairs.today.pairs) < done.pairs.today.wanted
    assert done.pairs.survival is None
    assert done.pairs.flash == (4_005, 4_000)  # "again" is the incumbent's build


@dataclass(frozen=True)
class BoardOfSizes(Board):
    """A firmware whose runs pass in so many bytes or more, over either heap."""

    least: int = 0
    made: list[int] = field(default_factory=list)

    def make(self, _code: Path | None, _records: bool, size: int) -> None:
        self.made.append(size)

    def run(self, _number: int) -> tuple[str, int]:
        return "ended", int(self.made[-1] < self.least)


@pytest.mark.usefixtures("unmeasured")
def test_each_heap_is_built_until_its_runs_just_pass_and_the_code_is_the_plan_s_again(tmp_path):
    board = BoardOfSizes([Run(size) for size in (8000, 8040, 8080, 8120)], least=12_345)
    done = verify(tmp_path, board, plan_file(PLANS["tlsf"]), times=4, now="heap_4", build_now="it")
    assert len(done.pairs.today.pairs) == done.pairs.today.wanted == 4
    assert 12_345 <= done.pairs.survival.now <= done.pairs.survival.fitted <= 12_345 + 200
    assert done.pairs.survival.served == (4, 4)
    page = (tmp_path / "out/code/README.md").read_text().replace(",", "")
    assert f"| {done.told.region} bytes of region" in page


def test_a_run_that_dies_ends_the_rounds_and_is_told(refitted, tmp_path):
    """No other plan mends that."""
    done = verify(tmp_path, Board([Run(), Run(status=None)]), times=2)
    assert (len(done.rounds), done.is_settled, done.refused) == (1, False, None)
    assert done.deaths == ("Run 2 ended.",)
    assert refitted == []


@pytest.mark.parametrize(
    ("turns", "passes", "looks", "is_less"),
    [
        (200, [True] * 4, 1, True),
        (200, [False, True, True, True, *[True] * 4], 2, False),  # then in the plan's own
        (0, [True] * 4, 1, False),  # too short to set a size by
    ],
)
def test_last_runs_have_the_size_that_the_recordings_tell(tmp_path, turns, passes, looks, is_less):
    board = Board([Run(size, 0, turns) for size in (8000, 8040, 8080, 8120)], passes)
    done = verify(tmp_path, board, times=4)
    assert (done.is_settled, done.looks) == (True, looks)
    assert (done.told.region < PLAN.region, done.plan.parent == tmp_path / "out") == (is_less,) * 2
    if is_less:  # the largest run needs 8,120 + 8 B of header, another block and heap_4's end
        assert 8_184 <= done.told.region <= 1.25 * 8_184
        assert load_plan(done.plan) == done.told


def test_equal_runs_and_earlier_looks_raise_the_bound():
    def most_refused(distinct, looks, refused=()):
        rounds = (SimpleNamespace(distinct=distinct),)
        return loop.Verification(rounds, refused, 30, looks, None, PLAN).most_refused

    assert most_refused(30, 1) == pytest.approx(1 - 0.025 ** (1 / 30))
    assert most_refused(2, 1) == pytest.approx(1 - 0.025 ** (1 / 2))  # 29 of 30 are equal
    last = pytest.approx(1 - (0.05 / 2**9) ** (1 / 30))
    assert most_refused(30, 9) == most_refused(30, 10) == last
    assert most_refused(30, 1) < most_refused(30, 2) < most_refused(30, 2, (7,))
    assert most_refused(2, 1, (7, 8, 9)) == most_refused(0, 1) == 1.0
    assert most_refused(30, 1, None) is None


class Sizes:
    """A firmware that fails runs in less than `least` bytes; `built` has the sizes tried."""

    def __init__(self, least):
        self.least, self.built = least, []

    def build(self, region):
        self.built.append(region)

    def passes(self, run):
        return self.built[-1] >= self.least - 8 * (run % 3)


@pytest.mark.parametrize(
    ("least", "replays_keep", "is_kept"),
    [(19_000, False, False), (19_900, False, True), (19_000, True, True)],
)
def test_a_heap_is_replaced_only_if_runs_survive_in_less(least, replays_keep, is_kept):
    """What fresh runs show over both heaps is printed; it can turn "replace" alone."""
    costs = [SimpleNamespace(name="heap_4", region=24_000), SimpleNamespace(name="ours")]
    today = SimpleNamespace(
        is_kept=replays_keep, heap=find_heap("heap_4", 8), costs=costs,
        pairs=[SimpleNamespace(u_max=16_000)], wanted=1,
        sentence=lambda: "Keep heap_4: it needs less.",
    )  # fmt: skip
    fitted, now = Sizes(least), Sizes(20_000)
    numbers = [1, 2, 3]
    heaps = (ResizableHeap(heap.build, heap.passes, 16_000, 24_000) for heap in (now, fitted))
    found = compare_survival(*heaps, numbers, distinct=2)
    measured = MeasuredPairs(today, (16_000,), found)
    assert measured.is_kept == is_kept
    assert len(fitted.built) <= 8 and len(now.built) <= 8
    survival = measured.survival
    assert survival.most_refused == pytest.approx(1 - 0.025 ** (1 / 2))  # each heap's half
    assert 20_000 <= survival.now <= 20_200 and least <= survival.fitted <= least + 200
    assert survival.equal_bytes == min(survival.now, survival.fitted)
    assert survival.served == ((0 if least == 19_000 else 3), 3)
    said = measured.sentence()
    assert said.startswith("Keep heap_4" if is_kept else "Replace heap_4. Over the same 3")
    assert ": it needs less. Over the same" in said if replays_keep else "it needs" not in said
    assert said.endswith(f"both heap_4 serves {survival.served[0]}, ours 3.")
