# SPDX-License-Identifier: Apache-2.0
"""Scenario files: what they mean, and that what is wrong is told with its place."""

import tomllib
from pathlib import Path

import pytest
from small_scenarios import SMALL, small

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.simulation.arrivals import poisson
from heapfit.simulation.holding import empirical, exponential
from heapfit.simulation.scenario import load_scenario
from heapfit.simulation.sizes import EmpiricalSize, UniformSize
from heapfit.simulation.traffic import load_traffic

ROOT = Path(__file__).resolve().parents[2]


def refusal(path: Path) -> str:
    with pytest.raises(HeapfitError) as caught:
        load_scenario(path)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return "\n".join(line.removeprefix(f"{path}: ") for line in lines)


def test_a_scenario_is_read_at_every_point_of_its_grid(tmp_path):
    scenario = load_scenario(small(tmp_path))
    assert [point.traffic.arrivals for point in scenario.points] == [
        poisson(1 / 8),
        poisson(1 / 12),
    ]
    assert scenario.points[0].traffic.sizes == UniformSize(1, 100)
    assert scenario.points[0].traffic.holding == exponential(1.0)
    assert [scheme.name for scheme in scenario.points[0].schemes] == ["fixed", "chained", "general"]
    assert scenario.title == scenario.name == "small"
    assert scenario.short_keys() == {"traffic.arrivals.rate": "rate"}


def test_a_scheme_without_a_region_has_the_least_in_which_its_plan_starts(tmp_path):
    fixed, chained, general = load_scenario(small(tmp_path)).points[0].schemes
    for scheme in (fixed, chained):
        assert scheme.region == scheme.plan.engine().smallest_region
    assert fixed.capacity() == 10 * 104
    assert chained.capacity() == 30 * 32
    assert general.region == 1200
    assert 1000 < general.capacity() < 1200


def test_axes_are_crossed_and_the_keys_of_one_go_in_step(tmp_path):
    grid = """
[[grid]]
"schemes.fixed.plan.blocks" = [10, 20]
"schemes.chained.plan.partitions" = [30, 60]
"""
    scenario = load_scenario(small(tmp_path, ("\n[run]", f"{grid}\n[run]")))
    points = [
        (one.traffic.arrivals.mean, *(s.plan.scalars.get("blocks") for s in one.schemes[:1]),
         one.schemes[1].plan.scalars["partitions"])
        for one in scenario.points
    ]  # fmt: skip
    assert points == [(1 / 8, 10, 30), (1 / 8, 20, 60), (1 / 12, 10, 30), (1 / 12, 20, 60)]
    assert list(scenario.short_keys().values()) == ["rate", "blocks"]


