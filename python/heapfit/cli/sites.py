# SPDX-License-Identifier: Apache-2.0
"""`heapfit sites`: from where a program asks for memory, and which tag a plan has for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heapfit.cli.commands.recordings import SitesCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.cli.running import note_parts, print_export, require_export
from heapfit.drawing.parts import Column, Fields, Line, Note, Part, Table, which_hold
from heapfit.errors import HeapfitError
from heapfit.importers import open_trace
from heapfit.memories.demand import demand_of, find_unmet
from heapfit.plan.memories import names_of
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import load_plan
from heapfit.plan.quantities import format_count, format_event, format_share
from heapfit.programs.site_names import PlaceChain, find_chains, own_places
from heapfit.programs.source_lines import SourcePlace, places_in
from heapfit.trace.chains import sites_with_tags
from heapfit.trace.exports.samples import Frame, SampledBlocks, holdings_by_site
from heapfit.trace.kinds import View
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import source_name
from heapfit.trace.stored import Trace
from heapfit.trace.views import Holder, view_blocks

_MOST = 24  # sites on a screen
_WRAPPED = 0.8  # of all requests
_WRAPPED_LEAST = 1000  # requests
_NAMES_NONE = "names none of these call sites (is it the recorded program, with its symbols?)"


def run(command: SitesCommand) -> None:
    require_export(command.export, command.as_json)
    plan = None if command.plan is None else load_plan(command.plan).plan
    with step_bar() as progress, open_trace(command.source, progress=progress) as trace:
        plan = plan and replace(plan, sites=sites_with_tags(plan.sites, trace.chains))
        loaded = load_trace(trace, progress=progress)
        programs, view = command.programs or [], command.view or View.PEAK
        if view in _GROUPED and command.export is None:
            parts = _GROUPED[view](loaded)
        else:
            frames = {} if command.export is None else _find_frames(loaded, programs)
            holdings = holdings_by_site(loaded, view, frames)
            if command.export is not None:
                print_export(holdings, command.export)
                return
            callers = _Callers(find_chains(loaded, programs))
            parts = [
                *_site_parts(holdings, callers, plan),
                *_wrapper_parts(holdings.holders, trace),
                *(Note(f"{one}: {_NAMES_NONE}") for one in programs[:1] if not callers.are_known),
            ]
        print_result([*parts, *note_parts(trace.info)], command.as_json)


def _wrapper_parts(sites: Sequence[Holder], trace: Trace) -> list[Part]:
    """What to do where most is requested through one function, such as C++'s operator new."""
    counts = [one.requests for one in sites]
    if trace.chains or sum(counts) < _WRAPPED_LEAST or max(counts) < _WRAPPED * sum(counts):
        return []
    told = (
        "it can tell its own caller (docs/on-target.md, Call sites)"
        if trace.info.is_from_target
        else "heapfit record --site-depth 4 records who calls it"
    )
    return [Note(f"Most requests come from one place. If that is a wrapper, {told}.")]


def _find_frames(loaded: LoadedTrace, programs: Sequence[Path]) -> dict[int, Frame]:
    """The frame of each recorded caller whose function is known."""
    sites = np.unique(loaded.sites).tolist()
    known = {caller for site in sites for caller in loaded.trace.chains.get(site, (site,))}
    frames = {}
    for caller, place in places_in(programs, known).items():
        file, _, line = (place.line or place.file).rpartition(":")
        number = int(line) if file and line.isdecimal() else 0
        name = place.function or f"{place.file}+{place.address:#x}"
        frames[caller] = Frame(name, file if number else place.file, number)
    return frames


class _Callers:
    """The callers of each site, innermost first, and the one that no other site has."""

    def __init__(self, chains: Mapping[int, PlaceChain]) -> None:
        self._chains = chains
        self._own = own_places(chains)
        self.are_known = bool(self._own)

    def place(self, site: int) -> SourcePlace | None:
        """The source place of the direct caller."""
        return self._chains.get(site, (None,))[0]

    def name(self, site: int) -> str:
        """The site's own function and line; its number where these are unknown."""
        own = self._own.get(site)
        return f"Call site {site:08x}" if own is None else own.description

    def columns(self, site_of: Callable[[Any], int]) -> tuple[Column[Any], ...]:
        """Where each row's site is, and the places of the callers above; None where unknown."""
        return (
            Column(
                "place",
                "where" if self.are_known else "",
                lambda row: self.place(site_of(row)),
                lambda row: self._describe(site_of(row)),
            ),
            Column("callers", value=lambda row: self._chains.get(site_of(row), ())[1:]),
        )

    def _describe(self, site: int) -> str | None:
        """The site's own caller with its line, and the functions above it."""
        own, chain = self._own.get(site), self._chains.get(site, ())
        if own is None:
            return None
        above = [place for place in chain[chain.index(own) + 1 :] if place]
        return " < ".join(
            [own.description, *(one.function or one.line or hex(one.address) for one in above)]
        )


