# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit --front` and `--prefer`: what is measured, what is chosen, and what is written."""

from dataclasses import replace

import pytest
from page_reader import Page
from small_traces import bimodal, fit_json, heapfit, heapfit_json

from heapfit import _engine
from heapfit.comparison.costs.measures import Measure, Measures
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.measuring import EXACT
from heapfit.comparison.verdict import select_row
from heapfit.design.front.design_front import (
    Configuration,
    compare_all,
    cost_of_choice,
    front_of,
    list_offers,
    save_front,
)
from heapfit.design.front.offers import Offer, is_dominated, pick_offer, step_down
from heapfit.design.front.pareto import Dominance, Rank, dominates
from heapfit.design.front.preference import Preference
from heapfit.design.space import configurations, configurations_by_name, drop_standard_values
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.allocators import is_for_any_program
from heapfit.plan.energy import load_sram
from heapfit.plan.plan_file import TrainingRecord, file_name, load_plan
from heapfit.results.front.page import render
from heapfit.trace.loaded import load_trace

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front")
    bimodal(folder / "packets.heap", events=600)
    return folder


@pytest.fixture(scope="module")
def loaded(folder):
    return load_trace(open_any(folder / "packets.heap", ImportOptions(), folder))


@pytest.fixture(scope="module")
def front(loaded):
    return front_of(compare_all(loaded, configurations(loaded)), loaded)


@pytest.fixture(scope="module")
def written(folder):
    """What `heapfit fit --front` says of the same trace."""
    asked = ("packets.heap", "-o", "fit", "--front", "out", "--prefer", "time", "--code")
    return fit_json(*asked, folder=folder)


def figures(one):
    return [one.measures.figure(measure) for measure in Measure]


def test_the_members_are_those_that_nobody_dominates(front):
    known = [one for one in front.configurations if None not in figures(one)]
    assert len(front.members) >= 4
    for one in known:
        is_dominated = any(dominates(figures(other), figures(one)) for other in known)
        assert is_dominated == (one.place.standing is Dominance.DOMINATED)


@pytest.fixture(scope="module")
def searched(loaded):
    """The same front with every configuration searched."""
    space = configurations(loaded)
    asked = tuple(replace(one, is_searched_further=False) for one in space.candidates)
    return front_of(compare_all(loaded, replace(space, candidates=asked)), loaded)


def test_what_is_left_is_beaten_where_it_is_searched(front, searched):
    left = [one.row for one in front.configurations if one.row.beaten_by is not None]
    assert left
    found = {one.name: one for one in searched.configurations}
    for row in left:
        assert row.is_searched_further
        assert row.r_safe is None
        one, rival = found[row.name], found[row.beaten_by]
        assert one.place.standing is Dominance.DOMINATED
        assert one.row.r_safe >= row.r_safe_at_least > rival.row.r_safe
        assert row.work.events < one.row.work.events / 2
        assert dominates(figures(rival), figures(one))


def test_leaving_changes_no_front_and_takes_less(front, searched):
    assert [(one.name, figures(one)) for one in front.members] == [
        (one.name, figures(one)) for one in searched.members
    ]
    assert front.comparison.work.regions < searched.comparison.work.regions / 2


def test_exact_leaves_nothing(loaded):
    space = configurations_by_name(loaded, ["tlsf", "segregated_fit"])
    rows = compare_all(loaded, space, EXACT).rows
    assert all(row.beaten_by is None and row.is_exhaustive for row in rows)


def test_every_plan_of_the_space_is_there_once(front):
    plans = [drop_standard_values(one.row.plan) for one in front.configurations]
    assert all(plan not in plans[:i] for i, plan in enumerate(plans))
    assert len({one.name for one in front.configurations}) == len(plans)


def test_the_space_has_every_allocator_that_ships_and_lies_in_one_piece(front):
    ships = {info.name for info in _engine.allocators() if is_for_any_program(info)}
    assert {one.row.plan.allocator for one in front.configurations} == ships


def test_pools_are_tried_over_other_heaps(front):
    shared = {one.row.plan.shared.allocator for one in front.configurations if one.row.plan.shared}
    assert shared >= {"tlsf", "best_fit", "first_fit"}


def test_nearly_every_configuration_of_the_space_is_measured(front):
    known = [one for one in front.configurations if one.row.r_safe is not None]
    missing = [one.code for one in known if None in figures(one)]
    assert len(missing) <= len(known) / 10, "run scripts/measure_calls.py --only PATTERN"


