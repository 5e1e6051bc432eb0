# SPDX-License-Identifier: Apache-2.0
"""Every allocator tells what it costs, and `heapfit allocators` shows it."""

import re

import pytest
from small_traces import heapfit, heapfit_json

from heapfit import _engine
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS, list_offered_allocators
from heapfit.plan.allocators import ALIGNMENTS, takes_pools
from heapfit.plan.serving_region import serving_region

ALL = {info.name: info for info in _engine.allocators()}
OFFERED = list_offered_allocators()


@pytest.mark.parametrize("name", ALL)
def test_what_an_allocator_says_of_itself_is_fit_to_print(name):
    info = ALL[name]
    account = (info.worst_case, info.block_bytes, info.fragmentation)
    for told in (info.title, info.origin, *filter(None, account)):
        assert len(told) > 3
        assert told.isprintable()
        assert not told.endswith(".")
    layout = "| unknown |" if info.layout is None else info.layout
    assert "|" in layout
    assert max(map(len, layout.splitlines())) <= 96  # 100 where it is printed
    assert all(tunable.meaning.endswith(".") for tunable in info.tunables)


@pytest.mark.parametrize("alignment", ALIGNMENTS)
@pytest.mark.parametrize("name", ALL)
def test_the_smallest_region_serves_and_the_next_smaller_does_not(name, alignment):
    size = serving_region(name, alignment)
    assert size is not None
    assert serves(name, alignment, size)
    assert not serves(name, alignment, size - 4)


def serves(name: str, alignment: int, size: int) -> bool:
    import numpy as np

    pools = [(8, 1, True)] if takes_pools(ALL[name]) else []
    plan = _engine.Plan(name, {"alignment": alignment}, pools)
    if size < plan.smallest_region:
        return False
    events = _engine.EventArray()
    events.append(np.zeros(1, np.uint8), np.zeros(1, np.uint32), np.full(1, 8, np.uint64))
    return _engine.Replay(plan, size).feed(events)


def test_the_list_holds_every_allocator_within_100_columns(tmp_path):
    shown = heapfit("allocators", folder=tmp_path).stdout
    for info in OFFERED:
        assert f"\n{info.name}: {info.title}\n" in shown
        for tunable in info.tunables:
            assert f"{tunable.name}=" in shown
    assert max(map(len, shown.splitlines())) <= 80
    core, _, baselines = shown.partition("baselines: ")
    assert all(f"\n{info.name}: " in (core if info.ships else baselines) for info in OFFERED)


def test_what_only_a_paper_is_reproduced_with_is_shown_if_named(tmp_path):
    of_papers = [name for name, info in ALL.items() if info.is_of_papers]
    assert "djgpp_test1" in of_papers
    shown = (
        heapfit("allocators", folder=tmp_path).stdout
        + heapfit("compare", "--help", folder=tmp_path).stdout
    )
    assert not any(name in shown for name in of_papers)
    assert (
        "powers of two and a header" in heapfit("allocators", "djgpp_test1", folder=tmp_path).stdout
    )


def test_a_named_allocator_is_told_with_its_layout_and_its_tunables_in_words(tmp_path):
    shown = heapfit("allocators", "tlsf", folder=tmp_path).stdout
    for line in ALL["tlsf"].layout.splitlines():
        assert f"    {line}\n" in shown
    text = " ".join(shown.split())
    assert "Alignment of every block, in bytes: 4, 8 or 16. [4 to 16, standard 8]" in text
    assert "first_fit" not in shown


def test_the_json_has_the_smallest_regions_and_the_tunables(tmp_path):
    (tlsf,) = heapfit_json("allocators", "tlsf", folder=tmp_path)["allocators"]
    assert tlsf["ships"]
    assert tlsf["smallest_region"] == {str(one): serving_region("tlsf", one) for one in ALIGNMENTS}
    assert tlsf["tunables"][0]["name"] == "alignment"
    assert len(heapfit_json("allocators", folder=tmp_path)["allocators"]) == len(OFFERED)


def test_a_heap_has_one_name_and_one_explanation(tmp_path):
    shown = heapfit("allocators", folder=tmp_path).stdout
    entries = [line.partition(":")[0] for line in shown.splitlines() if line[:1].isalpha()]
    words = [re.sub("[-_]|malloc", "", name) for name in entries]
    assert len(set(words)) == len(words)
    assert "esp-tlsf" in entries and "esp_tlsf" not in entries
    by_other_name = heapfit("allocators", "esp_tlsf", folder=tmp_path).stdout
    assert by_other_name == heapfit("allocators", "esp-tlsf", folder=tmp_path).stdout
    assert ALL["esp_tlsf"].layout.splitlines()[0] in by_other_name
    assert set(SYSTEM_HEAPS) <= set(entries)
