# SPDX-License-Identifier: Apache-2.0
"""Simulations: replications, rounds, workers, recordings, and what is written of them."""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from page_reader import Page
from small_scenarios import small
from small_traces import heapfit, heapfit_json
from sweep_work import children

from grid import thin
from heapfit import _engine
from heapfit.drawing.html import render
from heapfit.errors import HeapfitError
from heapfit.plan.quantities import format_share
from heapfit.results.simulation import simulation_page
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.scenario import RunSettings, load_scenario
from heapfit.simulation.simulate import simulate, solve, write_simulation
from heapfit.sweep import Sweep


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return load_scenario(small(tmp_path_factory.mktemp("scenario")))


@pytest.fixture(scope="module")
def found(scenario):
    return simulate(scenario)


def page_text(found: object) -> str:
    return render(simulation_page(found, "heapfit simulate FILE --closed-form"))


def test_every_scheme_has_a_result_at_every_point_in_order(scenario, found):
    names = ("fixed", "chained", "general")
    places = [(one.point.values["traffic.arrivals.rate"], one.scheme.name) for one in found.results]
    assert places == [(rate, name) for rate in (8, 12) for name in names]
    assert all(set(one.estimates) == set(METRICS) for one in found.results)
    assert all(len(one.observations) == scenario.run.replications for one in found.results)
    assert all(one.requests == 4 * 4000 for one in found.results)


def test_any_number_of_workers_gives_the_same(scenario, found):
    for workers in (2, 3):
        with Sweep(workers) as sweep:
            assert simulate(scenario, sweep) == found


def test_every_scheme_is_offered_the_same_requests(found):
    for first in (0, 3):
        offered = [
            [(seen.requests, seen.requested_bytes) for seen in one.observations]
            for one in found.results[first : first + 3]
        ]
        assert offered[0] == offered[1] == offered[2]


def test_replications_are_added_until_the_interval_is_narrow(scenario):
    narrow = replace(scenario, run=replace(scenario.run, half_width=0.008))
    result = simulate(narrow)
    assert result.count_wide_intervals() == 0
    lengths = {len(one.observations) for one in result.results}
    assert max(lengths) > 4
    assert all(length % 4 == 0 for length in lengths)


def test_rounds_end_at_the_most_replications_and_that_is_told(scenario):
    run = replace(scenario.run, half_width=1e-6, most_replications=10)
    result = simulate(replace(scenario, run=run))
    assert {len(one.observations) for one in result.results} == {8}
    assert result.count_wide_intervals() == len(result.results)


def test_the_warm_up_is_not_counted(scenario):
    """An empty heap admits more: what is counted from the start on shows it."""
    run = RunSettings(requests=30, warm_up=0, replications=40)
    cold = simulate(replace(scenario, run=run)).results
    warm = simulate(replace(scenario, run=replace(run, warm_up=300))).results
    for early, late in zip(cold, warm, strict=True):
        assert early.requests == late.requests == 40 * 30
        assert early.value("memory_utilisation") < late.value("memory_utilisation")


def test_refusals_are_told_by_size(found):
    for one in found.results:
        rows = one.refusals_by_size()
        assert sum(offered for _, offered, _ in rows) == one.requests
        lost = sum(refused for _, _, refused in rows)
        assert lost == sum(seen.requests - seen.admitted for seen in one.observations)
    chained = found.results[4]
    shares = [refused / offered for _, offered, refused in chained.refusals_by_size()]
    assert shares[-1] > shares[0]


def test_closed_form_stand_beside_and_alone(scenario, found):
    alone = solve(scenario).results
    assert [one.exact for one in alone] == [one.exact for one in found.results]
    assert [bool(one.exact) for one in alone] == [True, True, False] * 2
    assert all(not one.observations and not one.estimates for one in alone)


RECORDING = """schema = 1
name = "recorded"
[traffic]
arrivals = {{ law = "recorded", trace = "{trace}" }}
holding = {holding}
[schemes.general]
region = 2000
plan = {{ allocator = "tlsf" }}
"""


def recorded(folder, lines, holding='{ law = "recorded" }'):
    (folder / "a.csv").write_text("op,object,size,time\n" + "\n".join(lines) + "\n")
    path = folder / "recorded.toml"
    path.write_text(RECORDING.format(trace="a.csv", holding=holding))
    return load_scenario(path)


def test_a_capture_does_not_tell_how_long_packets_are_held(tmp_path):
    (tmp_path / "a.csv").write_text("# packet-sizes 1\n0 40 54 6 0 0 0 081\n9 40 54 6 0 0 0 081\n")
    path = tmp_path / "recorded.toml"
    held = '{ law = "recorded" }'
    path.write_text(RECORDING.format(trace="a.csv", holding=held))
    with pytest.raises(HeapfitError, match="a capture shows no frees: give a law, or"):
        load_scenario(path)
    path.write_text(RECORDING.format(trace="a.csv", holding='{ law = "fixed", mean = 0.2 }'))
    assert load_scenario(path).name == "recorded"


