# SPDX-License-Identifier: Apache-2.0
"""The adversary: within the limits, no worse than proven, and `compare` finds the same."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_traces import bimodal, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.bounds.worst_cases import Limits, least_of_any, worst_case
from heapfit.comparison.comparison import compare
from heapfit.comparison.jobs import ComparisonRequest
from heapfit.design.portfolio import build_portfolio
from heapfit.design.robust.adversary import AdversaryOptions, attack_plans
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import load_plan, save_plan
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")

Take = Callable[[int, object], object]
POOLS = (Pool(24, 10, True), Pool(100, 4, True))
PROVEN = [
    Plan("first_fit"),
    Plan("first_fit", {"list": 1}),
    Plan("first_fit", {"least_split": 64, "header_size": 24}),
    Plan("best_fit", {"alignment": 4}),
    Plan("best_fit", {"alignment": 16}),
    Plan("segregated_fit"),
    Plan("tlsf"),
    Plan("tlsf", {"probes": 0, "second_level": 1}),
    Plan("tailored"),
    Plan("tailored", {"ends": 2}),
    Plan("tailored", {"layout": 1}),
    Plan("tailored", {"layout": 2, "hole_limit": 4}),
    Plan("sized"),
    Plan("budgeted", {}, POOLS, Plan("best_fit")),
    Plan("class_pools", {}, POOLS, Plan("tlsf")),
]
CAPPED = Limits(np.array([12, 24, 40, 100, 300, 1000]), np.array([9, 20, 30, 10, 6, 3]), 4000)
# As many of each size as the live bytes hold.
FREE = Limits(np.array([12, 28, 60, 124, 252]), np.array([133, 57, 26, 12, 6]), 1600)


def attacked(plan: Plan, limits: Limits, events: int = 100_000) -> _engine.Adversary:
    engine = plan.engine()
    return _engine.find_adversary(
        engine,
        limits.sizes.astype(np.uint64),
        limits.peaks.astype(np.uint64),
        limits.live,
        max(engine.smallest_region, limits.live),
        events=events,
    )


@pytest.mark.parametrize("limits", [CAPPED, FREE])
@pytest.mark.parametrize("plan", PROVEN, ids=str)
def test_what_is_found_is_below_what_is_proven(plan: Plan, limits: Limits) -> None:
    proven = worst_case(plan, limits)
    assert proven is not None
    found = attacked(plan, limits)
    assert limits.live < found.region < proven.size


@pytest.mark.parametrize("allocator", ["first_fit", "best_fit", "tlsf", "tailored", "halffit"])
def test_no_allocator_withstands_what_none_can(allocator: str) -> None:
    assert attacked(Plan(allocator), FREE, 300_000).region >= least_of_any(FREE)


def test_the_most_is_that_of_every_choice() -> None:
    limits = Limits(np.array([3, 5, 7]), np.array([2, 3, 1]), 19)
    weights = np.array([4, 9, 8])
    most = max(
        int(weights @ counts)
        for counts in np.ndindex(3, 4, 2)
        if limits.sizes @ counts <= limits.live
    )
    assert most <= limits.max_weight(weights) < most + int(weights.max())
    assert limits.max_weight(np.array([3, 5, 7])) == 19


def test_pools_of_each_size_s_worst_case_are_proven_and_one_block_less_is_not() -> None:
    sizes = zip(CAPPED.sizes.tolist(), CAPPED.peaks.tolist(), strict=True)
    pools = tuple(Pool(size, peak, True) for size, peak in sizes)
    whole = Plan("static_pools", {}, pools)
    proven = worst_case(whole, CAPPED)
    assert proven is not None
    assert proven.size == whole.engine().smallest_region
    assert worst_case(Plan("static_pools", {}, (*pools[:-1], Pool(1000, 2, True))), CAPPED) is None
    fixed = Plan("fixed_pool", {"block_size": 1000, "blocks": 78})
    assert worst_case(fixed, CAPPED) is not None
    assert worst_case(replace(fixed, scalars={"block_size": 1000, "blocks": 40}), CAPPED) is None


def test_what_wears_down_has_no_proof() -> None:
    assert worst_case(Plan("first_fit", {"coalesce": 0}), CAPPED) is None
    assert worst_case(Plan("kingsley"), CAPPED) is None


@pytest.mark.parametrize("make", [table2, bimodal])
def test_no_replay_needs_more_than_is_proven(tmp_path: Path, make) -> None:
    trace = open_any(make(tmp_path / "t.heap", 1500), ImportOptions(), tmp_path)
    loaded = load_trace(trace)
    names = ["first_fit", "best_fit", "tlsf", "tailored", "segregated_fit", "budgeted"]
    rows = compare(loaded, build_portfolio(loaded, names, [])).rows
    for row in rows:
        proven = worst_case(row.plan, Limits.from_profile(loaded.profile))
        assert proven is not None
        assert row.r_safe is not None
        assert row.r_safe <= proven.size + row.step


def is_within(found: Trace, trained: Trace) -> bool:
    """Legal under all three limits, looked at event by event."""
    profile = profile_trace(trained)
    peaks = dict(zip(profile.sizes.tolist(), profile.peaks.tolist(), strict=True))
    sizes: dict[int, int] = {}
    for batch in found.batches(("op", "object", "size")):
        rows = zip(*(batch[name].tolist() for name in ("op", "object", "size")), strict=True)
        for op, object_id, size in rows:
            if op == 4:
                del sizes[object_id]
            else:
                sizes[object_id] = size
            live = Counter(sizes.values())
            if sum(sizes.values()) > profile.u_max:
                return False
            if any(count > peaks.get(one, 0) for one, count in live.items()):
                return False
    return True


def test_a_plan_trained_on_a_trace_is_broken_and_compare_finds_the_same(tmp_path: Path) -> None:
    table2(tmp_path / "four.heap", 1500)
    asked = ("adversary", "four.heap", "budgeted", "tlsf:probes=0", "static_pools")
    content = heapfit_json(*asked, "--search", "1", "-o", "found", folder=tmp_path)
    shown = heapfit(*asked, "--search", "1", "-o", "found", folder=tmp_path).stdout
    trained = open_any(tmp_path / "four.heap", ImportOptions(), tmp_path)
    attacks = {one["name"]: one for one in content["attacks"]}
    assert set(attacks) == {"budgeted_4_largest", "tlsf:probes=0", "static_pools"}
    pools = attacks.pop("static_pools")
    assert (pools["worst"], pools["plays"], pools["proven"]["size"]) == (None, 0, pools["region"])
    for attack in attacks.values():
        worst = attack["worst"]
        assert attack["region"] == attack["on_trace"]["r_safe"] <= worst["refused_in"]
        assert worst["refused_in"] < worst["r_safe"] <= attack["proven"]["size"]
        assert re.search(rf"^{attack['name']} .* {worst['refused_in']:,}  ", shown, re.MULTILINE)
        (row,) = heapfit_json("compare", worst["trace"], "--plan", worst["plan"], folder=tmp_path)[
            "rows"
        ]
        assert (row["r_min"], row["r_safe"]) == (worst["r_min"], worst["r_safe"])
        assert is_within(Trace.open(tmp_path / worst["trace"]), trained)


def test_a_plan_file_is_attacked_in_its_own_region(tmp_path: Path) -> None:
    table2(tmp_path / "four.heap", 800)
    heapfit("fit", "four.heap", "--plans", "plans", folder=tmp_path)
    path = tmp_path / "plans" / "best_fit.toml"
    plan_file = load_plan(path)
    assert plan_file.region is not None
    roomy = replace(plan_file, region=2 * plan_file.region)
    save_plan(path, roomy)
    asked = ("adversary", "four.heap", "--plan", "plans/best_fit.toml", "--search", "1")
    shown = heapfit(*asked, folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert f"{roomy.region:,}" in shown.stdout
    assert "best_fit: none of " in shown.stdout
    assert not (tmp_path / "out/four/adversary").exists()
    closer = heapfit(*asked, "--region", str(plan_file.region), folder=tmp_path)
    assert "heapfit compare out/four/adversary/best_fit.parquet --plan" in closer.stdout


def test_without_a_plan_there_is_nothing_to_attack(tmp_path: Path) -> None:
    table2(tmp_path / "four.heap", 100)
    done = heapfit("adversary", "four.heap", folder=tmp_path)
    assert done.returncode == 2
    assert "give an allocator, or --plan" in done.stderr


def test_workers_find_the_same(tmp_path: Path) -> None:
    trace = bimodal(tmp_path / "b.heap")
    words = ["adversary", trace, "tlsf", "best_fit", "first_fit", "--search", "1"]
    here, shared = (
        heapfit_json(*words, "-o", "found", "--workers", workers, folder=tmp_path)
        for workers in (1, 2)
    )

    assert here == shared
    assert {one["name"] for one in shared["attacks"]} == {"tlsf", "best_fit", "first_fit"}


def test_an_interrupt_keeps_what_other_workers_have_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = open_any(bimodal(tmp_path / "b.heap"), ImportOptions(), tmp_path)
    options = AdversaryOptions(tmp_path / "found", events=200_000)

    def interrupted(_step: str, jobs: list[Job], _progress: object, then: Take) -> None:
        then(1, jobs[1].work(jobs[1].argument))
        raise KeyboardInterrupt

    sweep = Sweep(2)
    monkeypatch.setattr(sweep, "run", interrupted)
    named = ComparisonRequest(("tlsf", "best_fit", "first_fit"))
    attacks = attack_plans(trace, named, options, sweep=sweep)

    assert attacks.is_stopped
    [kept] = attacks.attacks
    assert kept.worst is not None and kept.worst.trace.parent == tmp_path / "found"
    assert kept.worst.trace.is_file()