def test_accesses_and_energy_are_those_of_the_replay(front):
    sram = load_sram()
    for one in front.configurations[:8]:
        replay = one.row.replay
        operations = replay.allocations + replay.frees + replay.resizes
        assert one.measures.accesses * operations == pytest.approx(replay.loads + replay.stores)
        assert one.measures.energy * operations == pytest.approx(
            sram.energy(replay, one.row.r_safe)
        )


def test_a_mean_call_takes_no_longer_than_the_longest(front):
    for one in front.configurations:
        if one.measures.time is not None:
            assert 0 < one.measures.time <= one.measures.longest


def test_a_baseline_has_memory_and_energy_but_no_instructions(loaded):
    found = front_of(
        compare_all(loaded, configurations_by_name(loaded, ["tlsf", "kingsley"])), loaded
    )
    (kingsley,) = [one for one in found.configurations if one.name == "kingsley"]
    assert kingsley.measures.memory
    assert kingsley.measures.energy
    assert (kingsley.measures.time, kingsley.measures.size) == (None, None)
    assert kingsley.place.standing is Dominance.UNKNOWN


def pick_best(front, preference, may_count=True):
    """The configuration that is picked, each without a margin."""
    sizes = {one.name: sized(one.measures.memory) for one in front.configurations}
    name = pick_offer(list_offers(front, sizes, may_count), preference).name
    return next(one for one in front.configurations if one.name == name)


def sized(memory):
    return None if memory is None else HeapSize(memory, memory, memory, 0)


def made(front, *rows):
    """A front of (memory, time, energy, size) alone, all of them members."""
    base = front.configurations[0]
    members = tuple(
        Configuration(
            replace(base.row, name=f"c{i}"),
            base.axes,
            base.code,
            Measures(memory, 1.0, energy, time, 1.0, size),
            Rank(Dominance.FRONT),
        )
        for i, (memory, time, energy, size) in enumerate(rows)
    )
    return replace(front, configurations=members)


@pytest.mark.parametrize(
    ("preference", "name"), [("ram", "c0"), ("time", "c1"), ("energy", "c2"), ("flash", "c3")]
)
def test_what_is_preferred_is_least(front, preference, name):
    four = made(front, (96, 90, 90, 900), (97, 10, 80, 800), (98, 80, 10, 700), (120, 70, 70, 100))
    assert pick_best(four, Preference(preference)).name == name


def test_within_one_percent_of_the_least_memory_decides(front):
    near = made(front, (50, 100.0, 1, 1), (45, 100.9, 1, 1), (42, 101.1, 1, 1))
    assert pick_best(near, Preference.TIME).name == "c1"


def test_of_equal_memory_the_least_of_what_is_preferred_decides(front):
    equal = made(front, (50, 100.9, 1, 1), (50, 100.0, 1, 1))
    assert pick_best(equal, Preference.TIME).name == "c1"


def offer(name, region, time, longest=None, size=None, is_advisable=True):
    return Offer(name, region, Measures(region, None, None, time, longest, size), is_advisable)


@pytest.mark.parametrize(
    ("other", "is_beaten"),
    [
        (offer("all as good, one better", 100, 50, 70, 899), True),
        (offer("alike in everything", 100, 50, 70, 900), False),
        (offer("worse in one", 90, 40, 71, 800), False),
        (offer("without figures that it does not have", 100, 49), True),
        (offer("without a mean", 10, None, 1, 1), False),
        (offer("of this trace alone", 10, 10, 10, 10, False), False),
    ],
    ids=lambda one: one.name if isinstance(one, Offer) else "",
)
def test_an_offer_is_dominated_by_what_is_nowhere_worse_and_somewhere_better(other, is_beaten):
    ours = offer("ours", 100, 50, 70, 900)
    assert is_dominated(ours, [ours, other]) == is_beaten
    picked = pick_offer([ours, offer("slower", 90, 80, 70, 900)], Preference.TIME, [other])
    assert picked.name == ("slower" if is_beaten else "ours")


def test_if_rivals_dominate_all_the_best_of_them_is_still_named():
    ours, rival = offer("ours", 100, 50), offer("rival", 90, 40)
    assert pick_offer([ours], Preference.TIME, [rival]) is ours


def test_what_needs_a_quarter_more_than_the_least_is_picked_for_nothing():
    least, dear = offer("least", 1000, 500), offer("dear", 1251, 1)
    assert pick_offer([least, dear], Preference.TIME) is least
    assert pick_offer([least, offer("able", 1250, 1)], Preference.TIME).name == "able"