def test_a_recording_is_counted_whole_and_once(tmp_path):
    lines = ["alloc,0,1000,0", "alloc,1,1500,10", "free,0,0,20", "alloc,2,500,30", "free,2,0,50",
             "alloc,3,100,60"]  # fmt: skip
    (result,) = simulate(recorded(tmp_path, lines)).results
    (seen,) = result.observations
    assert (seen.requests, seen.admitted, seen.requested_bytes) == (4, 3, 3100)
    live = (1000 * 20 + 500 * 20) / 60
    assert seen.live == pytest.approx(live)
    assert result.estimates["bandwidth_admission"].half_width is None


def test_a_recording_with_drawn_holding_is_replicated(tmp_path):
    lines = [f"alloc,{i},100,{i * 100}" for i in range(200)]
    holding = '{ law = "exponential", mean = 0.002 }'
    (result,) = simulate(recorded(tmp_path, lines, holding)).results
    assert len(result.observations) == 8
    assert result.estimates["bandwidth_admission"].half_width > 0


def test_a_recording_with_resizes_is_refused(tmp_path):
    scenario = recorded(tmp_path, ["alloc,0,10,0", "resize,0,20,5", "free,0,0,9"])
    with pytest.raises(HeapfitError, match=r"a\.csv: has resizes"):
        simulate(scenario)


def test_a_recording_without_times_is_refused(tmp_path):
    scenario = recorded(tmp_path, ["alloc,0,10,0", "free,0,0,0"])
    with pytest.raises(HeapfitError, match="the same time"):
        simulate(scenario)


def test_the_table_has_a_row_for_each_metric_of_each_scheme_at_each_point(tmp_path, found):
    write_simulation(tmp_path / "out.parquet", found)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.num_rows == len(found.results) * len(METRICS)
    told = json.loads(table.schema.metadata[b"heapfit"])
    assert (told["schema"], told["scenario"], told["run"]["seed"]) == (1, "small", 1)
    rows = [
        row
        for row in table.to_pylist()
        if row["metric"] == "bandwidth_admission" and row["scheme"] == "fixed"
    ]
    assert [row["traffic.arrivals.rate"] for row in rows] == [8, 12]
    first = found.results[0]
    assert rows[0]["mean"] == first.estimates["bandwidth_admission"].mean
    assert rows[0]["exact"] == first.exact["bandwidth_admission"]
    assert np.isfinite(rows[0]["half_width"])


def test_the_page_draws_every_metric_and_names_every_scheme(found):
    page = Page(page_text(found))
    figures = json.loads(next(text for kind, text in page.scripts if kind == "application/json"))
    assert len(figures) == len(METRICS)
    assert ["request, up to", "fixed", "chained", "general"] in page.rows
    names = [trace["name"] for trace in figures["chart-bandwidth-admission"]["data"]]
    assert names == ["fixed", "fixed, exact", "chained", "chained, exact", "general"]
    told = [row[0] for row in page.rows if row and row[0].endswith(("rate 8", "rate 12"))]
    assert told == [
        f"{one.scheme.name} rate {one.point.values['traffic.arrivals.rate']}"
        for one in found.results
    ]
    assert not page.unclosed


def test_the_page_says_of_how_many_runs_and_points_it_is(found):
    text = Page(page_text(found)).text
    for fact in (
        "Points of the grid: 2; schemes: 3; seed 1 general admits most: 95.0 % of the bytes "
        "offered; chained 91.7 %, fixed 78.3 %. Means over 2 points. ",
        "requests simulated 96,000 in 24 runs, without warm-up confidence 95.0 %",
        "out of memory, at rate 8. request, up to fixed chained general 1 B 15.0 % 0.58 % 0 %",
        "Numbers Means with their confidence intervals, and closed forms. scheme region",
        "general rate 12 1,200 B 0.9109 ± 0.0125 0.9421 ± 0.0092",  # without an exact value
        "chained : chained_pool: partition_size=32, partitions=30 fixed : fixed_pool: block_size",
    ):
        assert fact in text
    assert "closed forms alone" not in text and "no closed form" not in text


