# SPDX-License-Identifier: Apache-2.0
"""Traces drawn from a recorded one: legal, repeatable, and like it, phase by phase."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_traces import fit_json, heapfit

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.content import content_hash
from heapfit.trace.origin import parse_origin
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import COLUMNS, Trace, write_trace
from heapfit.workloads.draw import is_drawn, resample_run, resample_trace
from heapfit.workloads.model import Model, fit_model
from heapfit.workloads.phases import phase_starts
from heapfit.workloads.synthetic import WorkloadSpec, generate_workload


def made(folder: Path, name: str, seed: int = 1, **parameters: int) -> Trace:
    return generate_workload(WorkloadSpec(name, seed, parameters), folder / f"{name}{seed}.parquet")


def objects(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The size of each request, and how many requests it lived; -1: to the end."""
    batches = list(trace.batches(("op", "object", "size")))
    ops, ids, sizes = (np.concatenate([one[name] for one in batches]) for name in batches[0])
    births = np.flatnonzero(ops <= 2)
    lives = np.full(len(births), -1)
    frees = np.flatnonzero(ops == 4)
    lives[ids[frees]] = np.searchsorted(births, frees) - ids[frees]
    return sizes[births], lives


@pytest.fixture(scope="module")
def changing(tmp_path_factory) -> Trace:
    """Whose shares of sizes change every 1,500 requests."""
    return made(tmp_path_factory.mktemp("zg"), "zg_time", events=12_000, phase=1500, life=12)


@pytest.fixture(scope="module")
def model(changing: Trace) -> Model:
    return fit_model(changing)


@pytest.fixture(scope="module")
def drawn(changing: Trace, model: Model) -> list[Trace]:
    folder = changing.path.parent
    return [
        resample_trace(model, seed, folder / f"d{seed}.parquet", changing.info) for seed in range(4)
    ]


def rough(folder: Path, seed: int) -> Trace:
    """Resizes, some of them to 0, requests of 0 bytes, and blocks that stay."""
    random = np.random.default_rng(seed)
    live, lines, born = [], [], 0
    for _ in range(3000):
        what = random.random()
        if what < 0.5 or not live:
            lines.append(f"a {born} {random.integers(0, 300)}")
            live.append(born)
            born += 1
        elif what < 0.6:
            lines.append(f"r {random.choice(live)} {random.integers(1, 900)}")
        elif what < 0.61:
            lines.append(f"r {live.pop(int(random.integers(len(live))))} 0")
        else:
            lines.append(f"f {live.pop(int(random.integers(len(live))))}")
    path = folder / f"rough{seed}.heap"
    path.write_text("\n".join(["# heap-events 1", "# pointer_bits 32", *lines]) + "\n")
    return open_any(path, ImportOptions(), folder)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_drawn_is_a_legal_trace(tmp_path: Path, seed: int) -> None:
    trace = rough(tmp_path, seed)
    model = fit_model(trace)
    for draw in range(3):
        one = resample_trace(model, draw, tmp_path / "drawn.parquet", trace.info)
        assert profile_trace(one).operations[0] == profile_trace(trace).operations[0]
        assert one.info.events > 0.9 * trace.info.events


def test_a_seed_gives_one_trace_and_another_seed_another(
    tmp_path: Path, changing: Trace, model: Model, drawn: list[Trace]
) -> None:
    again = resample_trace(model, 2, tmp_path / "again.parquet", changing.info)
    assert content_hash(again) == content_hash(drawn[2])
    assert len({content_hash(one) for one in [changing, *drawn]}) == 5


def test_a_drawn_trace_is_known_by_its_origin_and_not_by_what_its_source_says(
    tmp_path: Path, changing: Trace, drawn: list[Trace]
) -> None:
    assert all(map(is_drawn, (drawn[0], Trace.open(drawn[0].path))))
    says_so = write_trace(
        tmp_path / "says.parquet", changing.batches(tuple(COLUMNS)), drawn[0].info
    )
    assert says_so.info.source.startswith("resampled from ")
    assert not any(map(is_drawn, (changing, says_so)))


