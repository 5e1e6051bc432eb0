# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit --prefer`, and the rows that no other beats: measured, marked and chosen."""

import re

import pytest
from page_reader import Page
from small_traces import bimodal, fit_json, heapfit, heapfit_json

from heapfit.comparison.costs.measures import Measures
from heapfit.comparison.pareto import dominates
from heapfit.design.front.offers import Offer, is_dominated, pick_offer, step_down
from heapfit.design.front.preference import Preference
from heapfit.design.space import configurations, configurations_by_name
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan_file import load_plan
from heapfit.trace.loaded import load_trace

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front")
    bimodal(folder / "packets.heap", events=600)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    return fit_json("packets.heap", "-o", "fit", "--all", folder=folder)["rows"]


def figures(row):
    names = ("r_safe", "accesses_per_operation", "energy_over_least", "time", "longest", "size")
    return [row[name] for name in names]


def test_the_marked_rows_are_those_that_nobody_dominates(rows):
    known = [row for row in rows if None not in figures(row)]
    assert len(known) > 10
    for row in rows:
        is_beaten = any(dominates(figures(other), figures(row)) for other in known)
        assert row["is_unbeaten"] == (row in known and not is_beaten), row["name"]
    assert 0 < sum(row["is_unbeaten"] for row in rows) < len(known)


def test_a_mean_call_takes_no_longer_than_the_longest(rows):
    for row in rows:
        if row["time"] is not None:
            assert 0 < row["time"] <= row["longest"]


def test_a_row_without_instructions_is_not_compared(folder):
    asked = ("--allocators", "tlsf,kingsley", "-o", "few", "--all")
    found = {row["name"]: row for row in fit_json("packets.heap", *asked, folder=folder)["rows"]}
    kingsley = found["kingsley"]
    assert kingsley["r_safe"]
    assert (kingsley["time"], kingsley["size"], kingsley["is_unbeaten"]) == (None, None, False)
    assert any(row["is_unbeaten"] for row in found.values())


def test_the_page_draws_the_rows_that_no_other_beats(folder, rows):
    text = (folder / "fit/report.html").read_text()
    page = Page(re.sub(r'<script type="application/zip".*?</script>', "", text, flags=re.DOTALL))
    series = {one["name"]: one for one in page.figures["chart-trade"]["data"]}
    drawn = {name for part in ("others that none beats", "chosen") for name in series[part]["text"]}
    marked = {row["name"] for row in rows if row["is_unbeaten"] and not row["is_cut_to_trace"]}
    assert drawn & marked
    assert not marked & set(series["other candidates"]["text"])


@pytest.mark.parametrize("preference", Preference)
def test_what_is_preferred_is_least(preference):
    four = [
        offer("ram", 96, 90, 90, 900),
        offer("time", 97, 10, 80, 800),
        offer("longest", 98, 80, 10, 700),
        offer("flash", 120, 70, 70, 100),
    ]
    assert pick_offer(four, preference).name == preference


def test_within_one_percent_of_the_least_memory_decides():
    near = [offer("a", 50, 100.0), offer("b", 45, 100.9), offer("c", 42, 101.1)]
    assert pick_offer(near, Preference.TIME).name == "b"


def test_of_equal_memory_the_least_of_what_is_preferred_decides():
    equal = [offer("a", 50, 100.9, 1), offer("b", 50, 100.0, 2)]
    assert pick_offer(equal, Preference.TIME).name == "b"


def test_a_preference_nobody_has_a_figure_for_is_refused():
    with pytest.raises(HeapfitError, match="--prefer time: no candidate has a figure"):
        pick_offer([offer("a", 100, None, 10, 300)], Preference.TIME)


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


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("fit", "packets.heap", "--allocators", "no_such"), 1, "no_such: no such allocator"),
        (("fit", "packets.heap", "packets.heap", "--allocators", "tlsf"), 2, "takes one recording"),
        (("fit", "packets.heap", "--prefer", "beauty"), 2, "beauty"),
        (("fit", "packets.heap", "--prefer", "energy"), 2, "energy"),
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


def test_what_searches_too_long_on_a_long_trace_is_left_out_but_for_its_name(folder):
    path = folder / "long.heap"
    lines = ["# heap-events 1", "# pointer_bits 32"]
    lines += [f"a {i} {8 + 8 * (i % 3)}" for i in range(6_000)]
    lines += [f"f {i}" for i in range(0, 6_000, 2)]  # 3,000 holes
    lines += [f"a {6_000 + i} 40" for i in range(1_500)]  # that none of these fits into
    path.write_text("\n".join(lines) + "\n")
    long = load_trace(open_any(path, ImportOptions(), folder))
    left_out = {one.name: one.why for one in configurations(long).not_applicable}
    assert "accesses a call" in left_out["first_fit:list=2"]
    named = configurations_by_name(long, ["first_fit:list=2"])
    assert [one.name for one in named.candidates] == ["first_fit:list=2"]
    assert "tlsf" not in left_out