def test_the_page_of_closed_forms_names_the_scheme_that_has_none(scenario):
    text = Page(page_text(solve(scenario))).text
    for fact in (
        "chained admits most: 91.9 % of the bytes offered; fixed 78.8 %. Means over 2 points. ",
        "requests simulated 0 closed forms alone Over the first axis",
        "Numbers All are closed forms. general has no closed form: simulate it",
        "request, up to fixed chained 1 B 12.2 % 0.82 %",
        "fixed rate 8 1,056 B 0.8783 0.8783 0.3360",
    ):
        assert fact in text
    assert "confidence" not in text and "Means with" not in text


def test_the_page_of_hostile_names_runs_nothing_of_them(tmp_path):
    name = "<script>alert(1)</script>"
    path = small(tmp_path, ('name = "small"', f'name = "{name}"'),
                 ("[schemes.fixed]", f'[schemes."{name}"]'))  # fmt: skip
    page = Page(page_text(solve(load_scenario(path))))
    assert not any("alert(1)" in text for kind, text in page.scripts if kind is None)


# ---- as typed


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
    regions = [int(line.split()[2].replace(",", "")) for line in lines[first + 1 : first + 7]]
    assert (
        f"Regions differ, {min(regions):,} to {max(regions):,} B: so does what they" in done.stdout
    )
    assert lines[-1] == "96,000 requests simulated in 24 runs, seed 1; ± at 95 % confidence."


def test_regions_of_all_points_are_compared(tmp_path):
    small(tmp_path, ('"traffic.arrivals.rate" = [8, 12]', '"schemes.fixed.plan.blocks" = [12, 40]'))
    done = heapfit("simulate", "small.toml", folder=tmp_path)
    assert "Regions differ, 1,120 to 4,176 B" in done.stdout


def test_a_scenario_of_one_point_prints_the_loss_by_size(tmp_path):
    """Of 30 partitions of 512 B, and 10 requests of one partition or of 4 live at once."""
    (tmp_path / "one.toml").write_text(
        'schema = 1\nname = "one"\n[traffic]\narrivals = { law = "poisson", rate = 10 }\n'
        'sizes = { law = "empirical", sizes = [512, 2048], weights = [1, 1] }\n'
        'holding = { law = "fixed", mean = 1.0 }\n[schemes.chained]\n'
        'plan = { allocator = "chained_pool", partition_size = 512, partitions = 30 }\n'
    )
    done = heapfit("simulate", "one.toml", "--closed-form", folder=tmp_path)
    lines = [line.split() for line in done.stdout.splitlines()]
    small, large = _engine.kaufman_roberts(30, np.array([1, 4], "u8"), np.array([5.0, 5.0]))
    assert ["512", "B", *format_share(small).split()] in lines
    assert ["2,048", "B", *format_share(large).split()] in lines
    assert any(line[:3] == ["request", "up", "to:"] for line in lines)


def test_json_has_intervals_closed_form_and_refusals_by_size(folder):
    content = heapfit_json("simulate", "small.toml", "--seed", "3", folder=folder)
    assert content["schema"] == 1
    assert content["run"]["seed"] == 3
    first = content["results"][0]
    assert first["point"] == {"traffic.arrivals.rate": 8}
    assert first["plan"] == {"allocator": "fixed_pool", "block_size": 104, "blocks": 10}
    assert first["metrics"]["bandwidth_admission"]["half_width"] > 0
    assert sum(one["offered"] for one in first["by_size"]) == first["requests"]
    assert first["by_size"][-1]["up_to"] >= 100, "the bound of a bin"


# ---- what crosses to the engine

MS = 1_000_000  # ns
SECOND = 1000 * MS
POOL = _engine.Plan("fixed_pool", {"block_size": 2048, "blocks": 10})
REGION = 24_000

ARRIVALS = [
    _engine.Poisson(mean_ns=MS),
    _engine.Periodic(interval_ns=MS),
    _engine.OnOff(on_mean_ns=SECOND, off_mean_ns=SECOND, interval_mean_ns=MS),
    _engine.MarkovModulated(
        interval_mean_ns=[MS, 0], stay_mean_ns=[SECOND, SECOND], weights=[[0, 1], [0.5, 0.5]]
    ),
]
SIZES = [
    _engine.UniformSize(least=80, most=2000),
    _engine.ExponentialSize(least=80, most=2000),
    _engine.BimodalSize(ack_size=40, ack_percent=43, mtu_size=1500, mtu_percent=26),
    _engine.EmpiricalSize(size=np.array([8, 9], "u8"), weight=np.array([0.5, 2])),
    _engine.ListedSizes(size=np.array([8, 9], "u8")),
]
HOLDINGS = [
    _engine.ExponentialHolding(mean_ns=20 * MS),
    _engine.FixedHolding(ns=20 * MS),
    _engine.UniformHolding(least_ns=10 * MS, most_ns=30 * MS),
    _engine.LognormalHolding(mean_ns=20 * MS, sigma=1.5),
    _engine.FifoService(bytes_per_second=1e6),
    _engine.FifoService(packets_per_second=900),
    _engine.EmpiricalHolding(ns=np.array([MS, 20 * MS], "u8"), weight=np.array([1.0, 3.0])),
]