def test_a_star_in_a_grid_stands_for_every_scheme(tmp_path):
    key = '"schemes.*.region"'
    path = small(tmp_path, ('"traffic.arrivals.rate" = [8, 12]', f"{key} = [2000, 3000]"))
    regions = [[s.region for s in point.schemes] for point in load_scenario(path).points]
    assert regions == [[2000] * 3, [3000] * 3]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("rate = 10", "rat = 10", "traffic.arrivals.rat: unknown key"),
        ("mean = 1.0", "maen = 1.0", 'traffic.holding.mean: missing (did you mean "maen"?'),
        ("least = 1,", "least = 1, leest = 2,", "traffic.sizes.leest: unknown key"),
        ("[run]", "[runs]", "runs: unknown key"),
        ("requests = 4000", "request = 4000", "run.request: unknown key"),
        ("blocks = 10", "block = 10", "schemes.fixed.plan.block: unknown key"),
        ("rate = 10", "rate = 10, interval = 1.0", "traffic.arrivals.rate: is the inverse"),
        ("[8, 12]", "[8, -12]",
         "traffic.arrivals.rate: must be a number from 1e-06 to 1e+09, not -12"),
        ("[8, 12]", "[8, nan]", "traffic.arrivals.rate: must be a number"),
        ("[8, 12]", "[8, inf]", "traffic.arrivals.rate: must be a number"),
        ("[8, 12]", "[]", 'grid[0]."traffic.arrivals.rate": must be a list of at least one'),
        ("[8, 12]", "[8, true]", 'grid[0]."traffic.arrivals.rate": must be a list of numbers'),
        ("[8, 12]", '[8, "twelve"]',
         'grid[0]."traffic.arrivals.rate": must be numbers or words, not both'),
        ('"traffic.arrivals.rate"', '"traffic.arivals.rate"',
         "grid: traffic.arivals.rate: there is no table traffic.arivals"),
        ('"traffic.arrivals.rate"', '"traffic.arri\tals.rate"',
         r'grid: "traffic.arri\tals.rate": there is no table "traffic.arri\tals"'),
        ('"traffic.arrivals.rate"', '"run.seed"', 'grid[0]."run.seed": a key of a grid begins'),
        ("mean = 1.0", "mean = nan", "traffic.holding.mean: must be a number"),
        ("mean = 1.0", "mean = 0", "traffic.holding.mean: must be a number"),
        ("most = 100", "most = 0", "traffic.sizes.most: must be a whole number"),
        ("least = 1,", "least = 101,", "traffic.sizes.least: 101 is above most"),
        ("most = 100", "most = 100000",
         "traffic.sizes: requests of 100000 B, which fixed cannot serve even when it is empty"),
        ('"uniform", least = 1, most = 100', '"empirical", sizes = [], weights = []',
         "traffic.sizes.sizes: must be a list of at least one"),
        ('"uniform", least = 1, most = 100', '"empirical", sizes = [8], weights = [0]',
         "traffic.sizes.weights: must not all be 0"),
        ('"uniform", least = 1, most = 100', '"empirical", sizes = [8], weights = [1, 2]',
         "traffic.sizes.weights: must be 1 numbers"),
        ('"uniform"', '"unifrom"', 'traffic.sizes.law: no size law "unifrom"'),
        ('"poisson"', '"poison"', 'traffic.arrivals.law: no arrival law "poison"'),
        ('"exponential"', '"recorded"', "traffic.holding.mean: unknown key"),
        ('"exponential", mean = 1.0', '"recorded"', "traffic.holding: is recorded, but"),
        ('"tlsf"', '"tslf"', 'schemes.general.plan.allocator: no allocator "tslf"'),
        ("region = 1200", "region = 12", "schemes.general.region: 12 is below"),
        ("region = 1200", "region = 135_000_000", "schemes.general.region: must be a whole"),
        ("schema = 1", "schema = 2", "schema: the scenario has version 2"),
        ("replications = 4", 'metric = "speed"', 'run.metric: no metric "speed"'),
        ("replications = 4", "half_width = -0.1", "run.half_width: must be a number"),
        ("replications = 4", "confidence = 1.5", "run.confidence: must be a number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line_with_its_key(tmp_path, old, new, place):
    assert refusal(small(tmp_path, (old, new))).startswith(place)


def test_mistakes_are_told_all_at_once(tmp_path):
    mistakes = (("least = 1,", "least = 101,"), ("blocks = 10", "block = 10"), ("tlsf", "tslf"))
    places = [line.partition(":")[0] for line in refusal(small(tmp_path, *mistakes)).splitlines()]
    plans = ["schemes.fixed.plan.block", "schemes.general.plan.allocator"]
    assert places == ["traffic.sizes.least", *plans]


def test_a_grid_that_is_too_large_is_refused(tmp_path):
    values = ", ".join(str(n) for n in range(1, 102))
    grid = "".join(
        f'[[grid]]\n"schemes.{name}.plan.alignment" = [{values}]\n' for name in ("fixed", "chained")
    )
    path = small(tmp_path, ("\n[run]", f"\n{grid}[run]"))
    assert refusal(path).startswith("grid: 20,402 points are more than")


def test_the_traffic_of_a_scenario_is_read_alone(tmp_path):
    path = tmp_path / "traffic.toml"
    path.write_text(SMALL.partition("[schemes")[0])
    assert load_traffic(path).arrivals == poisson(0.1)


LAWS = {
    "arrivals": [
        '{ law = "poisson", interval = 0.1 }',
        '{ law = "periodic", interval = 0.1 }',
        '{ law = "on_off", on = 1.0, off = 2.0, rate = 10 }',
        '{ law = "markov", states = [{ rate = 5, stay = 1.0, next = [0, 1] }, '
        "{ interval = 0.1, stay = 2.0, next = [1, 0] }] }",
    ],
    "sizes": [
        '{ law = "exponential", least = 8, most = 100 }',
        '{ law = "bimodal", ack_size = 40, ack_percent = 43, mtu_size = 100, mtu_percent = 26 }',
        '{ law = "empirical", sizes = [10, 50], weights = [1, 2.5] }',
        '{ law = "listed", sizes = [10, 50, 70] }',
    ],
    "holding": [
        '{ law = "fixed", mean = 0.5 }',
        '{ law = "uniform", least = 0.1, most = 2.0 }',
        '{ law = "lognormal", mean = 1.0, sigma = 0.5 }',
        '{ law = "fifo", packets_per_second = 11 }',
        '{ law = "fifo", bytes_per_second = 500 }',
        '{ law = "empirical", times = [0.5, 1.5], weights = [1, 1] }',
    ],
}


@pytest.mark.parametrize(("part", "law"), [(part, law) for part in LAWS for law in LAWS[part]])
def test_every_law_reaches_the_engine(tmp_path, part, law):
    document = tomllib.loads(SMALL)
    old = next(line for line in SMALL.splitlines() if line.startswith(f"{part} ="))
    assert part in document["traffic"]
    grid = ('"traffic.arrivals.rate" = [8, 12]', '"schemes.general.region" = [1200]')
    path = small(tmp_path, (old, f"{part} = {law}"), grid)
    (point,) = load_scenario(path).points
    fixed = point.schemes[0]
    simulation = _engine.Simulation(fixed.plan.engine(), fixed.region, point.traffic.engine(), 1)
    assert simulation.run(100) == 100


def test_sizes_and_holding_times_are_drawn_as_a_recording_has_them(tmp_path):
    lines = ["alloc,0,10,0", "alloc,1,0,5", "free,0,0,500000", "alloc,2,10,600000",
             "free,2,0,1100000"]  # fmt: skip
    (tmp_path / "a.csv").write_text("op,object,size,time\n" + "\n".join(lines) + "\n")
    law = '{ law = "empirical", trace = "a.csv" }'
    path = small(
        tmp_path,
        ('{ law = "uniform", least = 1, most = 100 }', law),
        ('{ law = "exponential", mean = 1.0 }', law),
    )
    traffic = load_scenario(path).points[0].traffic
    assert traffic.sizes == EmpiricalSize((1, 10), (1.0, 2.0))
    assert traffic.holding == empirical((0.5,), (2.0,))


def test_a_recording_that_is_not_there_is_told(tmp_path):
    law = '"empirical", trace = "nowhere.csv"'
    told = refusal(small(tmp_path, ('"uniform", least = 1, most = 100', law)))
    assert told.startswith(f"traffic.sizes.trace: no such file: {tmp_path / 'nowhere.csv'}")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples/partitions").glob("*.toml")), ids=lambda p: p.stem
)
def test_the_examples_are_sound(path):
    assert load_scenario(path).points