_HELD: tuple[Column[Holder], ...] = (
    Column("blocks", "blocks"),
    Column("size", "bytes"),
    Column("least", "least"),
    Column("most", "most"),
    Column("requests", "of requests"),
    Column("mean_life"),
)
_SAID = {
    View.PEAK: "holds {} live at the peak",
    View.HELD: "holds {} live at the end",
    View.LATER: "holds {} born after the first tenth and live at the end",
    View.TEMPORARY: "asked for {} that the next call of the same task frees or resizes",
}


def _answer(view: View, holders: Sequence[Holder], name: Callable[[int], str]) -> Line:
    """Line 1: the share of a view's bytes that its first holder has."""
    said = _SAID.get(view, _SAID[View.PEAK])
    total, first = sum(one.size for one in holders), holders[0] if holders else None
    if first is None or not total:
        return Line(f"Nobody {said.format('blocks')}.")
    bytes_of = said.format(f"{first.size:,} of the {total:,} B")
    return Line(f"{name(first.key)} {bytes_of} ({format_share(first.size / total)}).")


def _site_parts(holdings: SampledBlocks, callers: _Callers, plan: Plan | None) -> list[Part]:
    """The call sites that hold most in a view; with a plan all, and their tags."""
    view, sites = holdings.viewed.view, holdings.holders
    held = [one for one in sites if one.blocks]
    tag, end = ("", "") if plan is None else ("tag", "end")
    columns: list[Column[Holder]] = [
        Column("site", "site", lambda one: f"{one.key:08x}"),
        *_HELD,
        Column("tag", tag, lambda one: plan and plan.sites.get(one.key)),
        Column("end", end, lambda one: plan and _end(one.key, plan)),
        *callers.columns(lambda one: one.key),
    ]
    blocks, size = sum(one.blocks for one in held), sum(one.size for one in held)
    others = sum(callers.place(one.key) is None for one in sites) if callers.are_known else 0
    unknown = f"{format_count(others, 'site')} in other files: give these with --program, too."
    shown, rest = (held[:_MOST], held[_MOST:]) if plan is None else (sites, [])
    more = f"{len(rest):,} more hold {sum(one.size for one in rest):,} B: --json lists them."
    return [
        _answer(view, held, callers.name),
        Fields({"view": view, "blocks": blocks, "size": size}),
        Table(columns, sites, "sites", shown=shown),
        *map(Line, which_hold((rest, more), (others, unknown))),
    ]


def _task_parts(loaded: LoadedTrace) -> list[Part]:
    """What each task holds at the peak, and how it is at the end."""
    viewed = view_blocks(loaded, View.TASKS)
    names = loaded.trace.info.names
    task: Column[Holder] = Column("task", "task", lambda one: names.get(one.key, one.key))
    columns, holders = [task, *_HELD], viewed.find_holders(viewed.tasks)
    return [
        _answer(View.TASKS, holders, lambda key: f"Task {names.get(key, key)}"),
        Fields({"view": View.TASKS}),
        Table(columns, holders, "tasks"),
    ]


def _memory_parts(loaded: LoadedTrace) -> list[Part]:
    """What each memory holds at the peak, and the requests served where their need is not met."""
    demand = demand_of(loaded.trace.path.name, loaded, [])
    served, viewed = demand.served, view_blocks(loaded, View.MEMORIES)
    if not served.any():
        raise HeapfitError(
            f"{source_name(loaded.trace.path)}: does not tell where requests were served "
            "(column served, docs/evidence/schemas.md)"
        )
    columns: list[Column[Holder]] = [
        Column(
            "memory",
            "memory that offers",
            lambda one: names_of(one.key),
            lambda one: _offers(one.key),
        ),
        *_HELD,
        Column("requested", "bytes asked for"),
    ]
    missing = find_unmet(demand.needs, served)
    unmet = int(np.count_nonzero(missing))
    needed = " or ".join(names_of(int(np.bitwise_or.reduce(missing))))
    first = format_event(int(np.argmax(missing != 0)))
    one = f"1 request that needs {needed} lies where it is not offered: {first}."
    many = (
        f"{unmet:,} requests that need {needed} lie where it is not offered, the first of "
        f"them {first}."
    )
    holders = viewed.find_holders(served[viewed.blocks.starts].astype("u4"))
    return [
        _answer(View.MEMORIES, holders, lambda key: f"Memory {_offers(key)}"),
        Fields({"view": View.MEMORIES, "unmet_needs": unmet}),
        Table(columns, holders, "memories"),
        *map(Line, which_hold((unmet == 1, one), (unmet > 1, many))),
    ]


_GROUPED = {View.TASKS: _task_parts, View.MEMORIES: _memory_parts}


def _offers(needs: int) -> str:
    """What a memory offers, as one word."""
    return "+".join(names_of(needs)) or "unknown"


def _end(site: int, plan: Plan) -> str | None:
    """The end of the top, high or low, from which the plan cuts this site's blocks."""
    tag = plan.sites.get(site)
    high = plan.scalars.get("tag_high", 0)
    return None if tag is None else "high" if high >> tag & 1 else "low"