def recorded_arrivals(holding_ns: list[int] | None = None) -> _engine.RecordedArrivals:
    return _engine.RecordedArrivals(
        time_ns=np.array([0, 5, 6], "u8"),
        size=np.array([100, 200, 300], "u8"),
        holding_ns=None if holding_ns is None else np.array(holding_ns, "u8"),
    )


@pytest.mark.parametrize(("arrivals", "sizes", "holding"), thin(4, ARRIVALS, SIZES, HOLDINGS))
def test_every_law_goes_with_every_other(arrivals, sizes, holding) -> None:
    traffic = _engine.Traffic(arrivals=arrivals, sizes=sizes, holding=holding)
    simulation = _engine.Simulation(POOL, REGION, traffic, seed=1)
    assert simulation.run(1000) == 1000
    counts = simulation.counts()
    assert (counts.requests, counts.time_ns > 0) == (1000, True)
    assert 0 < counts.admitted <= 1000


def test_counts_and_histograms_come_as_numbers_and_arrays() -> None:
    traffic = _engine.Traffic(arrivals=ARRIVALS[0], sizes=SIZES[0], holding=HOLDINGS[0])
    simulation = _engine.Simulation(POOL, REGION, traffic, 7)
    simulation.run(500)
    simulation.reset_counts()
    simulation.run(2000)
    counts = simulation.counts()
    bounds, offered = counts.offered_by_size
    same, refused = counts.refused_by_size
    assert bounds.tolist() == same.tolist() == sorted(bounds)
    assert (len(bounds), offered.sum()) == (64, 2000)
    assert refused.sum() == 2000 - counts.admitted > 0
    assert counts.live_byte_ns < counts.used_byte_ns <= 20480 * counts.time_ns
    assert simulation.live_blocks <= counts.block_peak == 10
    assert simulation.live <= counts.live_peak


def test_a_recording_ends_and_holds_what_was_never_freed() -> None:
    traffic = _engine.Traffic(
        arrivals=recorded_arrivals([1, _engine.HELD_FOREVER, 1]),
        sizes=None,
        holding=_engine.RecordedHolding(),
    )
    simulation = _engine.Simulation(POOL, REGION, traffic, 1)
    assert simulation.run(10) == 3
    assert (simulation.live_blocks, simulation.live) == (2, 500)


def test_a_simulation_outlives_what_it_was_made_from() -> None:
    traffic = _engine.Traffic(
        arrivals=recorded_arrivals(), sizes=None, holding=_engine.FixedHolding(ns=1)
    )
    plan = _engine.Plan("tlsf")
    simulation = _engine.Simulation(plan, REGION, traffic, 1)
    del plan, traffic
    assert simulation.run(3) == 3
    assert simulation.counts().admitted == 3


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: _engine.Poisson(mean_ns=0), "Poisson: mean_ns: "),
        (
            lambda: _engine.MarkovModulated(
                interval_mean_ns=[1], stay_mean_ns=[1, 2], weights=[[1]]
            ),
            "MarkovModulated: stay_mean_ns: ",
        ),
        (
            lambda: _engine.EmpiricalSize(size=np.array([], "u8"), weight=np.array([], "f8")),
            "EmpiricalSize: weight: ",
        ),
        (_engine.FifoService, "FifoService: give "),
        (
            lambda: _engine.FifoService(bytes_per_second=1, packets_per_second=1),
            "FifoService: give ",
        ),
        (
            lambda: _engine.Traffic(arrivals=ARRIVALS[0], sizes=None, holding=HOLDINGS[0]),
            "Traffic: sizes: ",
        ),
        (
            lambda: _engine.Simulation(
                POOL,
                100,
                _engine.Traffic(arrivals=recorded_arrivals(), sizes=None, holding=HOLDINGS[0]),
                1,
            ),
            "region: 100 bytes ",
        ),
    ],
)
def test_bad_laws_are_one_line(make: Callable[[], object], told: str) -> None:
    with pytest.raises(HeapfitError) as error:
        make()
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def kill_a_child_once():
    killed = []

    def progress(_step, done):
        if 0 < done < 1 and not killed:
            killed.append(min(children()))
            os.kill(killed[0], signal.SIGKILL)

    return progress


def test_a_worker_that_dies_changes_nothing(scenario, found):
    with Sweep(workers=2) as sweep:
        assert simulate(scenario, sweep, kill_a_child_once()) == found