@pytest.mark.parametrize(
    "damaged",
    [b"{", b"[]", b"1", b"{}", b'{"maker": "me", "seed": 1}', b'{"maker": "workload"}',
     b'{"maker": "workload", "seed": "1"}', b'{"maker": "workload", "seed": 1, "name": 2}',
     b'{"maker": "workload", "seed": 1, "parameters": {"a": 0.5}}',
     b'{"maker": "workload", "seed": 1, "parameters": 3}',
     b'{"maker": "workload", "seed": 1, "more": 3}'],
)  # fmt: skip
def test_a_damaged_origin_is_refused(damaged: bytes) -> None:
    with pytest.raises(HeapfitError, match="its origin is damaged"):
        parse_origin(damaged)


def test_the_picks_of_all_seams_are_those_that_one_generator_chooses_seam_by_seam(
    model: Model,
) -> None:
    choices = _engine.BlockDraw(len(model.drawn), model.phases, model.block).choices()
    assert len(choices) >= 16
    for seed in range(20):
        generator = np.random.default_rng(seed)
        one_by_one = [generator.choice(np.arange(choice)) for choice in choices]
        assert np.random.default_rng(seed).integers(0, choices).tolist() == one_by_one


def test_a_run_in_memory_is_what_its_file_holds(tmp_path: Path) -> None:
    plain = rough(tmp_path, 1)
    (columns,) = plain.batches(tuple(COLUMNS))
    columns["site"] = np.where(columns["op"] < 3, 100 + columns["object"] % 3, 0).astype(np.uint32)
    columns["alignment"] = np.where(columns["op"] == 2, 64, 0).astype(np.uint32)
    chains = {100: (7, 8), 101: (9, 8)}
    trace = write_trace(tmp_path / "chained.parquet", [columns], plain.info, lambda: chains)
    model = fit_model(trace)
    run, stored = (
        resample_run(model, 5),
        resample_trace(model, 5, tmp_path / "drawn.parquet", trace.info),
    )
    (there,) = stored.batches(tuple(COLUMNS))
    (here,) = run.batches(tuple(there.keys() - {"time"}))
    assert all(np.array_equal(values, there[name]) for name, values in here.items())
    assert stored.chains == chains
    assert run.largest_alignment == stored.largest_alignment
    sites = {7: 1, 102: 2}
    for of_run, of_stored in (
        (run.events(), stored.events()),
        (run.events(sites), stored.events(sites)),
    ):
        assert np.array_equal(of_run.sizes(), of_stored.sizes())
        assert np.array_equal(of_run.objects(), of_stored.objects())


def test_the_phases_of_a_model_with_phases_are_found(model: Model) -> None:
    assert len(model.phases) == 4
    for found, true in zip(model.phases, (0, 1500, 3000, 4500), strict=True):
        assert abs(found - true) <= model.block


def test_a_load_that_does_not_change_is_one_phase() -> None:
    random = np.random.default_rng(1)
    sizes = random.choice([16, 40, 200, 1500], 20_000)
    assert phase_starts(sizes, np.cumsum(random.normal(size=20_000)) * 0 + 9, 100) == [0]


def test_sizes_and_lifetimes_are_those_of_the_phase(
    changing: Trace, model: Model, drawn: list[Trace]
) -> None:
    recorded = objects(changing)
    found = [objects(one) for one in drawn]
    ends = [*model.phases[1:], len(recorded[0])]
    for first, end in zip(model.phases, ends, strict=True):
        of_phase = slice(first, end - model.block)  # what lives longer is cut off at the end
        sizes = np.concatenate([one[0][of_phase] for one in found])
        for size in np.unique(recorded[0]):
            share = np.mean(recorded[0][of_phase] == size)
            assert np.mean(sizes == size) == pytest.approx(share, abs=0.05)
        lives = np.concatenate([one[1][of_phase] for one in found])
        for quantile in (0.25, 0.5, 0.75):
            usual = np.quantile(recorded[1][of_phase], quantile)
            assert np.quantile(lives, quantile) == pytest.approx(usual, rel=0.25, abs=1)


