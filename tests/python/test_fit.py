# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit` from end to end on small made-up traces."""

import shutil
from pathlib import Path

import pytest
from small_traces import bimodal, diverse, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.fit_result import Fit
from heapfit.fitting import Failure, FitOptions, fit, folders_for, try_fit
from heapfit.plan.plan_file import load_plan


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("fit")
    return fit(table2(folder / "four.heap"), folder / "out")


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
    assert plan_file.region == min(row.r_safe for row in fitted.comparison.rows if row.r_safe)


def test_the_winner_runs_in_its_region_and_in_r_min(fitted):
    plan = fitted.winner.plan.engine()
    events = fitted.trace.events()
    for region in (fitted.winner.r_safe, fitted.winner.r_min):
        assert _engine.Replay(plan, region).feed(events)
    assert fitted.winner.r_min >= fitted.profile.u_max


def test_few_sizes_are_worth_pools(fitted):
    assert fitted.winner.plan.pools
    assert fitted.verdict.startswith("Pools save ")
    assert f"{fitted.winner.name} needs {fitted.winner.r_safe:,} B" in fitted.verdict


def test_pools_that_save_much_are_told_to_be_cut_to_one_recording(tmp_path):
    source = tmp_path / "tiny.heap"
    small = [f"a {i} 8" for i in range(500)]  # half the least chunk there is
    source.write_text("\n".join([*small, "a 500 400", "a 501 700"]) + "\n")
    outcome = fit(source, tmp_path / "out")
    assert outcome.verdict.startswith("Pools save ")
    assert any("cut to this one recording;" in warning for warning in outcome.warnings)


def test_sizes_without_a_mode_are_not(tmp_path):
    outcome = fit(diverse(tmp_path / "diverse.heap"), tmp_path / "out")
    assert not outcome.winner.plan.pools
    assert outcome.verdict.startswith("No pools here: ")
    left_out = {one.name: one.why for one in outcome.not_applicable}
    assert left_out["class_pools"].startswith("no size has 10% of the allocations (the most fre")


def test_a_saving_that_may_be_chance_is_told(fitted):
    assert any("a saving below 5% may be chance" in warning for warning in fitted.warnings)


def test_the_same_trace_gives_the_same_plan_twice(fitted, tmp_path):
    again = fit(fitted.source, tmp_path / "again")
    assert again.paths.plan.read_bytes() == fitted.paths.plan.read_bytes()


def test_a_stored_trace_is_fitted_where_it_is_to_the_same_plan(fitted, tmp_path):
    stored = shutil.copy(fitted.paths.trace, tmp_path / "four.parquet")
    outcome = fit(Path(stored), tmp_path / "out")
    assert outcome.paths.trace == Path(stored)
    assert outcome.paths.plan.read_bytes() == fitted.paths.plan.read_bytes()


def test_the_regions_base_is_as_aligned_as_the_trace_asks(tmp_path):
    source = tmp_path / "aligned.heap"
    source.write_text("# heap-events 1\n# pointer_bits 32\na 0 100\nm 1 64 64\nf 0\nf 1\n")
    assert fit(source, tmp_path / "out").plan_file.base_alignment == 64


def test_every_candidate_is_aligned_as_asked_or_more(tmp_path):
    source = bimodal(tmp_path / "packets.heap", events=400)
    outcome = fit(source, tmp_path / "out", FitOptions(alignment=4))
    coarser = {row.name for row in outcome.comparison.rows if row.alignment != 4}
    assert "tailored_8" in coarser
    assert all(name.startswith("tailored_") for name in coarser)


@pytest.mark.parametrize(("bits", "told"), [(64, "recorded on 64 bit: "), (0, "recorded on unk")])
def test_a_heap_not_recorded_on_32_bit_is_warned_of(tmp_path, bits, told):
    source = bimodal(tmp_path / "packets.heap", events=200, pointer_bits=bits)
    warnings = fit(source, tmp_path / "out").warnings
    assert any(warning.startswith(told) for warning in warnings)


def test_a_trace_that_allocates_nothing_is_refused(tmp_path):
    source = tmp_path / "nothing.heap"
    source.write_text("a 0 0\nf 0\n")
    with pytest.raises(HeapfitError, match="nothing is ever allocated"):
        fit(source, tmp_path / "out")


def test_a_request_that_no_region_can_hold_is_refused(tmp_path):
    source = tmp_path / "huge.heap"
    source.write_text(f"a 0 {5 << 30}\nf 0\n")
    with pytest.raises(HeapfitError, match="no candidate has a safe region for this trace"):
        fit(source, tmp_path / "out")


def test_a_failure_among_many_is_kept_as_its_reason(tmp_path):
    outcome = try_fit(tmp_path / "none.heap", tmp_path / "out")
    assert isinstance(outcome, Failure)
    assert "none.heap" in outcome.reason


def test_many_sources_have_a_folder_each():
    sources = [Path("a/x.heap"), Path("b/x.pcap")]
    assert folders_for(sources, None) == [Path("out/x"), Path("out/x-2")]
    assert folders_for(sources, Path("o")) == [Path("o/x"), Path("o/x-2")]
    assert folders_for(sources[:1], Path("o")) == [Path("o")]


def test_the_program_prints_the_table_the_verdict_and_the_paths(tmp_path):
    table2(tmp_path / "four.heap", events=1000)
    done = heapfit("fit", "four.heap", "-o", "fitted", folder=tmp_path)
    assert done.returncode == 0
    assert "candidate" in done.stdout
    assert "needs" in done.stdout
    assert "plan   fitted/plan.toml" in done.stdout
    assert "Traceback" not in done.stderr


def test_one_bad_source_fails_the_program_but_not_the_others(tmp_path):
    table2(tmp_path / "four.heap", events=1000)
    (tmp_path / "bad.heap").write_text("f 7\n")
    done = heapfit("fit", "bad.heap", "four.heap", folder=tmp_path)
    assert done.returncode == 1
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("heapfit: "))
    assert "bad.heap: line 1: " in line
    assert (tmp_path / "out/four/plan.toml").exists()
    assert not (tmp_path / "out/bad").exists()
    source, best = done.stdout.splitlines()[-2].split()[0], done.stdout.splitlines()[-1].split()[0]
    assert (source, best) == ("bad.heap", "four.heap")


def test_json_tells_every_fit(tmp_path):
    table2(tmp_path / "four.heap", events=1000)
    (told,) = heapfit_json("fit", "four.heap", folder=tmp_path)["fits"]
    assert told["rows"][0]["plan"]["allocator"]
    assert told["paths"]["plan"] == "out/four/plan.toml"
    assert told["trace"]["pointer_bits"] == 32


def test_a_failed_fit_leaves_nothing_half_written(tmp_path):
    source = tmp_path / "cut.heap"
    source.write_text("a 0 64\na 1 64\nr 5 3\n")
    assert heapfit("fit", source, "-o", "out", folder=tmp_path).returncode == 1
    assert [path for path in everything(tmp_path) if path.is_file()] == [source]