@pytest.mark.parametrize(
    ("rung", "is_taken"),
    [
        (offer("a tenth quicker", 1009, 90, 1, 900), True),
        (offer("a little quicker", 1009, 92, 1, 900), False),
        (offer("far less code", 1009, 100, 1, 399), True),
        (offer("a little less code", 1009, 100, 1, 401), False),
        (offer("quicker with more code", 1009, 50, 1, 901), False),
        (offer("far less code but slower", 1009, 101, 1, 100), False),
        (offer("more than 1 % above", 1011, 50, 1, 100), False),
        (offer("without code", 1001, 50, 1), False),
        (offer("of this trace alone", 1001, 50, 1, 100, False), False),
    ],
    ids=lambda one: one.name if isinstance(one, Offer) else "",
)
def test_the_last_percent_of_memory_is_not_bought_dearly(rung, is_taken):
    least = offer("least", 1000, 100, 1, 900)
    assert step_down(least, [least, rung]) is (rung if is_taken else least)


def test_every_preference_picks_from_the_front(front):
    for preference in Preference:
        choice = pick_best(front, preference)
        memory = min(one.measures.memory for one in front.members)
        able = [one for one in front.members if one.measures.memory <= 1.25 * memory]
        least = min(one.measures.figure(Measure(preference.value)) for one in able)
        assert choice.is_on_front
        assert choice.measures.figure(Measure(preference.value)) <= 1.01 * least


def test_what_a_choice_costs_is_told_in_the_other_measures(front):
    two = made(front, (100, 50.0, 10, 300), (120, 20.0, 10, 300))
    told = cost_of_choice(two, pick_best(two, Preference.TIME))
    assert told == "above the least: R_safe +20.0 %"
    assert cost_of_choice(two, pick_best(two, Preference.RAM)).endswith("instructions +150.0 %")


def test_a_preference_nobody_has_a_figure_for_is_refused(front):
    none = made(front, (100, None, 10, 300))
    with pytest.raises(HeapfitError, match="--prefer time: no candidate has a figure"):
        pick_best(none, Preference.TIME)


def test_a_plan_file_for_each_member_runs_in_its_region(front, loaded, tmp_path):
    trained = TrainingRecord("packets", "sha256:" + 64 * "0", 600)
    paths = save_front(front, tmp_path, trained)
    assert len(set(paths)) == len(front.members)
    for path, one in zip(paths, front.members, strict=True):
        plan_file = load_plan(path)
        assert plan_file.name == file_name(one.name) == path.stem
        assert plan_file.r_safe == one.measures.memory
        assert _engine.Replay(plan_file.plan.engine(), plan_file.region).feed(loaded.events)


def test_the_command_writes_what_it_lists(written, folder, front):
    fitted, written = written, written["front"]
    members = [one["name"] for one in written["configurations"] if one["standing"] == "front"]
    assert members == [one.name for one in front.members]
    assert [folder / path for path in written["plans"]] == [
        folder / "out" / f"{file_name(name)}.toml" for name in members
    ]
    assert all((folder / path).is_file() for path in [*written["plans"], written["page"]])
    name = written["chosen"]
    sizes = {one.name: one.row.heap_size for one in front.configurations}
    offers = list_offers(front, sizes, may_count=False)
    (chosen,) = (one for one in offers if one.name == name)
    assert not is_dominated(chosen, offers)
    most = 1.25 * min(one.region for one in offers if one.is_advisable)
    assert chosen.region <= most
    least = min(offers, key=lambda one: one.region)
    assert chosen.costs.time <= least.costs.time
    assert load_plan(folder / fitted["paths"]["plan"]).name == file_name(name)
    assert f"Chosen for time: {name} " in fitted["verdict"]


def test_the_table_marks_members_and_tells_who_is_better(folder):
    asked = ("--front", "few", "--allocators", "tlsf,fixed_pool")
    shown = heapfit("fit", "packets.heap", *asked, folder=folder)
    assert shown.returncode == 0
    lines = shown.stdout[shown.stdout.index("\nconfiguration") + 1 :].splitlines()
    assert max(map(len, lines)) <= 80
    first, second = "\n".join(lines).split("\n\n")
    head, *rows = first.splitlines()
    assert head.split()[:3] == ["configuration", "front", "R_safe"]
    members = [row.split()[0].rstrip("*") for row in rows if row.split()[1] == "front"]
    assert rows[0].split()[0].rstrip("*") in members
    assert "+-" in rows[0]
    below = second.partition("\nconfiguration")[2].splitlines()[1 : len(rows) + 1]
    better = [row.split()[-1] for row in below[len(members) :]]
    assert better
    assert set(better) <= set(members)