def test_what_outlives_its_phase_is_kept_where_it_was(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    lines = [f"a {i} {7000 + i}" for i in range(20)]
    for i in range(20, 2000):
        lines += [f"a {i} {random.integers(1, 100)}", f"f {i}"]
    path = tmp_path / "tables.heap"
    path.write_text("\n".join(["# heap-events 1", "# pointer_bits 32", *lines]) + "\n")
    trace = open_any(path, ImportOptions(), tmp_path)
    model = fit_model(trace)
    assert model.kept == 20
    sizes, lives = objects(resample_trace(model, 1, tmp_path / "drawn.parquet", trace.info))
    assert sizes[:20].tolist() == list(range(7000, 7020))
    assert set(lives[:20].tolist()) == {-1}
    assert max(sizes[20:]) < 100


def test_drawn_traces_peak_about_as_high_as_fresh_ones_of_the_model(tmp_path: Path) -> None:
    size = {"events": 8000}
    fresh = [profile_trace(made(tmp_path, "phases_w4", s, **size)).u_max for s in range(20, 50)]
    peaks = []
    for seed in (1, 2, 3):
        trace = made(tmp_path, "phases_w4", seed, **size)
        model = fit_model(trace)
        for i in range(10):
            one = resample_trace(model, i, tmp_path / "d.parquet", trace.info)
            peaks.append(profile_trace(one).u_max)
    assert np.mean(peaks) == pytest.approx(np.mean(fresh), rel=0.05)
    assert 0.3 < np.std(peaks) / np.std(fresh) < 3


def test_a_short_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="requests are too few"):
        fit_model(made(tmp_path, "t2_w1", events=300))


def test_fit_draws_traces_and_tells_what_they_cannot_tell(tmp_path: Path) -> None:
    made(tmp_path, "phases_w4", events=1000)
    words = ("phases_w41.parquet", "--draw", "3", "--seed", "7", "--folds", "0", "--plans", "all")
    fitted = fit_json(*words, folder=tmp_path)
    told = fitted["plans"]
    assert [run["name"] for run in fitted["runs"]] == [
        "phases_w41", "drawn-7", "drawn-8", "drawn-9"
    ]  # fmt: skip
    assert fitted["answer"]["recordings"] == 1
    page = (tmp_path / "out/phases_w41/report.html").read_text()
    assert "--draw 3 --seed 7" in page
    assert "drawn-7.parquet" not in page
    assert (told["traces"], told["drawn"]["traces"], told["drawn"]["seed"]) == (4, 3, 7)
    assert told["plans"][0].startswith("all/")
    assert "cannot tell" in told["drawn"]["limits"]
    done = heapfit("workload", "phases_w41.parquet", "--seed", "9", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cannot tell" in done.stdout
    ninth = Trace.open(tmp_path / "phases_w41-drawn-9.parquet")
    assert profile_trace(ninth).u_max == told["u_max"][3]


def test_two_traces_are_not_drawn_from(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert heapfit("fit", "a", "a", "--draw", "5", folder=tmp_path).returncode == 2


def test_the_bench_sets_drawn_beside_fresh_traces() -> None:
    bench = Path(__file__).parents[2] / "bench/bootstrap.py"
    size = ("--recordings", "2", "--training", "2", "--unseen", "3", "--events", "1000")
    done = subprocess.run(
        [sys.executable, bench, "zg_cdf", *size], capture_output=True, text=True, check=True
    )
    shares = [line.split() for line in done.stdout.splitlines() if line.startswith("  greedy")]
    assert [one[1] for one in shares] == ["drawn", "fresh"]
    assert all(0 <= float(share) <= 100 for one in shares for share in one[2:])
