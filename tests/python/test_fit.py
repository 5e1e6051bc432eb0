# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit` from end to end on small made-up traces."""

import re
import shutil
from pathlib import Path

import pytest
from small_traces import bimodal, diverse, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import Resources, fit, folder_for
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.generate import generate
from heapfit.outputs.folder import exchange
from heapfit.plan.plan_file import load_plan
from heapfit.results.heap.fit import write_report
from heapfit.sweep import Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")

WITH_PAGE = Resources(write_page=write_report)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("fit")
    return fit([table2(folder / "four.heap")], folder / "out", resources=WITH_PAGE)


def everything(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*"))


def test_a_fit_writes_trace_plan_code_and_report(fitted):
    paths = fitted.paths
    assert sorted(path.name for path in paths.folder.iterdir()) == [
        "code",
        "four.parquet",
        "plan.toml",
        "report.html",
    ]
    assert any(path.suffix == ".c" for path in paths.code.rglob("*"))
    assert paths.report.read_text().lstrip().lower().startswith("<!doctype html>")


def test_the_plan_written_is_the_winners(fitted):
    plan_file = load_plan(fitted.paths.plan)
    assert plan_file == fitted.plan_file
    assert plan_file.plan == fitted.winner.plan
    assert plan_file.r_safe == fitted.winner.r_safe
    assert plan_file.region == fitted.answer.size.region > plan_file.r_safe
    assert plan_file.peak == plan_file.u_max == fitted.profile.u_max
    assert plan_file.margin == fitted.answer.size.margin


def test_the_winner_runs_in_its_region_and_in_r_min(fitted):
    plan = fitted.winner.plan.engine()
    events = fitted.trace.events()
    for region in (fitted.winner.r_safe, fitted.winner.r_min):
        assert _engine.Replay(plan, region).feed(events)
    assert fitted.winner.r_min >= fitted.profile.u_max


def test_from_one_recording_no_blocks_are_counted_on_it(fitted):
    assert not fitted.winner.is_cut_to_trace
    counted = [row for row in fitted.comparison.rows if row.is_cut_to_trace]
    assert min(row.r_safe for row in counted if row.r_safe) < fitted.winner.r_safe
    assert "If every run were identical, " in fitted.verdict
    assert not any("counted on this one recording" in warning for warning in fitted.warnings)


def test_pools_that_a_larger_request_breaks_are_not_chosen_though_asked_for(fitted, tmp_path):
    asked = fit([fitted.source], tmp_path / "out", FitOptions(pools=True))
    pools = min(
        (row for row in asked.comparison.rows if row.is_cut_to_trace and row.r_safe is not None),
        key=lambda row: row.r_safe,
    )
    assert pools.r_safe < asked.winner.r_safe == fitted.winner.r_safe
    assert pools.known.is_trace_specific and pools.changes.broken
    assert f"{pools.name} would do with {pools.r_safe:,} B" in asked.verdict
    assert pools.changes.broken[0].name in asked.verdict


def test_sizes_without_a_mode_are_not(tmp_path):
    outcome = fit([diverse(tmp_path / "diverse.heap")], tmp_path / "out")
    assert not outcome.winner.plan.pools
    assert outcome.today.is_kept
    assert outcome.verdict.startswith("No new heap is worth it: TLSF at ")
    left_out = {one.name: one.why for one in outcome.not_applicable}
    assert left_out["class_pools"].startswith("no size has 10 % of the allocations (the most fre")


def test_the_same_trace_gives_the_same_plan_twice(fitted, tmp_path):
    again = fit([fitted.source], tmp_path / "again")
    assert again.paths.plan.read_bytes() == fitted.paths.plan.read_bytes()


def test_a_stored_trace_is_fitted_where_it_is_to_the_same_plan(fitted, tmp_path):
    stored = shutil.copy(fitted.paths.traces[0], tmp_path / "four.parquet")
    outcome = fit([Path(stored)], tmp_path / "out")
    assert outcome.paths.traces == (Path(stored),)
    assert outcome.paths.plan.read_bytes() == fitted.paths.plan.read_bytes()


def test_the_regions_base_is_as_aligned_as_the_trace_asks(tmp_path):
    source = tmp_path / "aligned.heap"
    source.write_text("# heap-events 1\n# pointer_bits 32\na 0 100\nm 1 64 64\nf 0\nf 1\n")
    assert fit([source], tmp_path / "out").plan_file.base_alignment == 64


def test_every_candidate_is_aligned_as_asked_or_more(tmp_path):
    source = bimodal(tmp_path / "packets.heap", events=400)
    outcome = fit([source], tmp_path / "out", FitOptions(alignment=4))
    coarser = {row.name for row in outcome.comparison.rows if row.alignment != 4}
    assert "tailored_8" in coarser
    assert all("tailored_" in name or name.endswith(":alignment=8") for name in coarser)


@pytest.mark.parametrize(
    ("bits", "told"),
    [(64, "recorded on 64 bit: "), (0, "recorded with pointers of unknown size: ")],
)
def test_a_heap_not_recorded_on_32_bit_is_warned_of(tmp_path, bits, told):
    source = bimodal(tmp_path / "packets.heap", events=200, pointer_bits=bits)
    warnings = fit([source], tmp_path / "out").warnings
    assert any(warning.startswith(told) for warning in warnings)


def test_a_trace_that_allocates_nothing_is_refused(tmp_path):
    source = tmp_path / "nothing.heap"
    source.write_text("a 0 0\nf 0\n")
    with pytest.raises(HeapfitError, match="nothing is ever allocated"):
        fit([source], tmp_path / "out")


def test_a_request_that_no_region_can_hold_is_refused(tmp_path):
    source = tmp_path / "huge.heap"
    source.write_text(f"a 0 {5 << 30}\nf 0\n")
    with pytest.raises(HeapfitError, match="nothing else is asked for"):
        fit([source], tmp_path / "out")


def test_one_heap_for_many_sources_has_one_folder():
    sources = [Path("a/x.heap"), Path("b/x.pcap")]
    assert folder_for(sources, None) == Path("out/x-and-1-more")
    assert folder_for(sources[:1], None) == Path("out/x")
    assert folder_for(sources, Path("o")) == Path("o")


def test_the_program_prints_the_table_the_verdict_and_the_paths(tmp_path):
    table2(tmp_path / "four.heap", events=1000)
    done = heapfit("fit", "four.heap", "-o", "fitted", folder=tmp_path)
    assert done.returncode == 0
    assert "candidate" not in done.stdout
    assert "\n  plan   fitted/plan.toml\n" in done.stdout
    done = heapfit("fit", "four.heap", "-o", "fitted", "--all", folder=tmp_path)
    assert "\ncandidate " in done.stdout
    assert " needs " in done.stdout
    assert "\ntlsf " in done.stdout
    assert "Traceback" not in done.stderr


def test_json_tells_every_fit(tmp_path):
    table2(tmp_path / "four.heap", events=1000)
    (told,) = heapfit_json("fit", "four.heap", folder=tmp_path)["fits"]
    assert told["rows"][0]["plan"]["allocator"]
    assert told["paths"]["plan"] == "out/four/plan.toml"
    assert told["trace"]["pointer_bits"] == 32
    assert told["answer"]["region"] > told["answer"]["r_safe"]
    assert told["answer"]["recordings"] == 1


def test_a_large_heap_is_answered_from_one_recording(tmp_path):
    source = bimodal(tmp_path / "packets.heap", events=1000)
    source.write_text(source.read_text() + "a 5000 65536\n")
    fitted = fit([source], tmp_path / "out")
    size = fitted.answer.size
    (sentence,) = fitted.answer.sentences()
    assert size.u_max >= 64 * 1024
    numbers = [int(one.replace(",", "")) for one in re.findall(r"[\d,]*\d", sentence)]
    region, *parts = (one for one in numbers if one > 100)
    assert region == size.region == sum(parts)
    assert f"of margin ({size.margin:g} %); from 1 recording." in sentence
    assert any("second recording" in way for way in fitted.suggestions)


def test_a_larger_peak_makes_the_heap_larger_a_smaller_one_does_not(fitted, tmp_path):
    u_max, region = fitted.profile.u_max, fitted.answer.size.region
    more = fit([fitted.source], tmp_path / "more", FitOptions(peak=2 * u_max))
    less = fit([fitted.source], tmp_path / "less", FitOptions(peak=u_max // 2))
    assert 2 * region - 16 <= more.plan_file.region <= 2 * region
    assert more.plan_file.peak == 2 * u_max
    assert less.plan_file.region == region
    assert "and changes nothing" in [*less.answer.sentences()][-1]


def test_a_margin_may_be_asked_for(fitted, tmp_path):
    bare = fit([fitted.source], tmp_path / "bare", FitOptions(margin=0))
    assert bare.plan_file.region == bare.winner.r_safe
    assert bare.plan_file.margin == 0


@pytest.fixture(scope="module")
def joint(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("joint")
    sources = [table2(folder / f"run-{seed}.heap", events=600, seed=seed) for seed in (1, 2, 3)]
    return fit(sources, folder / "out", FitOptions(code=True), resources=WITH_PAGE)


def test_one_heap_serves_every_recording(joint):
    assert [run.name for run in joint.runs] == ["run-1", "run-2", "run-3"]
    plan = load_plan(joint.paths.plan)
    assert plan.runs == 3
    assert plan.r_safe == joint.winner.r_safe
    assert max(run.r_safe for run in joint.runs) == joint.answer.size.r_safe
    assert plan.u_max == max(run.u_max for run in joint.runs)
    for path in joint.paths.traces:
        events = load_trace(Trace.open(path)).events
        assert _engine.Replay(plan.plan.engine(), plan.region).feed(events)


def test_workers_write_the_same_plan(joint, tmp_path):
    sources = [run.source for run in joint.runs]
    with Sweep(workers=2) as sweep:
        shared = fit(sources, tmp_path / "out", FitOptions(code=True), resources=Resources(sweep))
    assert shared.paths.plan.read_bytes() == joint.paths.plan.read_bytes()
    assert shared.runs == joint.runs
    assert shared.work == joint.work


def test_the_page_of_several_recordings_has_a_row_for_each(joint):
    page = joint.paths.report.read_text()
    assert "One heap for all." in page
    assert all(f'<th scope="row">{run.name}</th>' in page for run in joint.runs)


def test_equal_recordings_count_as_one(fitted, tmp_path):
    copy = shutil.copy(fitted.source, tmp_path / "again.heap")
    twice = fit([fitted.source, Path(copy)], tmp_path / "out")
    assert twice.answer.known.runs == 1
    assert twice.warnings[0] == "again repeats the requests of four: they count once"


def test_a_bad_recording_among_several_leaves_nothing(tmp_path):
    good, bad = table2(tmp_path / "good.heap", events=400), tmp_path / "bad.heap"
    bad.write_text("f 7\n")
    with pytest.raises(HeapfitError, match=r"bad\.heap: line 1: "):
        fit([good, bad], tmp_path / "out")
    assert sorted(path for path in everything(tmp_path) if path.is_file()) == [bad, good]


def test_a_failed_fit_leaves_nothing_half_written(tmp_path):
    source = tmp_path / "cut.heap"
    source.write_text("a 0 64\na 1 64\nr 5 3\n")
    assert heapfit("fit", source, "-o", "out", folder=tmp_path).returncode == 1
    assert [path for path in everything(tmp_path) if path.is_file()] == [source]


@pytest.fixture
def quick(tmp_path, request):
    """A source that is fitted in a second; code sizes are test_generate's business."""
    request.getfixturevalue("unmeasured")
    return table2(tmp_path / "small.heap", events=60)


def contents(folder):
    return {path: path.read_bytes() for path in everything(folder) if path.is_file()}


def test_an_interrupt_while_it_writes_leaves_nothing(quick):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit([quick], quick.parent / "out", resources=Resources(write_page=interrupt))
    assert everything(quick.parent) == [quick]


def test_what_is_there_is_replaced_whole_or_not_at_all(quick, monkeypatch):
    folder = quick.parent / "out"
    fit([quick], folder, resources=WITH_PAGE)
    (folder / "mine.txt").write_text("kept")
    before = contents(folder)
    moves = []

    def stop_at(last):
        def rename(path, target, move=Path.rename):
            moves.append(target)
            if len(moves) == last:
                raise KeyboardInterrupt
            return move(path, target)

        moves.clear()
        return rename

    entries = [path for path in folder.iterdir() if path.name != "mine.txt"]
    for last in range(1, 2 * len(entries) + 1):
        new = quick.parent / "new"
        shutil.copytree(folder, new)
        (new / "mine.txt").unlink()
        (old := quick.parent / "old").mkdir()
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Path, "rename", stop_at(last))
            exchange(new, folder, old)
        assert contents(folder) == before
        assert everything(old) == []
        shutil.rmtree(new)
        old.rmdir()
    fit([quick], folder, resources=WITH_PAGE)
    assert contents(folder) == before


def test_an_edited_plan_or_code_is_refused_before_anything_is_done(quick):
    folder = quick.parent / "out"
    paths = fit([quick], folder).paths
    for path in (paths.plan, paths.code / "app_heap.h"):
        written = path.read_text()
        path.write_text(written + "# mine\n")
        before = contents(folder)
        with pytest.raises(HeapfitError, match=rf"{path.name}: was edited"):
            fit([quick], folder)
        assert contents(folder) == before
        path.write_text(written)


def test_a_plan_edited_and_made_into_code_is_refused_all_the_same(quick):
    """The code's own copy of the plan then agrees with the edited one."""
    paths = fit([quick], quick.parent / "out").paths
    edited = paths.plan.read_text().replace("margin = ", "margin = 1")
    paths.plan.write_text(edited)
    generate(load_plan(paths.plan), paths.code)
    with pytest.raises(HeapfitError, match=r"plan.toml: was edited"):
        fit([quick], quick.parent / "out")
    assert paths.plan.read_text() == edited


def test_a_source_is_not_replaced_by_its_own_trace(quick):
    (folder := quick.parent / "out").mkdir()
    source = quick.rename(folder / "small.parquet")
    before = source.read_bytes()
    with pytest.raises(HeapfitError, match=r"small.parquet: is the file to import"):
        fit([source], folder)
    assert contents(folder) == {source: before}