def test_the_front_of_one_measure_is_its_least(folder):
    asked = ("--front", "one", "--allocators", "tlsf", "--by", "ram")
    content = fit_json("packets.heap", *asked, folder=folder)["front"]
    (best,) = [one for one in content["configurations"] if one["standing"] == "front"]
    assert best["memory"] == min(one["memory"] for one in content["configurations"])


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("fit", "absent.heap", "--front", "out"), 1, "absent.heap"),
        (("fit", "packets.heap", "--allocators", "no_such"), 1, "no_such: no such allocator"),
        (("fit", "packets.heap", "--front", "out", "--by", "beauty"), 1, "--by beauty: no such"),
        (("fit", "packets.heap", "--by", "ram"), 2, "--by has no effect here: it needs --front"),
        (("fit", "packets.heap", "packets.heap", "--front", "out"), 2, "--front takes one"),
        (("fit", "packets.heap", "--sram", "absent.toml"), 1, "absent.toml"),
        (("fit", "packets.heap", "--prefer", "beauty"), 2, "beauty"),
    ],
)
def test_bad_words_end_with_one_line(folder, words, code, told):
    done = heapfit(*words, folder=folder)
    assert done.returncode == code
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_fit_takes_what_is_preferred_and_says_what_it_costs(folder):
    asked = ("packets.heap", "--prefer", "time", "-o", "quick", "--code")
    quick = heapfit_json("fit", *asked, folder=folder)
    (fitted,) = quick["fits"]
    best, *others = fitted["rows"]
    assert "Chosen for time: " in fitted["verdict"]
    assert "above the least: R_safe +" in fitted["verdict"]
    assert best["r_safe"] > others[0]["r_safe"] == min(row["r_safe"] for row in others)
    assert load_plan(folder / "quick/plan.toml").r_safe == best["r_safe"]
    assert not best["is_cut_to_trace"]
    assert "--prefer time" in (folder / "quick/report.html").read_text()


@pytest.fixture(scope="module")
def page(front):
    choice = pick_best(front, Preference.TIME)
    return Page(render(front, "<b>packets</b>", choice, "heapfit fit '<i>'"))


def test_the_page_has_every_configuration_in_a_table(page, front):
    rows = [" ".join(" ".join(row).split()) for row in page.rows]
    for one in front.configurations:
        told = [row for row in rows if row.startswith(one.name) and one.row.reason[:30] in row]
        memory = one.measures.memory or one.row.r_safe_at_least
        assert any(f" {memory:,} " in row for row in told), one.name


def test_the_page_begins_with_what_to_set_a_heap_to(page, front):
    chosen = select_row(front.comparison)
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    head = text.index("Two measures at a time")
    assert 0 < text.index(f"{chosen.heap_size.region:,} bytes") < text.index(chosen.name) < head


def test_the_page_can_show_any_measure_of_any_configuration(page, front):
    layout = page.figures["chart-front"]["layout"]["meta"]
    assert set(layout["measures"]) == {measure.value for measure in Measure}
    for measure in layout["measures"].values():
        assert len(measure["values"]) == len(front.configurations)
    drawn = [i for one in page.figures["chart-front"]["data"] for i in one.get("meta", [])]
    assert set(drawn) == set(range(len(front.configurations)))
    shown = [value for value in page.attributes("value") if value in layout["measures"]]
    assert sorted(shown) == sorted(2 * [measure.value for measure in Measure])


def test_hostile_words_stay_text_on_the_page(page):
    assert "<b>packets</b>" in page.text
    assert "heapfit fit '<i>'" in page.text
    assert not any(tag == "b" and not attributes for tag, attributes in page.elements)


def test_the_same_front_gives_the_same_page(front):
    assert render(front, "x", None, "y") == render(front, "x", None, "y")


def test_what_searches_too_long_on_a_long_trace_is_left_out_but_for_its_name(folder):
    path = folder / "long.heap"
    lines = ["# heap-events 1", "# pointer_bits 32"]
    lines += [f"a {i} {8 + 8 * (i % 3)}" for i in range(12_000)]
    lines += [f"f {i}" for i in range(0, 12_000, 2)]  # 6,000 holes
    lines += [f"a {12_000 + i} 40" for i in range(3_000)]  # that none of these fits into
    path.write_text("\n".join(lines) + "\n")
    long = load_trace(open_any(path, ImportOptions(), folder))
    left_out = {one.name: one.why for one in configurations(long).not_applicable}
    assert "accesses a call" in left_out["first_fit:list=2"]
    named = configurations_by_name(long, ["first_fit:list=2"])
    assert [one.name for one in named.candidates] == ["first_fit:list=2"]
    assert "tlsf" not in left_out
